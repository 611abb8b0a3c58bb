//! How connections come to be: callers that are greeted, and this rank's own calls.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use oxmpi_os::epoll::Epoll;
use oxmpi_os::host;
use oxmpi_os::tcp::{Listener, Stream};
use oxmpi_wire::Bytes;

use super::call::{Call, Manner, Step};
use super::site::{Cards, Options};
use super::talk::{Ended, read, say};
use super::tx::{TcpTx, host_of};
use super::{Key, OPERATIONS};
use crate::address::{Card, ways};
use crate::door::{Host, JobKey, Standing, Verdict, Waiting, Who, judge};
use crate::log::warn;

/// Connections that one poll accepts at most.
const AT_ONCE: usize = OPERATIONS / 4;

/// Milliseconds between two tries to accept a connection, where there is no room for one.
const FULL: u64 = 100;

/// A door at which callers are greeted, and the calls of this rank.
#[derive(Debug)]
pub(super) struct Entrance {
    me: u32,
    key: JobKey,
    listener: Listener,
    own: Card,
    cards: Cards,
    options: Options,
    guests: Waiting<Guest>,
    guest: u64,
    calls: BTreeMap<u32, Call>,
    /// When a call is to be looked at, if nothing happens to it before.
    wake: u64,
    began: Instant,
    turned: u64,
    /// No connection could be accepted since one was: nobody looks at the listener until then.
    full: Option<u64>,
}

/// A caller that is not let in yet.
#[derive(Debug)]
struct Guest {
    stream: Stream,
    from: SocketAddr,
    host: Host,
}

impl Entrance {
    pub(super) fn new(
        me: u32,
        cards: Cards,
        own: Card,
        listener: Listener,
        key: JobKey,
        options: Options,
    ) -> Self {
        let patience = options.greeting.as_millis() as u64;
        Self {
            me,
            key,
            listener,
            own,
            cards,
            guests: Waiting::new(options.guests as usize, patience),
            options,
            guest: 0,
            calls: BTreeMap::new(),
            wake: 0,
            began: Instant::now(),
            turned: 0,
            full: None,
        }
    }

    pub(super) const fn listener(&self) -> &Listener {
        &self.listener
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Somebody connects.
    pub(super) fn accept(&mut self, epoll: &Epoll) {
        for _ in 0..AT_ONCE {
            let (stream, from) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Out of descriptors, say: those who came first make room.
                Err(_) if self.guests.yield_place().is_some() => continue,
                Err(error) => return self.pause(&error, epoll),
            };
            self.full = None;
            if !self.is_offered(&stream) {
                self.turn_away(&from, &"it came by an interface that is not to be used");
                continue;
            }
            let Ok(nonce) = host::random() else {
                return;
            };
            self.guest += 1;
            let ranks = self.cards.len() as u32;
            let host = Host::new(self.key.clone(), self.me, ranks, nonce);
            if epoll.watch(&stream, Key::Guest(self.guest).word()).is_err() {
                continue;
            }
            let guest = Guest { stream, from, host };
            if let Some(gone) = self.guests.enter(self.guest, guest, self.now()) {
                self.turn_away(&gone.from, &"others came while it said nothing");
            }
        }
    }

    /// No connection can be accepted. It would be told of for ever, so the listener is not watched for a while.
    fn pause(&mut self, error: &io::Error, epoll: &Epoll) {
        if self.full.is_none() {
            let what = format_args!("connections cannot be accepted: {error}");
            warn(self.me, self.options.log, what);
        }
        // Who cannot forget it is told again.
        let _ = epoll.forget(&self.listener);
        self.full = Some(self.now() + FULL);
    }

    /// Watches the listener again after a pause. The end of the trouble is the next connection.
    fn resume(&mut self, epoll: &Epoll) {
        let now = self.now();
        if self.full.is_some_and(|until| now >= until) {
            self.full = Some(u64::MAX);
            if epoll
                .watch_readable(&self.listener, Key::Listener.word())
                .is_err()
            {
                self.full = Some(now + FULL);
            }
        }
    }

    /// Whether a connection came to an address that this rank offers.
    fn is_offered(&self, stream: &Stream) -> bool {
        let addresses = &self.own.addresses;
        let offers = |at: SocketAddr| addresses.iter().any(|subnet| subnet.address == at.ip());
        stream.local().is_ok_and(offers)
    }

    /// Gives up attempts whose other end's host has been silent for `limit`. What was said to it is
    /// waited for as long as it lives.
    pub(super) fn hang_up(&mut self, limit: Duration) {
        let now = self.now();
        for call in self.calls.values_mut() {
            call.hang_up(now, limit);
        }
        self.wake = 0;
    }

    /// One line of log for each of the first, and then for ever fewer of them.
    fn turn_away(&mut self, from: &SocketAddr, why: &dyn std::fmt::Display) {
        self.turned += 1;
        if self.turned <= 16 || self.turned.is_power_of_two() {
            let what = format_args!(
                "a connection from {from} is turned away ({} so far): {why}",
                self.turned
            );
            warn(self.me, self.options.log, what);
        }
    }

    /// Guest `number` says something. `Some`: it is a peer, and let in.
    pub(super) fn hear<B: Bytes>(&mut self, number: u64, tx: &TcpTx<B>) -> Option<(u32, Stream)> {
        let guest = self.guests.get(number)?;
        let who = match guest.hear() {
            Ok(None) => return None,
            Ok(Some(who)) => who,
            Err(why) => {
                let guest = self.guests.leave(number)?;
                if why.is_end() {
                    // Who has said nothing wrong may be a peer that leaves the job.
                    tracing::info!(from = %guest.from, %why, "a caller has given its call up");
                } else {
                    self.turn_away(&guest.from, &why);
                }
                return None;
            }
        };
        let mut guest = self.guests.leave(number)?;
        let verdict = judge(self.me, who.from, self.standing(who.from, tx));
        guest.host.conclude(verdict);
        let told = guest.say();
        if verdict != Verdict::Welcome || told.is_err() {
            return None;
        }
        self.calls.remove(&who.from);
        Some((who.from, guest.stream))
    }

    /// How this rank stands with `peer`, whose call has come.
    fn standing<B: Bytes>(&self, peer: u32, tx: &TcpTx<B>) -> Standing {
        match tx.standing(peer) {
            Standing::Calling if self.calls.get(&peer).is_some_and(Call::has_proved) => {
                Standing::Proved
            }
            other => other,
        }
    }

    /// Calls `peer`.
    pub(super) fn call(&mut self, peer: u32) {
        let theirs = self.cards[peer as usize].get();
        let theirs = theirs.map_or(&[][..], |card| &card.addresses);
        let ways = ways(&self.own.addresses, theirs);
        let patience = self.options.patience.as_millis() as u64;
        let call = Call::new(ways, self.now(), patience);
        self.calls.insert(peer, call);
        self.wake = 0;
    }

    /// Something happened to the call of `peer`. `Some`: it is a connection.
    pub(super) fn answer(&mut self, peer: u32) -> Option<Stream> {
        let now = self.now();
        let manner = manner(self.me, peer, &self.key, &self.cards, &self.options);
        let stream = self.calls.get_mut(&peer)?.answer(now, &manner);
        if stream.is_some() {
            self.calls.remove(&peer);
        }
        self.wake = 0;
        stream
    }

    /// Callers whose time is over go: once what they said has been heard.
    pub(super) fn clear(&mut self) {
        if self.guests.is_empty() {
            return;
        }
        let now = self.now();
        while let Some(guest) = self.guests.overdue(now) {
            self.turn_away(&guest.from, &"it took too long to prove who it is");
        }
    }

    /// Does what is due: calls are made and given up.
    pub(super) fn tick<B: Bytes>(&mut self, epoll: &Epoll, tx: &mut TcpTx<B>) {
        while let Some(peer) = tx.take_wanted() {
            self.call(peer);
        }
        if self.full.is_some() {
            self.resume(epoll);
        }
        if self.calls.is_empty() {
            return;
        }
        let now = self.now();
        if now < self.wake {
            return;
        }
        self.wake = u64::MAX;
        let (me, key, cards, options) = (self.me, &self.key, &self.cards, &self.options);
        let wake = &mut self.wake;
        self.calls.retain(|&peer, call| {
            if tx.is_lost(peer) {
                return false;
            }
            let watch = |stream: &Stream| epoll.watch(stream, Key::Call(peer).word());
            match call.step(now, &manner(me, peer, key, cards, options), watch) {
                Step::Wait(until) => *wake = until.min(*wake),
                Step::Failed(why) => tx.lose(peer, why),
            }
            !tx.is_lost(peer)
        });
    }
}

/// How `me` calls `peer`.
fn manner<'a>(
    me: u32,
    peer: u32,
    key: &'a JobKey,
    cards: &'a Cards,
    options: &Options,
) -> Manner<'a> {
    let millis = |time: Duration| time.as_millis() as u64;
    Manner {
        key,
        who: Who { from: me, to: peer },
        host: host_of(cards, peer),
        port: cards[peer as usize].get().map_or(0, |card| card.port),
        idle: options.silence / 2,
        patience: millis(options.patience),
        greeting: millis(options.greeting),
        stall: options.stall.map(millis),
    }
}

impl Drop for Entrance {
    /// A host that has let this rank in, which has not heard so yet, hears its farewell: a connection that
    /// only ends is that of a process that died.
    fn drop(&mut self) {
        self.calls.values().for_each(Call::farewell);
    }
}

impl Guest {
    fn say(&mut self) -> Result<(), Ended> {
        let said = say(&self.stream, self.host.output())?;
        self.host.wrote(said);
        Ok(())
    }

    fn hear(&mut self) -> Result<Option<Who>, Ended> {
        while let Some(count) = read(&self.stream, self.host.input())? {
            let result = self.host.came(count);
            if !self.host.output().is_empty() {
                self.say()?;
            }
            if let Some(who) = result? {
                return Ok(Some(who));
            }
        }
        Ok(None)
    }
}
