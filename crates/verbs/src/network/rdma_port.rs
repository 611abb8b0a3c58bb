//! [`RdmaPort`]: the port that a rank uses, opened.

use super::fabric::Fabric;
use super::no_rdma_port::NoRdmaPort;
use super::rdmacm::CmConnections;
use super::reached_port::ReachedPort;
use super::rx::VerbsNetworkRx;
use super::tx::VerbsNetworkTx;
use crate::objects::{Context, Device, Mtu, PortState, devices};
use crate::preference::RdmaPreference;
use crate::registration::RegistrableWarning;
use crate::transport::{FittedQueues, ReceiveQueue, VerbsEndpoint, VerbsOptions};
use oxmpi_os::limit::LockedMemoryLimit;
use oxmpi_wire::Network;

/// A port of a device, opened for a number of peers.
#[derive(Debug)]
pub struct RdmaPort {
    pub(super) endpoint: VerbsEndpoint,
    /// How connections are made; `None`: by the control network.
    pub(super) rdmacm: Option<CmConnections>,
    pub(super) fabric: Fabric,
    pub(super) network: String,
    pub(super) warnings: Vec<String>,
}

impl RdmaPort {
    /// Opens the first of `ports`, each `DEVICE:PORT` as in `mlx5_0:1`, that can be used, for `peers` peers, as `preference`
    /// says.
    ///
    /// # Errors
    /// Why none can be used.
    ///
    /// # Cost
    /// Loads libibverbs.
    pub fn open(
        ports: &[String],
        peers: u32,
        preference: &RdmaPreference,
    ) -> Result<Self, NoRdmaPort> {
        Self::open_of(&devices()?, ports, peers, preference)
    }

    /// As [`RdmaPort::open`], of these devices.
    pub(super) fn open_of(
        devices: &[Device],
        ports: &[String],
        peers: u32,
        preference: &RdmaPreference,
    ) -> Result<Self, NoRdmaPort> {
        let mut none = NoRdmaPort::default();
        for name in ports {
            let (device, port) = name.split_once(':').unwrap_or((name, "1"));
            let found = devices.iter().find(|found| found.name() == device);
            let opened = match found {
                Some(found) => (found.open().map_err(NoRdmaPort::from)).and_then(|context| {
                    Self::on(&context, port.parse().unwrap_or(1), peers, preference)
                }),
                None => Err(NoRdmaPort::new(
                    "libibverbs has no driver (provider) for it",
                )),
            };
            match opened {
                Ok(opened) => return Ok(opened),
                Err(why) => none.add(name, why),
            }
        }
        Err(none)
    }

    /// Opens port `port` of a device for `peers` peers.
    ///
    /// # Errors
    /// As [`RdmaPort::open`].
    fn on(
        context: &Context,
        port: u8,
        peers: u32,
        preference: &RdmaPreference,
    ) -> Result<Self, NoRdmaPort> {
        let at = context.port(port)?;
        if at.state != PortState::Active {
            let why = format!("the port is not active but {:?}", at.state);
            return Err(NoRdmaPort::new(why));
        }
        let reached = ReachedPort::of(context, port, at.link_layer, preference)?;
        let limits = context.limits()?;
        let (vendor, part) = (limits.vendor_id, limits.vendor_part_id);
        let parameters = preference.parameters(vendor, part);
        if parameters.ignore_device == Some(true) {
            let why = format!(
                "the table of devices says not to use it (vendor {vendor:#x}, part {part})"
            );
            return Err(NoRdmaPort::new(why));
        }
        let pinned = preference.decide_pinned()?;
        let ReachedPort {
            fabric,
            gid_index,
            rdmacm,
        } = reached;
        let mut options = VerbsOptions {
            port,
            gid_index,
            ..preference.options(&parameters, pinned.leave_pinned)
        };
        if rdmacm.is_some() {
            ReceiveQueue::check_rdmacm(&options.receive_queues).map_err(NoRdmaPort::new)?;
        }
        if context.is_iwarp() {
            options = options.on_iwarp();
        }
        let by = rdmacm.as_ref().map_or("", |_| ";rdmacm");
        let network = network(fabric, &options.receive_queues, at.active_mtu, by);
        let fitted = FittedQueues::of(&options, LockedMemoryLimit::raise().bytes());
        let endpoint = VerbsEndpoint::open(context, peers, options)?;
        let refused = pinned.is_refusal.then(|| pinned.to_string());
        let shrunk = fitted.ok().and_then(FittedQueues::warning);
        let own = refused.into_iter().chain(shrunk);
        let own = own.map(|warning| format!("{}: {warning}", context.name()));
        let registrable = RegistrableWarning::of_device(context.name());
        let registrable = registrable.map(|warning| warning.to_string());
        Ok(Self {
            endpoint,
            rdmacm,
            fabric,
            network,
            warnings: own.chain(registrable).collect(),
        })
    }

    /// Both halves of the network over `control`. `by_verbs` says of each peer whether its messages take the port, as
    /// both sides know; those of the others take the control network. So do those of peers to which no connection is
    /// made, if it `falls_back`; else they are lost.
    pub fn over<C: Network, R>(
        self,
        control: (C, R),
        by_verbs: &[bool],
        falls_back: bool,
    ) -> (VerbsNetworkTx<C>, VerbsNetworkRx<C, R>) {
        let (connector, tx, rx) = self.endpoint.into_parts();
        let channel = self.rdmacm.as_ref().map(|rdmacm| rdmacm.channel().clone());
        let connections = (connector, self.rdmacm);
        (
            VerbsNetworkTx::new(control.0, tx, connections, by_verbs, falls_back),
            VerbsNetworkRx::new(control.1, rx, channel),
        )
    }

    /// The name of its network: ports with the same one exchange messages. It is the fabric with a hash of the receive
    /// queues, the MTU and who connects.
    #[must_use]
    pub fn network(&self) -> &str {
        &self.network
    }

    /// A number of the network, not 0. Those of two networks are hardly the same.
    #[must_use]
    pub fn network_number(&self) -> u16 {
        let hash = fnv(&self.network);
        ((hash ^ hash >> 16) as u16).max(1)
    }

    /// What of the preference could not be had, and what may fail later: a sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The fabric that it belongs to.
    #[must_use]
    pub const fn fabric(&self) -> Fabric {
        self.fabric
    }
}

/// See [`RdmaPort::network`].
fn network(fabric: Fabric, queues: &[ReceiveQueue], mtu: Mtu, by: &str) -> String {
    let common = format!("{};{}{by}", ReceiveQueue::join_all(queues), mtu.bytes());
    format!("{fabric}.{:08x}", fnv(&common))
}

/// FNV-1a: the same on all machines.
fn fnv(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Two kinds of device may have other queues by the table of devices, and two switches another MTU.
    #[test]
    fn ports_that_differ_in_what_they_need_in_common_have_other_networks() {
        let mut names = BTreeSet::new();
        for fabric in [Fabric::RoceV2Ipv4, Fabric::InfiniBand(7)] {
            for queues in ["P,128,256", "P,128,255"] {
                for mtu in [1024, 4096] {
                    let queues = ReceiveQueue::parse_all(queues).expect("queues");
                    for by in ["", ";rdmacm"] {
                        let name = network(fabric, &queues, Mtu::new(mtu).expect("an MTU"), by);
                        assert!(name.starts_with(&fabric.to_string()), "{name}");
                        names.insert(name);
                    }
                }
            }
        }
        assert_eq!(names.len(), 16);
        // As published: http://www.isthe.com/chongo/tech/comp/fnv.
        assert_eq!(fnv("foobar"), 0xbf9c_f968);
    }
}
