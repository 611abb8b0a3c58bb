//! Calls oxmpi-topo, which needs an allocator.

pub fn call() -> bool {
    oxmpi_topo::Machine::from_synthetic("package:2 core:4 pu:2").is_ok()
}
