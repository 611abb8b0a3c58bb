//! Communicators with a graph of neighbours (MPI 5.0, section 8.5.4).

use std::fmt;
use std::ops::Deref;

use oxmpi_core::{Error, Result, Single, Threading, Topology};

use super::Comm;
use crate::op::Op;

/// A communicator in which each rank has a list of neighbours; made by [`Comm::graph`]. It is a [`Comm`] too,
/// whose neighbourhood collectives exchange with them.
pub struct Graph<A: Threading = Single> {
    comm: Comm<A>,
}

impl<A: Threading> Comm<A> {
    /// A communicator of the same ranks, each with its neighbours: those that send to it, and those to which
    /// it sends, in the order of their blocks in its buffers (`MPI_Dist_graph_create_adjacent`). Collective.
    /// A rank may occur more than once, also the calling one; ranks keep their numbers.
    ///
    /// # Errors
    /// When a neighbour does not exist; on all ranks, when two ranks differ on how often one sends to the
    /// other; when a rank is lost meanwhile.
    ///
    /// # Cost
    /// An alltoall of 8 B from each rank to each other.
    pub fn graph(&self, sources: &[usize], destinations: &[usize]) -> Result<Graph<A>> {
        let comm = self.dup()?;
        let (rank, size) = (self.rank(), self.size());
        let all = sources.iter().chain(destinations);
        let wrong = all.copied().find(|&neighbor| neighbor >= size);
        let times = |neighbors: &[usize]| {
            let mut times = vec![0u64; size];
            for &neighbor in neighbors.iter().filter(|&&neighbor| neighbor < size) {
                times[neighbor] += 1;
            }
            times
        };
        let (given, mut expected) = (times(sources), vec![0; size]);
        comm.alltoall_into(&times(destinations), &mut expected)?;
        let odd = (0..size).find(|&other| given[other] != expected[other]);
        let is_wrong = u8::from(wrong.is_some() || odd.is_some());
        let any_wrong = comm.allreduce(&is_wrong, Op::MAX)?;
        let why = match (wrong, odd) {
            (Some(named), _) => return Err(self.raw.rank_error(named)),
            (None, Some(other)) => format!(
                "rank {other} sends to it {} times, and it names that rank as a source {} times",
                expected[other], given[other]
            ),
            (None, None) if any_wrong == 1 => "another rank's neighbours are wrong".to_owned(),
            (None, None) => {
                let ranks = |neighbors: &[usize]| neighbors.iter().map(|&n| n as u32).collect();
                let mut comm = comm;
                comm.topology = Some(Topology::new(ranks(sources), ranks(destinations), false));
                return Ok(Graph { comm });
            }
        };
        Err(Error::Collective { rank, why })
    }
}

impl<A: Threading> Deref for Graph<A> {
    type Target = Comm<A>;

    fn deref(&self) -> &Comm<A> {
        &self.comm
    }
}

impl<A: Threading> fmt::Debug for Graph<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("rank", &self.rank())
            .finish_non_exhaustive()
    }
}
