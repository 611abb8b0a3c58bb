//! All ranks' memories and the messages between them. A send is done only when its receive has met
//! it.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use std::collections::{HashMap, HashSet};

use super::contract::Contract;
use super::fault::{Fault, Kind};
use super::memory::{Memory, Run};
use super::rank::Rank;
use super::ranks::Ranks;
use crate::exec::{Driver, Size};
use crate::plan::{Buf, Part, Side, TAGS};

/// A message's sender, receiver and tag.
type Key = (u32, u32, u32);

/// Names a message under way: an index into [`World::met`].
pub(super) type Ticket = usize;

/// One end of a message.
#[derive(Debug)]
struct End {
    rank: u32,
    step: u32,
    /// The round after which it is ready.
    since: u32,
    ticket: Ticket,
    part: Part,
}

/// A message that is sent.
#[derive(Debug)]
struct Sent {
    end: End,
    /// Its place among all messages, by when they were sent.
    order: u64,
    letter: Letter,
}

/// A message and where it goes.
#[derive(Debug)]
struct Pair {
    sender: End,
    receiver: End,
    letter: Letter,
}

/// A message's contents: symbols, and of whom the sender had heard.
#[derive(Debug)]
struct Letter {
    runs: Vec<Run>,
    heard: Ranks,
}

/// All ranks and the messages between them.
#[derive(Debug)]
pub(super) struct World<'a> {
    contract: &'a Contract,
    pub(super) ranks: Vec<Rank>,
    /// Messages without a receive, and receives without a message.
    sent: HashMap<Key, VecDeque<Sent>>,
    posted: HashMap<Key, VecDeque<End>>,
    /// Messages whose length is waited for.
    sized: HashSet<Key>,
    /// Messages with a receive, by the round in which they can be carried and the order in which
    /// they were sent.
    pairs: BTreeMap<(u32, u64), Pair>,
    order: u64,
    /// Whether a ticket's message has met its other end.
    met: Vec<bool>,
    free: Vec<Ticket>,
    /// Ranks to look at again.
    pub(super) ready: VecDeque<u32>,
    pub(super) rounds: u32,
    pub(super) messages: u64,
}

impl<'a> World<'a> {
    /// The ranks at the start. `scratch` gives the room of each.
    pub(super) fn new(contract: &'a Contract, scratch: impl Iterator<Item = u64>) -> Self {
        let rank = |((number, task), scratch): ((u32, &super::Task), u64)| {
            let memory = Memory::new(number, task, scratch, contract.commutative);
            let heard = if contract.barrier {
                Ranks::one(number)
            } else {
                Ranks::new()
            };
            Rank::new(memory, heard)
        };
        let ranks: Vec<_> = (0..).zip(&contract.tasks).zip(scratch).map(rank).collect();
        World {
            contract,
            ready: (0..ranks.len() as u32).collect(),
            ranks,
            sent: HashMap::new(),
            posted: HashMap::new(),
            sized: HashSet::new(),
            pairs: BTreeMap::new(),
            order: 0,
            met: Vec::new(),
            free: Vec::new(),
            rounds: 0,
            messages: 0,
        }
    }

    /// The world as one rank's driver.
    pub(super) fn view(&mut self, rank: u32) -> View<'_, 'a> {
        View { world: self, rank }
    }

    /// A fault of a rank in the step that it started last.
    pub(super) fn fault(&self, rank: u32, kind: Kind) -> Fault {
        Fault {
            rank,
            step: self.ranks[rank as usize].step,
            kind,
        }
    }

    fn rank(&mut self, rank: u32) -> &mut Rank {
        &mut self.ranks[rank as usize]
    }

    fn ticket(&mut self) -> Ticket {
        let ticket = self.free.pop().unwrap_or(self.met.len());
        if ticket == self.met.len() {
            self.met.push(false);
        }
        self.met[ticket] = false;
        ticket
    }

    /// Notes that a message has a receive.
    fn pair(
        &mut self,
        Sent {
            end: sender,
            order,
            letter,
        }: Sent,
        receiver: End,
    ) {
        let round = 1 + sender.since.max(receiver.since);
        self.pairs.insert(
            (round, order),
            Pair {
                sender,
                receiver,
                letter,
            },
        );
    }

    /// Carries the message that comes next, when no rank can go on without one; `false` when there
    /// is none.
    ///
    /// Messages go in the order of rounds and, within a round, in the order in which they were
    /// sent.
    pub(super) fn carry(&mut self) -> Result<bool, Fault> {
        while let Some(((round, order), pair)) = self.pairs.pop_first() {
            let ports = [
                self.rank(pair.sender.rank).send_free,
                self.rank(pair.receiver.rank).recv_free,
            ];
            let free = 1 + ports[0].max(ports[1]);
            if free > round {
                self.pairs.insert((free, order), pair);
                continue;
            }
            let (rank, step) = (pair.receiver.rank, pair.receiver.step);
            self.deliver(round, pair)
                .map_err(|kind| Fault { rank, step, kind })?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Brings a message from one end to the other in the round.
    fn deliver(
        &mut self,
        round: u32,
        Pair {
            sender,
            receiver,
            letter,
        }: Pair,
    ) -> Result<(), Kind> {
        if sender.part.len() != receiver.part.len() {
            return Err(Kind::Length {
                from: sender.part.len(),
                into: receiver.part.len(),
            });
        }
        self.rank(sender.rank)
            .note_sent(sender.step, round, sender.part.len());
        let to = self.rank(receiver.rank);
        to.memory.write(receiver.part, &letter.runs)?;
        to.note_received(receiver.step, round, &letter.heard);
        for end in [sender, receiver] {
            self.met[end.ticket] = true;
            self.ready.push_back(end.rank);
        }
        self.rounds = self.rounds.max(round);
        self.messages += 1;
        Ok(())
    }
}

/// The world as one rank's driver sees it.
pub(super) struct View<'w, 'a> {
    world: &'w mut World<'a>,
    rank: u32,
}

impl View<'_, '_> {
    fn me(&mut self) -> &mut Rank {
        self.world.rank(self.rank)
    }

    fn admit(&self, peer: u32, tag: u32, part: Part) -> Result<(), Kind> {
        match () {
            () if peer == self.rank || peer as usize >= self.world.ranks.len() => {
                Err(Kind::Peer { peer })
            }
            () if tag >= TAGS => Err(Kind::Tag { tag }),
            () if part.is_empty() && part != Part::EMPTY => Err(Kind::Empty),
            () => Ok(()),
        }
    }

    /// This rank's end of a message.
    fn end(&mut self, part: Part) -> End {
        let ticket = self.world.ticket();
        let rank = self.rank;
        let me = self.me();
        End {
            rank,
            step: me.step,
            since: me.started(),
            ticket,
            part,
        }
    }
}

impl Driver for View<'_, '_> {
    type Ticket = Ticket;
    type Error = Kind;

    fn starting(&mut self, step: u32, needs: u32) {
        self.me().start(step, needs);
    }

    fn send(&mut self, to: u32, tag: u32, from: Part) -> Result<Option<Ticket>, Kind> {
        self.admit(to, tag, from)?;
        let runs = self.me().memory.read(from)?;
        let heard = self.me().heard().clone();
        let end = self.end(from);
        let ticket = end.ticket;
        self.world.order += 1;
        let sent = Sent {
            end,
            order: self.world.order,
            letter: Letter { runs, heard },
        };
        let key = (self.rank, to, tag);
        match self
            .world
            .posted
            .get_mut(&key)
            .and_then(VecDeque::pop_front)
        {
            Some(receiver) => self.world.pair(sent, receiver),
            None => {
                if self.world.sized.remove(&key) {
                    self.world.ready.push_back(to);
                }
                self.world.sent.entry(key).or_default().push_back(sent);
            }
        }
        Ok(Some(ticket))
    }

    fn recv(&mut self, from: u32, tag: u32, into: Part) -> Result<Option<Ticket>, Kind> {
        self.admit(from, tag, into)?;
        let end = self.end(into);
        let ticket = end.ticket;
        let key = (from, self.rank, tag);
        match self.world.sent.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(sent) => self.world.pair(sent, end),
            None => self.world.posted.entry(key).or_default().push_back(end),
        }
        Ok(Some(ticket))
    }

    fn copy(&mut self, from: Part, into: Part) -> Result<(), Kind> {
        same_length(from, into)?;
        let message = self.me().memory.read(from)?;
        self.me().memory.write(into, &message)
    }

    fn reduce(&mut self, from: Part, into: Part, side: Side) -> Result<(), Kind> {
        same_length(from, into)?;
        self.me().memory.reduce(from, into, side)
    }

    fn size(&mut self, from: u32, tag: u32) -> Result<Size, Kind> {
        self.admit(from, tag, Part::new(Buf::Out, 0, 1))?;
        let key = (from, self.rank, tag);
        let next = self.world.sent.get(&key).and_then(VecDeque::front);
        Ok(match next {
            Some(sent) => Size::Elements(sent.end.part.len()),
            None => {
                self.world.sized.insert(key);
                Size::Pending
            }
        })
    }

    fn sum(&mut self, from: Part) -> Result<Option<u64>, Kind> {
        let mut sum = 0;
        for run in self.me().memory.read(from)? {
            let whole = |at: u64| at.is_multiple_of(8).then_some((at / 8) as usize);
            let (start, end) = (whole(run.source), whole(run.source + run.count));
            let numbers = start.zip(end).filter(|_| run.sum.counts);
            let (start, end) = numbers.ok_or(Kind::Numbers)?;
            let tasks = &self.world.contract.tasks;
            let owner = run
                .sum
                .ranks
                .first()
                .and_then(|rank| tasks.get(rank as usize));
            let sends = owner.map(|task| &task.arrays.sends);
            let sends = sends
                .filter(|sends| end <= sends.len())
                .ok_or(Kind::Numbers)?;
            let lengths = (start..end).map(|index| sends.length(index));
            sum += lengths.filter(|&length| length <= from.limit).sum::<u64>();
        }
        Ok(Some(sum))
    }

    fn grow(&mut self, elements: u64) -> Result<bool, Kind> {
        self.me().memory.grow(elements);
        Ok(true)
    }

    fn done(&mut self, ticket: &mut Ticket) -> Result<bool, Kind> {
        let met = self.world.met[*ticket];
        if met {
            self.world.free.push(*ticket);
        }
        Ok(met)
    }
}

fn same_length(from: Part, into: Part) -> Result<(), Kind> {
    if from.len() == into.len() {
        Ok(())
    } else {
        Err(Kind::Length {
            from: from.len(),
            into: into.len(),
        })
    }
}
