//! Runs ranks as threads, with a time limit.

#[path = "../examples/threads/transport.rs"]
pub(crate) mod transport;

use std::sync::mpsc::channel;
use std::time::Duration;
use transport::Threads;

/// Runs `body` on `ranks` threads; after 10 s it ends the process.
pub(crate) fn watched<R: Send>(ranks: usize, body: impl Fn(Threads) -> R + Sync) -> Vec<R> {
    let (alive, dog) = channel::<()>();
    std::thread::spawn(move || {
        use std::sync::mpsc::RecvTimeoutError::Timeout;
        if dog.recv_timeout(Duration::from_secs(120)) == Err(Timeout) {
            eprintln!("the ranks wait for each other");
            std::process::abort();
        }
    });
    let results = transport::run(ranks, body);
    drop(alive);
    results
}
