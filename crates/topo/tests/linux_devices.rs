//! Devices of Linux on made-up buses: their parents, their nearest objects, and damaged numbers.

use crate::recording::recording;
use oxmpi_topo::{Device, DeviceKind, Kind, Machine};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Two packages of two processors, a NUMA node each.
const MACHINE: &str = "\
/sys/devices/system/cpu
 online|0-3
/sys/devices/system/cpu/cpu0/topology
 package_cpus|3
/sys/devices/system/cpu/cpu2/topology
 package_cpus|c
/sys/devices/system/node/node0
 cpumap|3
/sys/devices/system/node/node1
 cpumap|c
";

fn machine(devices: &str) -> Machine {
    let files = recording(&format!("{MACHINE}{devices}"));
    Machine::from_linux(&files).unwrap_or_else(|error| panic!("{error}"))
}

fn bridge(address: &str, first: u8, last: u8) -> String {
    format!(
        "/sys/bus/pci/devices/{address}\n class|0x060400\n secondary_bus_number|{first}\n \
         subordinate_bus_number|{last}\n"
    )
}

fn function(address: &str, class: &str) -> String {
    format!("/sys/bus/pci/devices/{address}\n class|{class}\n vendor|0x15b3\n revision|0x02\n")
}

fn tree<'m>(devices: impl Iterator<Item = Device<'m>>) -> Vec<String> {
    let line = |device: Device<'_>| {
        let behind = Vec::from_iter(tree(device.children()));
        match behind.is_empty() {
            true => device.to_string(),
            false => format!("{device} [{}]", behind.join(", ")),
        }
    };
    devices.map(line).collect()
}

fn of(machine: &Machine, kind: Kind, place: usize) -> Vec<String> {
    let object = machine.logical(kind, place).unwrap();
    tree(object.devices())
}

#[test]
fn buses_make_the_tree() {
    let text = [
        bridge("0000:00:01.0", 1, 3),
        bridge("0000:01:00.0", 2, 2),
        function("0000:02:00.1", "0x020700"),
        function("0000:02:00.0", "0x020700"),
        function("0000:03:00.0", "0x010802"),
        function("0000:80:00.0", "0x030000"),
        function("12345:00:00.0", "0x020000"),
    ];
    let machine = machine(&text.concat());
    let expected = [
        "HostBridge [PCIBridge 0000:00:01.0 [PCIBridge 0000:01:00.0 [PCI 0000:02:00.0, PCI 0000:02:00.1], \
         PCI 0000:03:00.0]]",
        "HostBridge [PCI 0000:80:00.0]",
        "HostBridge [PCI 12345:00:00.0]",
    ];
    assert_eq!(of(&machine, Kind::Machine, 0), expected);
    let buses = machine.devices().next().and_then(|root| root.behind());
    assert_eq!(buses.map(|behind| behind.buses.clone()), Some(0..=3));
    let vendor = machine.devices().last().and_then(|device| device.pci());
    assert_eq!(
        vendor.map(|pci| (pci.vendor, pci.revision)),
        Some((0x15b3, 2))
    );
}

/// Bridges that are not configured, that lead to themselves or back, and two to the same buses.
#[test]
fn buses_in_circles_end() {
    let text = [
        bridge("0000:00:01.0", 0, 255),
        bridge("0000:01:00.0", 1, 9),
        bridge("0000:02:00.0", 3, 255),
        bridge("0000:03:00.0", 2, 9),
        bridge("0000:04:00.0", 9, 5),
        bridge("0000:05:00.0", 6, 6),
        bridge("0000:05:01.0", 6, 6),
        function("0000:06:00.0", "0x020000"),
    ];
    let machine = machine(&text.concat());
    let expected = [
        "HostBridge [PCIBridge 0000:00:01.0]",
        "HostBridge [PCIBridge 0000:01:00.0]",
        "HostBridge [PCIBridge 0000:02:00.0 [PCIBridge 0000:03:00.0, PCIBridge 0000:04:00.0, \
         PCIBridge 0000:05:00.0 [PCI 0000:06:00.0], PCIBridge 0000:05:01.0]]",
    ];
    assert_eq!(of(&machine, Kind::Machine, 0), expected);
}

#[test]
fn devices_are_near_what_the_kernel_says() {
    let text = [
        function("0000:00:00.0", "0x020000") + " local_cpus|c\n",
        function("0000:40:00.0", "0x020000") + " numa_node|0\n",
        function("0000:80:00.0", "0x020000") + " numa_node|-1\n",
        function("0000:c0:00.0", "0x020000") + " local_cpus|6\n",
        function("0001:00:00.0", "0x020000") + " local_cpus|f0\n",
    ];
    let machine = machine(&text.concat());
    assert_eq!(
        of(&machine, Kind::Package, 1),
        ["HostBridge [PCI 0000:00:00.0]"]
    );
    assert_eq!(
        of(&machine, Kind::Package, 0),
        ["HostBridge [PCI 0000:40:00.0]"]
    );
    let rest = [
        "HostBridge [PCI 0000:80:00.0]",
        "HostBridge [PCI 0000:c0:00.0]",
        "HostBridge [PCI 0001:00:00.0]",
    ];
    assert_eq!(of(&machine, Kind::Machine, 0), rest);
    let note = "Group of processors 1-2 overlaps others and was left out";
    assert_eq!(Vec::from_iter(machine.notes()), [note]);
}

#[test]
fn a_group_is_made_for_devices_near_some_processors() {
    let text = "/sys/devices/system/cpu\n online|0-7\n/sys/devices/system/cpu/cpu0/topology\n package_cpus|ff\n"
        .to_string()
        + &function("0000:00:00.0", "0x020000")
        + " local_cpus|f\n";
    let machine = Machine::from_linux(&recording(&text)).unwrap();
    let near = machine.devices().last().map(|device| device.near());
    let near = near.map(|object| (object.kind(), object.cpus().to_string()));
    assert_eq!(near, Some((Kind::Group, "0-3".into())));
}

#[test]
fn devices_of_the_system_belong_to_functions() {
    let text = bridge("0000:00:01.0", 1, 1)
        + &function("0000:01:00.0", "0x020700")
        + &function("0000:01:00.1", "0x020700")
        + "\
/sys/class/net
 eth0 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/net/eth0
 eth1 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.7/net/eth1
 vif0 -> ../../devices/vif-0/net/vif0
 lo -> ../../devices/virtual/net/lo
 docker0 -> ../../devices/virtual/net/docker0
/sys/class/net/eth0
 address|b8:59:9f:00:00:01
 dev_port|1
/sys/class/net/eth0/device/infiniband/mlx5_0
/sys/class/net/vif0/device
 numa_node|1
/sys/class/infiniband
 mlx5_0 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.1/infiniband/mlx5_0
/sys/class/infiniband/mlx5_0
 node_guid|b859:9f03:0000:0001
/sys/class/infiniband/mlx5_0/ports/1
 state|4: ACTIVE
 lid|0x0
/sys/class/infiniband/mlx5_0/ports/1/gids
 0|fe80:0000:0000:0000:ba59:9fff:fe00:0001
 1|0000:0000:0000:0000:0000:0000:0000:0000
 2|fe80:0000:0000:0000:ba59:9fff:fe00:0002
/sys/class/block
 nvme0n1 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1
 nvme0n1p1 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1
 loop0 -> ../../devices/virtual/block/loop0
/sys/class/block/nvme0n1
 size|2048
/sys/class/block/nvme0n1p1
 partition|1
";
    let machine = machine(&text);
    let expected = [
        "HostBridge [PCIBridge 0000:00:01.0 [Net eth1, PCI 0000:01:00.0 [Block nvme0n1, Net eth0], \
         PCI 0000:01:00.1 [OpenFabrics mlx5_0]]]",
    ];
    assert_eq!(of(&machine, Kind::Machine, 0), expected);
    assert_eq!(of(&machine, Kind::Package, 1), ["Net vif0"]);
    let infos = |name: &str| {
        let mut devices = machine.devices();
        let device = devices.find(|device| device.name() == Some(name)).unwrap();
        let pairs = device.infos().iter();
        Vec::from_iter(pairs.map(|info| format!("{}={}", info.name, info.value)))
    };
    assert_eq!(infos("eth0"), ["Address=b8:59:9f:00:00:01", "Port=2"]);
    assert_eq!(infos("nvme0n1"), ["Size=1024"]);
    let rdma = [
        "NodeGUID=b859:9f03:0000:0001",
        "Port1State=4",
        "Port1LID=0x0",
        "Port1GID0=fe80:0000:0000:0000:ba59:9fff:fe00:0001",
    ];
    assert_eq!(infos("mlx5_0"), rdma);
}

/// Interfaces of Cassini adapters are called hsn0, hsn1, ...; the name alone says nothing.
#[test]
fn slingshot_interfaces_are_on_cassini_adapters() {
    let text = function("0000:01:00.0", "0x020000")
        + &function("0000:02:00.0", "0x020000")
        + "\
/sys/class/net
 eth0 -> ../../devices/pci0000:00/0000:01:00.0/net/eth0
 hsn0 -> ../../devices/pci0000:00/0000:01:00.0/net/hsn0
 hsn1 -> ../../devices/pci0000:00/0000:02:00.0/net/hsn1
/sys/class/net/eth0/device/cxi/cxi0
/sys/class/net/hsn0/device/cxi/cxi0
/sys/class/net/hsn1
 address|02:00:00:00:00:01
";
    let machine = machine(&text);
    let interfaces = machine
        .devices()
        .filter(|device| device.kind() == DeviceKind::Network);
    let subtypes: Vec<_> = interfaces
        .map(|interface| (interface.name(), interface.subtype()))
        .collect();
    let expected = [
        (Some("eth0"), None),
        (Some("hsn0"), Some("Slingshot")),
        (Some("hsn1"), None),
    ];
    assert_eq!(subtypes, expected);
}

#[test]
fn a_virtual_function_says_what_the_kernel_knows() {
    // Its configuration space has no numbers.
    let text = function("0000:01:00.1", "0x020000") + " device|0x101e\n config\n=ffffffff\n";
    let machine = machine(&text);
    let pci = machine.devices().last().and_then(|device| device.pci());
    assert_eq!(
        pci.map(|pci| (pci.vendor, pci.device)),
        Some((0x15b3, 0x101e))
    );
}

/// Kernels before 4.10 have revision, buses and link only in the configuration space.
#[test]
fn old_kernels_have_the_configuration_space() {
    let mut bytes = [0_u8; 256];
    (bytes[0x06], bytes[0x08], bytes[0x0e]) = (0x10, 0x22, 0x81);
    (bytes[0x19], bytes[0x1a], bytes[0x34]) = (3, 5, 0x40);
    // A capability of another kind, then PCI Express: eight lanes of the third generation.
    (bytes[0x40], bytes[0x41], bytes[0x60]) = (0x05, 0x60, 0x10);
    (bytes[0x60 + 0x12], bytes[0x60 + 0x13]) = (0x83, 0x00);
    let link = |bytes: &[u8]| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let directory = "/sys/bus/pci/devices/0000:00:01.0\n class|0x060400\n config\n=";
        let machine = machine(&format!("{directory}{digits}\n"));
        let device = machine.devices().last().unwrap();
        let pci = device.pci().unwrap();
        let buses = device.behind().map(|behind| behind.buses.clone());
        (device.kind(), pci.revision, buses, pci.link_speed)
    };
    let expected = (DeviceKind::PciBridge, 0x22, Some(3..=5), 7_876_923_076);
    assert_eq!(link(&bytes), expected);
    // Without administrator rights, the capability cannot be read.
    assert_eq!(link(&bytes[..64]).3, 0);
    bytes[0x61] = 0x40;
    bytes[0x60] = 0x05;
    assert_eq!(link(&bytes).3, 0, "a chain that is a circle ends");
}

#[test]
fn damaged_numbers_name_their_file() {
    for (file, content, expected) in [
        ("class", "0x", "a hexadecimal number"),
        ("vendor", "0x12345", "not too large"),
        ("secondary_bus_number", "x", "a whole number"),
        ("local_cpus", "z", "hexadecimal"),
    ] {
        let directory = "/sys/bus/pci/devices/0000:00:01.0";
        let text = format!("{MACHINE}{directory}\n class|0x060400\n {file}|{content}\n");
        let text = match file {
            "class" => text.replace(" class|0x060400\n", ""),
            _ => text,
        };
        let error = Machine::from_linux(&recording(&text)).unwrap_err();
        assert_eq!(error.file(), Some(&*format!("{directory}/{file}")));
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn thousands_of_devices_are_read() {
    let address = |n: u32| {
        format!(
            "{:04x}:{:02x}:{:02x}.{}",
            n >> 16,
            n >> 8 & 255,
            n >> 3 & 31,
            n & 7
        )
    };
    let text: String = (0..5_000)
        .map(|n| function(&address(n), "0x020000"))
        .collect();
    let machine = machine(&text);
    let functions = machine
        .devices()
        .filter(|device| device.kind() == DeviceKind::Pci);
    assert_eq!(functions.count(), 5_000);
}

proptest! {
    /// Whatever buses the bridges claim, each function is in the tree once, behind bridges to its bus.
    #[test]
    fn each_function_has_one_place(
        all in prop::collection::btree_map((0..3_u32, 0..8_u8, 0..4_u8), (0..9_u8, 0..9_u8), 1..24),
    ) {
        let address = |(domain, bus, device): &(u32, u8, u8)| format!("{domain:04x}:{bus:02x}:{device:02x}.0");
        let text: String = all.iter().map(|(place, (first, last))| bridge(&address(place), *first, *last)).collect();
        let machine = machine(&text);
        let functions = machine.devices().filter_map(|device| device.pci());
        let found: Vec<String> = functions.map(|pci| pci.address.to_string()).collect();
        let wanted: BTreeSet<String> = all.keys().map(address).collect();
        prop_assert_eq!(found.len(), wanted.len());
        prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), wanted);
        for device in machine.devices() {
            if let (Some(pci), Some(around)) = (device.pci(), device.parent()) {
                let behind = around.behind().expect("a bridge");
                prop_assert!(behind.buses.contains(&pci.address.bus), "{} behind {}", device, around);
            }
        }
    }
}
