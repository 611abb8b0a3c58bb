//! An in-process network between ranks that are threads: the least that a [`Network`] is.
//!
//! It delivers at once. A rank sleeps on a socket into which its peers write.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oxmpi_wire::{
    Access, AsTx, Atomic, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Network, Peer,
    Put, Remote, Rma, Rx, Sink, Sleeper, Slot, Token, Tx, WaitObjects,
};

use crate::region_store::{RegionOffset, key_of, number_in};

/// A frame, or why the sender sends no more.
type Event = Result<(Header, Vec<u8>), Fault>;

/// The registered memory of all ranks, by owner and number.
type Regions<B> = Arc<Mutex<RegionsByOwner<B>>>;

/// By owner and number.
type RegionsByOwner<B> = BTreeMap<(u32, u64), (B, Access)>;

/// Most frames that wait on one way.
const CAPACITY: usize = 16;

/// The way to a peer.
#[derive(Debug)]
struct Wire {
    events: Sender<Event>,
    waiting: Arc<AtomicUsize>,
    refused: bool,
    /// Why the peer is lost, once that was reported.
    lost: Option<Fault>,
    doorbell: UnixStream,
}

impl Wire {
    fn is_full(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) >= CAPACITY
    }

    /// Nobody reads what is sent to a peer that is gone, or more than one wakeup.
    fn send(&mut self, event: Event) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _ = self.events.send(event);
        self.wake();
    }

    fn wake(&mut self) {
        let _ = self.doorbell.write(&[1]);
    }
}

/// The sending half of a rank.
#[derive(Debug)]
pub struct SwitchTx<B> {
    me: u32,
    wires: Vec<Wire>,
    regions: Regions<B>,
    last_region: u64,
    limits: Limits,
    ended: Vec<(Token, Result<(), Fault>)>,
    /// The reason that peers get when it is dropped.
    end: Fault,
}

/// The receiving half of a rank.
#[derive(Debug)]
pub struct SwitchRx<B> {
    /// From each peer, with the count of those that wait.
    events: Vec<(Receiver<Event>, Arc<AtomicUsize>)>,
    wakeups: UnixStream,
    /// The last poll of all peers found nothing.
    quiet: bool,
    bytes: PhantomData<fn(B)>,
}

/// Makes a network of `ranks` ranks.
///
/// # Errors
/// The system's error when it makes no socket.
pub fn switch<B: Bytes>(ranks: u32) -> io::Result<Vec<(SwitchTx<B>, SwitchRx<B>)>> {
    let regions = Regions::<B>::default();
    let tx = |me| SwitchTx {
        me,
        wires: Vec::new(),
        regions: Arc::clone(&regions),
        last_region: 0,
        limits: Limits::new(48, 1024),
        ended: Vec::new(),
        end: Fault::Left,
    };
    let mut senders: Vec<_> = (0..ranks).map(tx).collect();
    let mut receivers = Vec::new();
    for _ in 0..ranks {
        let (doorbell, wakeups) = UnixStream::pair()?;
        doorbell.set_nonblocking(true)?;
        wakeups.set_nonblocking(true)?;
        let mut events = Vec::new();
        for tx in &mut senders {
            let (sender, receiver) = channel();
            let waiting = Arc::new(AtomicUsize::new(0));
            events.push((receiver, Arc::clone(&waiting)));
            tx.wires.push(Wire {
                events: sender,
                waiting,
                refused: false,
                lost: None,
                doorbell: doorbell.try_clone()?,
            });
        }
        receivers.push(SwitchRx {
            events,
            wakeups,
            quiet: false,
            bytes: PhantomData,
        });
    }
    Ok(senders.into_iter().zip(receivers).collect())
}

impl<B> SwitchTx<B> {
    fn regions(&self) -> MutexGuard<'_, RegionsByOwner<B>> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Bytes> SwitchTx<B> {
    /// Ends an operation on memory of `peer` by `perform`, which gets the regions and this rank.
    fn end(
        &mut self,
        peer: Peer,
        token: Token,
        perform: impl FnOnce(&RegionsByOwner<B>, u32) -> Result<(), Fault>,
    ) -> Result<(), Busy> {
        let wire = &mut self.wires[peer.0 as usize];
        wire.refused |= self.ended.len() >= CAPACITY;
        if wire.refused {
            return Err(Busy);
        }
        let result = match wire.lost {
            Some(why) => Err(why),
            None => perform(&self.regions(), self.me),
        };
        self.ended.push((token, result));
        Ok(())
    }

    /// Moves bytes from a region of one rank to a region of another one, `peer` or this one.
    fn copy(
        &mut self,
        peer: Peer,
        from: RegionOffset,
        to: RegionOffset,
        len: Result<u64, Fault>,
        token: Token,
    ) -> Result<(), Busy> {
        self.end(peer, token, |regions, me| {
            let len = len?;
            let source = range(regions, me, from, len, Access::READ)?;
            let target = range(regions, me, to, len, Access::WRITE)?;
            let mut bytes = Collected(Vec::new(), len as usize);
            source.drain(from.2, len as usize, &mut bytes);
            target.fill(to.2, &mut bytes.0.as_slice());
            Ok(())
        })
    }
}

/// The region of these bytes, if `me` may access them so.
fn range<B: Bytes>(
    regions: &RegionsByOwner<B>,
    me: u32,
    (owner, number, at): RegionOffset,
    len: u64,
    access: Access,
) -> Result<&B, Fault> {
    let region = regions.get(&(owner, number));
    let end = at.checked_add(len);
    let inside = region.filter(|(bytes, _)| end.is_some_and(|end| end <= bytes.len()));
    match inside {
        Some((bytes, allowed)) if owner == me || allowed.contains(access) => Ok(bytes),
        _ if owner == me => Err(Fault::Invalid("a range is within its region")),
        _ => Err(Fault::NOT_REGISTERED),
    }
}

impl<B> Drop for SwitchTx<B> {
    fn drop(&mut self) {
        let me = self.me;
        self.regions().retain(|(owner, _), _| *owner != me);
        let wires = self.wires.iter_mut();
        wires.for_each(|wire| wire.send(Err(self.end)));
    }
}

/// Bytes that are put together, and how many they become.
#[derive(Debug)]
struct Collected(Vec<u8>, usize);

impl Put for Collected {
    fn room(&self) -> usize {
        self.1 - self.0.len()
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "more than there is room for");
        self.0.extend_from_slice(bytes);
    }
}

/// A frame under construction.
#[derive(Debug)]
pub struct SwitchSlot<'a>(&'a mut Wire, Header, Collected);

impl Put for SwitchSlot<'_> {
    fn room(&self) -> usize {
        self.2.room()
    }

    fn put(&mut self, bytes: &[u8]) {
        self.2.put(bytes);
    }
}

impl Slot for SwitchSlot<'_> {
    fn send(self) {
        assert_eq!(self.room(), 0, "the frame is not full");
        self.0.send(Ok((self.1, self.2.0)));
    }
}

impl<B: Bytes> Tx for SwitchTx<B> {
    type Slot<'a>
        = SwitchSlot<'a>
    where
        Self: 'a;

    fn limits(&self, _: Peer) -> &Limits {
        &self.limits
    }

    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<SwitchSlot<'_>, Busy> {
        let wire = &mut self.wires[to.0 as usize];
        wire.refused = wire.is_full();
        if wire.refused {
            return Err(Busy);
        }
        Ok(SwitchSlot(wire, *head, Collected(Vec::new(), len)))
    }

    fn give_up(&mut self, _: Peer, _: Fault) {}
}

impl<B: Bytes> Memory for SwitchTx<B> {
    type Bytes = B;
    type Region = u64;

    fn register(&mut self, bytes: B, access: Access, _: Peer) -> Result<u64, Fault> {
        self.last_region += 1;
        let name = (self.me, self.last_region);
        self.regions().insert(name, (bytes, access));
        Ok(self.last_region)
    }

    fn expose(&mut self, region: &u64, _: Peer) -> Key {
        key_of(*region)
    }

    fn release(&mut self, region: u64, token: Token) {
        self.regions().remove(&(self.me, region));
        self.ended.push((token, Ok(())));
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
        let (source, len) = ((of.0, number_in(from.key), from.at), to.transfer_len(&from));
        self.copy(of, source, (self.me, *to.region, to.at), len, token)
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, u64>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let (target, len) = ((to.0, number_in(at.key), at.at), from.transfer_len(&at));
        self.copy(to, (self.me, *from.region, from.at), target, len, token)
    }

    fn atomic(
        &mut self,
        to: Peer,
        at: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        self.end(to, token, |regions, me| {
            let width = old.word_width(&at)?;
            let own = range(
                regions,
                me,
                (me, *old.region, old.at),
                old.len,
                Access::WRITE,
            )?;
            let (word, both) = (
                (to.0, number_in(at.key), at.at),
                Access::READ | Access::WRITE,
            );
            let before = range(regions, me, word, at.len, both)?.atomic(at.at, width, atomic);
            width.fill(own, old.at, before.ok_or(Fault::NOT_REGISTERED)?);
            Ok(())
        })
    }

    /// All that was started before has ended.
    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        self.end(to, token, |_, _| Ok(()))
    }
}

impl<B: Bytes> Network for SwitchTx<B> {
    type CardError = Infallible;

    fn introduce(&mut self, _: &str, _: &[(Peer, Option<u16>)]) -> Result<(), Infallible> {
        Ok(())
    }

    fn connect(&mut self, _: Peer) {}

    fn is_connected(&self, _: Peer) -> bool {
        true
    }

    fn host(&self, _: Peer) -> &str {
        "this process"
    }

    fn routes(&self, _: Peer) -> String {
        "all ranks are threads of this process".into()
    }

    fn has_local_work(&self) -> bool {
        !self.ended.is_empty()
    }

    fn has_unsent(&self) -> bool {
        false
    }

    fn abort(mut self) {
        self.end = Fault::PeerDead;
    }
}

impl<B: Bytes, T: AsTx<SwitchTx<B>>> Rx<T> for SwitchRx<B> {
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        // Before the frames: a later wakeup stays.
        while (self.wakeups.read(&mut [0; 64])).is_ok_and(|count| count > 0) {}
        let mut moved = 0;
        for from in 0..self.events.len() as u32 {
            if moved < budget {
                moved += self.poll_from(tx, Peer(from), sink);
            }
        }
        self.quiet = moved == 0;
        moved
    }

    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32 {
        self.quiet = false;
        let ended = std::mem::take(&mut tx.as_tx().ended);
        let mut moved = ended.len() as u32;
        ended
            .into_iter()
            .for_each(|(token, result)| sink.done(tx, token, result));
        let (events, waiting) = &self.events[from.0 as usize];
        let event = events.try_recv();
        let wire = &mut tx.as_tx().wires[from.0 as usize];
        if event.is_ok() && waiting.fetch_sub(1, Ordering::SeqCst) >= CAPACITY {
            wire.wake();
        }
        if let Ok(Err(why)) = event {
            wire.lost = Some(why);
        }
        if wire.refused && !wire.is_full() {
            wire.refused = false;
            sink.room(tx, from);
            moved += 1;
        }
        match event {
            Ok(Ok((head, body))) => sink.frame(tx, from, &head, &mut body.as_slice()),
            Ok(Err(why)) => sink.lost(tx, from, why),
            Err(_) => return moved,
        }
        moved + 1
    }
}

impl<B> Sleeper for SwitchRx<B> {
    fn arm(&mut self) -> bool {
        self.quiet
    }
}

impl<B: 'static> WaitObjects for SwitchRx<B> {
    type WaitObject<'a> = BorrowedFd<'a>;

    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        watch(self.wakeups.as_fd());
    }

    fn longest_sleep(&self) -> Duration {
        Duration::MAX
    }
}
