//! How connections come to be: callers that are greeted, and this rank's own calls.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use oxmpi_os::epoll::Epoll;
use oxmpi_os::host;
use oxmpi_os::tcp::{Listener, Stream};
use oxmpi_wire::{Bytes, Fault};

use super::site::{Cards, Options};
use super::tx::{TcpTx, host_of};
use super::{Key, OPERATIONS};
use crate::address::{Card, Reach, Way, ways};
use crate::door::{
    Caller, Dial, Host, JobKey, Next, Refusal, Standing, Turned, Verdict, Waiting, Who, judge,
};
use crate::frame::Control;
use crate::pulse::is_silent;

/// Connections that one poll accepts at most.
const AT_ONCE: usize = OPERATIONS / 4;

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
}

/// A caller that is not let in yet.
#[derive(Debug)]
struct Guest {
    stream: Stream,
    from: SocketAddr,
    host: Host,
}

/// This rank's call of a peer.
#[derive(Debug)]
struct Call {
    ways: Vec<Way>,
    dial: Dial,
    attempt: Option<Attempt>,
    /// Attempts in a row at which a host answered that nobody listens there.
    refusals: usize,
    /// The peer said that it has lost this rank.
    is_given_up: bool,
}

impl Call {
    /// Rounds over all ways in which hosts say that nobody listens, before they are believed.
    const ROUNDS: usize = 3;

    /// Why the peer cannot be reached, as far as is known.
    fn why(&self) -> Fault {
        if self.is_given_up {
            Fault::Unreachable("it has given this rank up")
        } else if self.is_deserted() {
            Fault::Gone
        } else {
            Fault::Unreachable("none of its addresses answers")
        }
    }

    /// Whether nobody listens where the peer did, as is said there: ranks listen before others know where.
    fn is_deserted(&self) -> bool {
        !self.ways.is_empty() && self.refusals >= Self::ROUNDS * self.ways.len()
    }

    /// Whether to call on is in vain: the peer says so, or this very host says that nobody listens. In the name of
    /// another host a firewall may say it, from behind which the peer can still call: that counts as no answer.
    fn is_in_vain(&self) -> bool {
        let is_here = |way: &Way| way.reach == Reach::Same;
        self.is_given_up || (self.is_deserted() && self.ways.iter().all(is_here))
    }
}

#[derive(Debug)]
struct Attempt {
    stream: Stream,
    caller: Caller,
    connected: bool,
}

/// What became of a conversation.
enum Outcome {
    /// It goes on.
    Open,
    /// It has ended well.
    Done,
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
                Err(error) => {
                    if error.kind() != io::ErrorKind::WouldBlock {
                        // Out of descriptors, say: those who came first make room.
                        tracing::warn!(%error, "a connection cannot be accepted");
                        self.guests.yield_place();
                    }
                    return;
                }
            };
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
            let silent = |attempt: &Attempt| {
                let pulse = attempt.stream.pulse();
                attempt.connected && pulse.is_ok_and(|pulse| is_silent(&pulse, limit))
            };
            if call.attempt.as_ref().is_some_and(silent) {
                call.attempt = None;
                call.dial.failed(now);
                self.wake = 0;
            }
        }
    }

    /// One line of log for each of the first, and then for ever fewer of them.
    fn turn_away(&mut self, from: &SocketAddr, why: &dyn std::fmt::Display) {
        self.turned += 1;
        if self.turned <= 16 || self.turned.is_power_of_two() {
            tracing::warn!(%from, %why, turned = self.turned, "turned a connection away");
        }
    }

    /// Guest `number` says something. `Some`: it is a peer, and let in.
    pub(super) fn hear<B: Bytes>(&mut self, number: u64, tx: &TcpTx<B>) -> Option<(u32, Stream)> {
        let guest = self.guests.get(number)?;
        let who = match guest.hear() {
            Ok(None) => return None,
            Ok(Some(who)) => who,
            Err(why) => {
                let from = guest.from;
                self.guests.leave(number);
                self.turn_away(&from, &why);
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
        let call = self.calls.get(&peer);
        let attempt = call.and_then(|call| call.attempt.as_ref());
        match tx.standing(peer) {
            Standing::Calling if attempt.is_some_and(|a| a.caller.has_proved()) => Standing::Proved,
            other => other,
        }
    }

    /// Calls `peer`.
    pub(super) fn call(&mut self, peer: u32) {
        let theirs = self.cards[peer as usize].get();
        let theirs = theirs.map_or(&[][..], |card| &card.addresses);
        let ways = ways(&self.own.addresses, theirs);
        let patience = self.options.patience.as_millis() as u64;
        let dial = Dial::new(ways.len(), self.now(), patience);
        let call = Call {
            ways,
            dial,
            attempt: None,
            refusals: 0,
            is_given_up: false,
        };
        self.calls.insert(peer, call);
        self.wake = 0;
    }

    /// Something happened to the call of `peer`. `Some`: it is a connection.
    pub(super) fn answer(&mut self, peer: u32) -> Option<Stream> {
        let now = self.now();
        let call = self.calls.get_mut(&peer)?;
        let attempt = call.attempt.as_mut()?;
        match attempt.go_on() {
            Ok(Outcome::Open) => None,
            Ok(Outcome::Done) => {
                let attempt = call.attempt.take();
                self.calls.remove(&peer);
                attempt.map(|attempt| attempt.stream)
            }
            Err(why) => {
                call.attempt = None;
                call.refusals = if why.is_refusal() {
                    call.refusals + 1
                } else {
                    0
                };
                match why {
                    Ended::Turned(Turned::Refused(Refusal::Twin)) => call.dial.refused(now),
                    Ended::Turned(Turned::Refused(Refusal::Lost)) => call.is_given_up = true,
                    _ => {
                        call.dial.failed(now);
                        let host = host_of(&self.cards, peer);
                        tracing::debug!(peer, host, %why, "a call failed");
                    }
                }
                self.wake = 0;
                None
            }
        }
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
        if self.calls.is_empty() {
            return;
        }
        let now = self.now();
        if now < self.wake {
            return;
        }
        self.wake = u64::MAX;
        let peers: Vec<u32> = self.calls.keys().copied().collect();
        for peer in peers {
            if (tx.is_lost(peer) || !self.dial(peer, now, epoll))
                && let Some(call) = self.calls.remove(&peer)
            {
                tx.lose(peer, call.why());
            }
        }
    }

    /// Makes or gives up an attempt to reach `peer`; false: no way is left.
    fn dial(&mut self, peer: u32, now: u64, epoll: &Epoll) -> bool {
        let Some(call) = self.calls.get_mut(&peer) else {
            return true;
        };
        match &call.attempt {
            Some(attempt) if attempt.connected => return true,
            Some(_) if !call.dial.is_overdue(now) => {
                self.wake = self.wake.min(call.dial.overdue_at());
                return true;
            }
            Some(_) => call.dial.failed(now),
            None => {}
        }
        call.attempt = None;
        if call.is_in_vain() {
            return false;
        }
        loop {
            match call.dial.next(now) {
                Next::GiveUp => return false,
                Next::Wait(until) => {
                    self.wake = self.wake.min(until);
                    return true;
                }
                Next::Try(way) => {
                    let who = Who {
                        from: self.me,
                        to: peer,
                    };
                    let way = &call.ways[way];
                    let port = self.cards[peer as usize].get().map_or(0, |card| card.port);
                    let to = SocketAddr::new(way.to, port);
                    let idle = self.options.silence / 2;
                    let attempt = Attempt::begin(to, way, idle, self.key.clone(), who);
                    let watched = attempt.and_then(|attempt| {
                        epoll.watch(&attempt.stream, Key::Call(peer).word())?;
                        Ok(attempt)
                    });
                    match watched {
                        Ok(attempt) => {
                            call.attempt = Some(attempt);
                            self.wake = self.wake.min(call.dial.overdue_at());
                            return true;
                        }
                        Err(_) => call.dial.failed(now),
                    }
                }
            }
        }
    }
}

impl Drop for Entrance {
    /// A host that has let this rank in, which has not heard so yet, hears its farewell: a connection that
    /// only ends is that of a process that died.
    fn drop(&mut self) {
        let attempts = self.calls.values().filter_map(|call| call.attempt.as_ref());
        for attempt in attempts.filter(|attempt| attempt.caller.has_proved()) {
            let (head, body) = (Control::Leave.header().bytes(), Control::Leave.bytes());
            // Who turned this rank away does not listen.
            let _ = attempt.stream.write([&head, &body, &[]]);
        }
    }
}

/// Why a conversation ended before it was done.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(transparent)]
    Turned(#[from] Turned),
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("it closed the connection")]
    Closed,
}

impl Ended {
    /// Whether the host answered that nobody listens there.
    fn is_refusal(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::ConnectionRefused)
    }
}

/// Reads into `input`; `None`: nothing has come.
fn read(stream: &Stream, input: &mut [u8]) -> Result<Option<usize>, Ended> {
    match stream.read(input, &mut []) {
        Ok(0) => Err(Ended::Closed),
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes all of `output`, which a new socket always takes.
fn say(stream: &Stream, output: &[u8]) -> Result<usize, Ended> {
    match stream.write([output, &[], &[]])? {
        count if count == output.len() => Ok(count),
        _ => Err(Ended::Closed),
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

impl Attempt {
    fn begin(to: SocketAddr, way: &Way, idle: Duration, key: JobKey, who: Who) -> io::Result<Self> {
        let stream = Stream::connect(to, way.from)?;
        stream.tune(idle)?;
        Ok(Self {
            stream,
            caller: Caller::new(key, who, host::random()?),
            connected: false,
        })
    }

    fn go_on(&mut self) -> Result<Outcome, Ended> {
        if !self.connected {
            self.stream.outcome()?;
            let said = match say(&self.stream, self.caller.output()) {
                Err(Ended::System(error)) if is_early(&error) => return Ok(Outcome::Open),
                other => other?,
            };
            self.caller.wrote(said);
            self.connected = true;
        }
        while let Some(count) = read(&self.stream, self.caller.input())? {
            if self.caller.came(count)? {
                return Ok(Outcome::Done);
            }
            if !self.caller.output().is_empty() {
                let said = say(&self.stream, self.caller.output())?;
                self.caller.wrote(said);
            }
        }
        Ok(Outcome::Open)
    }
}

/// Whether a socket is not connected yet, nor has it failed.
fn is_early(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected
    )
}
