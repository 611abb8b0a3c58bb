//! Calls the headers and the client of oxmpi-wire, which need no allocator.

pub fn call() -> bool {
    let mut client = oxmpi_wire::pmi::Client::new();
    client.closed().is_some() | oxmpi_wire::Header::parse(&[0; 64]).is_ok()
}
