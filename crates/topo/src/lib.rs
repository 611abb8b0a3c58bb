//! Machine topology as data: processor sets, discovery, synthetic machines; no_std.

#![no_std]
#![forbid(unsafe_code)]
