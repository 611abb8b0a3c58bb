//! A TCP proxy that injects faults: it delays bytes, cuts them into random pieces, and can stall hosts for
//! good. The packet filter redirects the connections of ranks to it.
//!
//! ```text
//! fault_proxy PORT SEED FOLDER
//! ```
//!
//! Listens at PORT, where the packet filter redirects connections to (netfilter's `redirect`), and asks
//! the system where each was to go. Bytes wait for up to 2 ms and go on in pieces of 1 B to 4 KiB.
//! While FOLDER holds a file named by an address, such as `10.0.0.1`, nothing passes to it or from it; the
//! connections stay open, and this machine confirms what it is sent. `cargo xtask ci hosts` uses it.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use oxmpi_testkit::rng::Rng;

/// Longest delay of the bytes of one read, in microseconds.
const DELAY: u64 = 2_000;
/// Binary logarithm of the longest piece in bytes.
const PIECE: u64 = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [port, seed, folder] = &words[..] else {
        return Err("usage: fault_proxy PORT SEED FOLDER".into());
    };
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port.parse()?))?;
    let mut seeds = Rng::new(seed.parse()?);
    println!("listening");
    loop {
        let (caller, from) = listener.accept()?;
        let to = rustix::net::sockopt::ip_original_dst(&caller)?;
        let addresses = [from.ip().to_string(), to.ip().to_string()];
        let stalled = addresses.map(|address| PathBuf::from(folder).join(address));
        let seeds = [seeds.next(), seeds.next()];
        thread::spawn(move || {
            // If nobody listens there any more, the caller finds its connection closed.
            if let Ok(called) = TcpStream::connect(to) {
                let _ = join(&caller, &called, &stalled, seeds);
            }
        });
    }
}

/// Forwards bytes in both directions until both have ended.
fn join(
    caller: &TcpStream,
    called: &TcpStream,
    stalled: &[PathBuf; 2],
    seeds: [u64; 2],
) -> io::Result<()> {
    caller.set_nodelay(true)?;
    called.set_nodelay(true)?;
    thread::scope(|scope| {
        let ways = [(caller, called), (called, caller)];
        for ((from, to), seed) in ways.into_iter().zip(seeds) {
            scope.spawn(move || {
                let end = match pass(from, to, stalled, Rng::new(seed)) {
                    Passed::All => to.shutdown(Shutdown::Write),
                    // Nothing comes back from there either.
                    Passed::Reset => to
                        .shutdown(Shutdown::Both)
                        .and(from.shutdown(Shutdown::Both)),
                    // What it sent before it closed is still on its way, behind the other thread.
                    Passed::Refused => from.shutdown(Shutdown::Read),
                };
                // It may have been closed meanwhile.
                let _ = end;
            });
        }
    });
    Ok(())
}

/// Why bytes pass one way no longer.
enum Passed {
    /// They have ended, and all have passed.
    All,
    /// Who sent them has gone without an end. What was sent before has passed.
    Reset,
    /// Who should get them has closed.
    Refused,
}

/// Passes bytes one way until they end; for ever once they have stalled.
fn pass(mut from: &TcpStream, mut to: &TcpStream, stalled: &[PathBuf; 2], mut rng: Rng) -> Passed {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Passed::All,
            Ok(read) => read,
            Err(_) => return Passed::Reset,
        };
        thread::sleep(Duration::from_micros(rng.below(DELAY + 1)));
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            while stalled.iter().any(|file| file.exists()) {
                thread::park();
            }
            let scale = rng.below(PIECE + 1);
            let most = rng.below(1 << scale) as usize + 1;
            let (piece, later) = rest.split_at(most.min(rest.len()));
            if to.write_all(piece).is_err() {
                return Passed::Refused;
            }
            rest = later;
        }
    }
}
