//! Reduce-scatter by Bruck's algorithm turned around: between the nodes, each of which has as many ports as ranks, and over
//! the circulant graph inside them.
//!
//! It is the allgather of the same name backwards. In each phase the ranks of a node reduce among themselves, a share
//! each, what other nodes are to get; every rank sends its share to one of them, and reduces what it gets into what
//! is left, of which the node then has an `(m + 1)`-th. In the end the ranks reduce the blocks of their node among
//! themselves. Out of each node go `p - m` blocks, the least there is, in `ceil(log n)` messages of a rank to the base
//! `m + 1`, for `n` nodes of `m` ranks.
//!
//! All that a message carries follows one another, around the vector: blocks may have any lengths. Where what one rank of a
//! node sends to another goes around the end of what they reduce, it is two messages.
//!
//! On full nodes that are filled one after another; else each rank is a node of its own. A block is reduced in the order of
//! the exchanges, so the operation must commute.

use super::ports::{Ports, Run, Stock};
use crate::catalog::{Call, Collective, Parameters};
use crate::circle::Circle;
use crate::circulant::{Division, Skips, Turned};
use crate::plan::{Acts, Buf, Known, Part, Plan, Side};
use crate::window::{Short, copy};

/// One rank's part. Two steps for each exchange, in which it has what came and then reduces it; for each phase, from the
/// last one on, those inside its node and one between the nodes; then those inside again; and one that brings the result
/// home.
///
/// # Cost
///
/// Where the blocks are given, a step that sends sums over the lengths of those before the one sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeReduceScatter {
    ports: Ports,
    rank: u32,
    /// The vector from the first block of this rank's node on.
    view: Turned,
    in_place: bool,
    short: Short,
}

/// One exchange.
struct Turn {
    source: u32,
    destination: u32,
    sent: [Run; 2],
    came: [Run; 2],
    /// What this rank keeps besides.
    rest: [Run; 2],
}

const NOTHING: Run = Run { first: 0, ranks: 0 };

impl NodeReduceScatter {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let ports = Ports::of(call, parameters);
        NodeReduceScatter {
            ports,
            rank: call.rank,
            view: Turned {
                circle: Circle::new(ports.neighbor(0), call.size),
                blocks: match call.collective {
                    Collective::ReduceScatter => Division::Sends(call.count),
                    _ => Division::Equal(call.count),
                },
            },
            in_place: call.in_place,
            short: Short::of(call),
        }
    }

    /// The most rounds with one message at a time; exact with one rank a node.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let plan = NodeReduceScatter::of(call, parameters);
        plan.ports.rounds(plan.inside())
    }

    /// The skips of the circulant graph of a node.
    fn skips(&self) -> Skips {
        Skips::new(self.ports.circle().size())
    }

    /// The exchanges in which the ranks of a node reduce something among themselves.
    fn inside(&self) -> u32 {
        self.skips().rounds()
    }

    /// All exchanges.
    fn turns(&self) -> u32 {
        self.ports.phases() * (self.inside() + 1) + self.inside()
    }

    /// Exchange `i`.
    fn turn(&self, i: u32) -> Turn {
        let (later, turn) = (i / (self.inside() + 1), i % (self.inside() + 1));
        match self.ports.phases().checked_sub(1 + later) {
            Some(phase) if turn == self.inside() => self.across(phase),
            Some(phase) => self.among(self.ports.got(phase), turn),
            None => self.among(self.ports.own(), turn),
        }
    }

    /// An exchange inside the node: its sums of some ranks' shares for those of its own and the next ones.
    fn among(&self, stock: Stock, turn: u32) -> Turn {
        let (circle, k) = (self.ports.circle(), self.inside() - 1 - turn);
        let (kept, all) = (self.skips().skip(k), self.skips().skip(k + 1));
        let shares = |from, to| self.ports.shares(stock, circle.above(from), to - from);
        Turn {
            source: self.ports.neighbor(circle.below(kept)),
            destination: self.ports.neighbor(circle.above(kept)),
            sent: shares(kept, all),
            came: shares(0, all - kept),
            rest: shares(all - kept, kept),
        }
    }

    /// An exchange between the nodes: this rank's share for what its node had before, in the allgather.
    fn across(&self, phase: u32) -> Turn {
        let had = self.ports.had(phase);
        let Some(crossing) = self.ports.crossing(phase) else {
            return Turn {
                source: self.rank,
                destination: self.rank,
                sent: [NOTHING; 2],
                came: [NOTHING; 2],
                rest: [had, NOTHING],
            };
        };
        let came = crossing.outgoing;
        let (before, after) = self.place(came);
        let rest = [
            Run {
                ranks: before,
                ..had
            },
            Run {
                first: self.view.circle.above(after),
                ranks: had.ranks - after,
            },
        ];
        Turn {
            source: crossing.destination,
            destination: crossing.source,
            sent: [crossing.incoming, NOTHING],
            came: [came, NOTHING],
            rest,
        }
    }

    /// Whether what comes in exchange `i` is the first that is reduced into the input of this rank.
    fn is_first(&self, i: u32) -> bool {
        i == 0 || i == self.inside() && self.ports.phases() > 0
    }

    /// How far a run begins and ends above the first rank of this rank's node.
    const fn place(&self, run: Run) -> (u32, u32) {
        let from = Circle::new(run.first, self.ports.size()).below(self.view.circle.rank());
        (from, from + run.ranks)
    }

    /// Where a run is in the input.
    fn input(&self, run: Run, known: &Known<'_>) -> Part {
        let (from, to) = self.place(run);
        let buf = if self.in_place { Buf::Out } else { Buf::In };
        self.view.natural(buf, from, to, known)
    }

    /// Where its sums are: in scratch, which begins with the blocks of this rank's node.
    fn sums(&self, run: Run, known: &Known<'_>) -> Part {
        let (from, to) = self.place(run);
        self.view.turned(Buf::Scratch, from, to, known)
    }

    /// Where what comes is until it is reduced: behind the sums.
    fn room(&self, came: [Run; 2], known: &Known<'_>) -> [Part; 2] {
        let [one, other] = came.map(|run| {
            let (from, to) = self.place(run);
            self.view.len(from, to, known)
        });
        let first = self.view.total();
        [(first, one), (first + one, other)].map(|(at, len)| Part::new(Buf::Scratch, at, len))
    }

    fn exchange(&self, i: u32, known: &Known<'_>, acts: &mut Acts) {
        let turn = self.turn(i);
        let sent = turn.sent.map(|run| match i {
            0 => self.input(run, known),
            _ => self.sums(run, known),
        });
        let came = match self.is_first(i) {
            true => turn.came.map(|run| self.sums(run, known)),
            false => self.room(turn.came, known),
        };
        for (came, sent) in came.into_iter().zip(sent) {
            let (recv, send) = ((turn.source, came), (turn.destination, sent));
            self.short.exchange(acts, 0, recv, send);
        }
        if self.is_first(i) {
            let rest = turn.rest.into_iter();
            rest.for_each(|run| copy(acts, self.input(run, known), self.sums(run, known)));
        }
    }

    fn merge(&self, i: u32, known: &Known<'_>, acts: &mut Acts) {
        let came = self.turn(i).came;
        let from = match self.is_first(i) {
            true => came.map(|run| self.input(run, known)),
            false => self.room(came, known),
        };
        let reduced = from
            .into_iter()
            .zip(came)
            .filter(|(from, _)| !from.is_empty());
        reduced.for_each(|(from, run)| acts.reduce(from, self.sums(run, known), Side::Right));
    }

    /// Brings the own block to the start of `Out`.
    fn deliver(&self, known: &Known<'_>, acts: &mut Acts) {
        let own = Run {
            first: self.rank,
            ranks: 1,
        };
        let from = match self.turns() {
            0 if self.in_place => return,
            0 => self.input(own, known),
            _ => self.sums(own, known),
        };
        copy(acts, from, Part::new(Buf::Out, 0, from.len()));
    }
}

impl Plan for NodeReduceScatter {
    fn steps(&self) -> u32 {
        2 * self.turns() + 1
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        let turns = self.turns();
        let later = (0..turns).filter(|&i| !self.is_first(i));
        let came = later.map(|i| {
            let room = self.room(self.turn(i).came, known);
            room.iter().map(Part::len).sum::<u64>()
        });
        match turns {
            0 => 0,
            _ => self.view.total() + came.max().unwrap_or(0),
        }
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        match i / 2 {
            turn if turn == self.turns() => self.deliver(known, acts),
            turn if i.is_multiple_of(2) => self.exchange(turn, known, acts),
            turn => self.merge(turn, known, acts),
        }
        Some(i)
    }
}
