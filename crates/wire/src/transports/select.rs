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
    /// Whether ranks use TCP where they have nothing faster.
    pub tcp: bool,
    /// Whether TCP is left out only because no interface is usable.
    pub lacks_interfaces: bool,
    /// The usable network interfaces, the fastest first.
    pub interfaces: Vec<String>,
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
    let mut verdicts = of_devices(devices, wanted.tcp, [&wanted.devices, &over]);
    if wanted.tcp && !verdicts.iter().any(|verdict| verdict.taken) {
        let (opened, warning) = wanted.opened(host, &verdicts);
        wanted = opened;
        warnings.extend(warning);
        let (listed, warning) = over.opened(host, &verdicts);
        over = listed;
        warnings.extend(warning);
        verdicts = of_devices(devices, wanted.tcp, [&wanted.devices, &over]);
    }
    let both = devices.iter().zip(&verdicts);
    let mut taken: Vec<&Device> = both.filter(|(_, v)| v.taken).map(|(d, _)| d).collect();
    taken.sort_by_key(|device| Reverse(device.speed));
    let has_network = !taken.is_empty();
    Selection {
        shared: wanted.shared,
        tcp: wanted.tcp && has_network,
        lacks_interfaces: wanted.tcp && !has_network,
        interfaces: taken.iter().map(|device| device.name.clone()).collect(),
        transports: Transport::ALL
            .map(|t| wanted.verdict(t, has_network))
            .into(),
        devices: verdicts,
        warnings,
    }
}

impl Selection {
    /// Records that a selected transport could not be opened, and turns to the next one. Returns the warning,
    /// to be printed once for each host.
    pub fn failed(&mut self, host: &str, transport: Transport, why: &dyn Display) -> String {
        let (taken, next) = match transport {
            Transport::Shared => (&mut self.shared, self.tcp.then_some(Transport::Tcp)),
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
    tcp: bool,
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
        let (mut named, mut absent) = (DeviceList::new(asked), None);
        let entries = asked.list.entries();
        for entry in entries.filter(|_| !asked.list.is_everything()) {
            match meaning(entry.name) {
                Some(NameMeaning::Own) => {}
                Some(NameMeaning::Ours(transport)) => listed[transport as usize] = true,
                Some(NameMeaning::Network) => listed[Transport::Tcp as usize] = true,
                Some(NameMeaning::Absent(what)) => absent = absent.or(Some((entry.name, what))),
                None if named.add(entry, devices) => {}
                None => warnings.extend(unknown(host, asked, entry, devices, &words())),
            }
        }
        let [shared, tcp] = listed;
        let absent = absent.filter(|_| !excludes);
        warnings.extend(absent.map(|(name, what)| no_driver(host, by, name, what)));
        if excludes {
            return Self {
                shared: !shared,
                tcp: !tcp,
                names_some: shared || tcp,
                open: !shared && !tcp,
                devices: named,
                by,
                excludes,
            };
        }
        let open = !shared && !tcp && named.is_empty();
        Self {
            shared: shared || open,
            tcp: tcp || open || absent.is_some() || !named.is_empty(),
            names_some: shared || tcp,
            open,
            devices: named,
            by,
            excludes,
        }
    }

    /// Called when none of the devices that alone were to be used is usable: a list that names no transport
    /// counts as not set, with a warning. A list that excludes stays as it is.
    fn opened(self, host: &str, verdicts: &[Verdict]) -> (Self, Option<String>) {
        let is_lost = self.devices.includes() && !self.names_some;
        let (devices, warning) = self.devices.opened(host, verdicts);
        let opened = Self {
            shared: self.shared || is_lost,
            open: self.open || is_lost,
            devices,
            ..self
        };
        (opened, warning)
    }

    fn verdict(&self, transport: Transport, has_network: bool) -> Verdict {
        let (wanted, what) = match transport {
            Transport::Shared => (self.shared, "between ranks of a node"),
            Transport::Tcp => (self.tcp, "the fastest network that has a driver here"),
        };
        let usable = transport == Transport::Shared || has_network;
        let why = match (wanted, usable) {
            (true, false) => "no interface of this host is usable".to_owned(),
            (true, true) if self.open => what.to_owned(),
            (true, true) => format!("{what}; {}", self.by),
            (false, _) if self.excludes => format!("{} excludes it", self.by),
            (false, _) => format!("{} does not name it", self.by),
        };
        Verdict {
            name: transport.name().into(),
            taken: wanted && usable,
            why,
        }
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
/// named, or if no other is usable.
fn of_devices(devices: &[Device], tcp: bool, lists: [&DeviceList<'_>; 2]) -> Vec<Verdict> {
    let verdict = |device: &Device| of_device(device, tcp, lists);
    let mut verdicts: Vec<Verdict> = devices.iter().map(verdict).collect();
    if !verdicts.iter().any(|verdict| verdict.taken) {
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

/// The verdict on `device`.
fn of_device(device: &Device, tcp: bool, lists: [&DeviceList<'_>; 2]) -> Verdict {
    let refused = lists.into_iter().find_map(|list| list.refuses(device));
    let is_named = lists.into_iter().any(|list| list.names(device));
    let usual = || match (&device.kind, device.speed) {
        (DeviceKind::Adapter { interfaces, .. }, _) if interfaces.is_empty() => (
            false,
            "it has no driver here, and no interface for tcp".into(),
        ),
        (DeviceKind::Adapter { interfaces, .. }, _) => {
            let through = interfaces.join(", ");
            (
                false,
                format!("it has no driver here; tcp goes through {through}"),
            )
        }
        (DeviceKind::Loopback, _) if !is_named => (false, LOOPBACK.into()),
        (_, Some(speed)) => (true, format!("it is up, {speed} Mbit/s")),
        (_, None) => (true, "it is up".into()),
    };
    let state = || match () {
        () if !device.up => Some("it is down".into()),
        () if !tcp => Some("tcp is not taken".into()),
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
