//! Measures PingPong of vectors between two ranks: `vector [both] BYTES...`; the twin of
//! `crates/bench/peers/vector.c`.
//!
//! A message is a vector of blocks of 8 bytes at distances of 16; it is received without gaps, or with `both` into
//! such a vector. Prints one line for each length, gaps not counted: nanoseconds one way, half the round trip.

mod blocks;
mod buffers;
mod content;
mod report;

use buffers::Pages;
use oxmpi::layout::{Strided, View, ViewMut};
use oxmpi::{Comm, Result, World};

const BLOCK: usize = 8;
const STRIDE: usize = 16;

/// The vector of a message of so many bytes.
const fn vector(bytes: usize) -> Strided {
    Strided {
        first: 0,
        count: bytes / BLOCK,
        block: BLOCK,
        stride: STRIDE as isize,
    }
}

/// What a rank sends, and where it receives; views are made once, as MPI's datatypes are.
struct Messages<'a> {
    comm: &'a Comm,
    out: View<'a, u8>,
    into: Target<'a>,
}

/// Where messages are received.
enum Target<'a> {
    Slice(&'a mut [u8]),
    Vector(ViewMut<'a, u8>),
}

impl Messages<'_> {
    fn ping(&self) -> Result<()> {
        self.comm.send(&self.out, 1 - self.comm.rank(), 1)
    }

    fn pong(&mut self) -> Result<()> {
        let from = 1 - self.comm.rank();
        match &mut self.into {
            Target::Slice(into) => self.comm.recv(*into, from, 1),
            Target::Vector(into) => self.comm.recv(into, from, 1),
        }
        .map(drop)
    }

    fn round_trips(&mut self, times: u64) -> Result<()> {
        for _ in 0..times {
            if self.comm.rank() == 0 {
                self.ping()?;
            }
            self.pong()?;
            if self.comm.rank() == 1 {
                self.ping()?;
            }
        }
        Ok(())
    }

    /// Writes what is not the message where it is received.
    fn spoil(&mut self, wrong: &[u8]) {
        match &mut self.into {
            Target::Slice(into) => into.copy_from_slice(wrong),
            Target::Vector(into) => into.copy_from_slice(wrong),
        }
    }

    fn received(&self) -> Vec<u8> {
        match &self.into {
            Target::Slice(into) => into.to_vec(),
            Target::Vector(into) => into.as_view().to_vec(),
        }
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    if size != 2 {
        return Err("vector: two ranks".into());
    }
    let both = std::env::args().nth(1).as_deref() == Some("both");
    let kernel = if both { "vectors" } else { "vector" };
    for bytes in buffers::lengths(usize::from(both))? {
        let all = bytes / BLOCK * STRIDE;
        let (mut out, mut into) = (Pages::new(all), Pages::new(all));
        content::write(&mut out, rank);
        // As the other rank's memory, but wrong.
        let mut theirs = vec![0; all];
        content::write_wrong(&mut theirs, 1 - rank);
        let wrong = View::new(&theirs, vector(bytes))?.to_vec();
        let mut messages = Messages {
            comm,
            out: View::new(&out, vector(bytes))?,
            into: match both {
                true => Target::Vector(ViewMut::new(&mut into, vector(bytes))?),
                false => Target::Slice(&mut into[..bytes]),
            },
        };
        let measured = blocks::measure(
            comm,
            size,
            &mut messages,
            |messages, times| messages.round_trips(times),
            |messages| messages.spoil(&wrong),
        )?;
        content::write(&mut theirs, 1 - rank);
        ViewMut::new(&mut theirs, vector(bytes))?.copy_from_slice(&messages.received());
        let right = content::are_right(&theirs, 1 - rank);
        report::report(kernel, comm, bytes, &measured, 2.0, right);
    }
    Ok(())
}
