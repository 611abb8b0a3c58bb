//! A TCP proxy that injects faults: it delays bytes, cuts them into random pieces, and can stall hosts for
//! good. The packet filter redirects the connections of ranks to it.
//!
//! ```text
//! fault_proxy PORT SEED FOLDER
//! ```
//!
//! Listens at PORT, to which the packet filter redirects connections (netfilter's `redirect`), and asks the
//! kernel for the original destination of each. The proxy delays bytes by up to 2 ms and forwards them in
//! pieces of 1 B to 4 KiB. While FOLDER holds a file named by an address, such as `10.0.0.1`, the proxy
//! forwards nothing from or to that address; connections stay open, and this machine acknowledges the data.
//! `cargo xtask ci hosts` uses it.

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
            // If the destination refuses the connection, the caller's connection is closed.
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
        let directions = [(caller, called), (called, caller)];
        for ((from, to), seed) in directions.into_iter().zip(seeds) {
            scope.spawn(move || {
                let end = match forward(from, to, stalled, Rng::new(seed)) {
                    DirectionEnd::All => to.shutdown(Shutdown::Write),
                    // The destination of a broken connection sends nothing back either.
                    DirectionEnd::Reset => to
                        .shutdown(Shutdown::Both)
                        .and(from.shutdown(Shutdown::Both)),
                    // The receiver's data from before its close is still being forwarded by the other thread.
                    DirectionEnd::Refused => from.shutdown(Shutdown::Read),
                };
                // Errors do not matter: the connection may be closed already.
                let _ = end;
            });
        }
    });
    Ok(())
}

/// Why one direction has ended.
enum DirectionEnd {
    /// The sender has ended the stream, and all bytes are forwarded.
    All,
    /// Reading failed: the sender is gone. The bytes read before are forwarded.
    Reset,
    /// Writing failed: the receiver has closed its end.
    Refused,
}

/// Forwards bytes in one direction until they end. Once stalled, it never returns.
fn forward(
    mut from: &TcpStream,
    mut to: &TcpStream,
    stalled: &[PathBuf; 2],
    mut rng: Rng,
) -> DirectionEnd {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return DirectionEnd::All,
            Ok(read) => read,
            Err(_) => return DirectionEnd::Reset,
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
                return DirectionEnd::Refused;
            }
            rest = later;
        }
    }
}
