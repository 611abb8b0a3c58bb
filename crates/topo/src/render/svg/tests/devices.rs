//! Devices in pictures.

use super::{check, faults, machine};
use crate::facts::Info;
use crate::facts::devices::{BridgeBuses, DeviceFacts, DeviceKind, Pci, PciAddress};
use crate::machine::Machine;
use crate::render::svg::palette::Look;
use crate::render::svg::{SvgOptions, layout};
use crate::source::Source;
use crate::tree::{DeviceTree, Tree};
use alloc::vec;
use alloc::vec::Vec;

fn pci(bus: u8, function: u8, link_speed: u64) -> DeviceFacts {
    let address = PciAddress {
        bus,
        function,
        ..PciAddress::default()
    };
    let pci = Pci {
        address,
        class: 0x0200,
        vendor: 0x15b3,
        link_speed,
        ..Pci::default()
    };
    DeviceFacts {
        pci: Some(pci),
        ..DeviceFacts::new(DeviceKind::Pci)
    }
}

fn of_system(kind: DeviceKind, name: &str) -> DeviceTree {
    DeviceTree::leaf(DeviceFacts {
        name: Some(name.into()),
        ..DeviceFacts::new(kind)
    })
}

fn with(facts: DeviceFacts, children: Vec<DeviceTree>) -> DeviceTree {
    DeviceTree {
        children,
        ..DeviceTree::leaf(facts)
    }
}

/// Two packages; at the first a network card behind a bridge, with a further bridge and virtual functions, at the second
/// a disk, and a device of the system that is on no bus.
fn with_devices(name: &str) -> Machine {
    let mut tree = Tree::of(&machine("package:2 [numa] l3:1 core:4 pu:2"));
    let bridge = |kind, buses| DeviceFacts {
        behind: Some(BridgeBuses { domain: 0, buses }),
        ..DeviceFacts::new(kind)
    };
    let mut card = pci(0x3b, 0, 15_750_000_000);
    card.infos.push(Info::new(
        "PCIDevice",
        "ConnectX-6 Lx network card with a name that no box has room for",
    ));
    let ports = vec![
        of_system(DeviceKind::Network, name),
        of_system(DeviceKind::Rdma, "mlx5_0"),
    ];
    let virtual_functions = (1..5).map(|function| DeviceTree::leaf(pci(0x3c, function, 0)));
    let inner = with(
        bridge(DeviceKind::PciBridge, 0x3c..=0x3c),
        virtual_functions.collect(),
    );
    let empty = DeviceTree::leaf(bridge(DeviceKind::PciBridge, 0x3d..=0x3d));
    let behind = vec![with(card, ports), inner, empty];
    tree.children[0]
        .devices
        .push(with(bridge(DeviceKind::HostBridge, 0x3a..=0x3d), behind));
    let disk = of_system(DeviceKind::Storage, "nvme0n1");
    let disk = with(pci(0xd8, 0, 3_938_000_000), vec![disk]);
    tree.children[1].devices.push(with(
        bridge(DeviceKind::HostBridge, 0xd7..=0xd8),
        vec![disk],
    ));
    tree.devices.push(of_system(DeviceKind::Memory, "dax0.0"));
    tree.flatten(Source::Xml)
}

#[test]
fn devices_are_in_order() {
    let machine = with_devices("eth0");
    for aspect in [0.2, 0.5, 1.0, 1.6, 3.0, 20.0] {
        let mut options = SvgOptions {
            aspect,
            ..SvgOptions::default()
        };
        check(&machine, &options);
        let scene = layout::scene(&machine, &options);
        let texts: Vec<&str> = scene
            .shapes
            .iter()
            .flat_map(|shape| &shape.texts)
            .map(|text| &*text.line.text)
            .collect();
        for wanted in [
            "PCI 3b:00.0 (Ethernet)",
            "Net eth0",
            "OpenFabrics mlx5_0",
            "15.7 GB/s",
            "3.9 GB/s",
            "Memory dax0.0",
            "4 x PCI 3c:00.1 (Ethernet)",
        ] {
            assert!(texts.contains(&wanted), "{wanted} in {texts:?}");
        }
        let bridges = scene
            .shapes
            .iter()
            .filter(|shape| shape.face.look == Look::Bridge);
        assert_eq!(
            bridges.count(),
            3,
            "none for the bridge with nothing behind it"
        );
        options.devices = false;
        let svg = machine.to_svg(&options);
        assert!(!svg.contains("eth0") && !svg.contains("PCI"));
    }
}

#[test]
fn hostile_names_stay_texts() {
    let name = "</title><script>\u{0}\u{1b}[1m\"&'\u{202e}\u{ffff}";
    let machine = with_devices(name);
    let svg = machine.to_svg(&SvgOptions::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert!(
        !document
            .descendants()
            .any(|node| node.has_tag_name("script"))
    );
    let named = document.descendants().filter_map(|node| node.text());
    assert!(
        named
            .into_iter()
            .any(|text| text.contains("</title><script>\u{fffd}\u{fffd}[1m\"&'"))
    );
    let long = with_devices(&"name".repeat(5000));
    assert_eq!(
        faults(&layout::scene(&long, &SvgOptions::default())),
        [""; 0]
    );
}
