//! Collective algorithms as pure schedules, with a checker that proves them; no_std.

#![no_std]
#![forbid(unsafe_code)]
