//! A network of any number of ends in one thread, as bad as the interface allows.
//!
//! Frames keep their order between two ends and are delayed, refused, and mixed between pairs by a
//! seeded generator; bulk operations end late and in any order; an end can be killed at any moment.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use oxmpi_wire::{
    Access, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Peer, Put, Remote, Rma, Rx,
    Sink, Slot, Token, Tx,
};

use crate::memory::Shared;
use crate::rng::Rng;

/// How a fabric behaves.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Seed of everything that is random.
    pub seed: u64,
    /// Percentage of sends and bulk operations that are refused though there is room.
    pub refuse: u8,
    /// Percentage of looks at a peer that do not see what has been sent.
    pub delay: u8,
    /// Frames that are under way between two ends at most.
    pub capacity: usize,
    /// Sizes of the paths.
    pub limits: Limits,
}

impl Default for Weather {
    fn default() -> Self {
        Self {
            seed: 1,
            refuse: 0,
            delay: 0,
            capacity: 64,
            limits: Limits {
                short: 48,
                frame: 1024,
            },
        }
    }
}

impl Weather {
    /// Refusals, delays and little room.
    #[must_use]
    pub fn storm(seed: u64) -> Self {
        Self {
            seed,
            refuse: 30,
            delay: 40,
            capacity: 3,
            ..Self::default()
        }
    }
}

/// Frames from one end to another.
type Queue = VecDeque<(Header, Vec<u8>)>;

/// What all ends share.
#[derive(Debug)]
struct Net {
    rng: Rng,
    weather: Weather,
    /// Frames under way, by sender and receiver.
    queues: BTreeMap<(u32, u32), Queue>,
    /// Registered memory, by owner and number.
    regions: BTreeMap<(u32, u64), Shared>,
    next_region: u64,
    dead: Vec<bool>,
}

/// A place in registered memory: owner, number, offset.
type Place = (u32, u64, u64);

/// A bulk operation under way.
#[derive(Debug)]
enum Bulk {
    /// A get or a put with `peer`.
    Move {
        peer: u32,
        from: Place,
        to: Place,
        len: u64,
        token: Token,
    },
    Release {
        region: u64,
        token: Token,
    },
}

/// The sending half of one end.
#[derive(Debug)]
pub struct FabricTx {
    me: u32,
    net: Rc<RefCell<Net>>,
    limits: Limits,
    bulk: Vec<Bulk>,
    /// Peers that were refused since they last had room.
    refused: Vec<bool>,
}

/// The receiving half of one end.
#[derive(Debug)]
pub struct FabricRx {
    me: u32,
    net: Rc<RefCell<Net>>,
    /// Peers whose death was told.
    told: Vec<bool>,
}

/// Kills ends, and tells what is under way.
#[derive(Clone, Debug)]
pub struct Fabric(Rc<RefCell<Net>>);

/// Makes a fabric of `ends` ends.
#[must_use]
pub fn fabric(ends: u32, weather: Weather) -> (Fabric, Vec<(FabricTx, FabricRx)>) {
    let net = Rc::new(RefCell::new(Net {
        rng: Rng::new(weather.seed),
        weather,
        queues: BTreeMap::new(),
        regions: BTreeMap::new(),
        next_region: 0,
        dead: vec![false; ends as usize],
    }));
    let halves = (0..ends)
        .map(|me| {
            let tx = FabricTx {
                me,
                net: Rc::clone(&net),
                limits: weather.limits,
                bulk: Vec::new(),
                refused: vec![false; ends as usize],
            };
            let rx = FabricRx {
                me,
                net: Rc::clone(&net),
                told: vec![false; ends as usize],
            };
            (tx, rx)
        })
        .collect();
    (Fabric(net), halves)
}

impl Fabric {
    /// The fabric that an end belongs to.
    #[must_use]
    pub fn of(tx: &FabricTx) -> Self {
        Self(Rc::clone(&tx.net))
    }

    /// Ends `peer`: the others are told once they have seen all or some of what it sent.
    pub fn kill(&self, peer: Peer) {
        self.0.borrow_mut().dead[peer.0 as usize] = true;
    }

    /// Memory that is registered at this moment, at all living ends.
    #[must_use]
    pub fn regions(&self) -> usize {
        let net = self.0.borrow();
        net.regions
            .keys()
            .filter(|(owner, _)| !net.dead[*owner as usize])
            .count()
    }

    /// What is in the memory that `owner` registered and `key` reaches.
    #[must_use]
    pub fn registered(&self, owner: Peer, key: &Key) -> Option<Vec<u8>> {
        let net = self.0.borrow();
        let bytes = net.regions.get(&(owner.0, number_in(key)))?;
        Some(bytes.to_vec())
    }

    /// Frames that nobody has seen yet.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.0.borrow().queues.values().map(VecDeque::len).sum()
    }
}

impl FabricTx {
    /// What this end is called by all others.
    #[must_use]
    pub const fn me(&self) -> Peer {
        Peer(self.me)
    }

    fn admit(&mut self, to: Peer) -> Result<(), Busy> {
        let mut net = self.net.borrow_mut();
        let refuse = net.weather.refuse;
        let full = net
            .queues
            .get(&(self.me, to.0))
            .is_some_and(|queue| queue.len() >= net.weather.capacity);
        if !net.dead[to.0 as usize] && (full || net.rng.chance(refuse)) {
            self.refused[to.0 as usize] = true;
            return Err(Busy);
        }
        Ok(())
    }

    /// Ends some of the bulk operations, in any order. Those with a dead peer never end.
    fn advance<S: Sink<Self>>(&mut self, sink: &mut S) -> u32 {
        let mut ended = 0;
        let mut at = 0;
        while at < self.bulk.len() {
            let late = {
                let mut net = self.net.borrow_mut();
                let delay = net.weather.delay;
                net.rng.chance(delay)
            };
            if late {
                at += 1;
                continue;
            }
            let bulk = self.bulk.swap_remove(at);
            let ended_now = self.net.borrow_mut().run(self.me, bulk);
            if let Some((token, result)) = ended_now {
                ended += 1;
                sink.done(self, token, result);
            }
        }
        ended
    }
}

impl Net {
    fn run(&mut self, me: u32, bulk: Bulk) -> Option<(Token, Result<(), Fault>)> {
        match bulk {
            Bulk::Release { region, token } => {
                self.regions.remove(&(me, region));
                Some((token, Ok(())))
            }
            Bulk::Move { peer, .. } if self.dead[peer as usize] => None,
            Bulk::Move {
                from,
                to,
                len,
                token,
                ..
            } => Some((token, self.copy(from, to, len))),
        }
    }

    fn copy(&self, from: Place, to: Place, len: u64) -> Result<(), Fault> {
        let region = |(owner, number, at): Place| {
            self.regions
                .get(&(owner, number))
                .filter(|bytes| at.checked_add(len).is_some_and(|end| end <= bytes.len()))
                .ok_or(Fault::Protocol("a range outside of its region"))
        };
        region(to)?.copy_from(to.2, region(from)?, from.2, len);
        Ok(())
    }
}

/// A frame under construction.
#[derive(Debug)]
pub struct FabricSlot<'a> {
    tx: &'a FabricTx,
    to: u32,
    head: Header,
    body: Vec<u8>,
}

impl Put for FabricSlot<'_> {
    fn room(&self) -> usize {
        self.head.len as usize - self.body.len()
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "more than the frame holds");
        self.body.extend_from_slice(bytes);
    }
}

impl Slot for FabricSlot<'_> {
    fn send(self) {
        assert_eq!(self.room(), 0, "the frame is not full");
        let mut net = self.tx.net.borrow_mut();
        if !net.dead[self.to as usize] {
            net.queues
                .entry((self.tx.me, self.to))
                .or_default()
                .push_back((self.head, self.body));
        }
    }
}

impl Tx for FabricTx {
    type Slot<'a> = FabricSlot<'a>;

    fn limits(&self, _to: Peer) -> &Limits {
        &self.limits
    }

    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        assert!(
            body.len() <= u64::from(self.limits.short),
            "longer than the short path"
        );
        let len = body.len() as usize;
        let mut slot = self.frame(to, head, len)?;
        body.drain(0, len, &mut slot);
        slot.send();
        Ok(())
    }

    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<FabricSlot<'_>, Busy> {
        assert!(
            len <= self.limits.frame as usize && len == head.len as usize,
            "a frame of {len} B"
        );
        self.admit(to)?;
        Ok(FabricSlot {
            tx: self,
            to: to.0,
            head: *head,
            body: Vec::with_capacity(len),
        })
    }

    fn flush(&mut self) {}
}

impl Memory for FabricTx {
    type Bytes = Shared;
    type Region = u64;

    fn register(&mut self, bytes: Shared, _access: Access) -> Result<u64, Fault> {
        let mut net = self.net.borrow_mut();
        let number = net.next_region;
        net.next_region += 1;
        net.regions.insert((self.me, number), bytes);
        Ok(number)
    }

    fn key(&self, region: &u64, _to: Peer) -> Key {
        let mut key = Key([0; Key::LEN]);
        key.0[..8].copy_from_slice(&region.to_le_bytes());
        key
    }

    fn release(&mut self, region: u64, token: Token) {
        self.bulk.push(Bulk::Release { region, token });
    }
}

fn number_in(key: &Key) -> u64 {
    key.0
        .first_chunk()
        .map_or(u64::MAX, |number| u64::from_le_bytes(*number))
}

impl Rma for FabricTx {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        assert_eq!(from.len, to.len, "both ranges have one length");
        self.admit(of)?;
        self.bulk.push(Bulk::Move {
            peer: of.0,
            from: (of.0, number_in(from.key), from.at),
            to: (self.me, *to.region, to.at),
            len: to.len,
            token,
        });
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, u64>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        assert_eq!(from.len, at.len, "both ranges have one length");
        self.admit(to)?;
        self.bulk.push(Bulk::Move {
            peer: to.0,
            from: (self.me, *from.region, from.at),
            to: (to.0, number_in(at.key), at.at),
            len: at.len,
            token,
        });
        Ok(())
    }
}

impl FabricRx {
    /// Hands over the head of one peer's queue, or news about the peer.
    fn look<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, from: u32, sink: &mut S) -> u32 {
        let (frame, dead) = {
            let mut net = self.net.borrow_mut();
            let delay = net.weather.delay;
            if self.told[from as usize] || net.rng.chance(delay) {
                return 0;
            }
            // A dead peer's last frames may be lost with it.
            let dead = net.dead[from as usize];
            let cut = dead && net.rng.chance(20);
            let queue = net.queues.entry((from, self.me)).or_default();
            if cut {
                queue.clear();
            }
            (queue.pop_front(), dead)
        };
        if tx.refused[from as usize] && !dead {
            tx.refused[from as usize] = false;
            sink.room(tx, Peer(from));
        }
        if let Some((head, body)) = frame {
            sink.frame(tx, Peer(from), &head, &mut body.as_slice());
            return 1;
        }
        if dead {
            self.told[from as usize] = true;
            tx.bulk.retain(|bulk| match bulk {
                Bulk::Move { peer, .. } => *peer != from,
                Bulk::Release { .. } => true,
            });
            sink.lost(tx, Peer(from), Fault::PeerDead);
            return 1;
        }
        0
    }
}

impl Rx for FabricRx {
    type Tx = FabricTx;

    fn poll<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, budget: u32, sink: &mut S) -> u32 {
        let ends = self.told.len() as u32;
        let first = {
            let mut net = self.net.borrow_mut();
            net.rng.below(u64::from(ends)) as u32
        };
        let mut handed = tx.advance(sink);
        for step in 0..ends {
            if handed >= budget {
                break;
            }
            handed += self.look(tx, (first + step) % ends, sink);
        }
        handed
    }

    fn poll_from<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, from: Peer, sink: &mut S) -> u32 {
        tx.advance(sink) + self.look(tx, from.0, sink)
    }

    fn arm(&mut self) -> bool {
        let net = self.net.borrow();
        !net.queues
            .iter()
            .any(|(&(_, to), queue)| to == self.me && !queue.is_empty())
    }
}
