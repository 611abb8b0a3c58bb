//! How the ranks of a job find each other.
//!
//! Each rank makes known which node it is on, at which socket, and by a number [what it was told](told). Rank 0
//! looks at all of it and tells which nodes there are, or that ranks were told different things. On one node, its first rank waits at its socket, the others connect to it, both
//! ends check who the other is, and all map one shared memory segment. Where there are several nodes, the
//! ranks of each meet so, and their leaders tell each other where all of them listen in the network: see
//! [`afar`].
//!
//! The manager is asked O(n) things in all by n ranks: rank 0 asks for n invitations, every other rank for
//! a constant number of values, and each of m leaders for O(log m).

mod afar;
mod card;
mod invitation;
mod manager;
mod node;
mod nodes;
mod pmi;
mod pmix;
mod rounds;
mod told;

use oxmpi_os::RawBytes;
use oxmpi_shm::Node;
use oxmpi_shm::heap::Reach;
use oxmpi_shm::heap::Wish;

pub(crate) use card::{Listening, NetworkWish};
pub(crate) use invitation::Invitation;
pub(crate) use manager::Manager;
pub(crate) use node::{accept, admit, invite};
pub(crate) use rounds::Mailed;
pub(crate) use told::Told;

use manager::Asked;
use nodes::{Nodes, Published};
use told::Print;

use crate::error::{Error, Result};
use crate::raw::Policy;

/// The key under which a rank makes itself known, `PRINT/INVITATION`, with its number.
const NODE: &str = "oxmpi-node";

/// The ranks that have met, as one of them sees it.
pub(crate) struct Met {
    /// Those that share memory with it, in the order of their ranks.
    pub(crate) node: Node,
    /// The others, where there are any.
    pub(crate) far: Option<Box<Far>>,
}

/// Ranks on other nodes.
pub(crate) struct Far {
    /// The two halves of what reaches them.
    pub(crate) tx: oxmpi_tcp::TcpTx<RawBytes>,
    pub(crate) rx: oxmpi_tcp::TcpRx<RawBytes>,
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
    /// Whether this rank is the first of those that are nodes of their own on its host.
    pub(crate) first_alone: bool,
    /// What it took to find them.
    pub(crate) mailed: Mailed,
}

impl Met {
    /// With memory that ranks have allocated before.
    pub(crate) fn with_reach(self, reach: Reach) -> Self {
        Self {
            node: self.node.with_reach(reach),
            ..self
        }
    }

    /// Whether it falls to this rank to tell people what holds for all ranks of its host that share no memory.
    pub(crate) fn speaks_for_its_host(&self) -> bool {
        self.far.as_ref().is_none_or(|far| far.first_alone)
    }

    /// What it took to meet, for people and tests: `rank 3: 1 puts, 5 gets, 4 barriers; 2 messages, 412 bytes`.
    pub(crate) fn report(&self, manager: &Manager) -> String {
        let Asked {
            puts,
            gets,
            barriers,
        } = manager.asked();
        let mailed = self.far.as_ref().map(|far| far.mailed);
        let Mailed { messages, bytes } = mailed.unwrap_or_default();
        format!(
            "rank {}: {puts} puts, {gets} gets, {barriers} barriers; {messages} messages, {bytes} bytes",
            manager.rank()
        )
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
/// When a rank does not come, no network reaches it, or it was told other things.
pub(crate) fn meet(manager: &mut Manager, policy: &Policy, heap: Wish) -> Result<Met> {
    let (rank, size) = (manager.rank(), manager.size());
    let (door, own) = invite(policy.network.selection.shared)?;
    if size == 1 {
        return admit(door, policy.layout(1), Some(heap)).map(Met::from);
    }
    let print = policy.told.print;
    manager.put(&format!("{NODE}-{rank}"), &format!("{print}/{own}"))?;
    manager.barrier()?;
    let first = invitation(manager, 0)?;
    if rank == 0 {
        let (mut names, mut differs) = (vec![own.node.clone()], None);
        for rank in 1..size {
            let (its_print, invitation) = known(manager, rank)?;
            differs = differs.or((its_print != print).then_some(rank));
            names.push(invitation.node);
        }
        match differs {
            Some(other) => nodes::publish_difference(manager, other)?,
            None => Nodes::named(names.iter().map(String::as_str)).publish(manager)?,
        }
    }
    manager.barrier()?;
    let published = match Published::ask(manager)? {
        Ok(published) => published,
        Err(other) => return Err(policy.told.differs(manager, other)),
    };
    if published.nodes > 1 {
        let listening = Listening::open(&policy.network, door, own, &first)?;
        return afar::meet(manager, listening, published, policy, heap);
    }
    match rank {
        0 => admit(door, policy.layout(size), Some(heap)),
        _ => accept(&first, rank, size),
    }
    .map(Met::from)
}

/// The invitation of rank `of`.
fn invitation(manager: &mut Manager, of: u32) -> Result<Invitation> {
    known(manager, of).map(|(_, invitation)| invitation)
}

/// What stands for all that rank `of` was told, and its invitation.
fn known(manager: &mut Manager, of: u32) -> Result<(Print, Invitation)> {
    let text = asked(manager, of, &format!("{NODE}-{of}"))?;
    let parts = text.split_once('/');
    let read = parts.and_then(|(print, invitation)| Some((Print::decode(print)?, invitation)));
    let Some((print, invitation)) = read else {
        let why = format!("rank {of} is {text:?}, expected number/invitation: {VERSION}");
        return Err(Error::start("looking for the other ranks", why));
    };
    Ok((print, Invitation::decode(invitation)?))
}

/// What to ask when another rank says what makes no sense.
const VERSION: &str = "is it an oxmpi program of this version?";

/// What rank `of` has made known under `key`.
fn asked(manager: &mut Manager, of: u32, key: &str) -> Result<String> {
    manager.get(of, key)?.ok_or_else(|| {
        let why = format!("rank {of} has published no {key}: {VERSION}");
        Error::start("looking for the other ranks", why)
    })
}
