//! An in-process network between ranks that are threads: the least that a [`Network`] is.
//!
//! An end sleeps on a pipe, into which its peers write when it has something to do. A get or a put copies at once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::mem::take;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oxmpi_wire::{
    Access, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Network, Peer, Put, Remote,
    Rma, Rx, Sink, Sleeper, Slot, Token, Tx, WaitObjects,
};

use crate::region_store::{key_of, number_in};

/// Most frames that wait for one end.
const CAPACITY: usize = 16;

/// What the ends share.
type Shared<B> = Arc<Mutex<Vec<Port<B>>>>;

/// One end, as its peers see it.
#[derive(Debug)]
struct Port<B> {
    frames: VecDeque<(u32, Header, Vec<u8>)>,
    regions: BTreeMap<u64, B>,
    /// Peers that it is connected to.
    connections: BTreeSet<u32>,
    /// Peers that wait for room here.
    refused: BTreeSet<u32>,
    /// Why it is gone.
    gone: Option<Fault>,
    doorbell: PipeWriter,
    /// The pipe holds a byte.
    rung: bool,
}

impl<B> Port<B> {
    fn ring(&mut self) {
        if !std::mem::replace(&mut self.rung, true) {
            // Nobody reads the pipe of an end that is gone.
            let _ = self.doorbell.write(&[1]);
        }
    }
}

/// The sending half of an end.
#[derive(Debug)]
pub struct SwitchTx<B> {
    me: u32,
    ports: Shared<B>,
    limits: Limits,
    /// Peers that had no room.
    refused: BTreeSet<u32>,
    done: Vec<(Token, Result<(), Fault>)>,
    regions: u64,
}

/// The receiving half of an end.
#[derive(Debug)]
pub struct SwitchRx<B> {
    me: u32,
    ports: Shared<B>,
    wakeups: PipeReader,
    lost: BTreeSet<u32>,
}

/// Makes a network of `ends` ends.
///
/// # Errors
/// The system's error when it makes no pipe.
pub fn switch<B: Bytes>(ends: u32) -> io::Result<Vec<(SwitchTx<B>, SwitchRx<B>)>> {
    let (mut ports, mut readers) = (Vec::new(), Vec::new());
    for _ in 0..ends {
        let (reader, doorbell) = io::pipe()?;
        readers.push(reader);
        ports.push(Port {
            frames: VecDeque::new(),
            regions: BTreeMap::new(),
            connections: BTreeSet::new(),
            refused: BTreeSet::new(),
            gone: None,
            doorbell,
            rung: false,
        });
    }
    let ports = Arc::new(Mutex::new(ports));
    let half = |(me, wakeups)| {
        let tx = SwitchTx {
            me,
            ports: Arc::clone(&ports),
            limits: Limits::new(48, 1024),
            refused: BTreeSet::new(),
            done: Vec::new(),
            regions: 0,
        };
        let rx = SwitchRx {
            me,
            ports: Arc::clone(&ports),
            wakeups,
            lost: BTreeSet::new(),
        };
        (tx, rx)
    };
    Ok((0..).zip(readers).map(half).collect())
}

fn lock<B>(ports: &Shared<B>) -> MutexGuard<'_, Vec<Port<B>>> {
    ports.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Bytes> SwitchTx<B> {
    /// Moves bytes from a region of one end to a region of another one.
    fn copy(&mut self, from: (u32, u64, u64), to: (u32, u64, u64), len: u64, token: Token) {
        let ports = lock(&self.ports);
        let region = |(end, number, at): (u32, u64, u64)| {
            let region = ports[end as usize].regions.get(&number);
            region.filter(|bytes| at.checked_add(len).is_some_and(|end| end <= bytes.len()))
        };
        let result = match (region(from), region(to)) {
            (Some(source), Some(target)) => {
                let mut bytes = Collected(Vec::new());
                source.drain(from.2, len as usize, &mut bytes);
                target.fill(to.2, &mut bytes.0.as_slice());
                Ok(())
            }
            _ => Err(Fault::Protocol("a range outside of its region")),
        };
        self.done.push((token, result));
    }

    fn leave(&mut self, why: Fault) {
        let mut ports = lock(&self.ports);
        ports[self.me as usize].gone.get_or_insert(why);
        ports.iter_mut().for_each(Port::ring);
    }
}

impl<B> Drop for SwitchTx<B> {
    fn drop(&mut self) {
        let mut ports = lock(&self.ports);
        ports[self.me as usize].gone.get_or_insert(Fault::Left);
        ports.iter_mut().for_each(Port::ring);
    }
}

struct Collected(Vec<u8>);

impl Put for Collected {
    fn room(&self) -> usize {
        usize::MAX
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// A frame under construction.
#[derive(Debug)]
pub struct SwitchSlot<'a, B> {
    tx: &'a SwitchTx<B>,
    to: u32,
    head: Header,
    body: Vec<u8>,
}

impl<B> Put for SwitchSlot<'_, B> {
    fn room(&self) -> usize {
        self.head.len as usize - self.body.len()
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "more than the frame holds");
        self.body.extend_from_slice(bytes);
    }
}

impl<B> Slot for SwitchSlot<'_, B> {
    fn send(self) {
        assert_eq!(self.room(), 0, "the frame is not full");
        let port = &mut lock(&self.tx.ports)[self.to as usize];
        if port.gone.is_none() {
            port.frames.push_back((self.tx.me, self.head, self.body));
            port.ring();
        }
    }
}

impl<B: Bytes> Tx for SwitchTx<B> {
    type Slot<'a>
        = SwitchSlot<'a, B>
    where
        Self: 'a;

    fn limits(&self, _: Peer) -> &Limits {
        &self.limits
    }

    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<SwitchSlot<'_, B>, Busy> {
        let fits = head.len <= self.limits.frame && len == head.len as usize;
        assert!(fits, "a frame of {len} B");
        self.connect(to);
        let port = &mut lock(&self.ports)[to.0 as usize];
        if port.frames.len() >= CAPACITY {
            port.refused.insert(self.me);
            self.refused.insert(to.0);
            return Err(Busy);
        }
        Ok(SwitchSlot {
            tx: self,
            to: to.0,
            head: *head,
            body: Vec::with_capacity(len),
        })
    }

    fn give_up(&mut self, peer: Peer, _: Fault) {
        self.refused.remove(&peer.0);
    }
}

impl<B: Bytes> Memory for SwitchTx<B> {
    type Bytes = B;
    type Region = u64;

    fn register(&mut self, bytes: B, _: Access, _: Peer) -> Result<u64, Fault> {
        self.regions += 1;
        let own = &mut lock(&self.ports)[self.me as usize];
        own.regions.insert(self.regions, bytes);
        Ok(self.regions)
    }

    fn key(&mut self, region: &u64, _: Peer) -> Key {
        key_of(*region)
    }

    fn release(&mut self, region: u64, token: Token) {
        lock(&self.ports)[self.me as usize].regions.remove(&region);
        self.done.push((token, Ok(())));
    }
}

impl<B: Bytes> Rma for SwitchTx<B> {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        let source = (of.0, number_in(from.key), from.at);
        self.copy(source, (self.me, *to.region, to.at), to.len, token);
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, u64>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let target = (to.0, number_in(at.key), at.at);
        self.copy((self.me, *from.region, from.at), target, at.len, token);
        Ok(())
    }
}

impl<B: Bytes> Network for SwitchTx<B> {
    type CardError = Infallible;

    fn introduce(&mut self, _: &str, _: &[(Peer, Option<u16>)]) -> Result<(), Infallible> {
        Ok(())
    }

    fn connect(&mut self, peer: Peer) {
        let mut ports = lock(&self.ports);
        if ports[self.me as usize].connections.insert(peer.0) {
            ports[peer.0 as usize].connections.insert(self.me);
        }
    }

    fn is_connected(&self, peer: Peer) -> bool {
        let own = &lock(&self.ports)[self.me as usize];
        own.connections.contains(&peer.0)
    }

    fn host(&self, _: Peer) -> &str {
        "this process"
    }

    fn routes(&self, peer: Peer) -> String {
        format!("port {} of the switch", peer.0)
    }

    fn has_local_work(&self) -> bool {
        !self.done.is_empty()
    }

    fn has_unsent(&self) -> bool {
        false
    }

    fn abort(mut self) {
        self.leave(Fault::PeerDead);
    }
}

impl<B: Bytes> SwitchRx<B> {
    /// Reports what ended, who has room again and who is gone. Returns how many.
    fn report<S: Sink<SwitchTx<B>>>(&mut self, tx: &mut SwitchTx<B>, sink: &mut S) -> u32 {
        let done = take(&mut tx.done);
        let ports = lock(&self.ports);
        let has_room = |to: &u32| ports[*to as usize].frames.len() < CAPACITY;
        let (room, refused) = take(&mut tx.refused).into_iter().partition(has_room);
        tx.refused = refused;
        let sent_all = |peer: u32| {
            let mut frames = ports[self.me as usize].frames.iter();
            frames.all(|(from, ..)| *from != peer)
        };
        let gone = (0..)
            .zip(&*ports)
            .filter_map(|(peer, port)| Some((peer, port.gone?)));
        let gone: Vec<(u32, Fault)> = gone
            .filter(|(peer, _)| *peer != self.me && sent_all(*peer) && !self.lost.contains(peer))
            .collect();
        drop(ports);
        self.lost.extend(gone.iter().map(|(peer, _)| *peer));
        let room: BTreeSet<u32> = room;
        let reports = done.len() + room.len() + gone.len();
        done.into_iter()
            .for_each(|(token, result)| sink.done(tx, token, result));
        room.into_iter().for_each(|to| sink.room(tx, Peer(to)));
        gone.into_iter()
            .for_each(|(peer, why)| sink.lost(tx, Peer(peer), why));
        reports as u32
    }

    /// The next frame, of `from` or of any peer.
    fn take(&mut self, from: Option<u32>) -> Option<(u32, Header, Vec<u8>)> {
        let mut ports = lock(&self.ports);
        let own = &mut ports[self.me as usize];
        if take(&mut own.rung) {
            self.wakeups
                .read_exact(&mut [0])
                .expect("a byte was written");
        }
        let wanted = |frame: &(u32, Header, Vec<u8>)| from.is_none_or(|from| frame.0 == from);
        let at = own.frames.iter().position(wanted)?;
        let frame = own.frames.remove(at);
        for waiting in take(&mut own.refused) {
            ports[waiting as usize].ring();
        }
        frame
    }
}

impl<B: Bytes> Rx<SwitchTx<B>> for SwitchRx<B> {
    fn poll<S>(&mut self, tx: &mut SwitchTx<B>, budget: u32, sink: &mut S) -> u32
    where
        S: Sink<SwitchTx<B>>,
    {
        let mut moved = 0;
        while moved < budget
            && let Some((from, head, body)) = self.take(None)
        {
            sink.frame(tx, Peer(from), &head, &mut body.as_slice());
            moved += 1;
        }
        moved + self.report(tx, sink)
    }

    fn poll_from<S>(&mut self, tx: &mut SwitchTx<B>, from: Peer, sink: &mut S) -> u32
    where
        S: Sink<SwitchTx<B>>,
    {
        let frame = self.take(Some(from.0));
        let moved = frame.map(|(from, head, body)| {
            sink.frame(tx, Peer(from), &head, &mut body.as_slice());
        });
        u32::from(moved.is_some()) + self.report(tx, sink)
    }
}

impl<B: Bytes> Sleeper for SwitchRx<B> {
    fn arm(&mut self) -> bool {
        let own = &lock(&self.ports)[self.me as usize];
        own.frames.is_empty() && !own.rung
    }
}

impl<B: Bytes> WaitObjects for SwitchRx<B> {
    type WaitObject<'a>
        = BorrowedFd<'a>
    where
        Self: 'a;

    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        watch(self.wakeups.as_fd());
    }

    fn longest_sleep(&self) -> Duration {
        Duration::MAX
    }
}
