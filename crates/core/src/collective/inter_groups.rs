//! Collectives between two groups, as stages of collectives within one group.
//!
//! Where one rank of a group gives or gets, it and the other group make a group of their own. Else each group
//! gathers, reduces or broadcasts within itself, and the leaders of both, their ranks 0, talk to each other.

use std::ops::Range;

use oxmpi_coll::catalog::{Call, Collective, PROC_NULL};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::super::collective_state::{Area, Buffers, Stage, Stages};
use super::super::group::Group;
use crate::error::{Error, Result};

/// The two groups of an intercommunicator, as one rank sees them.
#[derive(Clone, Debug)]
pub struct InterGroups {
    /// Both groups in one, of which this rank is a member.
    pub both: Group,
    /// This rank's group in both.
    pub own: Range<u32>,
    /// The remote group in both.
    pub remote: Range<u32>,
}

impl InterGroups {
    /// The stages of a call between the groups. Its root is a peer, as [`Call::root`] says.
    ///
    /// # Errors
    /// When the collective is not one between two groups, or there is no memory.
    pub fn stages(&self, call: &Call, buffers: Buffers) -> Result<Stages> {
        let (input, output) = (buffers.input, buffers.output);
        let with_root = || self.with_root(call.root);
        let mut stages = match call.collective {
            _ if call.in_place => return Err(self.refused(call, "in place")),
            Collective::Barrier => {
                let call = Call::barrier(self.both.rank(), self.both.size());
                let (buffers, ranks) = (Buffers::NONE, self.both.clone());
                Stages::of([Stage {
                    call,
                    buffers,
                    ranks,
                }])
            }
            Collective::Bcast => Stages::of(with_root().map(|ranks| bcast(ranks, output))),
            Collective::Gather | Collective::Gatherv => {
                Stages::of(with_root().map(|ranks| self.gather(ranks, &input, &output)))
            }
            Collective::Scatter | Collective::Scatterv => {
                Stages::of(with_root().map(|ranks| self.scatter(ranks, &input, output)))
            }
            Collective::Allgather | Collective::Allgatherv => self.allgather(&input, output),
            Collective::Alltoall | Collective::Alltoallv => {
                let ranks = self.both.clone();
                let call = Call::alltoallv(ranks.rank(), ranks.size());
                let buffers = Buffers::new(self.among_both(&input), self.among_both(&output));
                Stages::of([Stage {
                    call,
                    buffers,
                    ranks,
                }])
            }
            Collective::Reduce => self.reduce(call, input, output)?,
            Collective::Allreduce => {
                let mut stages = Stages::default();
                if let Some(mine) = self.reduce_to_leader(&mut stages, call, input)? {
                    stages.add(self.swap_of_leaders(mine, output.whole()));
                }
                stages.add(bcast(self.own_group(), output));
                stages
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                self.reduce_scatter(call, input, output)?
            }
            _ => return Err(self.refused(call, "between two groups")),
        };
        stages.widen(buffers.wide);
        Ok(stages)
    }

    /// This rank in its group.
    const fn rank(&self) -> u32 {
        self.both.rank() - self.own.start
    }

    fn refused(&self, call: &Call, how: &str) -> Error {
        let collective = call.collective;
        Error::Collective {
            rank: self.rank() as usize,
            why: format!("MPI has no {collective} {how} in an intercommunicator"),
        }
    }

    /// The root as rank 0, and the group that is not its own; `None` where this rank is in neither.
    fn with_root(&self, root: u32) -> Option<Group> {
        match root {
            PROC_NULL => None,
            root if root == self.rank() => Some(self.this_rank_and_remote()),
            root => Some(self.remote_rank_and_own(root)),
        }
    }

    /// This rank as rank 0, and the remote group.
    fn this_rank_and_remote(&self) -> Group {
        let me = self.both.rank();
        self.both.section(Some(me), self.remote.clone(), 0)
    }

    /// A peer of the remote group as rank 0, and this rank's group.
    fn remote_rank_and_own(&self, peer: u32) -> Group {
        let root = self.rank_in_union(peer);
        let rank = self.rank() + 1;
        self.both.section(Some(root), self.own.clone(), rank)
    }

    /// A peer of the remote group as a rank of both.
    fn rank_in_union(&self, peer: u32) -> u32 {
        self.remote.start + peer - self.own.len() as u32
    }

    fn own_group(&self) -> Group {
        self.both.section(None, self.own.clone(), self.rank())
    }

    /// The blocks of an area, one for each rank of the remote group.
    fn blocks(&self, area: &Area) -> Vec<RawBytes> {
        match area {
            Area::Blocks(blocks) => blocks.places().to_vec(),
            Area::Whole(bytes) => {
                let count = self.remote.len() as u64;
                let each = bytes.len() / count;
                let part = |n| bytes.part(n * each, each, 0, 1);
                let part = |n| part(n).unwrap_or(RawBytes::empty());
                (0..count).map(part).collect()
            }
        }
    }

    /// The blocks of an area as blocks for a group whose rank 0 has none.
    fn blocks_after_empty(&self, area: &Area) -> Area {
        let mut places = self.blocks(area);
        places.insert(0, RawBytes::empty());
        Area::of_blocks(places)
    }

    /// The blocks of an area as blocks of both groups; those of this rank's group are empty.
    fn among_both(&self, area: &Area) -> Area {
        let mut places = vec![RawBytes::empty(); self.both.size() as usize];
        for (at, block) in self.remote.clone().zip(self.blocks(area)) {
            places[at as usize] = block;
        }
        Area::of_blocks(places)
    }

    /// A stage in which rank 0 of a group, which has no block itself, gets the values of the others.
    fn gather(&self, ranks: Group, values: &Area, all: &Area) -> Stage {
        let (own, input, output) = match ranks.rank() {
            0 => (0, Area::empty(), self.blocks_after_empty(all)),
            _ => (values.len(), values.clone(), Area::empty()),
        };
        let call = Call::gatherv(ranks.rank(), ranks.size(), 0, own);
        let buffers = Buffers::new(input, output);
        Stage {
            call,
            buffers,
            ranks,
        }
    }

    /// A stage in which rank 0 of a group, which has no block itself, gives each of the others a block.
    fn scatter(&self, ranks: Group, all: &Area, values: Area) -> Stage {
        let (own, input, output) = match ranks.rank() {
            0 => (0, self.blocks_after_empty(all), Area::empty()),
            _ => (values.len(), Area::empty(), values),
        };
        let call = Call::scatterv(ranks.rank(), ranks.size(), 0, own);
        let buffers = Buffers::new(input, output);
        Stage {
            call,
            buffers,
            ranks,
        }
    }

    /// The leader of the first group gathers the blocks of the second one, then the other way round; the leaders
    /// broadcast what they have. Only the ranks that get blocks know how long these are.
    fn allgather(&self, values: &Area, all: Area) -> Stages {
        let get = (self.rank() == 0).then(|| self.this_rank_and_remote());
        let give = Some(self.remote_rank_and_own(self.own.len() as u32));
        let exchange = match self.own.start < self.remote.start {
            true => [get, give],
            false => [give, get],
        };
        let gather = |ranks| self.gather(ranks, values, &all);
        let mut stages = Stages::of(exchange.into_iter().flatten().map(gather));
        stages.add(bcast(self.own_group(), all));
        stages
    }

    /// Each group reduces its values to its leader, which passes the result to the root.
    fn reduce(&self, call: &Call, input: Area, output: Area) -> Result<Stages> {
        let mut stages = Stages::default();
        match call.root {
            PROC_NULL => {}
            root if root == self.rank() => {
                stages.add(self.pass(self.remote.start, self.both.rank(), output));
            }
            root => {
                if let Some(sums) = self.reduce_to_leader(&mut stages, call, input)? {
                    stages.add(self.pass(
                        self.own.start,
                        self.rank_in_union(root),
                        Area::Whole(sums),
                    ));
                }
            }
        }
        Ok(stages)
    }

    /// Each group reduces its values to its leader; the leaders swap the results, and scatter what they got.
    fn reduce_scatter(&self, call: &Call, input: Area, output: Area) -> Result<Stages> {
        let mut stages = Stages::default();
        let element = call.element_bytes;
        let lengths = match &input {
            Area::Blocks(blocks) => blocks.places().iter().map(Bytes::len).collect(),
            Area::Whole(_) => vec![call.count * element; self.own.len()],
        };
        let mut blocks = Area::empty();
        if let Some(mine) = self.reduce_to_leader(&mut stages, call, input)? {
            let theirs = self.make_room(&mut stages, mine.len())?;
            stages.add(self.swap_of_leaders(mine, theirs));
            let mut at = 0;
            let cut = |len| {
                let part = theirs.range(at, len);
                at += len;
                part.unwrap_or(RawBytes::empty())
            };
            blocks = Area::of_blocks(lengths.into_iter().map(cut).collect());
        }
        let ranks = self.own_group();
        let call = Call::scatterv(ranks.rank(), ranks.size(), 0, output.len());
        let buffers = Buffers::new(blocks, output);
        stages.add(Stage {
            call,
            buffers,
            ranks,
        });
        Ok(stages)
    }

    /// Adds a stage in which this rank's group reduces `input` to its leader; gives the leader the memory of the
    /// result.
    fn reduce_to_leader(
        &self,
        stages: &mut Stages,
        call: &Call,
        input: Area,
    ) -> Result<Option<RawBytes>> {
        let room = match self.rank() {
            0 => Some(self.make_room(stages, input.len())?),
            _ => None,
        };
        let ranks = self.own_group();
        let element = call.element_bytes;
        let count = input.len().checked_div(element).unwrap_or(0);
        let reduce = Call::reduce(ranks.rank(), ranks.size(), 0, count, element);
        stages.add(Stage {
            call: match call.exact {
                true => reduce.exactly(),
                false => reduce.with_commutative(call.commutative),
            },
            buffers: Buffers::new(input, room.map_or(Area::empty(), Area::Whole)),
            ranks,
        });
        Ok(room)
    }

    /// A stage in which the leaders give each other what their groups have.
    fn swap_of_leaders(&self, mine: RawBytes, theirs: RawBytes) -> Stage {
        let is_first = self.own.start < self.remote.start;
        let [me, other] = [self.own.start, self.remote.start];
        let [first, second] = if is_first { [me, other] } else { [other, me] };
        let ranks = (self.both).section(Some(first), second..second + 1, u32::from(!is_first));
        let for_other = |bytes: RawBytes| {
            let mut places = [RawBytes::empty(); 2];
            places[usize::from(is_first)] = bytes;
            Area::of_blocks(places.into())
        };
        let call = Call::alltoallv(ranks.rank(), ranks.size());
        let buffers = Buffers::new(for_other(mine), for_other(theirs));
        Stage {
            call,
            buffers,
            ranks,
        }
    }

    /// A stage in which one rank of both groups gives bytes to another; this rank is one of the two.
    fn pass(&self, from: u32, to: u32, bytes: Area) -> Stage {
        let rank = u32::from(self.both.rank() == to);
        let ranks = self.both.section(Some(from), to..to + 1, rank);
        bcast(ranks, bytes)
    }

    /// Memory of `bytes` bytes that lives as long as the stages.
    fn make_room(&self, stages: &mut Stages, bytes: u64) -> Result<RawBytes> {
        stages.make_room(bytes).ok_or_else(|| Error::Memory {
            rank: self.rank() as usize,
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        })
    }
}

/// A stage in which rank 0 of a group gives its bytes to the others.
fn bcast(ranks: Group, area: Area) -> Stage {
    let call = Call::bcast(ranks.rank(), ranks.size(), 0, area.len());
    let buffers = Buffers::new(area.clone(), area);
    Stage {
        call,
        buffers,
        ranks,
    }
}
