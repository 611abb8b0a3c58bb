//! The receiving half.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oxmpi_os::RawBytes;
use oxmpi_os::epoll::{Epoll, Events};
use oxmpi_os::tcp::{Listener, Stream};
use oxmpi_wire::{Bytes, Fault, Holds, Peer, Rx, Sink, Sleeper};

use super::Key;
use super::bulk::index;
use super::entrance::Entrance;
use super::incoming::Incoming;
use super::site::{Cards, Options};
use super::tx::TcpTx;
use crate::address::Card;
use crate::door::JobKey;
use crate::frame::{Control, Inbox};
use crate::pulse::{Stall, Verdict, is_silent};

/// Bytes that a connection within the host lets wait in the kernel, doubled by that: half of a second-level
/// cache or less. More made messages from 1 MiB on slower by 5 to 10 % (Intel Cascade Lake).
const AT_HOME: usize = 256 << 10;

/// Polls between two looks at the clock, where nothing else asks for one. A power of two.
const LOOK: u32 = 1024;

/// Longest sleep: then calls and the peers' hosts are looked at.
const NAP: Duration = Duration::from_millis(100);

/// The receiving half of a rank's connections.
///
/// It can be waited for as a descriptor: readable means that a poll may bring something, once
/// [`Sleeper::arm`] has said true.
pub struct TcpRx<B: Bytes = RawBytes> {
    epoll: Epoll,
    /// What the last wait told and no poll has seen yet.
    events: Events,
    entrance: Entrance,
    /// By peer.
    peers: Vec<Option<Box<Incoming>>>,
    /// Peers from which something may come, in turn.
    listed: VecDeque<u32>,
    options: Options,
    polls: u32,
    /// When the peers' hosts were looked at last.
    looked: Instant,
    /// When the streams were.
    listened: Instant,
    /// The last poll left nothing to do.
    quiet: bool,
    bytes: std::marker::PhantomData<fn(B)>,
}

impl<B: Bytes> fmt::Debug for TcpRx<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpRx").finish_non_exhaustive()
    }
}

impl<B: Bytes> AsFd for TcpRx<B> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl<B: Bytes> TcpRx<B> {
    pub(super) fn new(
        me: u32,
        cards: Cards,
        own: Card,
        listener: Listener,
        key: JobKey,
        options: Options,
    ) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        let peers = cards.iter().map(|_| None).collect();
        let entrance = Entrance::new(me, cards, own, listener, key, options);
        epoll.watch_readable(entrance.listener(), Key::Listener.word())?;
        Ok(Self {
            epoll,
            events: Events::default(),
            entrance,
            peers,
            listed: VecDeque::new(),
            options,
            polls: 0,
            looked: Instant::now(),
            listened: Instant::now(),
            quiet: false,
            bytes: std::marker::PhantomData,
        })
    }

    /// Sleeps until something comes, for `limit` and 100 ms at most: after [`Sleeper::arm`] has said true.
    /// Then poll.
    pub fn nap(&mut self, limit: Duration) {
        // However the wait ends, the caller polls again.
        let _ = self.epoll.wait(&mut self.events, limit.min(NAP));
        self.polls = 0;
    }

    /// From now on a nap ends also when `alarm` is readable; as long as it is, [`Sleeper::arm`] says false.
    ///
    /// # Errors
    /// What the system says when nothing more can be watched.
    pub fn watch(&mut self, alarm: impl AsFd) -> io::Result<()> {
        self.epoll.watch_readable(alarm, Key::Alarm.word())
    }

    /// Polls until all that was sent is with the kernel, for `limit` at most; peers that were never
    /// connected to are, for that. Do so before a rank leaves. False: something still waits.
    pub fn drain<T: Holds<TcpTx<B>>, S: Sink<T>>(
        &mut self,
        tx: &mut T,
        limit: Duration,
        sink: &mut S,
    ) -> bool {
        let start = Instant::now();
        loop {
            let moved = self.poll(tx, u32::MAX, sink);
            if !tx.part().has_waiting() {
                return true;
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return false;
            }
            if moved == 0 && self.arm() {
                self.nap(left);
            }
        }
    }

    /// A connection to `peer` has been made.
    fn connected(&mut self, peer: u32, stream: Stream, tx: &mut TcpTx<B>) {
        let key = Key::Link(peer).word();
        let tuned = stream.tune(self.options.silence / 2);
        let tuned = tuned.and_then(|()| stream.tune_at_home(AT_HOME));
        if let Err(error) = tuned.and_then(|()| self.epoll.rename(&stream, key)) {
            return tx.broken(peer, &error);
        }
        let stream = Arc::new(stream);
        let inbox = Inbox::new(self.options.frame, self.options.chunk);
        tx.connected(peer, Arc::clone(&stream));
        self.peers[peer as usize] = Some(Box::new(Incoming::new(stream, inbox)));
        self.list(peer);
    }

    fn list(&mut self, peer: u32) {
        if let Some(incoming) = &mut self.peers[peer as usize]
            && !incoming.listed
        {
            incoming.listed = true;
            self.listed.push_back(peer);
        }
    }

    /// Looks at what there is to do: one system call.
    fn look(&mut self, tx: &mut TcpTx<B>) {
        if self.events.is_empty() {
            // What cannot be asked now is asked by the next poll.
            let _ = self.epoll.wait(&mut self.events, Duration::ZERO);
        }
        let events = std::mem::take(&mut self.events);
        for ready in events.iter() {
            match Key::of_word(ready.key) {
                Key::Listener => self.entrance.accept(&self.epoll),
                Key::Alarm => {}
                Key::Guest(number) => {
                    if let Some((peer, stream)) = self.entrance.hear(number, tx) {
                        self.connected(peer, stream, tx);
                    }
                }
                Key::Call(peer) => {
                    if let Some(stream) = self.entrance.answer(peer) {
                        self.connected(peer, stream, tx);
                    }
                }
                Key::Link(peer) => {
                    if ready.writable {
                        tx.writable(peer);
                    }
                    if ready.readable
                        && let Some(incoming) = &mut self.peers[peer as usize]
                    {
                        incoming.readable = true;
                        incoming.ended |= ready.ended;
                        self.list(peer);
                    }
                }
            }
        }
        self.events = events;
        self.events.clear();
    }

    /// What depends on time.
    fn tick(&mut self, tx: &mut TcpTx<B>) {
        self.entrance.tick(&self.epoll, tx);
        if self.polls & (LOOK - 1) == 0 {
            self.look_at_hosts(tx);
            self.look_at_streams(tx);
        }
        self.polls = self.polls.wrapping_add(1);
    }

    /// Gives up peers whose hosts do not answer.
    fn look_at_hosts(&mut self, tx: &mut TcpTx<B>) {
        if self.looked.elapsed() >= self.options.silence / 4 {
            self.looked = Instant::now();
            let silence = self.options.silence;
            self.entrance.hang_up(silence);
            let silent = |stream: &Stream| stream.pulse().is_ok_and(|p| is_silent(&p, silence));
            let open = tx.open().filter(|(_, stream)| silent(stream));
            let lost: Vec<u32> = open.map(|(peer, _)| peer).collect();
            for peer in lost {
                tx.lose(peer, Fault::Silent);
            }
        }
    }

    /// Asks peers whose streams bring nothing, and gives up those that do not answer, if that is wanted.
    fn look_at_streams(&mut self, tx: &mut TcpTx<B>) {
        let look = (self.options.stall).map(|limit| limit / u32::from(Stall::LOOKS));
        if look.is_none_or(|look| self.listened.elapsed() < look) {
            return;
        }
        self.listened = Instant::now();
        for (peer, incoming) in (0..).zip(&mut self.peers) {
            let Some(incoming) = incoming.as_mut().filter(|_| !tx.is_lost(peer)) else {
                continue;
            };
            match incoming.stall.look() {
                Verdict::Wait => {}
                Verdict::Ask => tx.answer(peer, Control::Ask),
                Verdict::Lost => tx.lose(peer, Fault::Silent),
            }
        }
    }

    /// Hands over what came from `peer`.
    fn receive<T: Holds<TcpTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        tx: &mut T,
        budget: u32,
        sink: &mut S,
    ) -> u32 {
        let Some(mut incoming) = self.peers[peer as usize].take() else {
            return 0;
        };
        let moved = incoming.receive(peer, tx, budget, sink);
        self.peers[peer as usize] = Some(incoming);
        moved
    }

    /// After the arrivals: answers go out, and the sink hears what has ended.
    fn finish<T: Holds<TcpTx<B>>, S: Sink<T>>(&mut self, tx: &mut T, sink: &mut S) -> u32 {
        let mut moved = tx.part().advance();
        let mut number = 0;
        while let Some(peer) = tx.part().loss(number) {
            // Given up, with or without anything that came from it.
            if let Some(incoming) = self.peers[peer as usize].take() {
                incoming.end(tx.part());
            }
            number += 1;
        }
        moved += TcpTx::tell(tx, sink);
        self.quiet = moved == 0 && self.listed.is_empty() && !tx.part().has_news();
        moved
    }
}

impl<B: Bytes, T: Holds<TcpTx<B>>> Rx<T> for TcpRx<B> {
    /// # Cost
    /// One system call if nothing came, and at least one read for each peer from which something did.
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        self.tick(tx.part());
        self.look(tx.part());
        self.entrance.clear();
        let mut moved = 0;
        for _ in 0..self.listed.len() {
            if moved >= budget {
                break;
            }
            let Some(peer) = self.listed.pop_front() else {
                break;
            };
            if let Some(incoming) = &mut self.peers[peer as usize] {
                incoming.listed = false;
            }
            moved += self.receive(peer, tx, budget - moved, sink);
            let incoming = self.peers[peer as usize].as_ref();
            // Who used up the budget may have more, too.
            if moved >= budget || incoming.is_some_and(|incoming| incoming.pauses) {
                self.list(peer);
            }
        }
        moved + self.finish(tx, sink)
    }

    /// # Cost
    /// One read of that peer's connection; every 64th time all peers are looked at, and each time while
    /// something waits for room in the kernel on its way to that peer.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32 {
        let all = self.polls & 63 == 0 || tx.part().is_blocked(from.0);
        let known = self.peers[index(from)].as_mut();
        let Some(incoming) = known.filter(|_| !all) else {
            return self.poll(tx, 1, sink);
        };
        self.polls = self.polls.wrapping_add(1);
        incoming.readable = true;
        let moved = self.receive(from.0, tx, 1, sink);
        if moved > 0 {
            self.list(from.0);
        }
        moved + self.finish(tx, sink)
    }
}

impl<B: Bytes> Sleeper for TcpRx<B> {
    /// True once a poll has brought nothing and nothing has come since. Then a sleep of [`TcpRx::nap`]
    /// ends with the next arrival, and so does waiting for this value as a descriptor.
    ///
    /// # Cost
    /// One system call.
    fn arm(&mut self) -> bool {
        if self.events.is_empty() {
            let _ = self.epoll.wait(&mut self.events, Duration::ZERO);
        }
        self.quiet && self.events.is_empty()
    }
}
