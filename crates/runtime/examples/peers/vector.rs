//! Measures PingPong of vectors between two ranks: `vector [both] BYTES...`; the twin of
//! `crates/bench/peers/vector.c`.
//!
//! A message is a vector of blocks of 8 bytes at distances of 16; it is received without gaps, or with `both` into
//! such a vector. Prints one line for each length, gaps not counted: nanoseconds one way, half the round trip.

mod blocks;
mod buffers;
mod content;

use buffers::Pages;
use oxmpi_core::{Communicator, Error, Job, Mode, Result, Single, Source, Tag};
use oxmpi_os::RawBytes;
use oxmpi_wire::layout::{Basic, Datatype};

const BLOCK: usize = 8;
const STRIDE: usize = 16;

/// The memory that a rank sends from and receives into, and the datatype of messages there.
struct Messages {
    out: Pages,
    into: Pages,
    bytes: usize,
    vector: Datatype,
    both: bool,
}

impl Messages {
    fn new(bytes: usize, both: bool) -> Self {
        let block = Datatype::basic(Basic::new(1, BLOCK as u16, BLOCK as u16));
        let (blocks, stride) = ((bytes / BLOCK) as u64, (STRIDE / BLOCK) as i64);
        let all = bytes / BLOCK * STRIDE;
        Self {
            out: Pages::new(all),
            into: Pages::new(all),
            bytes,
            vector: block.vector(blocks, 1, stride).expect("it fits the memory"),
            both,
        }
    }

    fn ping(&mut self, comm: &Communicator<Single>, to: usize) -> Result<()> {
        // SAFETY: the memory covers the datatype, and nobody else uses either until the send returns.
        let from = unsafe { RawBytes::with_datatype(self.out.as_mut_ptr(), &self.vector, 1) };
        comm.send(from, to, 1, Mode::Standard)
    }

    fn pong(&mut self, comm: &Communicator<Single>, from: usize) -> Result<()> {
        let start = self.into.as_mut_ptr();
        let into = match self.both {
            // SAFETY: as in `ping`, until the receive returns.
            true => unsafe { RawBytes::with_datatype(start, &self.vector, 1) },
            // SAFETY: as above.
            false => unsafe { RawBytes::new(start, self.bytes) },
        };
        comm.recv(into, Source::Rank(from), Tag::Is(1)).map(drop)
    }

    /// Whether the message of `rank` has arrived.
    fn arrived(&self, rank: usize) -> bool {
        let mut sent = Pages::new(self.out.len());
        content::write(&mut sent, rank);
        let stride = if self.both { STRIDE } else { BLOCK };
        let blocks = sent
            .chunks_exact_mut(STRIDE)
            .zip(self.into.chunks_exact(stride));
        for (sent, into) in blocks {
            sent[..BLOCK].copy_from_slice(&into[..BLOCK]);
        }
        content::are_right(&sent, rank)
    }
}

impl blocks::Ranks for Communicator<Single> {
    fn rank(&self) -> usize {
        self.group().rank() as usize
    }

    fn tell(&self, said: &mut [u8; 1], to: usize) -> Result<()> {
        // SAFETY: nobody else uses the byte until the send returns.
        let bytes = unsafe { RawBytes::new(said.as_mut_ptr(), 1) };
        self.send(bytes, to, 9, Mode::Standard)
    }

    fn hear(&self, said: &mut [u8; 1]) -> Result<()> {
        // SAFETY: as above.
        let bytes = unsafe { RawBytes::new(said.as_mut_ptr(), 1) };
        self.recv(bytes, Source::Rank(0), Tag::Is(9)).map(drop)
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let policy = || {
        let policy = oxmpi_settings::job_policy(Vec::new());
        policy.map_err(|bad| Error::Setting(bad.to_string()))
    };
    let mut warn = |warning: &str| eprintln!("vector: {warning}");
    let (mut job, comm): (Job, Communicator<Single>) = Job::join(policy, &mut warn)?;
    let (rank, size) = (blocks::Ranks::rank(&comm), comm.group().size() as usize);
    if size != 2 {
        return Err("vector: two ranks".into());
    }
    let other = 1 - rank;
    let both = std::env::args().nth(1).as_deref() == Some("both");
    let kernel = if both { "vectors" } else { "vector" };
    for bytes in buffers::lengths(usize::from(both))? {
        let mut messages = Messages::new(bytes, both);
        content::write(&mut messages.out, rank);
        let measured = blocks::measure(
            &comm,
            2,
            &mut messages,
            |messages, times| {
                for _ in 0..times {
                    if rank == 0 {
                        messages.ping(&comm, other)?;
                    }
                    messages.pong(&comm, other)?;
                    if rank == 1 {
                        messages.ping(&comm, other)?;
                    }
                }
                Ok(())
            },
            |messages| content::write_wrong(&mut messages.into, other),
        )?;
        let arrived = messages.arrived(other);
        if rank == 0 {
            blocks::print(kernel, size, bytes, &measured, 2.0, arrived);
        } else if !arrived {
            eprintln!("{kernel}: wrong data at {bytes} bytes");
        }
    }
    Ok(job.leave(&comm)?)
}
