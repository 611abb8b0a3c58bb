//! An endpoint over a network that the core does not know.

use oxmpi_os::fork::ForkGuard;
use oxmpi_shm::Node;

use super::Endpoint;
use crate::boot::{ExchangeTraffic, RemoteRanks, WiredRanks};
use crate::error::{Error, Result};
use crate::links::OtherNetwork;
use crate::policy::EndpointPolicy;

impl Endpoint {
    /// The endpoint of rank `rank` among ranks that `network` has joined, each on a node of its own. `pids` are the
    /// processes of all ranks, by rank.
    ///
    /// # Errors
    /// [`Error::Start`] when the system has no memory for this rank's segment.
    ///
    /// # Panics
    /// If `rank` has no process.
    pub fn over_network(
        network: OtherNetwork,
        rank: u32,
        pids: Vec<u32>,
        policy: EndpointPolicy,
    ) -> Result<Self> {
        let ranks = pids.len() as u32;
        let own_pid = pids[rank as usize];
        let node = Node::alone(policy.start.layout(1))
            .map_err(|why| Error::start("setting up shared memory", why))?;
        let others = (0..ranks).filter(|other| *other != rank);
        let remote = RemoteRanks {
            network: network.into(),
            order: std::iter::once(rank).chain(others).collect(),
            nodes: (0..ranks).collect(),
            pids,
            ranks_on_machine: 1,
            visible_pids: vec![own_pid],
            speaks_for_host: true,
            warning: None,
            traffic: ExchangeTraffic::default(),
        };
        let wired = WiredRanks {
            node,
            remote: Some(remote.into()),
        };
        let fork = ForkGuard::new().map_err(|why| Error::start("guarding against forks", why))?;
        Self::new(wired, policy, fork)
    }
}
