//! The decision which transports and devices are used ([`select`]), with the reasons ([`Selection`]).

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::Display;

use super::device_list::{DeviceList, no_driver, unknown, words};
use super::names::{NameMeaning, meaning};
use super::{Device, DeviceKind, Transport, TransportPreference, Verdict};

/// The transports and devices that a rank uses, with the reasons. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Whether ranks of a node use shared memory.
    pub shared: bool,
    /// Whether ranks use RDMA where both sides have it. TCP connects them, even where a list excludes it.
    pub verbs: bool,
    /// Whether a list names verbs: then it is worth a warning that it cannot be used.
    pub names_verbs: bool,
    /// Whether ranks use TCP where they have nothing faster.
    pub tcp: bool,
    /// Whether TCP is left out only because no interface is usable.
    pub lacks_interfaces: bool,
    /// The usable network interfaces, the fastest first.
    pub interfaces: Vec<String>,
    /// The usable ports of adapters, `mlx5_0:1`, the fastest first.
    pub adapters: Vec<String>,
    /// The verdict on every transport of this library.
    pub transports: Vec<Verdict>,
    /// The verdict on every device of this host.
    pub devices: Vec<Verdict>,
    /// What was ignored and why, one sentence each: to be printed once in a job.
    pub warnings: Vec<String>,
}

/// Selects from `devices` of `host` what the lists `transports` and `network` allow.
///
/// A name that matches nothing here is ignored with a warning; a list of which nothing is left counts as not
/// set, so that the job runs with what there is.
#[must_use]
pub fn select(
    host: &str,
    transports: TransportPreference<'_>,
    network: TransportPreference<'_>,
    devices: &[Device],
) -> Selection {
    let mut warnings = Vec::new();
    let mut wanted = TransportChoice::read(host, transports, devices, &mut warnings);
    let mut over = network_of(host, network, devices, &mut warnings);
    let mut verdicts = of_devices(devices, &wanted, &over);
    if wanted.tcp && !takes(devices, &verdicts, is_interface) {
        let (opened, warning) = wanted.opened(host, &verdicts);
        wanted = opened;
        warnings.extend(warning);
        let (listed, warning) = over.opened(host, &verdicts);
        over = listed;
        warnings.extend(warning);
        verdicts = of_devices(devices, &wanted, &over);
    }
    let taken = |is_kind: fn(&Device) -> bool| {
        let both = devices.iter().zip(&verdicts);
        let of_kind = both.filter(|(device, verdict)| verdict.taken && is_kind(device));
        let mut taken: Vec<&Device> = of_kind.map(|(device, _)| device).collect();
        taken.sort_by_key(|device| Reverse(device.speed));
        taken.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (interfaces, adapters) = (taken(is_interface), taken(Device::is_adapter));
    let has_network = !interfaces.is_empty();
    let usable = UsableTransports {
        verbs: has_network && !adapters.is_empty(),
        ports: !adapters.is_empty(),
        network: has_network,
        adapters: devices.iter().any(Device::is_adapter),
    };
    let verbs = wanted.verbs && usable.verbs;
    warnings.extend(wanted.replaced(host, &usable));
    Selection {
        shared: wanted.shared,
        verbs,
        names_verbs: wanted.names_verbs.is_some(),
        tcp: wanted.tcp && has_network,
        lacks_interfaces: wanted.tcp && !has_network,
        interfaces,
        adapters: if verbs { adapters } else { Vec::new() },
        transports: Transport::ALL.map(|t| wanted.verdict(t, &usable)).into(),
        devices: verdicts,
        warnings,
    }
}

/// What the devices of the host allow.
struct UsableTransports {
    /// A port of an adapter is usable, and an interface by which its queue pairs are connected.
    verbs: bool,
    /// A port of an adapter is usable.
    ports: bool,
    /// An interface is usable.
    network: bool,
    /// There are adapters, usable or not.
    adapters: bool,
}

const fn is_interface(device: &Device) -> bool {
    !device.is_adapter()
}

/// Whether a device of this kind is used.
fn takes(devices: &[Device], verdicts: &[Verdict], is_kind: fn(&Device) -> bool) -> bool {
    let mut both = devices.iter().zip(verdicts);
    both.any(|(device, verdict)| verdict.taken && is_kind(device))
}

impl Selection {
    /// Records that a selected transport could not be opened, and turns to the next one. Returns the warning,
    /// to be printed once for each host.
    pub fn failed(&mut self, host: &str, transport: Transport, why: &dyn Display) -> String {
        let network = match (self.verbs, self.tcp) {
            (true, _) => Some(Transport::Verbs),
            (false, tcp) => tcp.then_some(Transport::Tcp),
        };
        let (taken, next) = match transport {
            Transport::Shared => (&mut self.shared, network),
            Transport::Verbs => (&mut self.verbs, self.tcp.then_some(Transport::Tcp)),
            Transport::Tcp => (&mut self.tcp, None),
        };
        *taken = false;
        let name = transport.name();
        if let Some(verdict) = self.transports.iter_mut().find(|v| v.name == name) {
            verdict.taken = false;
            verdict.why = format!("it does not open: {why}");
        }
        let then = match next {
            Some(next) => format!("{next} is used instead"),
            None => "and nothing else is taken".to_owned(),
        };
        format!("{host}: {name} does not open: {why}; {then}")
    }
}

/// The transports that a list allows.
struct TransportChoice<'a> {
    shared: bool,
    verbs: bool,
    tcp: bool,
    /// The name by which the list names verbs.
    names_verbs: Option<&'a str>,
    /// A transport that the list names and this library lacks, with its description.
    absent: Option<(&'a str, &'static str)>,
    /// The devices that the list names.
    devices: DeviceList<'a>,
    by: &'a str,
    excludes: bool,
    /// The list names transports of this library.
    names_some: bool,
    /// The list leaves the choice open.
    open: bool,
}

impl<'a> TransportChoice<'a> {
    fn read(
        host: &str,
        asked: TransportPreference<'a>,
        devices: &[Device],
        warnings: &mut Vec<String>,
    ) -> Self {
        let (by, excludes) = (asked.by, asked.list.excludes());
        let mut listed = [false; Transport::ALL.len()];
        let (mut named, mut absent, mut names_verbs) = (DeviceList::new(asked), None, None);
        let entries = asked.list.entries();
        for entry in entries.filter(|_| !asked.list.is_everything()) {
            match meaning(entry.name) {
                Some(NameMeaning::Own) => {}
                Some(NameMeaning::Ours(transport)) => {
                    listed[transport as usize] = true;
                    let is_verbs = transport == Transport::Verbs;
                    names_verbs = names_verbs.or(is_verbs.then_some(entry.name));
                }
                Some(NameMeaning::Network) => {
                    listed[Transport::Verbs as usize] = true;
                    listed[Transport::Tcp as usize] = true;
                }
                Some(NameMeaning::Absent(what)) => absent = absent.or(Some((entry.name, what))),
                None if named.add(entry, devices) => {}
                None => warnings.extend(unknown(host, asked, entry, devices, &words())),
            }
        }
        let [shared, verbs, tcp] = listed;
        let names_some = shared || verbs || tcp;
        if excludes {
            return Self {
                shared: !shared,
                verbs: !verbs,
                tcp: !tcp,
                names_verbs: None,
                absent: None,
                names_some,
                open: !names_some,
                devices: named,
                by,
                excludes,
            };
        }
        let open = !names_some && named.is_empty();
        let any_network = open || absent.is_some();
        Self {
            shared: shared || open,
            verbs: verbs || any_network || named.names_adapters(),
            // Verbs is connected by TCP, which also carries what verbs cannot.
            tcp: tcp || verbs || any_network || !named.is_empty(),
            names_verbs,
            absent,
            names_some,
            open,
            devices: named,
            by,
            excludes,
        }
    }

    /// The warning about a transport that the list names and that cannot be used.
    fn replaced(&self, host: &str, usable: &UsableTransports) -> Option<String> {
        let next = match self.verbs && usable.verbs {
            true => Transport::Verbs,
            false => Transport::Tcp,
        };
        if let Some((name, what)) = self.absent {
            return Some(no_driver(host, self.by, name, what, next));
        }
        let name = self.names_verbs.filter(|_| !usable.verbs)?;
        let (by, why) = (self.by, no_verbs(usable));
        Some(format!(
            "{host}: {by}: {name} cannot be used, as {why}; tcp is used instead"
        ))
    }

    /// Called when none of the devices that alone were to be used is usable: a list that names no transport
    /// counts as not set, with a warning. A list that excludes stays as it is.
    fn opened(self, host: &str, verdicts: &[Verdict]) -> (Self, Option<String>) {
        let is_lost = self.devices.includes() && !self.names_some;
        let (devices, warning) = self.devices.opened(host, verdicts);
        let opened = Self {
            shared: self.shared || is_lost,
            verbs: self.verbs || is_lost,
            open: self.open || is_lost,
            devices,
            ..self
        };
        (opened, warning)
    }

    fn verdict(&self, transport: Transport, usable: &UsableTransports) -> Verdict {
        let by_verbs = self.verbs && usable.verbs;
        let (wanted, lacks, what) = match transport {
            Transport::Shared => (self.shared, None, "between ranks of a node"),
            Transport::Verbs => {
                let lacks = (!usable.verbs).then(|| no_verbs(usable));
                (self.verbs, lacks, "the fastest network of this host")
            }
            Transport::Tcp => (
                self.tcp,
                (!usable.network).then_some(NO_INTERFACE),
                match by_verbs {
                    true => "it connects the ranks, and carries what verbs cannot",
                    false => "the fastest network that has a driver here",
                },
            ),
        };
        let why = match (wanted, lacks) {
            (true, Some(lacks)) => lacks.to_owned(),
            (true, None) if self.open => what.to_owned(),
            (true, None) => format!("{what}; {}", self.by),
            (false, _) if self.excludes => format!("{} excludes it", self.by),
            (false, _) => format!("{} does not name it", self.by),
        };
        Verdict {
            name: transport.name().into(),
            taken: wanted && lacks.is_none(),
            why,
        }
    }
}

const NO_INTERFACE: &str = "no interface of this host is usable";

/// Why verbs is not usable, as a clause.
const fn no_verbs(usable: &UsableTransports) -> &'static str {
    match (usable.adapters, usable.ports) {
        (false, _) => "this host has no RDMA device",
        (true, false) => "no port of this host's RDMA devices is usable",
        (true, true) => "no interface of this host is usable, by which it connects",
    }
}

/// The devices that `asked` names; all its names must be names of devices.
fn network_of<'a>(
    host: &str,
    asked: TransportPreference<'a>,
    devices: &[Device],
    warnings: &mut Vec<String>,
) -> DeviceList<'a> {
    let mut listed = DeviceList::new(asked);
    let entries = asked.list.entries();
    for entry in entries.filter(|_| !asked.list.is_everything()) {
        if !listed.add(entry, devices) {
            warnings.extend(unknown(host, asked, entry, devices, &[]));
        }
    }
    listed
}

/// The verdicts on all devices, by two lists and the devices' states. The loopback device is used if it is
/// named, or if no other interface is usable.
fn of_devices(
    devices: &[Device],
    wanted: &TransportChoice<'_>,
    over: &DeviceList<'_>,
) -> Vec<Verdict> {
    let lists = [&wanted.devices, over];
    let all = |needs_interfaces: bool| -> Vec<Verdict> {
        let is_used = |device: &Device| match device.is_adapter() {
            true => wanted.verbs,
            false => needs_interfaces,
        };
        let verdict = |device| of_device(device, is_used(device), lists);
        devices.iter().map(verdict).collect()
    };
    let mut verdicts = all(true);
    // By interfaces queue pairs are connected, too.
    if !wanted.tcp && !takes(devices, &verdicts, Device::is_adapter) {
        verdicts = all(false);
    }
    if !takes(devices, &verdicts, is_interface) {
        let last = |verdict: &&mut Verdict| verdict.why == LOOPBACK;
        for verdict in verdicts.iter_mut().filter(last) {
            verdict.taken = true;
            verdict.why = "it leads to this host only, and no other is usable".into();
        }
    }
    verdicts
}

/// The reason not to use the loopback device.
const LOOPBACK: &str = "it leads to this host only";

/// The verdict on `device`, whose transport `is_used`.
fn of_device(device: &Device, is_used: bool, lists: [&DeviceList<'_>; 2]) -> Verdict {
    let refused = lists.into_iter().find_map(|list| list.refuses(device));
    let is_named = lists.into_iter().any(|list| list.names(device));
    let usual = || match (&device.kind, device.speed) {
        (DeviceKind::Loopback, _) if !is_named => (false, LOOPBACK.into()),
        (_, Some(speed)) => (true, format!("it is up, {speed} Mbit/s")),
        (_, None) => (true, "it is up".into()),
    };
    let transport = match device.is_adapter() {
        true => Transport::Verbs,
        false => Transport::Tcp,
    };
    let state = || match () {
        () if !device.up => Some("it is down".into()),
        () if !is_used => Some(format!("{transport} is not taken")),
        () => None,
    };
    let why_not = refused.or_else(|| device.left_out.clone()).or_else(state);
    let (taken, why) = why_not.map_or_else(usual, |why| (false, why));
    Verdict {
        name: device.to_string(),
        taken,
        why,
    }
}
