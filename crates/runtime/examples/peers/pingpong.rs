//! Measures PingPong between two ranks: `pingpong [rewritten|cold] BYTES...`; the twin of
//! `crates/bench/peers/pingpong.c`.
//!
//! Prints one line for each length: nanoseconds one way, half the round trip, in blocks of 1 to 2 ms. With
//! `rewritten` the sender writes the whole message before each send, which is part of the time. With `cold`
//! each message is at another offset of buffers that are much larger than the caches.

mod blocks;
mod buffers;
mod content;
mod report;

use buffers::Pages;
use oxmpi::{Comm, Result, World};

/// Bytes of each of the two buffers of a rank, for `cold`.
const COLD: usize = 256 << 20;

struct Messages<'a> {
    comm: &'a Comm,
    out: &'a mut [u8],
    into: &'a mut [u8],
    bytes: usize,
    /// Distance in bytes from one message to the next.
    step: usize,
    rank: usize,
    rewrite: bool,
    /// Offset of the current message.
    at: usize,
    /// Byte with which the last message was filled, less the rank.
    value: u8,
}

impl Messages<'_> {
    fn ping(&mut self) -> Result<()> {
        let message = &mut self.out[self.at..][..self.bytes];
        if self.rewrite {
            message.fill(self.value.wrapping_add(self.rank as u8));
        }
        self.comm.send(message, 1 - self.rank, 1)
    }

    fn pong(&mut self) -> Result<()> {
        let message = &mut self.into[self.at..][..self.bytes];
        self.comm.recv(message, 1 - self.rank, 1).map(drop)
    }

    fn next(&mut self) {
        self.value = self.value.wrapping_add(2);
        self.at += self.step;
        if self.at + self.bytes > self.out.len() {
            self.at = 0;
        }
    }

    fn round_trips(&mut self, times: u64) -> Result<()> {
        if self.rank == 0 {
            for _ in 0..times {
                self.next();
                self.ping()?;
                self.pong()?;
            }
        } else {
            for _ in 0..times {
                self.next();
                self.pong()?;
                self.ping()?;
            }
        }
        Ok(())
    }

    /// Whether the last message has the right content.
    fn arrived(&self) -> bool {
        let (message, other) = (&self.into[self.at..][..self.bytes], 1 - self.rank);
        if self.rewrite {
            let value = self.value.wrapping_add(other as u8);
            message.iter().all(|&byte| byte == value)
        } else {
            content::are_right(message, other)
        }
    }
}

/// Calls `write` for each message in the buffer.
fn for_each_message(messages: &mut [u8], bytes: usize, write: impl Fn(&mut [u8])) {
    messages.chunks_exact_mut(bytes.max(1)).for_each(write);
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    if size != 2 {
        return Err("pingpong: two ranks".into());
    }
    let how = std::env::args().nth(1);
    let rewrite = how.as_deref() == Some("rewritten");
    let cold = how.as_deref() == Some("cold");
    let kernel = how.filter(|_| rewrite || cold);
    let lengths = buffers::lengths(usize::from(kernel.is_some()))?;
    let kernel = kernel.as_deref().unwrap_or("pingpong");
    let largest = lengths.iter().max().copied().unwrap_or(0);
    let room = if cold { COLD.max(largest) } else { largest };
    let (mut out, mut into) = (Pages::new(room), Pages::new(room));

    for bytes in lengths {
        let used = if cold { room } else { bytes };
        let mut messages = Messages {
            comm,
            out: &mut out[..used],
            into: &mut into[..used],
            bytes,
            step: if cold { bytes } else { 0 },
            rank,
            rewrite,
            at: 0,
            value: 0,
        };
        for_each_message(messages.out, bytes, |message| content::write(message, rank));
        let measured = blocks::measure(
            comm,
            size,
            &mut messages,
            |messages, times| messages.round_trips(times),
            |messages| {
                for_each_message(messages.into, bytes, |message| {
                    content::write_wrong(message, 1 - rank);
                });
            },
        )?;
        let right = messages.arrived();
        report::report(kernel, comm, bytes, &measured, 2.0, right);
    }
    Ok(())
}
