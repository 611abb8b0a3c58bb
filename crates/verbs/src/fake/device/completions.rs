//! Completion queues, whose completions become visible after some polls.

use super::status;
use crate::ffi::ibv_wc;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::os::unix::net::UnixDatagram;

/// The queue pair of a completion, and whether it is of its send queue.
type Entry = (u32, bool, ibv_wc);

/// A completion queue.
pub(super) struct Queue {
    /// The address of the C object, which is in each event.
    address: usize,
    /// With the number of the poll that finds it.
    entries: VecDeque<(u64, Entry)>,
    /// The most entries that nobody has polled.
    depth: usize,
    polls: u64,
    is_armed: bool,
    doorbell: Option<UnixDatagram>,
}

impl Queue {
    pub(super) fn new(address: usize, doorbell: Option<UnixDatagram>, depth: c_int) -> Self {
        Self {
            address,
            entries: VecDeque::new(),
            depth: depth as usize,
            polls: 0,
            is_armed: false,
            doorbell,
        }
    }

    pub(super) fn resize(&mut self, depth: c_int) {
        self.depth = depth as usize;
    }

    pub(super) const fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn arm(&mut self) {
        self.is_armed = true;
    }

    pub(super) fn push(&mut self, entry: Entry, delay: u64) {
        self.entries.push_back((self.polls + 1 + delay, entry));
        assert!(
            self.entries.len() <= self.depth,
            "a completion queue of {} overflows",
            self.depth
        );
        if std::mem::take(&mut self.is_armed)
            && let Some(doorbell) = &self.doorbell
        {
            let event = self.address.to_ne_bytes();
            doorbell.send(&event).expect("the test takes events");
        }
    }

    /// Takes a visible completion before which none of the same queue of a queue pair is left.
    pub(super) fn poll(&mut self, first: bool) -> Option<Entry> {
        self.polls += u64::from(first);
        let mut waiting: Vec<(u32, bool)> = Vec::new();
        for at in 0..self.entries.len() {
            let (visible, (pair, is_send, _)) = self.entries[at];
            if visible <= self.polls && !waiting.contains(&(pair, is_send)) {
                return self.entries.remove(at).map(|(_, entry)| entry);
            }
            waiting.push((pair, is_send));
        }
        None
    }

    /// Lets the sends of a queue pair fail whose completions nobody has found, but the first `kept` of them. Returns
    /// whether there are any.
    pub(super) fn lose_answers(&mut self, pair: u32, kept: usize) -> bool {
        let of_pair = |(_, (of, is_send, _)): &&mut (u64, Entry)| *of == pair && *is_send;
        let mut failed = status::RETRY_EXC_ERR;
        for (_, (.., completion)) in self.entries.iter_mut().filter(of_pair).skip(kept) {
            completion.status = std::mem::replace(&mut failed, status::WR_FLUSH_ERR);
        }
        failed == status::WR_FLUSH_ERR
    }

    /// The sends of a queue pair whose completions nobody has found.
    pub(super) fn unanswered(&self, pair: u32) -> usize {
        let of_pair = |(_, (of, is_send, _)): &&(u64, Entry)| *of == pair && *is_send;
        self.entries.iter().filter(of_pair).count()
    }

    /// Drops the completions of the send queue of a queue pair.
    pub(super) fn forget_sends(&mut self, pair: u32) {
        self.entries
            .retain(|(_, (of, is_send, _))| *of != pair || !is_send);
    }

    /// Drops the completions of a queue pair.
    pub(super) fn forget(&mut self, pair: u32) {
        self.entries.retain(|(_, (of, ..))| *of != pair);
    }
}
