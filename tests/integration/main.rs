//! The integration tests: real servers, one binary.
