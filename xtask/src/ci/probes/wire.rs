//! Calls the headers, the table of paths and the client of oxmpi-wire, which need no allocator.

use oxmpi_wire::paths::{Path, PathTable, network};

pub fn call() -> bool {
    let mut client = oxmpi_wire::pmi::Client::new();
    let plan = network::NetworkPlan::new(64, network::NetworkSettings::default());
    let table = PathTable::new(&plan.limits(), &oxmpi_wire::PathOverrides::NONE);
    client.closed().is_some()
        | oxmpi_wire::Header::parse(&[0; 64]).is_ok()
        | table.rows().any(|row| row.path == Path::R1)
}
