//! Statement texts: quoting and builders. Pure; knows no connection.

pub(crate) mod quote;
pub(crate) mod statement;
