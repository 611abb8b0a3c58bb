//! How the ranks of a job find each other.
//!
//! Each rank makes known which node it is on, at which socket, and by a number [what it was told](agreed_settings). Rank 0
//! looks at all of it and tells which nodes there are, or that ranks were told different things. On one node, its first rank waits at its socket, the others connect to it, both
//! ends check who the other is, and all map one shared memory segment. Where there are several nodes, the
//! ranks of each meet so, and their leaders tell each other where all of them listen in the network: see
//! [`inter_node`].
//!
//! The manager is asked O(n) things in all by n ranks: rank 0 asks for n addresses, every other rank for
//! a constant number of values, and each of m leaders for O(log m).

mod agreed_settings;
mod business_card;
mod endpoint_address;
mod inter_node;
mod leader_exchange;
mod manager;
mod node;
mod nodes;
mod pmi;
mod pmix;

use oxmpi_os::RawBytes;
use oxmpi_shm::heap::{Reach, Wish};
use oxmpi_shm::{Layout, Node};

pub(crate) use agreed_settings::AgreedSettings;
pub(crate) use business_card::{NetworkListener, NetworkPreference};
pub(crate) use endpoint_address::EndpointAddress;
pub(crate) use leader_exchange::ExchangeTraffic;
pub(crate) use manager::ProcessManager;
pub(crate) use node::{accept_ranks, join_node, open_acceptor};

use agreed_settings::Fingerprint;
use manager::ManagerCalls;
use nodes::{JobNodes, PublishedNodes};

use crate::error::{Error, Result};

/// The key under which a rank makes itself known, `PRINT/INVITATION`, with its number.
const NODE: &str = "oxmpi-node";

/// How the ranks of an endpoint find each other, and what they share.
#[derive(Clone, Debug)]
pub(crate) struct StartOptions {
    /// Which transports are selected, and how the ranks of other nodes are reached.
    pub(crate) network: NetworkPreference,
    /// The sizes of a shared memory segment for one rank.
    pub(crate) layout: Layout,
    /// The memory that ranks allocate.
    pub(crate) heap: Wish,
}

impl StartOptions {
    /// The sizes of a shared memory segment for `ranks` ranks.
    pub(crate) const fn layout(&self, ranks: u32) -> Layout {
        Layout {
            ranks,
            ..self.layout
        }
    }
}

/// The ranks that have met, as one of them sees it.
pub(crate) struct WiredRanks {
    /// Those that share memory with it, in the order of their ranks.
    pub(crate) node: Node,
    /// The others, where there are any.
    pub(crate) remote: Option<Box<RemoteRanks>>,
}

/// Ranks on other nodes.
pub(crate) struct RemoteRanks {
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
    pub(crate) ranks_on_machine: u32,
    /// The processes of those of them that this rank can ask the kernel about.
    pub(crate) visible_pids: Vec<u32>,
    /// Whether this rank is the first of those that are nodes of their own on its host.
    pub(crate) speaks_for_host: bool,
    /// What it took to find them.
    pub(crate) traffic: ExchangeTraffic,
}

impl WiredRanks {
    /// With memory that ranks have allocated before.
    pub(crate) fn with_heap_reach(self, reach: Reach) -> Self {
        Self {
            node: self.node.with_reach(reach),
            ..self
        }
    }

    /// Whether it falls to this rank to tell people what holds for all ranks of its host that share no memory.
    pub(crate) fn speaks_for_host(&self) -> bool {
        self.remote
            .as_ref()
            .is_none_or(|remote| remote.speaks_for_host)
    }

    /// What it took to meet, for people and tests: `rank 3: 1 puts, 5 gets, 4 barriers; 2 messages, 412 bytes`.
    pub(crate) fn report(&self, manager: &ProcessManager) -> String {
        let ManagerCalls {
            puts,
            gets,
            barriers,
        } = manager.asked();
        let traffic = self.remote.as_ref().map(|remote| remote.traffic);
        let ExchangeTraffic { messages, bytes } = traffic.unwrap_or_default();
        format!(
            "rank {}: {puts} puts, {gets} gets, {barriers} barriers; {messages} messages, {bytes} bytes",
            manager.rank()
        )
    }
}

impl From<Node> for WiredRanks {
    fn from(node: Node) -> Self {
        Self { node, remote: None }
    }
}

/// Meets all ranks of the job, with memory that they allocate as in `heap`.
///
/// # Errors
/// When a rank does not come, no network reaches it, or it was told other things.
pub(crate) fn meet(
    manager: &mut ProcessManager,
    options: &StartOptions,
    agreed: &AgreedSettings,
) -> Result<WiredRanks> {
    let (rank, size) = (manager.rank(), manager.size());
    let (acceptor, own) = open_acceptor(options.network.selection.shared)?;
    if size == 1 {
        return accept_ranks(acceptor, options.layout(1), Some(options.heap)).map(WiredRanks::from);
    }
    let fingerprint = agreed.fingerprint;
    manager.put(&format!("{NODE}-{rank}"), &format!("{fingerprint}/{own}"))?;
    manager.barrier()?;
    let first = address(manager, 0)?;
    if rank == 0 {
        let (mut names, mut differs) = (vec![own.node.clone()], None);
        for rank in 1..size {
            let (its_fingerprint, address) = known(manager, rank)?;
            differs = differs.or((its_fingerprint != fingerprint).then_some(rank));
            names.push(address.node);
        }
        match differs {
            Some(other) => nodes::publish_differing_rank(manager, other)?,
            None => JobNodes::named(names.iter().map(String::as_str)).publish(manager)?,
        }
    }
    manager.barrier()?;
    let published = match PublishedNodes::ask(manager)? {
        Ok(published) => published,
        Err(other) => return Err(agreed.differs(manager, other)),
    };
    if published.nodes > 1 {
        let listening = NetworkListener::open(&options.network, acceptor, own, &first)?;
        return inter_node::meet(manager, listening, published, options);
    }
    match rank {
        0 => accept_ranks(acceptor, options.layout(size), Some(options.heap)),
        _ => join_node(&first, rank, size),
    }
    .map(WiredRanks::from)
}

/// The address of rank `of`.
fn address(manager: &mut ProcessManager, of: u32) -> Result<EndpointAddress> {
    known(manager, of).map(|(_, address)| address)
}

/// What stands for all that rank `of` was told, and its address.
fn known(manager: &mut ProcessManager, of: u32) -> Result<(Fingerprint, EndpointAddress)> {
    let text = asked(manager, of, &format!("{NODE}-{of}"))?;
    let parts = text.split_once('/');
    let read =
        parts.and_then(|(fingerprint, address)| Some((Fingerprint::decode(fingerprint)?, address)));
    let Some((fingerprint, address)) = read else {
        let why = format!("rank {of} is {text:?}, expected fingerprint/address: {VERSION}");
        return Err(Error::start("looking for the other ranks", why));
    };
    Ok((fingerprint, EndpointAddress::decode(address)?))
}

/// What to ask when another rank says what makes no sense.
const VERSION: &str = "is it an oxmpi program of this version?";

/// What rank `of` has made known under `key`.
fn asked(manager: &mut ProcessManager, of: u32, key: &str) -> Result<String> {
    manager.get(of, key)?.ok_or_else(|| {
        let why = format!("rank {of} has published no {key}: {VERSION}");
        Error::start("looking for the other ranks", why)
    })
}
