//! The devices that a list names ([`DeviceList`]), and the warnings about names that match nothing.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_text::nearest;

use super::names;
use super::{Device, ListedName, Transport, TransportPreference, Verdict};

/// The devices of this host that a list names.
pub(super) struct DeviceList<'a> {
    by: &'a str,
    excludes: bool,
    /// Their names as [`Device`] displays them; after an adapter's port its interfaces.
    devices: Vec<String>,
    /// Some of them are adapters, or interfaces: a list without interfaces allows all for TCP.
    kinds: DeviceKinds,
}

/// The kinds of devices of a list.
#[derive(Clone, Copy, Default)]
struct DeviceKinds {
    adapters: bool,
    interfaces: bool,
}

impl<'a> DeviceList<'a> {
    /// Starts with no device.
    pub(super) const fn new(asked: TransportPreference<'a>) -> Self {
        Self {
            by: asked.by,
            excludes: asked.list.excludes(),
            devices: Vec::new(),
            kinds: DeviceKinds {
                adapters: false,
                interfaces: false,
            },
        }
    }

    /// Adds the devices that `entry` names; returns whether there are any.
    pub(super) fn add(&mut self, entry: ListedName<'_>, devices: &[Device]) -> bool {
        let before = self.devices.len();
        for device in devices.iter().filter(|device| device.is(entry)) {
            self.devices.push(device.to_string());
            self.devices.extend(device.interfaces().iter().cloned());
            self.kinds.adapters |= device.is_adapter();
            self.kinds.interfaces |= !device.interfaces().is_empty();
        }
        self.devices.len() > before
    }

    pub(super) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Whether it names a port of an adapter.
    pub(super) const fn names_adapters(&self) -> bool {
        self.kinds.adapters
    }

    /// Whether only the devices of the list are to be used.
    pub(super) fn includes(&self) -> bool {
        !self.excludes && !self.is_empty()
    }

    /// Called when none of the devices that alone were to be used is usable: drops them, with a warning.
    pub(super) fn opened(self, host: &str, verdicts: &[Verdict]) -> (Self, Option<String>) {
        if !self.includes() {
            return (self, None);
        }
        let is_listed = |v: &&Verdict| self.devices.contains(&v.name);
        let why = |v: &Verdict| format!("{}: {}", v.name, v.why);
        let reasons: Vec<String> = verdicts.iter().filter(is_listed).map(why).collect();
        let warning = format!(
            "{host}: {}: none of these devices can be used ({}), so the list counts as not set",
            self.by,
            reasons.join("; ")
        );
        let devices = Vec::new();
        (Self { devices, ..self }, Some(warning))
    }

    /// Whether it names `device`.
    pub(super) fn names(&self, device: &Device) -> bool {
        let shown = device.to_string();
        self.devices.contains(&shown)
    }

    /// Why the list forbids `device`; `None` if it does not.
    pub(super) fn refuses(&self, device: &Device) -> Option<String> {
        let narrows = self.includes() && (device.is_adapter() || self.kinds.interfaces);
        match (narrows, self.names(device)) {
            (false, true) if self.excludes => Some(format!("{} excludes it", self.by)),
            (true, false) => Some(format!("{} does not name it", self.by)),
            _ => None,
        }
    }
}

/// The warning about a name that matches nothing here. Hosts differ in their devices, so an excluded name
/// gives a warning only if it looks like a typing error.
pub(super) fn unknown(
    host: &str,
    asked: TransportPreference<'_>,
    entry: ListedName<'_>,
    devices: &[Device],
    words: &[&'static str],
) -> Option<String> {
    let known = || devices.iter().map(|device| device.name.as_str());
    let near = nearest(entry.name, words.iter().copied().chain(known()));
    if near.is_none() && asked.list.excludes() {
        return None;
    }
    let what = match entry.port {
        Some(port) => format!("there is no device {}:{port}", entry.name),
        None if words.is_empty() => format!("there is no device {}", entry.name),
        None => format!("{} is no transport and no device", entry.name),
    };
    let hint = match near.filter(|word| *word != entry.name) {
        Some(word) => format!("did you mean {word}?"),
        None => {
            let mut here: Vec<&str> = known().collect();
            here.dedup();
            let ours = if words.is_empty() {
                ""
            } else {
                "sm, verbs, tcp, "
            };
            format!("there are {ours}{}", here.join(", "))
        }
    };
    let by = asked.by;
    Some(format!("{host}: ignored: {by}: {what} here; {hint}"))
}

/// The names of transports, in the order of suggestions.
pub(super) fn words() -> Vec<&'static str> {
    names::all().collect()
}

/// The warning about a transport that this library has no driver for; `next` is the one that is used instead.
pub(super) fn no_driver(host: &str, by: &str, name: &str, what: &str, next: Transport) -> String {
    format!("{host}: {by}: {name} is for {what}, which has no driver here; {next} is used instead")
}
