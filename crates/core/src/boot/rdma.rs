//! The RDMA ports of a rank, and which other ranks they reach.
//!
//! A rank opens its ports before it publishes its address, the nearest first. The leader of a node publishes the node's
//! fabrics if all ranks of the node have opened ports of the same ones. Two ranks exchange messages by verbs if their
//! nodes have a fabric in common, else by TCP; both sides know that before their first message.

use oxmpi_os::adapter;
use oxmpi_shm::heap::Heap;
use oxmpi_tcp::{TcpRx, TcpTx};
use oxmpi_verbs::{KeptMemory, NoRdmaPort, RdmaPort};
use oxmpi_wire::transports::Transport;
use oxmpi_wire::{Network, Peer};

use super::network_preference::{NetworkPreference, STEP};
use crate::error::{Error, Result};
use crate::links::NetworkEnds;

/// The text in place of a fabric where there is none.
pub(super) const NONE: &str = "-";

/// The RDMA ports of this rank, where it has one.
pub(crate) struct Rdma {
    port: Option<RdmaPort>,
    /// Why a port that somebody asked for is not used, or what of it may fail later.
    warning: Option<String>,
    /// Somebody asked for it.
    named: bool,
    /// TCP carries messages, too.
    tcp: bool,
}

impl Rdma {
    /// Opens the usable ports of the selection, for `ranks` ranks.
    pub(super) fn open(preference: &NetworkPreference, ranks: u32) -> Self {
        let selection = &preference.selection;
        let (tcp, named) = (selection.tcp, selection.names_verbs);
        if !selection.verbs {
            return Self {
                port: None,
                warning: None,
                named,
                tcp,
            };
        }
        let ports = nearest_first(&selection.adapters);
        match RdmaPort::open(&ports, ranks, &preference.rdma) {
            Ok(port) => Self {
                warning: warning_of(port.warnings()),
                port: Some(port),
                named,
                tcp,
            },
            Err(why) => {
                let host = oxmpi_os::host::name();
                let warning = selection.clone().failed(&host, Transport::Verbs, &why);
                let warning = with_advice(warning, &why);
                Self {
                    port: None,
                    // Where nobody has asked for it, the next transport is no news.
                    warning: (named || !tcp).then_some(warning),
                    named,
                    tcp,
                }
            }
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.port.is_some()
    }

    /// The error where neither this nor TCP is used.
    pub(super) fn refusal(&self, preference: &NetworkPreference) -> Error {
        match &self.warning {
            Some(why) => Error::start(STEP, why),
            None => preference.refusal(),
        }
    }

    /// The network of the ports as text: the fabrics, and what else two ranks must have in common.
    pub(super) fn fabric(&self) -> String {
        match &self.port {
            Some(port) => port.network().to_owned(),
            None => NONE.into(),
        }
    }

    /// A number of the fabric, for the leader of the node to compare; 0 if there is none.
    pub(super) fn fabric_number(&self) -> u16 {
        self.port.as_ref().map_or(0, RdmaPort::network_number)
    }

    /// The network over the TCP halves `ends`. `fabrics` are those of the nodes of all ranks, `own` that of this rank's.
    /// `remote` are the ranks of other nodes; what is registered of `heap` stays so. Also the warning that a port that somebody asked for is not used, or not
    /// with all of them.
    ///
    /// # Errors
    /// When TCP must carry no messages, and a rank of another node has no fabric in common with this one.
    pub(super) fn over<'a>(
        self,
        ends: (TcpTx, TcpRx),
        own: &str,
        fabrics: impl Iterator<Item = &'a str>,
        remote: &[u32],
        heap: Option<&Heap>,
    ) -> Result<(NetworkEnds, Option<String>)> {
        let has_fabric = self.is_open() && own != NONE;
        let reached = |fabric: &str| has_fabric && RdmaPort::reaches(own, fabric);
        let by_verbs: Vec<bool> = fabrics.map(reached).collect();
        let lacking = remote.iter().find(|rank| !by_verbs[**rank as usize]);
        if let Some(&rank) = lacking.filter(|_| !self.tcp) {
            let why = format!(
                "rank {rank} on {} has no RDMA network in common with this rank on {} ({own}), and `transports` \
                 excludes tcp; allow tcp, or compare `oxmpi explain transports` on both",
                ends.0.host(Peer(rank)),
                oxmpi_os::host::name(),
            );
            return Err(Error::start(STEP, why));
        }
        let here = oxmpi_os::host::name();
        let not_reached = lacking.filter(|_| has_fabric && self.named).map(|&rank| {
            format!(
                "{here}: verbs does not reach rank {rank} on {}, which has no RDMA device on the same network: compare \
                 `oxmpi explain transports` there; tcp is used instead",
                ends.0.host(Peer(rank))
            )
        });
        let warning = self.warning.or(not_reached);
        let is_used = remote.iter().any(|rank| by_verbs[*rank as usize]);
        let network = match self.port.filter(|_| is_used) {
            None => NetworkEnds::tcp(ends.0, ends.1),
            Some(port) => {
                let kept = heap.and_then(|heap| {
                    Some(KeptMemory {
                        addresses: heap.addresses()?,
                        given_back: heap.given_back(),
                    })
                });
                let (tx, rx) = port.over(ends, &by_verbs, self.tcp, kept);
                NetworkEnds::verbs(tx, rx)
            }
        };
        Ok((network, warning))
    }
}

/// The ports, those of adapters on the NUMA node of this thread first.
fn nearest_first(ports: &[String]) -> Vec<String> {
    let mut ports = ports.to_vec();
    if let Ok(processors) = oxmpi_os::affinity::current() {
        let device = |port: &String| port.split(':').next().map(str::to_owned);
        ports.sort_by_cached_key(|port| {
            !device(port).is_none_or(|device| adapter::is_near(&device, &processors))
        });
    }
    ports
}

/// The warning, and what to do.
fn with_advice(warning: String, why: &NoRdmaPort) -> String {
    let advice = why.advice();
    match advice.is_empty() {
        true => warning,
        false => format!("{warning}\n{advice}"),
    }
}

/// What of an open port may fail later.
fn warning_of(warnings: &[String]) -> Option<String> {
    let host = oxmpi_os::host::name();
    let all: Vec<String> = (warnings.iter())
        .map(|warning| format!("{host}: {warning}"))
        .collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Checks that a port of the selection opens: one that does not is deselected, and the warning returned.
pub(super) fn probe(preference: &mut NetworkPreference) -> Option<String> {
    let NetworkPreference {
        selection, rdma, ..
    } = preference;
    if !selection.verbs {
        return None;
    }
    let why = match RdmaPort::probe(&selection.adapters, rdma) {
        Ok(warnings) => return warning_of(&warnings),
        Err(why) => why,
    };
    let host = oxmpi_os::host::name();
    let warning = with_advice(selection.failed(&host, Transport::Verbs, &why), &why);
    selection.names_verbs.then_some(warning)
}
