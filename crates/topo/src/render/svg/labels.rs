//! The texts on boxes: names with numbers, sizes, and all facts for tooltips.

use super::Numbers;
use crate::device::Device;
use crate::facts::devices::DeviceKind;
use crate::facts::{Cache, Info};
use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Object;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use oxmpi_text::Printable;

/// Bytes in powers of 1024 as lstopo writes them, `32KB`; three digits where a unit is not full, such as `1.25MB`.
pub(super) fn bytes(size: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let power = (size.max(1).ilog2() / 10) as usize;
    let one = 1u64 << (10 * power);
    let whole = size / one;
    let hundredths = u128::from(size % one) * 100 / u128::from(one);
    let digits = match whole {
        0..10 => format!("{hundredths:02}"),
        10..100 => format!("{}", hundredths / 10),
        _ => String::new(),
    };
    match digits.trim_end_matches('0') {
        "" => format!("{whole}{}", UNITS[power]),
        digits => format!("{whole}.{digits}{}", UNITS[power]),
    }
}

/// Bytes per second in decimal units, as for links.
pub(super) fn speed(bytes_per_second: u64) -> String {
    let tenths = bytes_per_second / 100_000_000;
    match tenths {
        0..10 => format!("{} MB/s", bytes_per_second / 1_000_000),
        10..1000 => format!("{}.{} GB/s", tenths / 10, tenths % 10),
        _ => format!("{} GB/s", tenths / 10),
    }
}

/// A text from the source, made safe for one line.
pub(super) fn clean(text: &str) -> String {
    Printable(text).to_string()
}

/// The name of an object's kind in a picture: `L1d` for a data cache, a group's subtype.
pub(super) fn kind(object: Object<'_>) -> String {
    let kind = object.kind();
    match (object.cache(), kind.cache_level()) {
        (Some(_), Some(level)) if kind.holds_instructions_only() => format!("L{level}i"),
        (Some(cache), Some(level)) if cache.unified => format!("L{level}"),
        (_, Some(level)) => format!("L{level}d"),
        (_, None) => match object.subtype().filter(|_| kind == Kind::Group) {
            Some(subtype) => clean(subtype),
            None => kind.to_string(),
        },
    }
}

/// The numbers of an object that are shown, as texts. Objects without the operating system's number show the
/// logical one; caches show only one number.
pub(super) fn numbers(object: Object<'_>, numbers: Numbers) -> Vec<String> {
    let logical = format!("L#{}", object.logical());
    let os = object.os().map(|os| format!("P#{os}"));
    match (numbers, os) {
        _ if object.kind() == Kind::Machine => Vec::new(),
        (Numbers::Both, _) if object.kind().is_cache() => Vec::from([logical]),
        (Numbers::Logical, _) | (_, None) => Vec::from([logical]),
        (Numbers::Physical, Some(os)) => Vec::from([os]),
        (Numbers::Both, Some(os)) => Vec::from([logical, os]),
    }
}

/// Kind and numbers in one line.
pub(super) fn name(object: Object<'_>, which: Numbers) -> String {
    let mut words = Vec::from([kind(object)]);
    words.extend(numbers(object, which));
    words.join(" ")
}

/// The size of a cache, of a node's memory with its subtype, or of the machine's whole memory, if known.
pub(super) fn size(object: Object<'_>) -> Option<String> {
    let size = match object.kind() {
        Kind::Machine => object.total_memory(),
        Kind::Numa => object.local_memory().unwrap_or(0),
        _ => object.cache().map_or(0, |cache| cache.size),
    };
    let size = (size > 0).then(|| bytes(size));
    let subtype = object.subtype().filter(|_| object.kind() == Kind::Numa);
    match (subtype.map(clean), size) {
        (Some(subtype), Some(size)) => Some(format!("{subtype} {size}")),
        (subtype, size) => subtype.or(size),
    }
}

/// All facts of an object, a line for each.
pub(super) fn facts(object: Object<'_>) -> String {
    let mut lines = Vec::from([object.to_string()]);
    match object.cpus().len() {
        0 => lines.push("no processors".into()),
        1 => lines.push(format!("processor {}", object.cpus())),
        _ => lines.push(format!("processors {}", object.cpus())),
    }
    lines.extend(object.subtype().map(|subtype| format!("subtype {subtype}")));
    lines.extend(
        object
            .local_memory()
            .map(|memory| format!("memory {memory} bytes")),
    );
    lines.extend(object.cache().map(cache));
    let machine = object.machine;
    if matches!(object.kind(), Kind::Core | Kind::Pu) {
        let mut kinds = machine.core_kinds().iter();
        let kind = kinds.find(|kind| object.cpus().is_subset(&kind.cpus));
        let named = kind.and_then(|kind| kind.name.as_ref());
        lines.extend(named.map(|name| format!("kind {name}")));
        let capacity = kind.and_then(|kind| kind.capacity);
        lines.extend(capacity.map(|capacity| format!("capacity {capacity} of 1024")));
    }
    if !is_allowed(object) {
        lines.push("not allowed by control groups".into());
    }
    finish(lines, object.infos())
}

/// Whether this process may use the PU, or the memory of the NUMA node; true for other objects.
pub(super) fn is_allowed(object: Object<'_>) -> bool {
    let machine: &Machine = object.machine;
    let allowed = match object.kind() {
        Kind::Pu => machine.allowed(),
        Kind::Numa => machine.allowed_memory(),
        _ => return true,
    };
    object.os().is_none_or(|os| allowed.contains(os as usize))
}

/// Size and shape of a cache in one line.
pub(super) fn cache(cache: Cache) -> String {
    let mut words = Vec::new();
    match cache.size {
        0 => words.push("size unknown".into()),
        size => words.push(format!("{size} bytes")),
    }
    words.extend(cache.line.map(|line| format!("lines of {line} bytes")));
    words.extend(cache.ways.map(|ways| format!("{ways} ways")));
    words.extend(cache.unified.then(|| "unified".into()));
    let inclusive = |yes| if yes { "inclusive" } else { "not inclusive" };
    words.extend(cache.inclusive.map(|yes| inclusive(yes).into()));
    words.join(", ")
}

/// The kind and name of a device, or its address and class, without domain 0.
pub(super) fn device(device: Device<'_>) -> String {
    let text = clean(&device.to_string());
    match (device.kind(), device.subtype(), device.pci()) {
        (DeviceKind::Pci, _, Some(pci)) => {
            format!("{} ({})", text.replacen(" 0000:", " ", 1), pci.class_name())
        }
        (_, Some(subtype), _) => format!("{text} ({})", clean(subtype)),
        _ => text,
    }
}

/// All facts of a device, a line for each.
pub(super) fn device_facts(device: Device<'_>) -> String {
    let mut lines = Vec::from([device.to_string()]);
    lines.extend(device.subtype().map(|subtype| format!("subtype {subtype}")));
    lines.push(format!("near {}", device.near()));
    if let Some(pci) = device.pci() {
        if device.name().is_some() || device.kind() == DeviceKind::PciBridge {
            lines.push(format!("address {}", pci.address));
        }
        lines.push(format!("class {:04x}", pci.class));
        lines.push(format!("device {:04x}:{:04x}", pci.vendor, pci.device));
        if pci.link_speed > 0 {
            lines.push(format!("link {}", speed(pci.link_speed)));
        }
    }
    if let Some(behind) = device.behind() {
        let (first, last) = (behind.buses.start(), behind.buses.end());
        lines.push(format!(
            "buses {:04x}:{first:02x} to {last:02x}",
            behind.domain
        ));
    }
    finish(lines, device.infos())
}

/// The lines and the infos, as a tooltip.
fn finish(mut lines: Vec<String>, infos: &[Info]) -> String {
    lines.extend(
        infos
            .iter()
            .map(|info| format!("{} {}", info.name, info.value)),
    );
    let lines: Vec<String> = lines.iter().map(|line| clean(line)).collect();
    lines.join("\n")
}
