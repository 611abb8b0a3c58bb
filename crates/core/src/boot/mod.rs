//! How the ranks of a job find and connect to each other.
//!
//! Each rank publishes its node, its socket and a fingerprint of its [settings](agreed_settings). Rank 0
//! reads all of them, and publishes which ranks are on which node, or that settings differ. On one node, the
//! first rank waits at its socket, the others connect to it, both ends check each other's identity, and all
//! map one shared memory segment. Where there are several nodes, the ranks of each do so, and their leaders
//! exchange the network addresses of all ranks: see [`inter_node`].
//!
//! The process manager gets O(n) calls in all from n ranks: rank 0 gets n addresses, every other rank a
//! constant number of values, and each of m leaders O(log m).

mod agreed_settings;
#[cfg(feature = "tcp")]
mod business_card;
#[cfg_attr(
    not(feature = "tcp"),
    expect(
        dead_code,
        reason = "the inter-node wire-up, which needs a network, uses it"
    )
)]
mod endpoint_address;
#[cfg(feature = "tcp")]
mod inter_node;
#[cfg(feature = "tcp")]
mod leader_exchange;
mod manager;
mod network_preference;
#[cfg(not(feature = "tcp"))]
mod no_network;
#[cfg_attr(
    not(feature = "tcp"),
    expect(
        dead_code,
        reason = "the inter-node wire-up, which needs a network, uses it"
    )
)]
mod node;
#[cfg_attr(
    not(feature = "tcp"),
    expect(
        dead_code,
        reason = "the inter-node wire-up, which needs a network, uses it"
    )
)]
mod nodes;
mod pmi;
#[cfg(feature = "pmix")]
mod pmix;
#[cfg(all(feature = "tcp", not(feature = "verbs")))]
#[path = "no_rdma.rs"]
mod rdma;
#[cfg(feature = "verbs")]
mod rdma;

use oxmpi_shm::heap::{HeapPreference, RankAreas};
use oxmpi_shm::{Node, SegmentLayout};
use oxmpi_wire::transports::{Selection, Transport};

pub use agreed_settings::AgreedSettings;
#[cfg(feature = "tcp")]
pub(crate) use business_card::NetworkListener;
pub(crate) use endpoint_address::EndpointAddress;
pub(crate) use manager::ProcessManager;
pub use network_preference::NetworkPreference;
#[cfg(not(feature = "tcp"))]
pub(crate) use no_network::NetworkListener;
pub(crate) use node::{accept_ranks, join_node, open_acceptor};

use agreed_settings::Fingerprint;
use manager::ManagerCalls;
use nodes::{JobNodes, PublishedNodes};

use crate::error::{Error, Result};
use crate::links::NetworkEnds;

/// The key, with a rank's number, under which a rank publishes `FINGERPRINT/ADDRESS`.
const NODE: &str = "oxmpi-node";

/// How the ranks of an endpoint find each other, and what they share.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Which transports are selected, and how the ranks of other nodes are reached.
    pub network: NetworkPreference,
    /// The sizes of a shared memory segment for one rank.
    pub layout: SegmentLayout,
    /// The memory that ranks allocate.
    pub heap: HeapPreference,
}

impl Default for StartOptions {
    /// Shared memory of the usual sizes, and no network.
    fn default() -> Self {
        Self {
            network: NetworkPreference::new(Selection {
                shared: true,
                ..Selection::default()
            }),
            layout: SegmentLayout::new(1),
            heap: HeapPreference::default(),
        }
    }
}

impl StartOptions {
    /// Opens the selected transports. One that does not open is deselected, and the warning returned: see
    /// [`open_transports`].
    pub(crate) fn open_transports(&mut self) -> Option<String> {
        let layout = self.layout(2);
        open_transports(&mut self.network.selection, layout)
    }

    /// The sizes of a shared memory segment for `ranks` ranks.
    pub(crate) const fn layout(&self, ranks: u32) -> SegmentLayout {
        SegmentLayout {
            ranks,
            ..self.layout
        }
    }
}

/// Opens the selected transports, for ranks that share memory as in `layout`. One that does not open is
/// deselected, and the warning returned. A network is opened later, where ranks are on several nodes, and has
/// no successor.
pub fn open_transports(selection: &mut Selection, layout: SegmentLayout) -> Option<String> {
    if !selection.shared {
        return None;
    }
    let why = Node::probe(layout).err()?;
    Some(selection.failed(&oxmpi_os::host::name(), Transport::Shared, &why))
}

/// Opens an RDMA port of `preference`, which a job of several nodes would do, and closes it. If none opens, verbs is
/// deselected; the warning is returned if somebody has asked for verbs, and any other about the port.
///
/// # Cost
/// Loads libibverbs, if verbs is selected.
pub fn probe_verbs(preference: &mut NetworkPreference) -> Option<String> {
    #[cfg(feature = "verbs")]
    return rdma::probe(preference);
    #[cfg(not(feature = "verbs"))]
    {
        let _ = preference;
        None
    }
}

/// The ranks that have connected, as one of them sees it.
pub(crate) struct WiredRanks {
    /// The ranks that share memory with this one, in the order of their numbers.
    pub(crate) node: Node,
    /// The ranks of other nodes, if there are any.
    pub(crate) remote: Option<Box<RemoteRanks>>,
}

/// What a leader has sent to other nodes to find their ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExchangeTraffic {
    pub(crate) messages: u32,
    pub(crate) bytes: u64,
}

/// Ranks on other nodes.
pub(crate) struct RemoteRanks {
    /// The network, joined.
    pub(crate) network: NetworkEnds,
    /// All ranks, those of this node first.
    pub(crate) order: Vec<u32>,
    /// The node of each rank, by rank. Nodes are numbered in the order of their first ranks. Every rank has
    /// the same list.
    pub(crate) nodes: Vec<u32>,
    /// The process of each rank, by rank.
    pub(crate) pids: Vec<u32>,
    /// Number of ranks on this machine, of whichever node.
    pub(crate) ranks_on_machine: u32,
    /// The processes of those of them whose affinity this rank can read.
    pub(crate) visible_pids: Vec<u32>,
    /// Whether this rank is the first of those on its host that do not share memory.
    pub(crate) speaks_for_host: bool,
    /// Why a network that somebody has asked for is not used.
    pub(crate) warning: Option<String>,
    /// What this rank has sent to find the others.
    pub(crate) traffic: ExchangeTraffic,
}

impl WiredRanks {
    /// With the heap of an earlier endpoint.
    pub(crate) fn with_heap_reach(self, reach: RankAreas) -> Self {
        Self {
            node: self.node.with_rank_areas(reach),
            ..self
        }
    }

    /// The warning that a network is not used, on a rank that speaks for its host.
    pub(crate) fn network_warning(&self) -> Option<&str> {
        let remote = self.remote.as_ref().filter(|_| self.speaks_for_host())?;
        remote.warning.as_deref()
    }

    /// Whether this rank prints warnings that hold for all ranks of its host that do not share memory.
    pub(crate) fn speaks_for_host(&self) -> bool {
        self.remote
            .as_ref()
            .is_none_or(|remote| remote.speaks_for_host)
    }

    /// A report of the calls and messages of the wire-up, for people and tests: `rank 3: 1 puts, 5 gets, 4
    /// barriers; 2 messages, 412 bytes`.
    pub(crate) fn report(&self, manager: &ProcessManager) -> String {
        let ManagerCalls {
            puts,
            gets,
            barriers,
        } = manager.calls();
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

/// Connects all ranks of the job.
///
/// # Errors
/// When a rank does not connect, no network reaches it, or its settings differ.
pub(crate) fn wire_up(
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
            let (its_fingerprint, address) = published_by(manager, rank)?;
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
        let listening = NetworkListener::open(&options.network, acceptor, own, &first, size)?;
        #[cfg(feature = "tcp")]
        return inter_node::wire_up(manager, listening, published, options);
        #[cfg(not(feature = "tcp"))]
        match listening.0 {}
    }
    match rank {
        0 => accept_ranks(acceptor, options.layout(size), Some(options.heap)),
        _ => join_node(&first, rank, size),
    }
    .map(WiredRanks::from)
}

/// The address of rank `of`.
fn address(manager: &mut ProcessManager, of: u32) -> Result<EndpointAddress> {
    published_by(manager, of).map(|(_, address)| address)
}

/// The fingerprint and the address of rank `of`.
fn published_by(manager: &mut ProcessManager, of: u32) -> Result<(Fingerprint, EndpointAddress)> {
    let text = get_published(manager, of, &format!("{NODE}-{of}"))?;
    let parts = text.split_once('/');
    let read =
        parts.and_then(|(fingerprint, address)| Some((Fingerprint::decode(fingerprint)?, address)));
    let Some((fingerprint, address)) = read else {
        let why = format!("rank {of} is {text:?}, expected fingerprint/address: {VERSION}");
        return Err(Error::start("looking for the other ranks", why));
    };
    Ok((fingerprint, EndpointAddress::decode(address)?))
}

/// A question for errors about malformed data of another rank.
const VERSION: &str = "is it an oxmpi program of this version?";

/// The value that rank `of` has published under `key`.
fn get_published(manager: &mut ProcessManager, of: u32, key: &str) -> Result<String> {
    manager.get(of, key)?.ok_or_else(|| {
        let why = format!("rank {of} has published no {key}: {VERSION}");
        Error::start("looking for the other ranks", why)
    })
}
