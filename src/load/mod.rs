//! load
mod csv;
mod input;
