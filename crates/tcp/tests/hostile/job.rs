//! [`Job`]: two sound ranks, and a third one that the test plays.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use oxmpi_os::RawBytes;
use oxmpi_tcp::handshake::{ClientHandshake, JobKey, RankPair};
use oxmpi_tcp::{BusinessCard, PassiveEndpoint, TcpOptions};
use oxmpi_testkit::conformance::EventLog;
use oxmpi_wire::{Fault, Rx, Tx};

use crate::common::{Rank, SECRET, WATCHDOG, listening, logs, send, until};

/// Two ranks of a job of three, and where rank 0 listens. Rank 2 is hostile: the test plays it.
pub(crate) struct Job {
    pub(crate) ranks: Vec<Rank<RawBytes>>,
    pub(crate) logs: Vec<EventLog>,
    pub(crate) address: SocketAddr,
    sent: u32,
}

pub(crate) const HOSTILE: u32 = 2;

impl Job {
    pub(crate) fn new(options: TcpOptions) -> Self {
        let listening: Vec<PassiveEndpoint> = (0..3).map(|_| listening(options)).collect();
        let cards: Vec<BusinessCard> = listening.iter().map(|rank| rank.card().clone()).collect();
        let address = SocketAddr::from(([127, 0, 0, 1], cards[0].port));
        let join =
            |(me, rank): (u32, PassiveEndpoint)| rank.join(me, cards.clone()).expect("a rank");
        let ranks = (0..).zip(listening).take(2).map(join).collect();
        Self {
            ranks,
            logs: logs(2),
            address,
            sent: 0,
        }
    }

    pub(crate) fn poll(&mut self) {
        for ((tx, rx), log) in self.ranks.iter_mut().zip(&mut self.logs) {
            tx.flush();
            rx.poll(tx, 64, log);
        }
    }

    /// Polls both ranks until `done`.
    pub(crate) fn poll_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            self.poll();
            assert!(start.elapsed() < WATCHDOG, "hangs: {what}");
        }
    }

    /// The two ranks exchange a message.
    pub(crate) fn goes_on(&mut self) {
        self.sent += 1;
        for me in 0..2 {
            send(&mut self.ranks[me], 1 - me as u32, self.sent);
        }
        let sent = self.sent as usize;
        let done = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| {
            let own = |(me, log): (usize, &EventLog)| {
                let frames = log.frames.iter().filter(|f| f.0.0 as usize == 1 - me);
                frames.count() == sent
            };
            logs.iter().enumerate().all(own)
        };
        until(&mut self.ranks, "the job goes on", done, &mut self.logs);
    }

    pub(crate) fn loss(&self) -> Option<Fault> {
        let lost = &self.logs[0].lost;
        assert!(lost.iter().all(|(peer, _)| peer.0 == HOSTILE), "{lost:?}");
        lost.first().map(|(_, why)| *why)
    }

    /// After some calls of `step` the hostile rank is lost for `rule`, and the job goes on.
    pub(crate) fn loses_hostile_for(
        &mut self,
        rule: &'static str,
        mut step: impl FnMut(&mut Self),
    ) {
        let start = Instant::now();
        while self.loss().is_none() {
            step(self);
            assert!(start.elapsed() < WATCHDOG, "hangs: {rule}");
        }
        assert_eq!(self.loss(), Some(Fault::Protocol(rule)));
        self.goes_on();
    }

    /// The hostile rank connects to rank 0 with the right key.
    pub(crate) fn join(&mut self) -> TcpStream {
        self.join_with(SECRET).expect("the key is right")
    }

    pub(crate) fn join_with(&mut self, secret: &[u8]) -> Option<TcpStream> {
        let ranks = RankPair {
            from: HOSTILE,
            to: 0,
        };
        let mut handshake = ClientHandshake::new(JobKey::new(secret), ranks, [3; 16]);
        let mut socket = TcpStream::connect(self.address).expect("rank 0 listens");
        socket.set_nonblocking(true).expect("a socket");
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < WATCHDOG, "hangs: joining");
            let len = handshake.output().len();
            if len > 0 {
                if socket.write_all(handshake.output()).is_err() {
                    return None;
                }
                handshake.sent(len);
            }
            self.poll();
            match socket.read(handshake.input()) {
                Ok(0) => return None,
                Ok(count) => match handshake.received(count) {
                    Ok(true) => return Some(socket),
                    Ok(false) => {}
                    Err(_) => return None,
                },
                Err(_) => {}
            }
        }
    }

    /// Writes `bytes` while rank 0 reads; stops when rank 0 closes.
    pub(crate) fn write(&mut self, socket: &mut TcpStream, mut bytes: &[u8]) {
        let start = Instant::now();
        while !bytes.is_empty() {
            assert!(start.elapsed() < WATCHDOG, "hangs: the victim reads");
            match socket.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return, // rank 0 has closed
            }
            self.poll();
        }
    }
}
