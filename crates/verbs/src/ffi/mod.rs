//! What `infiniband/verbs.h` and `rdma/rdma_cma.h` of rdma-core 32 and later declare, as far as this crate uses it.
//!
//! Declared here and not generated from the header: the crate then builds without rdma-core's sources, cmake
//! and libclang, and its code is compiled and tested on machines without RDMA. `layouts.c` holds the same
//! facts for the C compiler; a test compares it with these declarations, and `cargo xtask ci rdma` compiles it
//! against the header.

#![allow(non_camel_case_types)]

#[macro_use]
mod types;
mod cm;
mod values;

#[cfg(test)]
mod tests;

pub(crate) use cm::*;
pub(crate) use types::*;
pub(crate) use values::*;
