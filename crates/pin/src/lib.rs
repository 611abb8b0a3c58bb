//! Process pinning as pure functions, explained in words; no_std.

#![no_std]
#![forbid(unsafe_code)]
