//! Models of rings and flags: loom runs every interleaving (`cargo xtask loom`).

#![cfg(oxmpi_loom)]

mod bulk;
mod doorbell;
mod helper;
mod model;
mod rings;
mod steps;
mod waiting;
mod windows;
