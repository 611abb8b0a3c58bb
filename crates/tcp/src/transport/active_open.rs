//! [`ActiveOpen`]: connects to one peer by several pairs of addresses, and keeps the first that the peer answers.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use oxmpi_os::host;
use oxmpi_os::tcp::Stream;
use oxmpi_wire::Fault;

use super::handshake_io::{ConnectError, read, write};
use crate::address::{AddressPair, Reachability};
use crate::frame::Control;
use crate::handshake::{
    ClientHandshake, ConnectSchedule, HandshakeError, JobKey, RankPair, Refusal, ScheduleStep,
};
use crate::liveness::is_unresponsive;

/// This rank's connect to one peer (an active open in TCP's terms). Times are in milliseconds.
#[derive(Debug)]
pub(super) struct ActiveOpen {
    pairs: Vec<AddressPair>,
    schedule: ConnectSchedule,
    /// By pair. A connected attempt stays while other pairs are tried: a rank that computes answers late,
    /// another program never.
    attempts: Vec<Option<ConnectAttempt>>,
    /// The pair whose attempt must end or time out before the next one begins.
    current: Option<usize>,
    /// Consecutive attempts that got ECONNREFUSED.
    refusals: usize,
    /// The peer answered that it has lost this rank.
    is_given_up: bool,
    /// Start of the time in which the peer has not answered a connection.
    unanswered: Option<u64>,
}

/// How an attempt is made and how long it may take; times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectParams<'a> {
    pub(super) key: &'a JobKey,
    pub(super) ranks: RankPair,
    /// The name of the peer's host.
    pub(super) host: &'a str,
    /// The peer's port.
    pub(super) port: u16,
    /// Idle time before the kernel probes a connection.
    pub(super) keepalive_idle: Duration,
    pub(super) connect_timeout: u64,
    /// How long one pair may leave a connection unanswered before another pair is tried.
    pub(super) handshake_timeout: u64,
    /// How long the peer may leave connections unanswered before it is lost.
    pub(super) stall_timeout: Option<u64>,
}

/// What [`ActiveOpen::step`] did.
#[derive(Debug)]
pub(super) enum OpenStep {
    /// It goes on: call it again at this time.
    Wait(u64),
    /// The peer cannot be reached.
    Failed(Fault),
}

impl ActiveOpen {
    /// Rounds of ECONNREFUSED from all pairs after which the peer's process counts as gone.
    const REFUSED_ROUNDS: usize = 3;

    pub(super) fn new(pairs: Vec<AddressPair>, now: u64, timeout: u64) -> Self {
        Self {
            schedule: ConnectSchedule::new(pairs.len(), now, timeout),
            attempts: pairs.iter().map(|_| None).collect(),
            pairs,
            current: None,
            refusals: 0,
            is_given_up: false,
            unanswered: None,
        }
    }

    /// Whether the peer may have accepted this rank.
    pub(super) fn is_authenticated(&self) -> bool {
        let mut attempts = self.attempts.iter().flatten();
        attempts.any(|attempt| attempt.handshake.is_authenticated())
    }

    /// Begins and gives up attempts as the time `now` demands. `watch` gets the sockets of new ones.
    pub(super) fn step(
        &mut self,
        now: u64,
        params: &ConnectParams<'_>,
        watch: impl Fn(&Stream) -> io::Result<()>,
    ) -> OpenStep {
        let stalled_at = self.stalled_at(params);
        if self.is_hopeless() {
            return OpenStep::Failed(self.fault());
        }
        if now >= stalled_at {
            return OpenStep::Failed(Fault::Silent);
        }
        if self.is_authenticated() {
            return OpenStep::Wait(stalled_at);
        }
        if let Some(pair) = self.current {
            if !self.schedule.is_overdue(now) {
                return OpenStep::Wait(stalled_at.min(self.schedule.overdue_at()));
            }
            self.attempts[pair].take_if(|attempt| !attempt.connected);
            self.refusals = 0;
            self.next_pair(now);
        }
        loop {
            match self.schedule.next(now) {
                ScheduleStep::GiveUp if self.has_no_attempt() => {
                    return OpenStep::Failed(self.fault());
                }
                ScheduleStep::GiveUp => self.persist(now, params),
                ScheduleStep::Wait(until) => return OpenStep::Wait(stalled_at.min(until)),
                ScheduleStep::Try(pair) if self.attempts[pair].is_some() => self.next_pair(now),
                ScheduleStep::Try(pair) => {
                    match ConnectAttempt::begin(&self.pairs[pair], params, &watch) {
                        Ok(attempt) => {
                            self.attempts[pair] = Some(attempt);
                            self.current = Some(pair);
                            return OpenStep::Wait(stalled_at.min(self.schedule.overdue_at()));
                        }
                        Err(_) => self.next_pair(now),
                    }
                }
            }
        }
    }

    /// Handles an event of an attempt's socket. `Some`: it is the connection, and this open has ended.
    pub(super) fn ready(&mut self, now: u64, params: &ConnectParams<'_>) -> Option<Stream> {
        for pair in 0..self.attempts.len() {
            let Some(attempt) = &mut self.attempts[pair] else {
                continue;
            };
            let before = (attempt.connected, attempt.handshake.is_authenticated());
            match attempt.proceed() {
                Ok(true) => return self.attempts[pair].take().map(|done| done.stream),
                Ok(false) => {
                    let after = (attempt.connected, attempt.handshake.is_authenticated());
                    if !before.0 && after.0 {
                        self.schedule.connected(now, params.handshake_timeout);
                        self.unanswered.get_or_insert(now);
                    }
                    if !before.1 && after.1 {
                        self.keep_only(pair, now);
                    }
                }
                Err(why) => {
                    let (peer, host) = (params.ranks.to, params.host);
                    tracing::debug!(peer, host, %why, "an attempt to connect failed");
                    self.attempt_failed(pair, &why, now);
                }
            }
        }
        None
    }

    /// Drops all attempts but that of this pair, which the peer has answered.
    fn keep_only(&mut self, pair: usize, now: u64) {
        let kept = self.attempts[pair].take();
        self.attempts.fill_with(|| None);
        self.attempts[pair] = kept;
        self.current = Some(pair);
        self.unanswered = Some(now);
    }

    fn attempt_failed(&mut self, pair: usize, why: &ConnectError, now: u64) {
        self.attempts[pair] = None;
        self.refusals = match why.is_connection_refused() {
            true => self.refusals + 1,
            false => 0,
        };
        match why {
            ConnectError::Handshake(HandshakeError::Refused(Refusal::Duplicate)) => {
                self.schedule.yielded(now);
                self.current = None;
            }
            ConnectError::Handshake(HandshakeError::Refused(Refusal::GivenUp)) => {
                self.is_given_up = true;
            }
            _ if self.current == Some(pair) => self.next_pair(now),
            _ => {}
        }
        if self.has_no_attempt() {
            self.unanswered = None;
        }
    }

    fn next_pair(&mut self, now: u64) {
        self.current = None;
        self.schedule.failed(now);
    }

    /// Gives up connected attempts whose host has not answered for `limit`.
    pub(super) fn check_hosts(&mut self, now: u64, limit: Duration) {
        for pair in 0..self.attempts.len() {
            let is_lost = |attempt: &mut ConnectAttempt| {
                let info = attempt.stream.tcp_info();
                attempt.connected && info.is_ok_and(|info| is_unresponsive(&info, limit))
            };
            if self.attempts[pair].take_if(is_lost).is_some() {
                self.attempt_failed(pair, &ConnectError::HostTimeout, now);
            }
        }
    }

    /// Sends a leave to a peer that may have accepted this rank.
    pub(super) fn leave(&self) {
        let attempts = self.attempts.iter().flatten();
        for attempt in attempts.filter(|attempt| attempt.handshake.is_authenticated()) {
            let (head, body) = (Control::Leave.header().bytes(), Control::Leave.bytes());
            // An error does not matter: a peer that refused this rank has closed.
            let _ = attempt.stream.write([&head, &body, &[]]);
        }
    }

    /// Whether no socket is connected or connecting.
    fn has_no_attempt(&self) -> bool {
        self.attempts.iter().all(Option::is_none)
    }

    /// Continues after the time limit: a process has accepted the connection, perhaps the peer.
    fn persist(&mut self, now: u64, params: &ConnectParams<'_>) {
        let (peer, host) = (params.ranks.to, params.host);
        tracing::info!(
            peer,
            host,
            "the connection is made but not answered yet: the rank makes no call, or another program listens at its address"
        );
        self.schedule.renew(now, params.connect_timeout);
    }

    /// When a peer that does not answer counts as lost, if there is a stall timeout.
    fn stalled_at(&self, params: &ConnectParams<'_>) -> u64 {
        let end = self.unanswered.zip(params.stall_timeout);
        end.map_or(u64::MAX, |(since, limit)| since.saturating_add(limit))
    }

    /// Why the peer cannot be reached.
    fn fault(&self) -> Fault {
        if self.is_given_up {
            Fault::Unreachable("it has given this rank up")
        } else if self.is_deserted() {
            Fault::Gone
        } else {
            Fault::Unreachable("none of its addresses answers")
        }
    }

    /// Whether the peer's port refuses connections. The peer listened before it published its card, so its
    /// process is gone.
    fn is_deserted(&self) -> bool {
        let enough = Self::REFUSED_ROUNDS * self.pairs.len();
        !self.pairs.is_empty() && self.refusals >= enough && self.has_no_attempt()
    }

    /// Whether no further attempt can succeed: the peer counts this rank as lost, or its port on this host refuses.
    /// A firewall may refuse for another host, from which the peer can still connect to this rank.
    fn is_hopeless(&self) -> bool {
        let is_here = |pair: &AddressPair| pair.reachability == Reachability::SameAddress;
        self.is_given_up || (self.is_deserted() && self.pairs.iter().all(is_here))
    }
}

/// A socket that connects by one pair of addresses.
#[derive(Debug)]
struct ConnectAttempt {
    stream: Stream,
    handshake: ClientHandshake,
    connected: bool,
}

impl ConnectAttempt {
    fn begin(
        pair: &AddressPair,
        params: &ConnectParams<'_>,
        watch: impl Fn(&Stream) -> io::Result<()>,
    ) -> io::Result<Self> {
        let stream = Stream::connect(SocketAddr::new(pair.remote, params.port), pair.local)?;
        stream.tune(params.keepalive_idle)?;
        let handshake = ClientHandshake::new(params.key.clone(), params.ranks, host::random()?);
        watch(&stream)?;
        Ok(Self {
            stream,
            handshake,
            connected: false,
        })
    }

    /// Reads and writes the next messages of the handshake. True: the peer has accepted.
    fn proceed(&mut self) -> Result<bool, ConnectError> {
        if !self.connected {
            self.stream.outcome()?;
            let count = match write(&self.stream, self.handshake.output()) {
                Err(ConnectError::System(error)) if is_connecting(&error) => return Ok(false),
                result => result?,
            };
            self.handshake.sent(count);
            self.connected = true;
        }
        while let Some(count) = read(&self.stream, self.handshake.input())? {
            if self.handshake.received(count)? {
                return Ok(true);
            }
            if !self.handshake.output().is_empty() {
                let count = write(&self.stream, self.handshake.output())?;
                self.handshake.sent(count);
            }
        }
        Ok(false)
    }
}

/// Whether a socket is still connecting.
fn is_connecting(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected
    )
}
