//! Tests messages and counts beyond 32 bits: a bcast and allgathers of 2^32 + 7 bytes and more, with every
//! byte checked. Each rank needs 4 GiB. `cargo xtask long large` runs it.
//!
//! `oxmpi run -n 2 large`

use std::time::Instant;

use oxmpi::World;
use oxmpi::collective::Blocks;

/// Number of bytes: more than 32 bits can count, and no multiple of a word or block.
const BYTES: usize = (1 << 32) + 7;

/// The byte at an index. It depends on all bits of the index, so truncated indexes are found.
fn byte(index: usize, salt: u8) -> u8 {
    let folded = index + (index >> 8) + (index >> 16) + (index >> 24) + (index >> 32);
    folded as u8 ^ salt
}

/// Fills `all` with the bytes of indexes from `start` on.
fn fill(all: &mut [u8], start: usize, salt: u8) {
    for (index, value) in (start..).zip(all) {
        *value = byte(index, salt);
    }
}

/// Panics if a byte of `all` differs from [`byte`].
fn check(what: &str, all: &[u8], salt: u8) {
    let wrong = (0..)
        .zip(all)
        .find(|&(index, &value)| value != byte(index, salt));
    assert!(wrong.is_none(), "{what}: wrong at {wrong:?}");
}

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    let mut all = vec![0; BYTES.next_multiple_of(size)];
    let report = |what: &str, bytes: usize, start: Instant| {
        if rank == 0 {
            let seconds = start.elapsed().as_secs_f64();
            println!("{what} of {bytes} bytes, {size} ranks: every byte is right, {seconds:.1} s");
        }
    };

    if rank == 0 {
        fill(&mut all[..BYTES], 0, 1);
    }
    let start = Instant::now();
    comm.bcast_into(&mut all[..BYTES], 0)?;
    check("bcast", &all[..BYTES], 1);
    report("bcast", BYTES, start);

    // Equal blocks, a few bytes more in all.
    let block = all.len() / size;
    fill(&mut all[rank * block..][..block], rank * block, 2);
    let start = Instant::now();
    comm.allgather_in_place(&mut all)?;
    check("allgather", &all, 2);
    report("allgather", all.len(), start);

    // The last block is shorter.
    let mut counts = vec![block; size];
    counts[size - 1] -= all.len() - BYTES;
    fill(&mut all[rank * block..][..counts[rank]], rank * block, 3);
    let start = Instant::now();
    comm.allgatherv_in_place(Blocks::packed(&mut all[..BYTES], &counts))?;
    check("allgatherv", &all[..BYTES], 3);
    report("allgatherv", BYTES, start);
    Ok(())
}
