//! Scanner, spans, units and one clear error for every setting's grammar; no_std, no alloc.

#![no_std]
#![forbid(unsafe_code)]
