//! The devices that a wish names, and what to say of names that nothing answers to.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_text::nearest;

use super::names;
use super::{Device, ListedName, TransportPreference, Verdict};

/// The devices of a list.
pub(super) struct DeviceList<'a> {
    by: &'a str,
    excludes: bool,
    /// As they are [shown](Device); with an adapter, its interfaces.
    devices: Vec<String>,
}

impl<'a> DeviceList<'a> {
    /// A list without devices.
    pub(super) const fn new(asked: TransportPreference<'a>) -> Self {
        Self {
            by: asked.by,
            excludes: asked.list.excludes(),
            devices: Vec::new(),
        }
    }

    /// Adds what `entry` means. Whether anything here answers to it.
    pub(super) fn add(&mut self, entry: ListedName<'_>, devices: &[Device]) -> bool {
        let before = self.devices.len();
        for device in devices.iter().filter(|device| device.is(entry)) {
            self.devices.push(device.to_string());
            self.devices.extend(device.interfaces().iter().cloned());
        }
        self.devices.len() > before
    }

    pub(super) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Whether it names devices that alone are wanted.
    pub(super) fn includes(&self) -> bool {
        !self.excludes && !self.is_empty()
    }

    /// The same without the devices that alone were wanted: none of them can be used, which is told.
    pub(super) fn opened(self, host: &str, verdicts: &[Verdict]) -> (Self, Option<String>) {
        if !self.includes() {
            return (self, None);
        }
        let of_ours = |v: &&Verdict| self.devices.contains(&v.name);
        let why = |v: &Verdict| format!("{}: {}", v.name, v.why);
        let reasons: Vec<String> = verdicts.iter().filter(of_ours).map(why).collect();
        let told = format!(
            "{host}: {}: none of these devices can be used ({}), so the list counts as not set",
            self.by,
            reasons.join("; ")
        );
        let devices = Vec::new();
        (Self { devices, ..self }, Some(told))
    }

    /// Whether it names `device`.
    pub(super) fn names(&self, device: &Device) -> bool {
        let shown = device.to_string();
        self.devices.contains(&shown)
    }

    /// Why it does not let `device` be used, if so.
    pub(super) fn refuses(&self, device: &Device) -> Option<String> {
        match (self.includes(), self.names(device)) {
            (false, true) if self.excludes => Some(format!("{} excludes it", self.by)),
            (true, false) => Some(format!("{} does not name it", self.by)),
            _ => None,
        }
    }
}

/// What to say of a name that nothing here answers to. Hosts differ in their devices, so of excluded
/// ones only slips of the pen are told.
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
            let ours = if words.is_empty() { "" } else { "sm, tcp, " };
            format!("there are {ours}{}", here.join(", "))
        }
    };
    let by = asked.by;
    Some(format!("{host}: ignored: {by}: {what} here; {hint}"))
}

/// The names of transports, in the order in which they are suggested.
pub(super) fn words() -> Vec<&'static str> {
    names::all().collect()
}

/// What to say of a driver that is not there.
pub(super) fn no_driver(host: &str, by: &str, name: &str, what: &str) -> String {
    format!("{host}: {by}: {name} is for {what}, which has no driver here; tcp is used instead")
}
