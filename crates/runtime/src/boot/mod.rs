//! How the ranks of a job find each other.
//!
//! Each rank makes known which node it is on, and at which socket. Rank 0 looks at all of it and tells
//! whether the job is on one node. Then the first rank of each node waits at its socket, the others of
//! the node connect to it, both ends check who the other is, and all map one shared memory segment. Where
//! there are several nodes, each rank also makes known where it listens in the network.

mod card;
mod invitation;
mod manager;
mod node;
mod pmi;
mod pmix;

use oxmpi_shm::Node;
use oxmpi_shm::heap::Reach;
use oxmpi_shm::heap::Wish;

pub(crate) use card::{Listening, NetworkWish};
pub(crate) use invitation::Invitation;
pub(crate) use manager::Manager;
pub(crate) use node::{accept, admit, invite};

use crate::error::{Error, Result};
use crate::raw::Policy;

/// The keys under which ranks make themselves known, each with its number.
const NODE: &str = "oxmpi-node";
const CARD: &str = "oxmpi-card";
/// The key under which rank 0 tells whether the job is on one node, and what it says.
const NODES: &str = "oxmpi-nodes";
const ONE: &str = "one";
const MANY: &str = "many";

/// The ranks that have met, as one of them sees it.
pub(crate) struct Met {
    /// Those that share memory with it, in the order of their ranks.
    pub(crate) node: Node,
    /// The others, where there are any.
    pub(crate) far: Option<Far>,
}

/// Ranks on other nodes.
pub(crate) struct Far {
    /// Where this rank listens.
    pub(crate) site: oxmpi_tcp::Site,
    /// Where each rank listens.
    pub(crate) cards: Vec<oxmpi_tcp::Card>,
    /// All ranks: those of this node first.
    pub(crate) order: Vec<u32>,
    /// The node of each rank, by rank: its number in the order of the nodes' first ranks. Every rank has
    /// the same list.
    pub(crate) nodes: Vec<u32>,
    /// The process of each rank, by rank.
    pub(crate) pids: Vec<u32>,
    /// Ranks that run on this machine, whichever node they are of.
    pub(crate) machine: u32,
    /// The processes of those of them that this rank can ask the kernel about.
    pub(crate) seen: Vec<u32>,
}

impl Met {
    /// With memory that ranks have allocated before.
    pub(crate) fn with_reach(self, reach: Reach) -> Self {
        Self {
            node: self.node.with_reach(reach),
            ..self
        }
    }
}

impl From<Node> for Met {
    fn from(node: Node) -> Self {
        Self { node, far: None }
    }
}

/// Meets all ranks of the job, with memory that they allocate as in `heap`.
///
/// # Errors
/// When a rank does not come, or no network reaches it.
pub(crate) fn meet(manager: &mut Manager, policy: &Policy, heap: Wish) -> Result<Met> {
    let (rank, size) = (manager.rank(), manager.size());
    let (door, own) = invite(policy.network.selection.shared)?;
    if size == 1 {
        return admit(door, policy.layout(1), Some(heap)).map(Met::from);
    }
    manager.put(&format!("{NODE}-{rank}"), &own.to_string())?;
    manager.barrier()?;
    let first = invitation(manager, 0)?;
    if rank == 0 {
        let mut others = 1..size;
        let all_here = others.try_fold(true, |here, rank| {
            Ok(here && invitation(manager, rank)?.node == own.node)
        })?;
        manager.put(NODES, if all_here { ONE } else { MANY })?;
    }
    manager.barrier()?;
    if told(manager, 0, NODES)? != ONE {
        let listening = Listening::open(&policy.network, door, own, &first)?;
        let texts = exchange(manager, &listening.to_string())?;
        return listening.join(rank, &texts, |ranks| policy.layout(ranks), Some(heap));
    }
    match rank {
        0 => admit(door, policy.layout(size), Some(heap)),
        _ => accept(&first, rank, size),
    }
    .map(Met::from)
}

/// The invitation of rank `of`.
fn invitation(manager: &mut Manager, of: u32) -> Result<Invitation> {
    Invitation::decode(&told(manager, of, &format!("{NODE}-{of}"))?)
}

/// What rank `of` has made known under `key`.
fn told(manager: &mut Manager, of: u32, key: &str) -> Result<String> {
    manager.get(of, key)?.ok_or_else(|| {
        Error::start(
            "looking for the other ranks",
            format_args!(
                "rank {of} has published no {key}: is it an oxmpi program of this version?"
            ),
        )
    })
}

/// Gives every rank the texts of all, by rank.
///
/// # Cost
/// A question to the manager for each rank, on each rank.
fn exchange(manager: &mut Manager, own: &str) -> Result<Vec<String>> {
    manager.put(&format!("{CARD}-{}", manager.rank()), own)?;
    manager.barrier()?;
    let ranks = 0..manager.size();
    ranks
        .map(|rank| told(manager, rank, &format!("{CARD}-{rank}")))
        .collect()
}
