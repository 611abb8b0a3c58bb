//! The catalog of intra-node protocols: how the ranks of a node move the bytes of each collective, from which length, in
//! which groups, and whether a table or the time of trial calls decides.
//!
//! Pure data, and the one function that chooses by them: [`CallKind::choose`]. A [`NodeGroup`](super::NodeGroup) acts on the
//! choice, in blocking, started and persistent calls alike; `oxmpi explain` prints the rows. A short call, below
//! [`CallKind::long_from`], does not ask: where it puts its bytes follows from the sizes of buffers alone, and a test
//! compares that with the rows.
//!
//! `rows.rs` has the rows, `facts.rs` what they ask about, `preference.rs` what a user may ask for, `stores.rs` when bytes are
//! written past the caches, `trials.rs` how many calls a trial takes.

mod facts;
mod preference;
mod rows;
mod stores;
#[cfg(test)]
mod tests;
mod trials;

use std::fmt;

pub use facts::{CallFacts, GroupFacts, SharedProcessors};
pub use preference::ProtocolPreference;
pub(super) use rows::{CMA_FROM, reduces_by_messages};
pub(super) use stores::output_nt_from;
pub use stores::{BUFFERS_NT, BufferStores, OUTPUT_NT_LEAST, OUTPUT_NT_QUARTERS};
pub use trials::{TRIALS, TrialPolicy, TrialRun};

use super::call_kind::CallKind;

/// How the bytes of a call move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeProtocol {
    /// In the slots that the ranks publish, a cache line each.
    Slots,
    /// Through bounce buffers, which a rank writes for all others to read.
    Bounce,
    /// Through ping-pong buffers of each pair of ranks, which both write alternately.
    PingPong,
    /// By single copy with process_vm calls (cross-memory attach): from or to the memory of another rank.
    Cma,
    /// Each rank reduces its share of the vector, and sends the result through ping-pong buffers of each pair.
    Shares,
    /// As [`NodeProtocol::Shares`], with results through bounce buffers, which all others read.
    SharesBounce,
    /// First among the ranks of each processor, then between processors, and back.
    Hierarchical,
    /// By messages: no node group takes part.
    Messages,
}

impl NodeProtocol {
    /// The name in `oxmpi explain`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::Bounce => "bounce",
            Self::PingPong => "ping_pong",
            Self::Cma => "cma",
            Self::Shares => "shares",
            Self::SharesBounce => "shares_bounce",
            Self::Hierarchical => "hierarchical",
            Self::Messages => "messages",
        }
    }

    /// What it does, in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Slots => "in slots of shared memory, a cache line each",
            Self::Bounce => "copied in and out of bounce buffers, which all others read",
            Self::PingPong => {
                "copied in and out of buffers that the two ranks of a pair write alternately"
            }
            Self::Cma => "single copy between the memories of ranks by process_vm calls",
            Self::Shares => {
                "each rank reduces its share, and gives the result to each other rank apart"
            }
            Self::SharesBounce => {
                "each rank reduces its share, and puts the result where all others read it"
            }
            Self::Hierarchical => {
                "reduced among the ranks of each processor, then between processors"
            }
            Self::Messages => "by an algorithm of messages",
        }
    }
}

impl fmt::Display for NodeProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a protocol asks of the group or the call, beside their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// Each rank may read and write the memory of all others by process_vm calls.
    Cma,
    /// Input and output are separate memory.
    Apart,
    /// There are several processors with equally many ranks, more than one each; the operation commutes, or the ranks of
    /// each processor have consecutive numbers.
    EvenProcessors,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cma => "the system allows process_vm calls between all ranks",
            Self::Apart => "the call is not in place",
            Self::EvenProcessors => {
                "several processors have equally many ranks, adjacent ones or of an operation that commutes"
            }
        })
    }
}

/// The greatest length that a protocol takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthLimit {
    /// Any length.
    None,
    /// The vectors that a rank writes in a step fit the payload of one slot.
    Slot,
    /// The vector fits the ping-pong buffers of one rank of a pair, of which each has at least half the bytes of a bounce
    /// buffer. Longer vectors go through bounce buffers, which stay in a cache though the reader changes.
    PairBuffers,
}

/// Who decides between protocols that may serve a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The order of the rows: the first one that serves the call.
    Table,
    /// The time of trial calls of this row and of the next one that serves the call; see [`TRIALS`].
    Trials,
}

/// What the catalog says about one protocol of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolRow {
    /// The protocol.
    pub protocol: NodeProtocol,
    /// The least length, in bytes of a block or vector of one rank.
    pub from: u64,
    /// The greatest length.
    pub limit: LengthLimit,
    /// The fewest and the most ranks of a group.
    pub ranks: (u32, u32),
    /// What it asks beside.
    pub needs: &'static [Need],
    /// Who decides whether it serves a call that it may serve.
    pub decision: Decision,
}

/// The protocol of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolChoice {
    /// The protocol of the first row that may serve the call.
    pub protocol: NodeProtocol,
    /// The protocol that it is tried against; `None`: the table decides.
    pub rival: Option<NodeProtocol>,
}

impl ProtocolRow {
    /// The lengths that it may serve in a group of this size where all its needs are met: from the first to the second,
    /// both included. `None`: it serves none.
    #[must_use]
    pub fn lengths(&self, kind: CallKind, group: &GroupFacts) -> Option<(u64, u64)> {
        let (fewest, most) = self.ranks;
        let last = match self.limit {
            LengthLimit::None => u64::MAX,
            LengthLimit::Slot => group.slot_limit(kind),
            LengthLimit::PairBuffers => group.pair_limit(),
        };
        let serves = (fewest..=most).contains(&group.ranks) && self.from <= last;
        serves.then_some((self.from, last))
    }

    /// Whether it may serve the call.
    #[must_use]
    pub fn serves(&self, kind: CallKind, group: &GroupFacts, call: &CallFacts) -> bool {
        let meets = |need: &Need| match need {
            Need::Cma => group.cma,
            Need::Apart => !call.in_place,
            Need::EvenProcessors => match group.processors {
                SharedProcessors::Uneven => false,
                SharedProcessors::Even => call.commutes,
                SharedProcessors::EvenInOrder => true,
            },
        };
        call.len >= self.from
            && self.needs.iter().all(meets)
            && (self.lengths(kind, group)).is_some_and(|(_, last)| call.len <= last)
    }
}

impl CallKind {
    /// The protocol of a call, the same on all ranks.
    ///
    /// # Panics
    /// If the group has fewer than two ranks.
    ///
    /// # Cost
    /// A few compares for each of at most seven rows.
    #[must_use]
    pub fn choose(self, group: &GroupFacts, call: &CallFacts) -> ProtocolChoice {
        let asked = self.asked(group.preference);
        let mut rows = asked.filter(|row| row.serves(self, group, call));
        let first = rows
            .next()
            .expect("the last row of a collective serves every call");
        let rival = match first.decision {
            Decision::Table => None,
            Decision::Trials => rows.next().map(|row| row.protocol),
        };
        ProtocolChoice {
            protocol: first.protocol,
            rival,
        }
    }

    /// The rows in the order in which they are asked: those that the user prefers come first, without trials.
    pub fn asked(
        self,
        preference: Option<ProtocolPreference>,
    ) -> impl Iterator<Item = ProtocolRow> {
        let is_preferred = move |row: &&ProtocolRow| {
            preference.is_some_and(|preferred| preferred.names(row.protocol))
        };
        let first = self.rows().iter().filter(is_preferred);
        let first = first.map(|row| ProtocolRow {
            decision: Decision::Table,
            ..*row
        });
        let others = (self.rows().iter()).filter(move |row| !is_preferred(row));
        first.chain(others.copied())
    }

    /// Bytes below which a node group puts the bytes of a call in slots or buffers, whatever group it is; from them on it
    /// [chooses](CallKind::choose).
    #[must_use]
    pub const fn long_from(self) -> u64 {
        let (rows, mut least, mut at) = (self.rows(), u64::MAX, 0);
        while at < rows.len() {
            let row = &rows[at];
            if row.from > 0 && row.from < least {
                least = row.from;
            }
            at += 1;
        }
        least
    }
}
