//! Draws devices: PCI functions around the system's devices, bridges as small squares with lines to the
//! devices behind them, and link speeds on the lines.

use super::boxes::{Face, line};
use super::cells::Cell;
use super::labels;
use super::palette::Look;
use super::widths::Font;
use crate::device::Device;
use crate::facts::devices::DeviceKind;
use alloc::format;
use alloc::vec::Vec;

/// The most pixels of a device's name.
const NAME: u32 = 190;

/// A cell for each device with all behind it. Bridges with nothing behind them are left out, as in lstopo.
pub(super) fn cells<'m>(devices: impl Iterator<Item = Device<'m>>) -> Vec<Cell> {
    let runs = runs(devices.collect());
    runs.iter().map(|run| cell(run).rigid()).collect()
}

/// Groups devices that are shown as one box, each list not empty: consecutive PCI functions of the same
/// product without devices of the system, such as virtual functions.
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

/// The label with the speed of the link to a device.
fn speed(device: Device<'_>) -> Option<Face> {
    let pci = device.pci().filter(|pci| pci.link_speed > 0)?;
    let text = labels::speed(pci.link_speed);
    Some(Face::new(Look::Speed, Vec::from([line(Font::Small, text)])))
}
