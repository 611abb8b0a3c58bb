//! [`HostileJob`]: two sound ranks, and a third one that the test plays.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::{Deref, DerefMut};
use std::time::Instant;

use oxmpi_tcp::handshake::{ClientHandshake, JobKey, RankPair};
use oxmpi_tcp::{BusinessCard, PassiveEndpoint, TcpOptions};
use oxmpi_wire::Fault;

use crate::common::{Job, SECRET, WATCHDOG, listening};

/// Two ranks of a job of three, and where rank 0 listens. Rank 2 is hostile: the test plays it.
pub(crate) struct HostileJob {
    job: Job,
    pub(crate) address: SocketAddr,
    /// Messages that the two ranks have exchanged.
    exchanged: u32,
}

pub(crate) const HOSTILE: u32 = 2;

/// Why rank 0 has lost the hostile rank.
pub(crate) fn loss(job: &Job) -> Option<Fault> {
    let lost = &job.logs[0].lost;
    assert!(lost.iter().all(|(peer, _)| peer.0 == HOSTILE), "{lost:?}");
    lost.first().map(|(_, why)| *why)
}

/// Whether rank 0 has a frame of the hostile rank.
pub(crate) fn has_hostile_frame(job: &Job) -> bool {
    !job.tags(0, HOSTILE).is_empty()
}

impl Deref for HostileJob {
    type Target = Job;

    fn deref(&self) -> &Job {
        &self.job
    }
}

impl DerefMut for HostileJob {
    fn deref_mut(&mut self) -> &mut Job {
        &mut self.job
    }
}

impl HostileJob {
    pub(crate) fn new(options: TcpOptions) -> Self {
        let listening: Vec<PassiveEndpoint> = (0..3).map(|_| listening(options)).collect();
        let cards: Vec<BusinessCard> = listening.iter().map(|rank| rank.card().clone()).collect();
        let address = SocketAddr::from(([127, 0, 0, 1], cards[0].port));
        let join =
            |(me, rank): (u32, PassiveEndpoint)| rank.join(me, cards.clone()).expect("a rank");
        Self {
            job: Job::of((0..).zip(listening).take(2).map(join).collect()),
            address,
            exchanged: 0,
        }
    }

    /// The two sound ranks exchange a message.
    pub(crate) fn goes_on(&mut self) {
        self.exchanged += 1;
        let expected = self.exchanged;
        self.send(0, 1, expected);
        self.send(1, 0, expected);
        self.until("the job goes on", |job| {
            (0..2).all(|me| job.tags(me, 1 - me as u32).len() as u32 == expected)
        });
    }

    /// After some calls of `step` the hostile rank is lost for `rule`, and the job goes on.
    pub(crate) fn loses_hostile_for(
        &mut self,
        rule: &'static str,
        mut step: impl FnMut(&mut Self),
    ) {
        let start = Instant::now();
        while loss(self).is_none() {
            step(self);
            assert!(start.elapsed() < WATCHDOG, "hangs: {rule}");
        }
        assert_eq!(loss(self), Some(Fault::Protocol(rule)));
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
            self.poll_all();
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
            assert!(start.elapsed() < WATCHDOG, "hangs: rank 0 reads");
            match socket.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return, // rank 0 has closed
            }
            self.poll_all();
        }
    }
}
