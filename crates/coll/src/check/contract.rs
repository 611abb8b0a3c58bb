//! The contract of a collective: the elements that each rank has at the start and must have at the end.

use alloc::vec::Vec;
use core::ops::Range;

use super::arrays::{Arrays, Lengths};
use super::ranks::Ranks;
use crate::call::{Call, Collective, PROC_NULL, Parameters};
use crate::nodes::Nodes;
use crate::placement::Placement;
use crate::plan::{IntraNodeOp, NodeRanks, Part};

/// What a collective call owes to all its ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Each rank's task, by rank.
    pub tasks: Vec<Task>,
    /// Whether contributions may be combined in any order; if not, only in rank order.
    pub commutative: bool,
    /// Whether all ranks must end with the same bits in their outputs.
    pub same_bits: bool,
    /// Whether no rank may end before all have started.
    pub barrier: bool,
    /// The ranks whose contributions are followed; `None` for all. See [`Contract::following`].
    pub followed: Option<Ranks>,
    /// The nodes of the ranks: an intra-node phase must consist of exactly the ranks of a node. `None`
    /// skips that check.
    pub nodes: Option<Nodes>,
}

/// One rank's part of a contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Elements of `In`. All are defined at the start.
    pub input: u64,
    /// Elements of `Out`.
    pub output: u64,
    /// The elements of `Out` that hold the input at the start of a call in place; else empty.
    pub held: Range<u64>,
    /// What elements of `Out` must hold at the end.
    pub expected: Vec<Expected>,
    /// The arrays of lengths and neighbours that the rank is given.
    pub arrays: Arrays,
    /// The blocks of `In` and of `Out`.
    pub blocks: [Blocks; 2],
}

/// The lengths of the blocks of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// All blocks have this many elements.
    Equal(u64),
    /// Each block has its own length.
    Given(Lengths),
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks::Equal(0)
    }
}

impl Blocks {
    /// The index of the first element of a block, or `None` if there is no such block.
    pub fn start(&self, index: u32) -> Option<u64> {
        match self {
            Blocks::Equal(length) => length.checked_mul(index.into()),
            Blocks::Given(lengths) => lengths.start(index as usize),
        }
    }

    /// The elements of a part that skips blocks longer than its limit, from block `index` on. `None` if
    /// there are too few, or the part does not start at the start of a block.
    pub(super) fn short_blocks(&self, index: u32, part: Part) -> Option<Vec<Range<u64>>> {
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

/// What consecutive elements of `Out` must hold at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The elements of `Out`.
    pub elements: Range<u64>,
    /// The index in the contributors' inputs that belongs to the first of these elements.
    pub source: u64,
    /// The contributing ranks.
    pub ranks: Ranks,
}

impl Contract {
    /// The contract of MPI for the calls of ranks 0, 1 and so on. `arrays` may be empty if the collective
    /// takes none.
    pub fn of(calls: &[Call], arrays: &[Arrays]) -> Self {
        Contract::limited_to(calls, arrays, None)
    }

    /// The contract limited to the contributions of `ranks`. The contributions of other ranks have no
    /// value, may still be read, and are not checked. Where every rank gets a block of every other,
    /// following a few blocks is cheaper.
    pub fn following(calls: &[Call], arrays: &[Arrays], ranks: &Ranks) -> Self {
        Contract::limited_to(calls, arrays, Some(ranks))
    }

    fn limited_to(calls: &[Call], arrays: &[Arrays], followed: Option<&Ranks>) -> Self {
        let first = calls.first();
        let is = |collective| first.is_some_and(|call| call.collective == collective);
        Contract {
            tasks: (calls.iter())
                .map(|call| Task::of(call, arrays, followed))
                .collect(),
            commutative: first.is_some_and(|call| call.commutative),
            // An exact operation gives the same bits by itself.
            same_bits: is(Collective::Allreduce) && !first.is_some_and(|call| call.exact),
            barrier: is(Collective::Barrier),
            followed: followed.cloned(),
            nodes: None,
        }
    }

    /// The contract for `size` ranks placed as the parameters say; on one node if they say nothing.
    #[must_use]
    pub fn placed(
        self,
        size: u32,
        &Parameters {
            order, per_node, ..
        }: &Parameters,
    ) -> Self {
        Contract {
            nodes: Some(Placement::or_one_node(order, size, per_node).into()),
            ..self
        }
    }

    /// Whether an operation's ranks are exactly those of the node of `rank`, and its number is that of the rank.
    pub(super) fn is_of_node(&self, act: &IntraNodeOp, rank: u32) -> bool {
        let is_of = |nodes: &Nodes| {
            let mut ranks = nodes.ranks_on(nodes.node(rank));
            let of_node = NodeRanks {
                size: ranks.len() as u32,
                first: ranks.next().unwrap_or(rank),
            };
            act.ranks == of_node && act.number == nodes.local(rank)
        };
        self.nodes.as_ref().is_none_or(is_of)
    }

    /// Whether the rank's contribution is followed.
    pub(super) fn follows(&self, rank: u32) -> bool {
        let is_followed = |ranks: &Ranks| !ranks.is_disjoint(&Ranks::one(rank));
        self.followed.as_ref().is_none_or(is_followed)
    }
}

impl Task {
    /// The task of a rank, limited to the contributions of `followed`.
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
        let (sent, received) = (arrays.sends.total(), arrays.recvs.total());
        let at_root_only = |elements| if at_root { elements } else { 0 };
        let of_in_place = |whole, part| if in_place { whole } else { part };
        let length = |blocks: &Blocks| blocks.range(rank).end - blocks.range(rank).start;
        // The elements of `In` and `Out`.
        let (input, output) = match call.collective {
            Collective::Barrier => (0, 0),
            Collective::Bcast if at_root => (count, 0),
            Collective::Bcast => (0, count),
            Collective::Gather => (count, at_root_only(ranks * count)),
            Collective::Gatherv | Collective::NeighborAllgatherv => (count, received),
            Collective::Scatter => (at_root_only(ranks * count), count),
            Collective::Scatterv => (sent, count),
            Collective::Allgather => (count, ranks * count),
            Collective::Allgatherv => (length(&recvs), count),
            Collective::Alltoall => (ranks * count, ranks * count),
            Collective::Alltoallv | Collective::NeighborAlltoallv => (sent, received),
            Collective::Reduce => (count, at_root_only(count)),
            Collective::Allreduce | Collective::Scan | Collective::Exscan => (count, count),
            Collective::ReduceScatter => (count, of_in_place(count, length(&sends))),
            Collective::ReduceScatterBlock => (ranks * count, of_in_place(ranks * count, count)),
            Collective::NeighborAllgather => (count, u64::from(call.sources) * count),
            Collective::NeighborAlltoall => {
                let degrees = [call.destinations, call.sources].map(u64::from);
                (degrees[0] * count, degrees[1] * count)
            }
        };
        let blocks = match call.collective {
            Collective::Gatherv | Collective::Allgatherv | Collective::NeighborAllgatherv => {
                [equal, recvs]
            }
            Collective::Scatterv | Collective::ReduceScatter => [sends, equal],
            Collective::Alltoallv | Collective::NeighborAlltoallv => [sends, recvs],
            _ => [equal.clone(), equal],
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
            task.move_input_to_output(call);
        }
        task
    }

    /// Moves the input to `Out`, as in a call in place.
    fn move_input_to_output(&mut self, call: &Call) {
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

    /// Adds what `Out` must hold.
    fn expect(&mut self, call: &Call, all: &[Arrays], followed: Option<&Ranks>) {
        let &Call {
            collective,
            rank,
            size,
            root,
            count,
            ..
        } = call;
        let all_ranks = Ranks::range(0..size);
        let own = self.blocks[0].range(rank);
        match collective {
            Collective::Barrier => {}
            Collective::Bcast => self.expect_elements(0..self.output, 0, Ranks::one(root)),
            Collective::Gather | Collective::Gatherv if rank != root => {}
            Collective::Gather
            | Collective::Gatherv
            | Collective::Allgather
            | Collective::Allgatherv => {
                let followed = followed.unwrap_or(&all_ranks).iter();
                for from in followed.filter(|&from| from < size) {
                    self.expect_elements(self.blocks[1].range(from), 0, Ranks::one(from));
                }
            }
            Collective::Scatter => {
                self.expect_elements(0..count, u64::from(rank) * count, Ranks::one(root));
            }
            Collective::Scatterv => {
                let start = all.get(root as usize);
                let start = start.and_then(|arrays| arrays.sends.start(rank as usize));
                self.expect_elements(0..count, start.unwrap_or(0), Ranks::one(root));
            }
            Collective::Alltoall => {
                for from in 0..size {
                    let source = u64::from(rank) * count;
                    self.expect_elements(self.blocks[1].range(from), source, Ranks::one(from));
                }
            }
            Collective::Alltoallv => {
                for (from, arrays) in (0..size).zip(all) {
                    let source = arrays.sends.start(rank as usize).unwrap_or(0);
                    self.expect_elements(self.blocks[1].range(from), source, Ranks::one(from));
                }
            }
            Collective::Reduce | Collective::Allreduce => {
                self.expect_elements(0..self.output, 0, all_ranks);
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                let length = own.end - own.start;
                self.expect_elements(0..length, own.start, all_ranks);
                if call.in_place {
                    self.expect_elements(length..self.output, length, Ranks::one(rank));
                }
            }
            Collective::Scan => self.expect_elements(0..count, 0, Ranks::range(0..rank + 1)),
            Collective::Exscan if rank > 0 => {
                self.expect_elements(0..count, 0, Ranks::range(0..rank))
            }
            // In place, rank 0 keeps its elements; else they are undefined.
            Collective::Exscan if call.in_place => self.expect_elements(0..count, 0, Ranks::one(0)),
            Collective::Exscan => {}
            Collective::NeighborAllgather
            | Collective::NeighborAllgatherv
            | Collective::NeighborAlltoall
            | Collective::NeighborAlltoallv => self.expect_neighbors(call, all),
        }
    }

    /// Adds what `Out` must hold after a neighbourhood collective.
    fn expect_neighbors(&mut self, call: &Call, all: &[Arrays]) {
        for index in 0..self.arrays.sources.len() {
            let from = self.arrays.sources[index];
            if from == PROC_NULL {
                continue;
            }
            let sender = &all[from as usize];
            let place = if call.cartesian {
                index ^ 1
            } else {
                let earlier = &self.arrays.sources[..index];
                let earlier = earlier.iter().filter(|&&source| source == from).count();
                let mut indexes = (0..).zip(sender.destinations.iter());
                let to_this_rank = indexes.by_ref().filter(|&(_, &to)| to == call.rank);
                to_this_rank
                    .map(|(place, _)| place)
                    .nth(earlier)
                    .unwrap_or(0)
            };
            let source = match call.collective {
                Collective::NeighborAlltoall => place as u64 * call.count,
                Collective::NeighborAlltoallv => sender.sends.start(place).unwrap_or(0),
                _ => 0,
            };
            let elements = self.blocks[1].range(index as u32);
            self.expect_elements(elements, source, Ranks::one(from));
        }
    }

    fn expect_elements(&mut self, elements: Range<u64>, source: u64, ranks: Ranks) {
        if !elements.is_empty() {
            self.expected.push(Expected {
                elements,
                source,
                ranks,
            });
        }
    }
}
