//! What a collective promises: what each rank has at the start, and what it must have at the end.

use alloc::vec::Vec;
use core::ops::Range;

use super::arrays::{Arrays, Lengths};
use super::ranks::Ranks;
use crate::call::{Call, Collective, PROC_NULL, Parameters};
use crate::placement::Placement;
use crate::plan::{NodeRanks, Part};

/// The promise of one collective call to all its ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Each rank's share, by rank.
    pub tasks: Vec<Task>,
    /// Whether operands may be exchanged; if not, contributions must be combined in the order of
    /// the ranks.
    pub commutative: bool,
    /// Whether all ranks must end with the same bits in their outputs.
    pub same_bits: bool,
    /// Whether no rank may end before all have started.
    pub barrier: bool,
    /// The ranks whose contributions are followed, if not all are: see [`Contract::following`].
    pub followed: Option<Ranks>,
    /// On which nodes the ranks are: all of a node, and nobody else, act together. `None`: nobody looks.
    pub placement: Option<Placement>,
}

/// One rank's share of a contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Elements of `In`; all are given.
    pub input: u64,
    /// Elements of `Out`.
    pub output: u64,
    /// The elements of `Out` that hold the input at the start, from its first element on: those of
    /// a call in place, else none.
    pub held: Range<u64>,
    /// What `Out` must hold at the end.
    pub expected: Vec<Expected>,
    /// What the rank is given besides.
    pub arrays: Arrays,
    /// The blocks of `In` and `Out`.
    pub blocks: [Blocks; 2],
}

/// How a buffer is cut into blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// So many elements each.
    Equal(u64),
    /// Of any lengths.
    Given(Lengths),
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks::Equal(0)
    }
}

impl Blocks {
    /// Where the block starts.
    pub fn start(&self, index: u32) -> Option<u64> {
        match self {
            Blocks::Equal(length) => length.checked_mul(index.into()),
            Blocks::Given(lengths) => lengths.start(index as usize),
        }
    }

    /// The elements of blocks from number `index` on, but of none longer than the part's limit, as
    /// many as the part has; `None` when they are not so many, or do not start with a block.
    pub(super) fn short(&self, index: u32, part: Part) -> Option<Vec<Range<u64>>> {
        let Blocks::Given(lengths) = self else {
            return None;
        };
        let mut left = part.len();
        let mut short = Vec::new();
        let mut index = index as usize;
        while left > 0 {
            let (start, end) = (lengths.start(index)?, lengths.start(index + 1)?);
            if end - start <= part.limit {
                let count = left.min(end - start);
                short.push(start..start + count);
                left -= count;
            }
            index += 1;
        }
        (part.first == 0).then_some(short)
    }

    fn range(&self, index: u32) -> Range<u64> {
        let end = |index| self.start(index).unwrap_or(0);
        end(index)..end(index + 1)
    }
}

/// What some consecutive elements must hold at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The elements of `Out`.
    pub elements: Range<u64>,
    /// The index, in the contributors' inputs, of what belongs into the first of them.
    pub source: u64,
    /// Who contributes.
    pub ranks: Ranks,
}

impl Contract {
    /// What MPI promises to the calls of ranks 0, 1 and so on, given these arrays; none stands for
    /// empty ones.
    pub fn of(calls: &[Call], arrays: &[Arrays]) -> Self {
        Contract::about(calls, arrays, None)
    }

    /// The same promise about what these ranks contribute. What others do has no value, may be read
    /// all the same, and nothing is promised about it: where every rank gets a block of every other,
    /// a few blocks are followed with less work than all.
    pub fn following(calls: &[Call], arrays: &[Arrays], ranks: &Ranks) -> Self {
        Contract::about(calls, arrays, Some(ranks))
    }

    fn about(calls: &[Call], arrays: &[Arrays], followed: Option<&Ranks>) -> Self {
        let first = calls.first();
        let is = |collective| first.is_some_and(|call| call.collective == collective);
        Contract {
            tasks: (calls.iter())
                .map(|call| Task::of(call, arrays, followed))
                .collect(),
            commutative: first.is_some_and(|call| call.commutative),
            // An exact operation gives them by itself.
            same_bits: is(Collective::Allreduce) && !first.is_some_and(|call| call.exact),
            barrier: is(Collective::Barrier),
            followed: followed.cloned(),
            placement: None,
        }
    }

    /// The same of so many ranks that are on the nodes that the parameters tell of: on one, where they tell of
    /// none.
    #[must_use]
    pub fn placed(
        self,
        size: u32,
        &Parameters {
            order, per_node, ..
        }: &Parameters,
    ) -> Self {
        Contract {
            placement: Some(Placement::or_one_node(order, size, per_node)),
            ..self
        }
    }

    /// Whether these are all ranks of the node that this one is on.
    pub(super) fn are_of_node(&self, team: NodeRanks, rank: u32) -> bool {
        let is_node = |place: Placement| team == NodeRanks::on(place, place.node(rank));
        self.placement.is_none_or(is_node)
    }

    /// Whether what the rank contributes has a value.
    pub(super) fn follows(&self, rank: u32) -> bool {
        let is_followed = |ranks: &Ranks| !ranks.is_disjoint(&Ranks::one(rank));
        self.followed.as_ref().is_none_or(is_followed)
    }
}

impl Task {
    /// What the rank is promised, of what some ranks contribute if not of all.
    fn of(call: &Call, all: &[Arrays], followed: Option<&Ranks>) -> Self {
        let arrays = all.get(call.rank as usize).cloned().unwrap_or_default();
        let (sends, recvs) = (
            Blocks::Given(arrays.sends.clone()),
            Blocks::Given(arrays.recvs.clone()),
        );
        let &Call {
            rank,
            size,
            root,
            count,
            in_place,
            ..
        } = call;
        let at_root = rank == root;
        let (ranks, equal) = (u64::from(size), Blocks::Equal(count));
        // Elements of `In` and `Out`, and their blocks.
        let (input, output, blocks) = match call.collective {
            Collective::Barrier => (0, 0, [equal.clone(), equal]),
            Collective::Bcast if at_root => (count, 0, [equal.clone(), equal]),
            Collective::Bcast => (0, count, [equal.clone(), equal]),
            Collective::Gather if at_root => (count, ranks * count, [equal.clone(), equal]),
            Collective::Gather => (count, 0, [equal.clone(), equal]),
            Collective::Gatherv => (count, arrays.recvs.total(), [equal, recvs]),
            Collective::Scatter if at_root => (ranks * count, count, [equal.clone(), equal]),
            Collective::Scatter => (0, count, [equal.clone(), equal]),
            Collective::Scatterv => (arrays.sends.total(), count, [sends, equal]),
            Collective::Allgather => (count, ranks * count, [equal.clone(), equal]),
            Collective::Allgatherv => {
                let own = recvs.range(rank);
                (own.end - own.start, count, [equal, recvs])
            }
            Collective::Alltoall => (ranks * count, ranks * count, [equal.clone(), equal]),
            Collective::Alltoallv | Collective::NeighborAlltoallv => {
                let totals = (arrays.sends.total(), arrays.recvs.total());
                (totals.0, totals.1, [sends, recvs])
            }
            Collective::Reduce if at_root => (count, count, [equal.clone(), equal]),
            Collective::Reduce => (count, 0, [equal.clone(), equal]),
            Collective::Allreduce | Collective::Scan | Collective::Exscan => {
                (count, count, [equal.clone(), equal])
            }
            Collective::ReduceScatter => {
                let own = sends.range(rank);
                let output = if in_place { count } else { own.end - own.start };
                (count, output, [sends, equal])
            }
            Collective::ReduceScatterBlock => {
                let output = if in_place { ranks * count } else { count };
                (ranks * count, output, [equal.clone(), equal])
            }
            Collective::NeighborAllgather => {
                let output = u64::from(call.sources) * count;
                (count, output, [equal.clone(), equal])
            }
            Collective::NeighborAllgatherv => (count, arrays.recvs.total(), [equal, recvs]),
            Collective::NeighborAlltoall => {
                let [sources, destinations] = [call.sources, call.destinations].map(u64::from);
                (
                    destinations * count,
                    sources * count,
                    [equal.clone(), equal],
                )
            }
        };
        let mut task = Task {
            input,
            output,
            held: 0..0,
            expected: Vec::new(),
            arrays,
            blocks,
        };
        task.expect(call, all, followed);
        if let Some(ranks) = followed {
            (task.expected).retain(|expected| !ranks.is_disjoint(&expected.ranks));
        }
        if in_place {
            task.place(call);
        }
        task
    }

    /// Moves the input to where a call in place has it.
    fn place(&mut self, call: &Call) {
        let at_root = call.rank == call.root;
        self.held = match call.collective {
            Collective::Gather | Collective::Gatherv if !at_root => return,
            Collective::Gather
            | Collective::Gatherv
            | Collective::Allgather
            | Collective::Allgatherv => self.blocks[1].range(call.rank),
            Collective::Scatter | Collective::Scatterv => {
                if at_root {
                    self.output = 0;
                    self.expected.clear();
                }
                return;
            }
            Collective::Reduce if !at_root => return,
            Collective::Alltoall
            | Collective::Alltoallv
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::Scan
            | Collective::Exscan
            | Collective::ReduceScatter
            | Collective::ReduceScatterBlock => 0..self.input,
            _ => return,
        };
        self.input = 0;
    }

    /// Notes what `Out` must hold.
    fn expect(&mut self, call: &Call, all: &[Arrays], followed: Option<&Ranks>) {
        let &Call {
            collective,
            rank,
            size,
            root,
            count,
            ..
        } = call;
        let everyone = Ranks::range(0..size);
        let own = self.blocks[0].range(rank);
        match collective {
            Collective::Barrier => {}
            Collective::Bcast => self.gets(0..self.output, 0, Ranks::one(root)),
            Collective::Gather | Collective::Gatherv if rank != root => {}
            Collective::Gather
            | Collective::Gatherv
            | Collective::Allgather
            | Collective::Allgatherv => {
                let followed = followed.unwrap_or(&everyone).iter();
                for from in followed.filter(|&from| from < size) {
                    self.gets(self.blocks[1].range(from), 0, Ranks::one(from));
                }
            }
            Collective::Scatter => {
                self.gets(0..count, u64::from(rank) * count, Ranks::one(root));
            }
            Collective::Scatterv => {
                let start = all.get(root as usize);
                let start = start.and_then(|arrays| arrays.sends.start(rank as usize));
                self.gets(0..count, start.unwrap_or(0), Ranks::one(root));
            }
            Collective::Alltoall => {
                for from in 0..size {
                    let source = u64::from(rank) * count;
                    self.gets(self.blocks[1].range(from), source, Ranks::one(from));
                }
            }
            Collective::Alltoallv => {
                for (from, arrays) in (0..size).zip(all) {
                    let source = arrays.sends.start(rank as usize).unwrap_or(0);
                    self.gets(self.blocks[1].range(from), source, Ranks::one(from));
                }
            }
            Collective::Reduce | Collective::Allreduce => {
                self.gets(0..self.output, 0, everyone);
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                self.gets(0..own.end - own.start, own.start, everyone);
            }
            Collective::Scan => self.gets(0..count, 0, Ranks::range(0..rank + 1)),
            Collective::Exscan if rank > 0 => self.gets(0..count, 0, Ranks::range(0..rank)),
            // In place rank 0's elements stay as they are; else they may be anything.
            Collective::Exscan if call.in_place => self.gets(0..count, 0, Ranks::one(0)),
            Collective::Exscan => {}
            Collective::NeighborAllgather
            | Collective::NeighborAllgatherv
            | Collective::NeighborAlltoall
            | Collective::NeighborAlltoallv => self.expect_neighbors(call, all),
        }
    }

    /// Notes what `Out` must hold after a neighbourhood collective.
    fn expect_neighbors(&mut self, call: &Call, all: &[Arrays]) {
        for index in 0..self.arrays.sources.len() {
            let from = self.arrays.sources[index];
            if from == PROC_NULL {
                continue;
            }
            let theirs = &all[from as usize];
            let place = if call.cartesian {
                index ^ 1
            } else {
                let earlier = &self.arrays.sources[..index];
                let earlier = earlier.iter().filter(|&&source| source == from).count();
                let mut places = (0..).zip(theirs.destinations.iter());
                let mine = places.by_ref().filter(|&(_, &to)| to == call.rank);
                mine.map(|(place, _)| place).nth(earlier).unwrap_or(0)
            };
            let source = match call.collective {
                Collective::NeighborAlltoall => place as u64 * call.count,
                Collective::NeighborAlltoallv => theirs.sends.start(place).unwrap_or(0),
                _ => 0,
            };
            let elements = self.blocks[1].range(index as u32);
            self.gets(elements, source, Ranks::one(from));
        }
    }

    fn gets(&mut self, elements: Range<u64>, source: u64, ranks: Ranks) {
        if !elements.is_empty() {
            self.expected.push(Expected {
                elements,
                source,
                ranks,
            });
        }
    }
}
