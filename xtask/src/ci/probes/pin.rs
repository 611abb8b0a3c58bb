//! Calls oxmpi-pin, which needs an allocator.

pub fn call() -> bool {
    let machine = oxmpi_pin::topo::Machine::from_synthetic("package:2 core:4 pu:2");
    machine.is_ok_and(|machine| {
        let placement = oxmpi_pin::place(&machine, &oxmpi_pin::Settings::default(), None, 2);
        placement.ranks.len() == 2
    })
}
