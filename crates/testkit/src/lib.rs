//! Conformance suite, in-process fabrics and fuzz bodies for the tests of oxmpi.

pub mod fuzz;
