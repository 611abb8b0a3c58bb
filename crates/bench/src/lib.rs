//! Message-passing benchmark kernels, generic over a small trait; no_std.

#![no_std]
#![forbid(unsafe_code)]
