//! Shared-memory rings of cache-line slots, and a transport over them.

#![no_std]
