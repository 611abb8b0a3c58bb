//! Devices as boxes: PCI functions around what the system makes of them, bridges as small squares with lines to what is
//! behind them, speeds of links on the lines.

use super::boxes::{Face, line};
use super::cells::Cell;
use super::labels;
use super::palette::Look;
use super::widths::Font;
use crate::device::Device;
use crate::facts::devices::DeviceKind;
use alloc::format;
use alloc::vec::Vec;

/// Pixels that a device's name takes at most.
const NAME: u32 = 190;

/// A cell for each of the devices and all that is behind it. Bridges with nothing behind them are left out, as in lstopo.
pub(super) fn cells<'m>(devices: impl Iterator<Item = Device<'m>>) -> Vec<Cell> {
    let runs = runs(devices.collect());
    runs.iter().map(|run| cell(run).rigid()).collect()
}

/// Devices that are shown as one box, each list not empty: PCI functions one after the other that are the same product
/// and of which the system made nothing, such as virtual functions.
fn runs(devices: Vec<Device<'_>>) -> Vec<Vec<Device<'_>>> {
    let mut runs: Vec<Vec<Device<'_>>> = Vec::new();
    for device in devices.into_iter().filter(|device| is_shown(*device)) {
        let product = |device: Device<'_>| {
            let pci = device.pci().filter(|_| device.kind() == DeviceKind::Pci);
            let pci = pci.filter(|_| device.children().len() == 0);
            pci.map(|pci| (pci.vendor, pci.device, pci.subvendor, pci.subdevice))
        };
        match runs.last_mut() {
            Some(run) if product(device).is_some() && product(run[0]) == product(device) => {
                run.push(device)
            }
            _ => runs.push(Vec::from([device])),
        }
    }
    runs
}

fn is_shown(device: Device<'_>) -> bool {
    let is_bridge = matches!(
        device.kind(),
        DeviceKind::HostBridge | DeviceKind::PciBridge
    );
    !is_bridge || device.children().any(is_shown)
}

fn cell(run: &[Device<'_>]) -> Cell {
    let device = run[0];
    let look = match device.kind() {
        DeviceKind::HostBridge | DeviceKind::PciBridge => Look::Bridge,
        DeviceKind::Pci => Look::Pci,
        _ => Look::SystemDevice,
    };
    let facts: Vec<_> = run
        .iter()
        .map(|device| labels::device_facts(*device))
        .collect();
    let mut face = Face::new(look, Vec::new());
    face.tooltip = facts.join("\n\n");
    let inside = runs(device.children().collect());
    if look == Look::Bridge {
        let behind = inside.iter().map(|run| (speed(run[0]), cell(run)));
        return Cell::bridge(face, behind.collect());
    }
    let name = match run {
        [_] => labels::device(device),
        _ => format!("{} x {}", run.len(), labels::device(device)),
    };
    let font = if inside.is_empty() {
        Font::Leaf
    } else {
        Font::Head
    };
    face.lines.push(line(font, font.cut(&name, NAME)));
    let product = device.infos().iter().find(|info| info.name == "PCIDevice");
    if let Some(product) = product.filter(|product| !product.value.is_empty()) {
        let text = labels::clean(&product.value);
        face.lines
            .push(line(Font::Leaf, Font::Leaf.cut(&text, NAME)));
    }
    let cells = inside.iter().map(|run| cell(run)).collect();
    Cell::panel(face, Cell::column(cells))
}

/// The speed of the link to a device, for the line to it.
fn speed(device: Device<'_>) -> Option<Face> {
    let pci = device.pci().filter(|pci| pci.link_speed > 0)?;
    let text = labels::speed(pci.link_speed);
    Some(Face::new(Look::Speed, Vec::from([line(Font::Small, text)])))
}
