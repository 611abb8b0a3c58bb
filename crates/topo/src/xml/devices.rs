//! Reads and writes `object` elements that are devices: bridges, PCI functions and OS devices.

use super::document::{Element, Value};
use super::infos;
use super::marks::{device_index, mark};
use super::print::Printer;
use super::reader::Reader;
use crate::device::Device;
use crate::facts::Info;
use crate::facts::devices::{BridgeBuses, DeviceFacts, DeviceKind, Pci, PciAddress};
use crate::tree::DeviceTree;
use core::fmt;
use core::str::FromStr;
use oxmpi_text::{Error, Scanner, Token};

const BRIDGE: &str = "Bridge";
const PCI: &str = "PCIDev";
const OS: &str = "OSDev";

/// The info that marks a memory or storage device in version 2 if its name does not say which it is.
const OS_TYPE: &str = "OSDevType";
const MEMORY: &str = "Memory";
const STORAGE: &str = "Storage";

/// The numbers of OS devices in version 2, the bits in version 3. A device of several types is of the first
/// of them.
const OS_TYPES: [(DeviceKind, u32, u32); 7] = [
    (DeviceKind::Dma, 4, 64),
    (DeviceKind::Rdma, 3, 32),
    (DeviceKind::Network, 2, 16),
    (DeviceKind::CoProcessor, 5, 8),
    (DeviceKind::Gpu, 1, 4),
    (DeviceKind::Memory, 0, 2),
    (DeviceKind::Storage, 0, 1),
];

/// Interfaces to co-processors. hwloc 3 gives these no type when it writes version 2.
const CO_PROCESSORS: [&str; 5] = ["CUDA", "LevelZero", "NVML", "OpenCL", "RSMI"];

/// Whether an object of this type is a device.
pub(super) fn is_device(name: &str) -> bool {
    [BRIDGE, PCI, OS].contains(&name)
}

/// Reads a device with all devices behind it; `None` if an OS device has no type.
pub(super) fn read(
    reader: &mut Reader,
    element: Element<'_>,
    depth: usize,
) -> Result<Option<DeviceTree>, Error> {
    reader.count(element, depth)?;
    let name = element.need("type", "an object with a type")?;
    let kind = match name.text {
        BRIDGE => bridge(element)?,
        PCI => DeviceKind::Pci,
        _ => match os_kind(element, reader.version)? {
            Some(kind) => kind,
            None => {
                reader.leave_out("OSDev without osdev_type");
                return Ok(None);
            }
        },
    };
    let mut facts = DeviceFacts::new(kind);
    facts.name = element.text("name");
    facts.subtype = element.text("subtype");
    if matches!(kind, DeviceKind::Pci | DeviceKind::PciBridge) {
        facts.pci = Some(pci(element)?);
    }
    if name.text == BRIDGE {
        let buses = element.get("bridge_pci");
        facts.behind = buses.map(|value| scan(value, BUSES, behind)).transpose()?;
    }
    let mut tree = DeviceTree::leaf(facts);
    tree.mark = mark(element)?;
    for child in element.children() {
        match (child.name(), child.get("type").map(|value| value.text)) {
            ("object", Some("Misc")) => reader.leave_out("Misc"),
            ("object", Some(inner)) if is_device(inner) => {
                tree.children.extend(read(reader, child, depth + 1)?);
            }
            ("object", _) => return Err(child.wrong("nothing but devices inside a device")),
            ("info", _) => tree.facts.infos.push(infos::read(child)?),
            (other, _) => reader.leave_out(other),
        }
    }
    settle(&mut tree.facts, reader.version);
    Ok(Some(tree))
}

/// Decides which storage devices of version 2 are memory.
fn settle(facts: &mut DeviceFacts, version: u32) {
    if version == 2 && facts.kind == DeviceKind::Storage {
        let is_memory = match facts.infos.iter().position(is_os_type) {
            Some(at) => facts.infos.remove(at).value == MEMORY,
            None => is_called_memory(facts.name.as_deref(), facts.subtype.as_deref()),
        };
        if is_memory {
            facts.kind = DeviceKind::Memory;
        }
    }
}

fn is_os_type(info: &Info) -> bool {
    info.name == OS_TYPE && [MEMORY, STORAGE].contains(&info.value.as_str())
}

/// The value of the info that a device needs in version 2, if it needs one.
fn os_type(device: Device<'_>) -> Option<&'static str> {
    let (kind, other) = match device.kind() {
        DeviceKind::Memory => (MEMORY, false),
        DeviceKind::Storage => (STORAGE, true),
        _ => return None,
    };
    let misleads = is_called_memory(device.name(), device.subtype()) == other;
    (misleads || device.infos().iter().any(is_os_type)).then_some(kind)
}

/// How hwloc 3 recognises memory devices in version 2.
fn is_called_memory(name: Option<&str>, subtype: Option<&str>) -> bool {
    name.is_some_and(|name| name.starts_with("dax")) || subtype == Some("CXLMem")
}

fn bridge(element: Element<'_>) -> Result<DeviceKind, Error> {
    const TYPES: &str = "0-1 for a host bridge or 1-1 for a PCI bridge";
    let ends = element.need("bridge_type", "a bridge with a bridge_type")?;
    match ends.text {
        "0-1" => Ok(DeviceKind::HostBridge),
        "1-1" => Ok(DeviceKind::PciBridge),
        _ => Err(ends.wrong(TYPES)),
    }
}

fn os_kind(element: Element<'_>, version: u32) -> Result<Option<DeviceKind>, Error> {
    let number: Option<u32> = element.number("osdev_type", "a number")?;
    let kind = OS_TYPES
        .iter()
        .rev()
        .find(|(_, two, _)| number == Some(*two));
    let by_bit = OS_TYPES
        .iter()
        .find(|(_, _, bit)| number.is_some_and(|bits| bits & bit != 0));
    let kind = if version == 2 { kind } else { by_bit };
    let computes = element
        .get("subtype")
        .is_some_and(|subtype| CO_PROCESSORS.contains(&subtype.text));
    let otherwise = computes.then_some(DeviceKind::CoProcessor);
    Ok(kind.map(|(kind, ..)| *kind).or(otherwise))
}

const ADDRESS: &str = "an address on a PCI bus such as 0000:3b:00.1";
const FUNCTION: &str = "class, vendor and device, subvendor and subdevice, revision and interface, \
     such as 0200 [14e4:1639] [1028:0235] 20 00";
const SPEED: &str = "gigabytes per second such as 15.753846";
const BUSES: &str = "a PCI domain and its buses such as 0000:[3a-3c]";

fn pci(element: Element<'_>) -> Result<Pci, Error> {
    let busid = element.need("pci_busid", "a PCI device or bridge with a pci_busid")?;
    let function = element.get("pci_type");
    let mut pci = function
        .map(|value| scan(value, FUNCTION, pci_type))
        .transpose()?
        .unwrap_or_default();
    pci.address = scan(busid, ADDRESS, address)?;
    if let Some(value) = element.get("pci_link_speed") {
        pci.link_speed = speed(value.text).ok_or_else(|| value.wrong(SPEED))?;
    }
    Ok(pci)
}

/// Parses a whole value.
fn scan<T>(
    value: Value<'_>,
    expected: &'static str,
    read: impl Fn(&mut Scanner<'_>) -> Option<T>,
) -> Result<T, Error> {
    let mut scanner = Scanner::new(value.text);
    let whole = read(&mut scanner).filter(|_| scanner.is_done());
    whole.ok_or_else(|| value.wrong(expected))
}

/// Parses a hexadecimal number with at most the digits of `T`.
fn hex<T: TryFrom<u32>>(scanner: &mut Scanner<'_>) -> Option<T> {
    let Token { text, .. } = scanner.take_while(|c| c.is_ascii_hexdigit());
    T::try_from(u32::from_str_radix(text, 16).ok()?).ok()
}

fn address(scanner: &mut Scanner<'_>) -> Option<PciAddress> {
    let domain = hex(scanner)?;
    let bus = scanner.eat(':').then(|| hex(scanner))??;
    let device = scanner.eat(':').then(|| hex(scanner))??;
    let function = scanner.eat('.').then(|| hex(scanner))??;
    (device < 32 && function < 8).then_some(PciAddress {
        domain,
        bus,
        device,
        function,
    })
}

fn pci_type(scanner: &mut Scanner<'_>) -> Option<Pci> {
    let class = hex(scanner)?;
    let mut pair = || {
        let first = (scanner.eat(' ') && scanner.eat('[')).then(|| hex(scanner))??;
        let second = scanner.eat(':').then(|| hex(scanner))??;
        scanner.eat(']').then_some((first, second))
    };
    let ((vendor, device), (subvendor, subdevice)) = (pair()?, pair()?);
    let revision = scanner.eat(' ').then(|| hex(scanner))??;
    // hwloc before 2.10 does not write the interface.
    let interface = match scanner.eat(' ') {
        true => hex(scanner)?,
        false => 0,
    };
    Some(Pci {
        class,
        vendor,
        device,
        subvendor,
        subdevice,
        revision,
        interface,
        ..Pci::default()
    })
}

fn behind(scanner: &mut Scanner<'_>) -> Option<BridgeBuses> {
    let domain = hex(scanner)?;
    let first = (scanner.eat(':') && scanner.eat('[')).then(|| hex(scanner))??;
    let last = scanner.eat('-').then(|| hex(scanner))??;
    (scanner.eat(']') && first <= last).then_some(BridgeBuses {
        domain,
        buses: first..=last,
    })
}

/// The decimal places of gigabytes per second that are kept.
const DIGITS: usize = 9;

/// Parses gigabytes per second into bytes per second.
fn speed(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    let part = &part[..part.len().min(DIGITS)];
    let bytes = u64::from_str(part).unwrap_or(0) * 10_u64.pow((DIGITS - part.len()) as u32);
    let whole = u64::from_str(whole).ok()?.checked_mul(1_000_000_000)?;
    whole.checked_add(bytes)
}

/// Displays bytes per second as gigabytes per second.
struct Speed(u64);

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, bytes) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        match bytes % 1000 {
            0 => write!(f, "{whole}.{:06}", bytes / 1000),
            _ => write!(f, "{whole}.{bytes:09}"),
        }
    }
}

/// Writes a device with all devices behind it, at this depth of bridges.
pub(super) fn write(printer: &mut Printer, device: Device<'_>, bridges: u32) {
    let kind = device.kind();
    let is_bridge = matches!(kind, DeviceKind::HostBridge | DeviceKind::PciBridge);
    printer.begin("object");
    printer.attribute("type", type_name(kind));
    printer.attribute("gp_index", device_index(device));
    printer.option("name", device.name());
    printer.option("subtype", device.subtype());
    if is_bridge {
        let is_host = kind == DeviceKind::HostBridge;
        printer.attribute("bridge_type", if is_host { "0-1" } else { "1-1" });
        printer.attribute("depth", bridges);
    }
    if let Some(BridgeBuses { domain, buses }) = device.behind() {
        let (first, last) = (buses.start(), buses.end());
        let buses = format_args!("{domain:04x}:[{first:02x}-{last:02x}]");
        printer.attribute("bridge_pci", buses);
    }
    if let Some(pci) = device.pci() {
        write_pci(printer, pci);
    }
    let number = OS_TYPES.iter().find(|(other, ..)| *other == kind);
    printer.option("osdev_type", number.map(|(_, two, _)| two));
    infos::write_one(printer, OS_TYPE, os_type(device));
    infos::write(printer, device.infos());
    for child in device.children() {
        write(printer, child, bridges + u32::from(is_bridge));
    }
    printer.end();
}

fn write_pci(printer: &mut Printer, pci: Pci) {
    let Pci {
        address,
        class,
        vendor,
        device,
        subvendor,
        subdevice,
        revision,
        interface,
        link_speed,
    } = pci;
    printer.attribute("pci_busid", address);
    printer.attribute(
        "pci_type",
        format_args!(
            "{class:04x} [{vendor:04x}:{device:04x}] [{subvendor:04x}:{subdevice:04x}] \
             {revision:02x} {interface:02x}"
        ),
    );
    printer.attribute("pci_link_speed", Speed(link_speed));
}

/// The `type` of a device, in objects and in matrices of distances.
pub(super) fn type_name(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::HostBridge | DeviceKind::PciBridge => BRIDGE,
        DeviceKind::Pci => PCI,
        _ => OS,
    }
}
