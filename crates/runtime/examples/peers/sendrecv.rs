//! Measures Sendrecv of the Intel MPI Benchmarks: `sendrecv BYTES...`; the twin of
//! `crates/bench/peers/sendrecv.c`.
//!
//! Each rank sends to the right and receives from the left in one call. Prints one line for each length:
//! nanoseconds of one call.

mod blocks;
mod buffers;
mod content;
mod report;

use buffers::Pages;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = oxmpi::World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    for bytes in buffers::lengths(0)? {
        let (mut out, mut into) = (Pages::new(bytes), Pages::new(bytes));
        content::write(&mut out, rank);
        let measured = blocks::measure(
            comm,
            size,
            &mut into,
            |into, times| {
                (0..times).try_for_each(|_| {
                    comm.sendrecv(&out[..], right, 1, &mut into[..], left, 1)
                        .map(drop)
                })
            },
            |into| content::write_wrong(into, left),
        )?;
        let arrived = content::are_right(&into, left);
        report::report("sendrecv", comm, bytes, &measured, 1.0, arrived);
    }
    Ok(())
}
