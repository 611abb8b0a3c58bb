//! [`RdmaPort`]: the port that a rank uses, opened.

use super::fabric::Fabric;
use super::rx::VerbsNetworkRx;
use super::tx::VerbsNetworkTx;
use crate::device_parameters::DeviceTable;
use crate::objects::{Context, Device, Mtu, PortState, devices};
use crate::transport::{ReceiveQueue, VerbsEndpoint, VerbsOptions};
use oxmpi_wire::Network;

/// A port of a device, opened for a number of peers.
#[derive(Debug)]
pub struct RdmaPort {
    pub(super) endpoint: VerbsEndpoint,
    pub(super) fabric: Fabric,
    pub(super) network: String,
}

impl RdmaPort {
    /// Opens the first of `ports`, each `DEVICE:PORT` as in `mlx5_0:1`, that can be used, for `peers` peers.
    ///
    /// # Errors
    /// Why none can be used, as a clause for people.
    ///
    /// # Cost
    /// Loads libibverbs.
    pub fn open(ports: &[String], peers: u32) -> Result<Self, String> {
        Self::open_of(&devices().map_err(|why| why.to_string())?, ports, peers)
    }

    /// As [`RdmaPort::open`], of these devices.
    pub(super) fn open_of(
        devices: &[Device],
        ports: &[String],
        peers: u32,
    ) -> Result<Self, String> {
        let mut reasons = Vec::new();
        for name in ports {
            let (device, port) = name.split_once(':').unwrap_or((name, "1"));
            let found = devices.iter().find(|found| found.name() == device);
            let opened = match found {
                Some(found) if found.is_iwarp() => {
                    Err("it is an iWARP device, which needs connections by rdmacm".into())
                }
                Some(found) => (found.open().map_err(|why| why.to_string()))
                    .and_then(|context| Self::on(&context, port.parse().unwrap_or(1), peers)),
                None => Err("libibverbs has no driver (provider) for it".into()),
            };
            match opened {
                Ok(opened) => return Ok(opened),
                Err(why) => reasons.push(format!("{name}: {why}")),
            }
        }
        Err(reasons.join("; "))
    }

    /// Opens port `port` of a device for `peers` peers.
    ///
    /// # Errors
    /// As [`RdmaPort::open`].
    fn on(context: &Context, port: u8, peers: u32) -> Result<Self, String> {
        let at = context.port(port).map_err(|why| why.to_string())?;
        if at.state != PortState::Active {
            return Err(format!("the port is not active but {:?}", at.state));
        }
        let gids = context.gids(port).map_err(|why| why.to_string())?;
        let (fabric, gid) = Fabric::of(at.link_layer, &gids)
            .ok_or("no address (GID) of it is InfiniBand's or RoCE's")?;
        let limits = context.limits().map_err(|why| why.to_string())?;
        let (vendor, part) = (limits.vendor_id, limits.vendor_part_id);
        let parameters = DeviceTable::shipped().find(vendor, part);
        if parameters.ignore_device == Some(true) {
            return Err(format!(
                "the table of devices says not to use it (vendor {vendor:#x}, part {part})"
            ));
        }
        let options = VerbsOptions {
            port,
            gid_index: gid.index,
            ..parameters.options()
        };
        let network = network(fabric, &options.receive_queues, at.active_mtu);
        let endpoint =
            VerbsEndpoint::open(context, peers, options).map_err(|why| why.to_string())?;
        Ok(Self {
            endpoint,
            fabric,
            network,
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
        (
            VerbsNetworkTx::new(control.0, tx, connector, by_verbs, falls_back),
            VerbsNetworkRx::new(control.1, rx),
        )
    }

    /// The name of its network: ports with the same one exchange messages. It is the fabric with a hash of the receive
    /// queues and the MTU.
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

    /// The fabric that it belongs to.
    #[must_use]
    pub const fn fabric(&self) -> Fabric {
        self.fabric
    }
}

/// See [`RdmaPort::network`].
fn network(fabric: Fabric, queues: &[ReceiveQueue], mtu: Mtu) -> String {
    let common = format!("{};{}", ReceiveQueue::join_all(queues), mtu.bytes());
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
                    let name = network(fabric, &queues, Mtu::new(mtu).expect("an MTU"));
                    assert!(name.starts_with(&fabric.to_string()), "{name}");
                    names.insert(name);
                }
            }
        }
        assert_eq!(names.len(), 8);
        // As published: http://www.isthe.com/chongo/tech/comp/fnv.
        assert_eq!(fnv("foobar"), 0xbf9c_f968);
    }
}
