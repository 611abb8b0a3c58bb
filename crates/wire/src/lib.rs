//! Message passing without IO: transport traits, frames, matching, rendezvous, PMI.

#![no_std]
#![forbid(unsafe_code)]
