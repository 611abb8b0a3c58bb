//! Flushes that wait for earlier operations ([`Flushes`]), as transports count them.

use alloc::vec::Vec;

use crate::Token;

/// The flushes of one rank that have not ended ([`Rma::flush_peer`](crate::Rma::flush_peer)).
///
/// Operations have numbers in the order in which they start. A flush waits for the end of those with its peer
/// that have started before it, in whatever order they end.
///
/// # Cost
/// Each call looks at all flushes that wait.
#[derive(Debug, Default)]
pub struct Flushes {
    /// The oldest first.
    waiting: Vec<Flush>,
    /// Operations so far.
    started: u64,
}

#[derive(Debug)]
struct Flush {
    peer: u32,
    token: Token,
    /// The number of the last operation before it.
    last: u64,
    /// Operations that have not ended.
    left: usize,
}

impl Flushes {
    /// No flush.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            waiting: Vec::new(),
            started: 0,
        }
    }

    /// The number of an operation that starts now.
    pub const fn number(&mut self) -> u64 {
        self.started += 1;
        self.started
    }

    /// Starts the flush `token` of `peer`, with which `open` operations are in flight.
    pub fn begin(&mut self, peer: u32, open: usize, token: Token) {
        self.waiting.push(Flush {
            peer,
            token,
            last: self.started,
            left: open,
        });
    }

    /// Counts the end of operation `number` with `peer`.
    pub fn ended(&mut self, peer: u32, number: u64) {
        let waiting = self.waiting.iter_mut();
        for flush in waiting.filter(|flush| flush.peer == peer && number <= flush.last) {
            flush.left -= 1;
        }
    }

    /// Removes the oldest flush whose operations have all ended.
    pub fn complete(&mut self) -> Option<Token> {
        self.remove(|flush| flush.left == 0)
    }

    /// Removes the oldest flush of `peer`, which is lost.
    pub fn lose(&mut self, peer: u32) -> Option<Token> {
        self.remove(|flush| flush.peer == peer)
    }

    fn remove(&mut self, which: impl Fn(&Flush) -> bool) -> Option<Token> {
        let at = self.waiting.iter().position(which)?;
        Some(self.waiting.remove(at).token)
    }

    /// Whether a flush is complete.
    #[must_use]
    pub fn has_complete(&self) -> bool {
        self.waiting.iter().any(|flush| flush.left == 0)
    }

    /// Number of flushes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
