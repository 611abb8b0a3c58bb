//! [`RdmaPort`]: the ports that a rank uses, opened.

use super::fabric::Fabric;
use super::no_rdma_port::NoRdmaPort;
use super::rdmacm::{CmConnections, CmListener};
use super::reached_port::ReachedPort;
use super::rx::VerbsNetworkRx;
use super::tx::VerbsNetworkTx;
use crate::device_parameters::DeviceParameters;
use crate::objects::{CmChannel, Device, Mtu, PortState, devices};
use crate::preference::RdmaPreference;
use crate::registration::{KeptMemory, LeavePinned, RegistrableWarning};
use crate::transport::{
    FittedQueues, MOST_RAILS, Rail, ReceiveQueue, VerbsEndpoint, VerbsOptions, pages_on_demand,
};
use oxmpi_os::limit::LockedMemoryLimit;
use oxmpi_wire::Network;

/// The ports of a rank, opened for a number of peers.
#[derive(Debug)]
pub struct RdmaPort {
    pub(super) endpoint: VerbsEndpoint,
    /// How connections are made; `None`: by the control network.
    pub(super) rdmacm: Option<CmConnections>,
    /// Of each port, in the order in which they are used.
    pub(super) fabrics: Vec<Fabric>,
    pub(super) network: String,
    pub(super) warnings: Vec<String>,
}

/// A port that can be used.
struct UsablePort {
    name: String,
    rail: Rail,
    fabric: Fabric,
    /// Where connections by rdmacm arrive; `None`: they are made by the control network.
    rdmacm: Option<(CmChannel, CmListener)>,
    mtu: Mtu,
    parameters: DeviceParameters,
}

/// How ports are used.
struct PortPlan {
    rails: Vec<Rail>,
    options: VerbsOptions,
    fabrics: Vec<Fabric>,
    network: String,
    warnings: Vec<String>,
}

impl PortPlan {
    /// That of these ports.
    ///
    /// # Errors
    /// A setting is in a file that must not be, or rdmacm cannot connect the receive queues.
    fn of(ports: &[UsablePort], preference: &RdmaPreference) -> Result<Self, NoRdmaPort> {
        // The ranks of a node have the same ports in other orders.
        let first = ports.iter().min_by_key(|port| &port.name);
        let first = first.ok_or_else(NoRdmaPort::default)?;
        let by_rdmacm = ports.iter().any(|port| port.rdmacm.is_some());
        let mut options = preference.options(&first.parameters, LeavePinned::On);
        // Memory is registered with the device of the first port.
        let paging = pages_on_demand(&ports[0].rail.context, &options);
        let pinned = preference.decide_pinned(paging)?;
        options.registration.leave_pinned = pinned.leave_pinned;
        if by_rdmacm {
            ReceiveQueue::check_rdmacm(&options.receive_queues).map_err(NoRdmaPort::new)?;
        }
        if first.rail.context.is_iwarp() {
            options = options.on_iwarp();
        }
        let locked = LockedMemoryLimit::raise().bytes();
        let fitted = |ports: &[UsablePort]| {
            let of_each = locked.map(|bytes| bytes / ports.len() as u64);
            FittedQueues::of(&options, of_each).ok()
        };
        let mut ports = ports;
        while ports.len() > 1 && fitted(ports).is_none() {
            ports = &ports[..ports.len() - 1];
        }
        let fitted = fitted(ports);
        let fabrics: Vec<Fabric> = ports.iter().map(|port| port.fabric).collect();
        let network = network(&fabrics, &options.receive_queues, first.mtu, by_rdmacm);
        let rails: Vec<Rail> = ports.iter().map(|port| port.rail.clone()).collect();
        let mut devices: Vec<&str> = rails.iter().map(|rail| rail.context.name()).collect();
        devices.dedup();
        let refused = pinned.is_refusal.then(|| pinned.to_string());
        let shrunk = fitted.and_then(FittedQueues::warning);
        let own = refused.into_iter().chain(shrunk);
        let own = own.map(|warning| format!("{}: {warning}", devices.join(", ")));
        let registrable = devices
            .iter()
            .filter_map(|of| RegistrableWarning::of_device(of));
        let registrable = registrable.map(|warning| warning.to_string());
        let same_prefix = preference
            .warn_default_prefix
            .then(|| default_prefix(ports));
        Ok(Self {
            rails: rails.clone(),
            options,
            fabrics,
            network,
            warnings: own
                .chain(registrable)
                .chain(same_prefix.flatten())
                .collect(),
        })
    }
}

impl RdmaPort {
    /// Opens those of `ports`, each `DEVICE:PORT` as in `mlx5_0:1`, that can be used, in their order, for `peers` peers, as
    /// `preference` says. If rdmacm connects the first of those, it connects all.
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
        let usable = Self::usable(devices, ports, preference)?;
        let PortPlan {
            rails,
            options,
            fabrics,
            network,
            warnings,
        } = PortPlan::of(&usable, preference)?;
        let endpoint = VerbsEndpoint::open_rails(&rails, peers, options)?;
        let listening = usable.into_iter().take(rails.len());
        let listening = listening.filter_map(|port| port.rdmacm);
        let (mut channels, listeners): (Vec<_>, Vec<_>) = listening.unzip();
        let timeout = preference.resolve_timeout;
        Ok(Self {
            endpoint,
            // It is the same for all.
            rdmacm: channels
                .pop()
                .map(|channel| CmConnections::new(channel, listeners, timeout)),
            fabrics,
            network,
            warnings,
        })
    }

    /// Checks that [`RdmaPort::open`] finds a port, without registering memory. Returns the [warnings](Self::warnings).
    ///
    /// # Errors
    /// As [`RdmaPort::open`].
    ///
    /// # Cost
    /// Loads libibverbs; makes a queue pair and destroys it.
    pub fn probe(ports: &[String], preference: &RdmaPreference) -> Result<Vec<String>, NoRdmaPort> {
        Self::probe_of(&devices()?, ports, preference)
    }

    /// As [`RdmaPort::probe`], of these devices.
    pub(super) fn probe_of(
        devices: &[Device],
        ports: &[String],
        preference: &RdmaPreference,
    ) -> Result<Vec<String>, NoRdmaPort> {
        let plan = PortPlan::of(&Self::usable(devices, ports, preference)?, preference)?;
        VerbsEndpoint::check_rails(&plan.rails, &plan.options)?;
        Ok(plan.warnings)
    }

    /// Those of `ports` that can be used.
    fn usable(
        devices: &[Device],
        ports: &[String],
        preference: &RdmaPreference,
    ) -> Result<Vec<UsablePort>, NoRdmaPort> {
        let mut none = NoRdmaPort::default();
        let mut usable: Vec<UsablePort> = Vec::new();
        for name in ports {
            let most = preference.rails.clamp(1, MOST_RAILS);
            if usable.len() == most {
                break;
            }
            match Self::find(devices, name, &usable, preference) {
                Ok(port) => usable.push(port),
                Err(why) => none.add(name, why),
            }
        }
        match usable.is_empty() {
            true => Err(none),
            false => Ok(usable),
        }
    }

    /// The port `name`, if it can be used beside others.
    ///
    /// # Errors
    /// Why it cannot.
    fn find(
        devices: &[Device],
        name: &str,
        others: &[UsablePort],
        preference: &RdmaPreference,
    ) -> Result<UsablePort, NoRdmaPort> {
        let (device, port) = name.split_once(':').unwrap_or((name, "1"));
        let port = port.parse().unwrap_or(1);
        let found = devices.iter().find(|found| found.name() == device);
        let found =
            found.ok_or_else(|| NoRdmaPort::new("libibverbs has no driver (provider) for it"))?;
        let mut contexts = others.iter().map(|other| &other.rail.context);
        let context = match contexts.find(|context| context.name() == device) {
            Some(context) => context.clone(),
            None => found.open()?,
        };
        let at = context.port(port)?;
        if at.state != PortState::Active {
            let why = format!("the port is not active but {:?}", at.state);
            return Err(NoRdmaPort::new(why));
        }
        let limits = context.limits()?;
        let (vendor, part) = (limits.vendor_id, limits.vendor_part_id);
        let parameters = preference.parameters(vendor, part);
        if parameters.ignore_device == Some(true) {
            let why = format!(
                "the table of devices says not to use it (vendor {vendor:#x}, part {part})"
            );
            return Err(NoRdmaPort::new(why));
        }
        let by_rdmacm = preference.by_rdmacm(context.is_iwarp(), at.link_layer);
        let is_alike = |first: &UsablePort| {
            let is_iwarp = first.rail.context.is_iwarp();
            (first.rdmacm.is_some(), is_iwarp) == (by_rdmacm, context.is_iwarp())
        };
        if !others.first().is_none_or(is_alike) {
            let why =
                "rdmacm connects it or the ports before it, not both, or one of both is iWARP";
            return Err(NoRdmaPort::new(why));
        }
        let channel = others.iter().find_map(|other| other.rdmacm.as_ref());
        let channel = channel.map(|(channel, _)| channel);
        let ReachedPort {
            fabric,
            gid_index,
            rdmacm,
        } = ReachedPort::of(&context, port, at.link_layer, channel, preference)?;
        let rail = Rail {
            context,
            port,
            gid_index,
        };
        Ok(UsablePort {
            name: name.to_owned(),
            rail,
            fabric,
            rdmacm,
            mtu: at.active_mtu,
            parameters,
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
        kept: Option<KeptMemory>,
    ) -> (VerbsNetworkTx<C>, VerbsNetworkRx<C, R>) {
        let (connector, mut tx, rx) = self.endpoint.into_parts();
        if let Some(memory) = kept {
            tx.keep_registered(memory);
        }
        let rails = self.fabrics.into_iter().zip(connector.devices());
        let rails = rails.collect();
        let channel = self.rdmacm.as_ref().map(|rdmacm| rdmacm.channel().clone());
        let connections = (connector, rails, self.rdmacm);
        (
            VerbsNetworkTx::new(control.0, tx, connections, by_verbs, falls_back),
            VerbsNetworkRx::new(control.1, rx, channel),
        )
    }

    /// The name of their network, for [`RdmaPort::reaches`]: the fabrics with a hash of the receive queues, the MTU and
    /// who connects.
    #[must_use]
    pub fn network(&self) -> &str {
        &self.network
    }

    /// Whether ranks whose networks have these names exchange messages by verbs: they have a fabric in common, the same
    /// receive queues and MTU, and rdmacm connects both or neither.
    #[must_use]
    pub fn reaches(here: &str, there: &str) -> bool {
        let parts = |name: &str| {
            let (fabrics, hash) = name.rsplit_once('.')?;
            let fabrics: Vec<String> = fabrics
                .split(FABRICS_JOINED_BY)
                .map(str::to_owned)
                .collect();
            Some((fabrics, hash.to_owned()))
        };
        let (Some((here, hash)), Some((fabrics, same))) = (parts(here), parts(there)) else {
            return false;
        };
        hash == same && here.iter().any(|fabric| fabrics.contains(fabric))
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

    /// The fabric of each port, in the order in which they are used.
    #[must_use]
    pub fn fabrics(&self) -> &[Fabric] {
        &self.fabrics
    }
}

/// The prefix that subnets have until somebody gives them another.
const DEFAULT_PREFIX: Fabric = Fabric::InfiniBand(0xfe80_0000_0000_0000);

/// The warning that several ports are of subnets whose prefix nobody has set.
///
/// Source: the Open MPI FAQ, "I got an error message from Open MPI about not using the default GID prefix".
fn default_prefix(ports: &[UsablePort]) -> Option<String> {
    let of_default = ports.iter().filter(|port| port.fabric == DEFAULT_PREFIX);
    let names: Vec<&str> = of_default.map(|port| &*port.name).collect();
    (names.len() > 1).then(|| {
        format!(
            "ports {} have the default subnet prefix fe80::, so they count as one fabric; if their networks are \
             separate, give each subnet another prefix in its subnet manager; if they are one network, \
             verbs_warn_default_prefix=off ends this warning",
            names.join(", ")
        )
    })
}

const FABRICS_JOINED_BY: char = '+';

/// See [`RdmaPort::network`].
fn network(fabrics: &[Fabric], queues: &[ReceiveQueue], mtu: Mtu, by_rdmacm: bool) -> String {
    let by = if by_rdmacm { ";rdmacm" } else { "" };
    let mut fabrics: Vec<String> = fabrics.iter().map(ToString::to_string).collect();
    fabrics.sort_unstable();
    fabrics.dedup();
    let fabrics = fabrics.join(&FABRICS_JOINED_BY.to_string());
    let common = format!("{};{}{by}", ReceiveQueue::join_all(queues), mtu.bytes());
    format!("{fabrics}.{:08x}", fnv(&common))
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
                    for by_rdmacm in [false, true] {
                        let mtu = Mtu::new(mtu).expect("an MTU");
                        let name = network(&[fabric], &queues, mtu, by_rdmacm);
                        assert!(name.starts_with(&fabric.to_string()), "{name}");
                        names.insert(name);
                    }
                }
            }
        }
        assert_eq!(names.len(), 16);
        for (a, b) in names.iter().flat_map(|a| names.iter().map(move |b| (a, b))) {
            assert_eq!(RdmaPort::reaches(a, b), a == b, "{a} {b}");
        }
        // As published: http://www.isthe.com/chongo/tech/comp/fnv.
        assert_eq!(fnv("foobar"), 0xbf9c_f968);
    }

    #[test]
    fn ports_of_several_fabrics_reach_those_of_each() {
        let queues = ReceiveQueue::parse_all("P,128").expect("queues");
        let name =
            |fabrics: &[Fabric]| network(fabrics, &queues, Mtu::new(4096).expect("an MTU"), false);
        let [a, b, c] = [1, 2, 3].map(Fabric::InfiniBand);
        for (here, there, reaches) in [
            (&[a, b, a][..], &[b][..], true),
            (&[a, b], &[c, b], true),
            (&[a, b], &[c], false),
        ] {
            let (here, there) = (name(here), name(there));
            assert_eq!(RdmaPort::reaches(&here, &there), reaches, "{here} {there}");
            assert_eq!(RdmaPort::reaches(&there, &here), reaches);
        }
        assert_eq!(
            name(&[a, b]),
            name(&[b, a, b]),
            "whatever the order of a rank's ports"
        );
        assert!(!RdmaPort::reaches("-", "-"));
    }
}
