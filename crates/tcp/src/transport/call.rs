//! This rank's call of one peer: attempts to connect by several ways, of which the first that is answered wins.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use oxmpi_os::host;
use oxmpi_os::tcp::Stream;
use oxmpi_wire::Fault;

use super::talk::{Ended, read, say};
use crate::address::{Reach, Way};
use crate::door::{Caller, Dial, JobKey, Next, Refusal, Turned, Who};
use crate::frame::Control;
use crate::pulse::is_silent;

/// A call under way.
#[derive(Debug)]
pub(super) struct Call {
    ways: Vec<Way>,
    dial: Dial,
    /// By way. An attempt that has a connection stays while other ways are tried: a rank that computes for long
    /// answers late, and a stranger never.
    attempts: Vec<Option<Attempt>>,
    /// The way whose attempt is waited for, before another one is tried.
    current: Option<usize>,
    /// Attempts in a row at which a host answered that nobody listens there.
    refusals: usize,
    /// The peer said that it has lost this rank.
    is_given_up: bool,
    /// Since when there is a connection on which nothing was said.
    unanswered: Option<u64>,
}

/// How an attempt is made and how long it may take; times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner<'a> {
    pub(super) key: &'a JobKey,
    pub(super) who: Who,
    /// The name of the peer's host.
    pub(super) host: &'a str,
    /// The peer's.
    pub(super) port: u16,
    /// Until a connection that brings nothing is asked for a sign of life.
    pub(super) idle: Duration,
    pub(super) patience: u64,
    /// How long an answer on one way is waited for before another way is tried.
    pub(super) greeting: u64,
    /// How long a peer may leave a connection unanswered.
    pub(super) stall: Option<u64>,
}

/// How it stands with a call.
#[derive(Debug)]
pub(super) enum Step {
    /// It goes on, and is to be looked at again at this time.
    Wait(u64),
    /// It has failed.
    Failed(Fault),
}

impl Call {
    /// Rounds over all ways in which hosts say that nobody listens, before they are believed.
    const ROUNDS: usize = 3;

    pub(super) fn new(ways: Vec<Way>, now: u64, patience: u64) -> Self {
        Self {
            dial: Dial::new(ways.len(), now, patience),
            attempts: ways.iter().map(|_| None).collect(),
            ways,
            current: None,
            refusals: 0,
            is_given_up: false,
            unanswered: None,
        }
    }

    /// Whether the peer may have let this rank in.
    pub(super) fn has_proved(&self) -> bool {
        let mut attempts = self.attempts.iter().flatten();
        attempts.any(|attempt| attempt.caller.has_proved())
    }

    /// What is to be done at `now`: attempts are made and given up. Sockets of new ones are to be watched.
    pub(super) fn step(
        &mut self,
        now: u64,
        manner: &Manner<'_>,
        watch: impl Fn(&Stream) -> io::Result<()>,
    ) -> Step {
        let stalled_at = self.stalled_at(manner);
        if self.is_in_vain() {
            return Step::Failed(self.why());
        }
        if now >= stalled_at {
            return Step::Failed(Fault::Silent);
        }
        if self.has_proved() {
            return Step::Wait(stalled_at);
        }
        if let Some(way) = self.current {
            if !self.dial.is_overdue(now) {
                return Step::Wait(stalled_at.min(self.dial.overdue_at()));
            }
            self.attempts[way].take_if(|attempt| !attempt.connected);
            self.refusals = 0;
            self.pass(now);
        }
        loop {
            match self.dial.next(now) {
                Next::GiveUp if self.is_alone() => return Step::Failed(self.why()),
                Next::GiveUp => self.persist(now, manner),
                Next::Wait(until) => return Step::Wait(stalled_at.min(until)),
                Next::Try(way) if self.attempts[way].is_some() => self.pass(now),
                Next::Try(way) => match Attempt::begin(&self.ways[way], manner, &watch) {
                    Ok(attempt) => {
                        self.attempts[way] = Some(attempt);
                        self.current = Some(way);
                        return Step::Wait(stalled_at.min(self.dial.overdue_at()));
                    }
                    Err(_) => self.pass(now),
                },
            }
        }
    }

    /// Something happened to an attempt. `Some`: it is a connection, and the call has ended.
    pub(super) fn answer(&mut self, now: u64, manner: &Manner<'_>) -> Option<Stream> {
        for way in 0..self.attempts.len() {
            let Some(attempt) = &mut self.attempts[way] else {
                continue;
            };
            let before = (attempt.connected, attempt.caller.has_proved());
            match attempt.go_on() {
                Ok(Outcome::Done) => return self.attempts[way].take().map(|done| done.stream),
                Ok(Outcome::Open) => {
                    let after = (attempt.connected, attempt.caller.has_proved());
                    if !before.0 && after.0 {
                        self.dial.connected(now, manner.greeting);
                        self.unanswered.get_or_insert(now);
                    }
                    if !before.1 && after.1 {
                        self.keep(way, now);
                    }
                }
                Err(why) => {
                    let (peer, host) = (manner.who.to, manner.host);
                    tracing::debug!(peer, host, %why, "a call failed");
                    self.end(way, &why, now);
                }
            }
        }
        None
    }

    /// The peer has answered on this way. It hears who calls by one connection only.
    fn keep(&mut self, way: usize, now: u64) {
        let kept = self.attempts[way].take();
        self.attempts.fill_with(|| None);
        self.attempts[way] = kept;
        self.current = Some(way);
        self.unanswered = Some(now);
    }

    /// An attempt has failed.
    fn end(&mut self, way: usize, why: &Ended, now: u64) {
        self.attempts[way] = None;
        let refusals = if why.is_refusal() {
            self.refusals + 1
        } else {
            0
        };
        self.refusals = refusals;
        match why {
            Ended::Turned(Turned::Refused(Refusal::Twin)) => {
                self.dial.refused(now);
                self.current = None;
            }
            Ended::Turned(Turned::Refused(Refusal::Lost)) => self.is_given_up = true,
            _ if self.current == Some(way) => self.pass(now),
            _ => {}
        }
        if self.is_alone() {
            self.unanswered = None;
        }
    }

    /// The next way.
    fn pass(&mut self, now: u64) {
        self.current = None;
        self.dial.failed(now);
    }

    /// Gives up attempts whose other end's host has been silent for `limit`.
    pub(super) fn hang_up(&mut self, now: u64, limit: Duration) {
        for way in 0..self.attempts.len() {
            let silent = |attempt: &mut Attempt| {
                let pulse = attempt.stream.pulse();
                attempt.connected && pulse.is_ok_and(|pulse| is_silent(&pulse, limit))
            };
            if self.attempts[way].take_if(silent).is_some() {
                self.end(way, &Ended::Silent, now);
            }
        }
    }

    /// Says farewell to a host that may have let this rank in, which has not heard so yet.
    pub(super) fn farewell(&self) {
        let attempts = self.attempts.iter().flatten();
        for attempt in attempts.filter(|attempt| attempt.caller.has_proved()) {
            let (head, body) = (Control::Leave.header().bytes(), Control::Leave.bytes());
            // Who turned this rank away does not listen.
            let _ = attempt.stream.write([&head, &body, &[]]);
        }
    }

    /// Whether there is no connection at all, nor is one being made.
    fn is_alone(&self) -> bool {
        self.attempts.iter().all(Option::is_none)
    }

    /// Calls on although the time is over: somebody has taken the connection, which may be the peer.
    fn persist(&mut self, now: u64, manner: &Manner<'_>) {
        let (peer, host) = (manner.who.to, manner.host);
        tracing::info!(
            peer,
            host,
            "connected, but not answered yet: the rank makes no call, or another program listens there"
        );
        self.dial.renew(now, manner.patience);
    }

    /// When a peer that does not answer counts as lost, if that is asked for.
    fn stalled_at(&self, manner: &Manner<'_>) -> u64 {
        let end = self.unanswered.zip(manner.stall);
        end.map_or(u64::MAX, |(since, stall)| since.saturating_add(stall))
    }

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
        let enough = Self::ROUNDS * self.ways.len();
        !self.ways.is_empty() && self.refusals >= enough && self.is_alone()
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

/// What became of an attempt.
enum Outcome {
    /// It goes on.
    Open,
    /// It has ended well.
    Done,
}

impl Attempt {
    fn begin(
        way: &Way,
        manner: &Manner<'_>,
        watch: impl Fn(&Stream) -> io::Result<()>,
    ) -> io::Result<Self> {
        let stream = Stream::connect(SocketAddr::new(way.to, manner.port), way.from)?;
        stream.tune(manner.idle)?;
        let caller = Caller::new(manner.key.clone(), manner.who, host::random()?);
        watch(&stream)?;
        Ok(Self {
            stream,
            caller,
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
