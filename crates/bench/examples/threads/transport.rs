//! A communicator between threads of one process: each rank has one channel, into which all ranks send.
//!
//! It has the transport methods and windows; its collectives are the default ones of [`Comm`] and [`Nonblocking`].

#[path = "windows.rs"]
mod windows;

use oxmpi_bench::{Comm, Nonblocking, Source};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;
use windows::Exposed;

/// A message in a channel: the sender's rank in the world, the communicator, the tag, the data.
struct Message {
    from: usize,
    context: u64,
    tag: u32,
    data: Vec<u8>,
    /// The sender's memory in a window that is being made.
    exposed: Option<Exposed>,
}

/// A rank's ends of all channels, shared by its communicators.
struct Endpoint {
    me: usize,
    peers: Vec<Sender<Message>>,
    inbox: Receiver<Message>,
    /// Messages that arrived before their receive.
    early: RefCell<VecDeque<Message>>,
    start: Instant,
}

/// A communicator of threads.
pub(crate) struct Threads {
    endpoint: Rc<Endpoint>,
    /// The world rank of each member.
    members: Vec<usize>,
    rank: usize,
    context: u64,
    splits: u64,
}

/// An error of this transport.
#[derive(Debug)]
pub(crate) enum ThreadError {
    /// A peer's thread has ended.
    Gone,
    /// A message of `got` bytes arrived for a buffer of exactly `room` bytes.
    Length { got: usize, room: usize },
}

impl std::fmt::Display for ThreadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gone => f.write_str("a peer has ended"),
            Self::Length { got, room } => write!(f, "{got} bytes came into room for {room}"),
        }
    }
}

/// The tag of the messages by which ranks split a communicator.
const SPLIT: u32 = u32::MAX;

/// Runs `body` on `ranks` threads, each with its rank of a new world; returns their results in the order of
/// ranks.
pub(crate) fn run<R: Send>(ranks: usize, body: impl Fn(Threads) -> R + Sync) -> Vec<R> {
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
    let start = Instant::now();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (me, inbox) in inboxes.into_iter().enumerate() {
            let (peers, body) = (senders.clone(), &body);
            threads.push(scope.spawn(move || {
                let early = RefCell::default();
                let endpoint = Rc::new(Endpoint {
                    me,
                    peers,
                    inbox,
                    early,
                    start,
                });
                let members = (0..ranks).collect();
                body(Threads {
                    endpoint,
                    members,
                    rank: me,
                    context: 0,
                    splits: 0,
                })
            }));
        }
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a rank panicked"))
            .collect()
    })
}

impl Threads {
    /// Sends a message, which is copied and never blocks.
    fn post(
        &self,
        to: usize,
        tag: u32,
        data: Vec<u8>,
        exposed: Option<Exposed>,
    ) -> Result<(), ThreadError> {
        let message = Message {
            from: self.endpoint.me,
            context: self.context,
            tag,
            data,
            exposed,
        };
        self.endpoint.peers[self.members[to]]
            .send(message)
            .map_err(|_| ThreadError::Gone)
    }

    fn take(&self, from: Source, tag: u32) -> Result<Message, ThreadError> {
        let fits = |message: &Message| {
            let known = match from {
                Source::Any => true,
                Source::Rank(rank) => message.from == self.members[rank],
            };
            known && message.tag == tag && message.context == self.context
        };
        let mut early = self.endpoint.early.borrow_mut();
        let at = early.iter().position(fits);
        if let Some(message) = at.and_then(|at| early.remove(at)) {
            return Ok(message);
        }
        loop {
            let message = self.endpoint.inbox.recv().map_err(|_| ThreadError::Gone)?;
            if fits(&message) {
                return Ok(message);
            }
            early.push_back(message);
        }
    }
}

/// A started collective takes place when it is waited for.
impl Nonblocking for Threads {}

impl Comm for Threads {
    type Error = ThreadError;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn now(&self) -> u64 {
        self.endpoint.start.elapsed().as_nanos() as u64
    }

    fn send(&mut self, bytes: &[u8], to: usize, tag: u32) -> Result<(), ThreadError> {
        self.post(to, tag, bytes.to_vec(), None)
    }

    fn recv(&mut self, into: &mut [u8], from: Source, tag: u32) -> Result<(), ThreadError> {
        let data = self.take(from, tag)?.data;
        if data.len() != into.len() {
            return Err(ThreadError::Length {
                got: data.len(),
                room: into.len(),
            });
        }
        into.copy_from_slice(&data);
        Ok(())
    }

    fn exchange<const N: usize>(
        &mut self,
        sends: [(&[u8], usize); N],
        receives: [(&mut [u8], Source); N],
        tag: u32,
    ) -> Result<(), ThreadError> {
        for (bytes, to) in sends {
            self.send(bytes, to, tag)?;
        }
        for (into, from) in receives {
            self.recv(into, from, tag)?;
        }
        Ok(())
    }

    /// Every rank sends every rank its group and key.
    fn split(&mut self, group: Option<u32>, key: u32) -> Result<Option<Self>, ThreadError> {
        let mine = group.map_or(u64::MAX, u64::from).to_le_bytes();
        let words = [mine, u64::from(key).to_le_bytes()];
        for rank in 0..self.size() {
            self.send(words.as_flattened(), rank, SPLIT)?;
        }
        let mut keyed = Vec::new();
        for rank in 0..self.size() {
            let mut theirs = [[0; 8]; 2];
            self.recv(theirs.as_flattened_mut(), Source::Rank(rank), SPLIT)?;
            if theirs[0] == mine {
                keyed.push((u64::from_le_bytes(theirs[1]), self.members[rank]));
            }
        }
        // The sort is stable: ranks with equal keys keep their order.
        keyed.sort_by_key(|&(key, _)| key);
        let members: Vec<usize> = keyed.into_iter().map(|(_, member)| member).collect();
        self.splits += 1;
        if group.is_none() {
            return Ok(None);
        }
        // Groups of one split are disjoint, so they may share a context.
        let context = self.context * 1024 + self.splits;
        let rank = members
            .iter()
            .take_while(|&&member| member != self.endpoint.me)
            .count();
        Ok(Some(Threads {
            endpoint: Rc::clone(&self.endpoint),
            members,
            rank,
            context,
            splits: 0,
        }))
    }
}
