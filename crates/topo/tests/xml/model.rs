//! Which part of a file becomes which part of the machine.

use super::{assert_comes_back, machine};
use oxmpi_topo::distances::{End, Measure};
use oxmpi_topo::{Device, DeviceKind, Kind, Machine};

/// One package of two cores, with room for an inserted text.
pub(crate) const SMALL: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x00000003" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x00000003" nodeset="0x00000001" gp_index="2"/>
    <object type="Package" os_index="0" cpuset="0x00000003" gp_index="3">
      <info name="CPUModel" value="MODEL"/>
      <object type="Core" os_index="0" cpuset="0x00000001" gp_index="4">
        <object type="PU" os_index="0" cpuset="0x00000001" gp_index="5"/>
      </object>
      <object type="Core" os_index="1" cpuset="0x00000002" gp_index="6">
        <object type="PU" os_index="1" cpuset="0x00000002" gp_index="7"/>
      </object>
    </object>
  </object>
</topology>
"#;

/// [`SMALL`] with something changed.
#[track_caller]
pub(crate) fn changed(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from} is not in the text");
    SMALL.replacen(from, to, 1)
}

#[track_caller]
fn read(text: &str) -> Machine {
    Machine::from_xml(text).unwrap_or_else(|error| panic!("{error}"))
}

fn named<'m>(machine: &'m Machine, name: &str) -> Device<'m> {
    let mut devices = machine.devices();
    devices.find(|one| one.name() == Some(name)).unwrap()
}

#[test]
fn objects_have_their_attributes() {
    let machine = machine("64intel64-heteromem");
    assert_eq!(machine.online().len(), 64);
    let l3 = machine.logical(Kind::L3, 0).unwrap();
    let cache = l3.cache().unwrap();
    assert_eq!((cache.size, cache.line), (2 << 30, Some(64)));
    assert_eq!((cache.ways, cache.inclusive), (Some(1), Some(true)));
    assert!(cache.unified);
    assert_eq!(l3.subtype(), Some("MemorySideCache"));
    let nodes = l3.memory().map(|numa| (numa.os(), numa.subtype()));
    let expected = [(Some(0), Some("DRAM")), (Some(7), Some("HBM"))];
    assert!(nodes.eq(expected));
    let high_bandwidth = machine.with_os(Kind::Numa, 7).next().unwrap();
    assert_eq!(high_bandwidth.local_memory(), Some(2 << 30));

    let package = machine.logical(Kind::Package, 0).unwrap();
    assert_eq!(package.infos()[3].value, "06/57");
    let infos = machine.root().infos().iter();
    let names: Vec<&str> = infos.map(|info| info.name.as_str()).collect();
    let expected = "Backend OSName OSRelease OSVersion HostName Architecture";
    assert_eq!(names.join(" "), expected);
    let notes: Vec<&str> = machine.notes().collect();
    assert_eq!(notes, ["`memattr` was left out", "`memtier` was left out"]);
}

#[test]
fn devices_have_their_attributes() {
    let machine = machine("24em64t-2n6c2t-pci");
    let of_kind = |kind| machine.devices().filter(move |one| one.kind() == kind);
    for (kind, expected) in [
        (DeviceKind::Network, &["eth0", "eth1", "eth2", "ib0"][..]),
        (DeviceKind::Rdma, &["mlx4_0"]),
        (DeviceKind::Storage, &["sda"]),
    ] {
        let names = of_kind(kind).filter_map(|device| device.name());
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    let rdma = of_kind(DeviceKind::Rdma).next().unwrap();
    assert_eq!(rdma.near(), machine.logical(Kind::Package, 0).unwrap());
    let around: Vec<String> = rdma.ancestors().map(|device| device.to_string()).collect();
    let expected = ["PCI 0000:05:00.0", "PCIBridge 0000:00:05.0", "HostBridge"];
    assert_eq!(around, expected);
    let bridge = rdma.ancestors().nth(1).unwrap();
    let pci = bridge.pci().unwrap();
    assert_eq!((pci.class, pci.revision), (0x0604, 0x13));
    assert_eq!((pci.vendor, pci.device), (0x8086, 0x340c));
    assert_eq!(pci.link_speed, 2_000_000_000);
    assert_eq!(bridge.behind().unwrap().buses, 5..=5);
}

#[test]
fn devices_of_version_2_are_of_the_same_kinds() {
    let machine = machine("cxlmem+dax.v2");
    for (name, kind) in [
        ("sda", DeviceKind::Storage),
        ("enp0s2", DeviceKind::Network),
        ("dax0.0", DeviceKind::Memory),
        ("mem2", DeviceKind::Memory),
    ] {
        assert_eq!(named(&machine, name).kind(), kind, "{name}");
    }
}

/// An OS device inside the machine, in a file of this version.
fn os_device(version: &str, attributes: &str) -> Machine {
    let device =
        format!("<object type=\"OSDev\" gp_index=\"9\" {attributes}/>\n  </object>\n</topology>");
    let text = changed("  </object>\n</topology>", &device);
    read(&text.replace("version=\"2.0\"", &format!("version=\"{version}\"")))
}

#[test]
fn types_of_os_devices_are_bits_since_version_3() {
    for (attributes, kind) in [
        ("osdev_type=\"1\"", Some(DeviceKind::Storage)),
        ("osdev_type=\"2\"", Some(DeviceKind::Memory)),
        (
            "osdev_type=\"1\" subtype=\"CXLMem\"",
            Some(DeviceKind::Storage),
        ),
        ("osdev_type=\"4\"", Some(DeviceKind::Gpu)),
        ("osdev_type=\"12\"", Some(DeviceKind::CoProcessor)),
        ("osdev_type=\"48\"", Some(DeviceKind::Rdma)),
        ("osdev_type=\"64\"", Some(DeviceKind::Dma)),
        ("osdev_type=\"0\"", None),
        // hwloc 3 gives these no type where it writes version 2.
        ("subtype=\"CUDA\"", Some(DeviceKind::CoProcessor)),
    ] {
        let machine = os_device("3.0", &format!("name=\"a\" {attributes}"));
        let machine = assert_comes_back(&machine);
        let found = machine.devices().next().map(|device| device.kind());
        assert_eq!(found, kind, "{attributes}");
    }
    let machine = os_device("2.0", "name=\"a\"");
    let note = "`OSDev without osdev_type` was left out";
    assert_eq!(machine.notes().next(), Some(note));
}

#[test]
fn speeds_of_links_are_kept_to_the_byte() {
    let speed = |text: &str| {
        let device = format!(
            "<object type=\"PCIDev\" pci_busid=\"0001:3b:1f.7\" pci_link_speed=\"{text}\"/>\n  </object>\n</topology>"
        );
        let machine = read(&changed("  </object>\n</topology>", &device));
        let written = assert_comes_back(&machine).to_xml();
        let at = written.find("pci_link_speed").unwrap();
        let speed = machine.devices().next().unwrap().pci().unwrap().link_speed;
        (speed, written[at..].split('"').nth(1).unwrap().to_string())
    };
    assert_eq!(speed("15.753846"), (15_753_846_000, "15.753846".into()));
    assert_eq!(speed("0.000000001"), (1, "0.000000001".into()));
    assert_eq!(speed("7"), (7_000_000_000, "7.000000".into()));
    assert_eq!(speed("0.12345678999"), (123_456_789, "0.123456789".into()));
}

#[test]
fn distances_are_between_the_objects_they_name() {
    let machine = machine("power8gpudistances");
    let [numa, links] = machine.distances() else {
        panic!("{:?}", machine.distances());
    };
    assert_eq!(numa.name(), Some("NUMALatency"));
    assert_eq!(numa.measure(), Measure::Latency);
    assert_eq!(machine.numa_distance(0, 1), Some(40));
    assert_eq!(links.measure(), Measure::Bandwidth);
    assert_eq!(links.ends().len(), 6);
    let device = |name| End::Device(named(&machine, name).id());
    let package = |number| End::Object(machine.logical(Kind::Package, number).unwrap().id());
    let between = |from, to| links.between(from, to).unwrap();
    assert_eq!(between(device("nvml0"), device("nvml1")), 40_000);
    assert_eq!(between(device("nvml0"), device("nvml2")), 0);
    assert_eq!(between(package(1), device("nvml3")), 40_000);
}

#[test]
fn distances_to_what_is_not_there_are_left_out() {
    let matrix = "  </object>\n\
         <distances2 type=\"Core\" nbobjs=\"3\" kind=\"10\" indexing=\"gp\">\n\
         <indexes length=\"6\">4 9 6 </indexes>\n\
         <u64values length=\"18\">1 2 3 4 5 6 7 8 9 </u64values>\n\
         </distances2>\n</topology>";
    let machine = read(&changed("  </object>\n</topology>", matrix));
    let distances = &machine.distances()[0];
    assert!(distances.is_of_user() && distances.measure() == Measure::Bandwidth);
    assert_eq!([distances.row(0), distances.row(1)], [[1, 3], [7, 9]]);
    let note = "`distances between objects that are not there` was left out";
    assert_eq!(machine.notes().next(), Some(note));
    assert_comes_back(&machine);
}

#[test]
fn kinds_of_cores_have_their_infos() {
    let machine = machine("fakecpukinds");
    let kinds = machine.core_kinds();
    assert_eq!(kinds.len(), 3);
    assert_eq!(kinds[2].cpus.to_string(), "3");
    assert_eq!(kinds[2].name.as_deref(), Some("IntelCore"));
    assert_eq!((kinds[2].rank, kinds[2].max_mhz), (Some(10), Some(2000)));
    assert_eq!(kinds[2].infos[0].name, "Features");
}

#[test]
fn sets_of_the_machine_say_what_is_offline_and_allowed() {
    let machine = read(&changed(
        "gp_index=\"1\"",
        "complete_cpuset=\"0x10000003\" allowed_cpuset=\"0x00000001\" allowed_nodeset=\"0x0\" gp_index=\"1\"",
    ));
    assert_eq!(machine.online().to_string(), "0-1");
    assert_eq!(machine.offline().to_string(), "28");
    assert_eq!(machine.allowed().to_string(), "0");
    assert!(machine.allowed_memory().is_empty());
    assert_comes_back(&machine);
    let all = read(SMALL);
    assert_eq!(all.allowed(), all.online());
    assert_eq!(all.allowed_memory().to_string(), "0");
}

#[test]
fn memory_side_caches_belong_to_their_nodes() {
    let numa = r#"<object type="NUMANode" os_index="0" cpuset="0x00000003" nodeset="0x00000001" gp_index="2"/>"#;
    let cached = |inner: &str, size: u32, level: u32| {
        format!(
            "<object type=\"MemCache\" cpuset=\"0x3\" cache_size=\"{size}\" depth=\"{level}\" cache_linesize=\"64\" \
             cache_associativity=\"-1\" cache_type=\"0\"><info name=\"Inclusive\" value=\"1\"/>{inner}</object>"
        )
    };
    let machine = read(&changed(numa, &cached(&cached(numa, 1024, 1), 4096, 2)));
    let caches = machine.logical(Kind::Numa, 0).unwrap().side_caches();
    assert!(caches.iter().map(|cache| cache.size).eq([4096, 1024]));
    // In a fully associative cache, each line is a way.
    assert_eq!(caches[1].ways, Some(16));
    assert_eq!(caches[1].inclusive, Some(true));
    assert_comes_back(&machine);
}

#[test]
fn what_has_no_place_is_left_out_once() {
    let misc =
        "<object type=\"Misc\" gp_index=\"8\"><object type=\"Misc\" gp_index=\"9\"/></object>";
    let text = changed(
        "<info name=\"CPUModel\"",
        &format!(
            "<page_type size=\"4096\" count=\"9\"/><userdata>x</userdata>{misc}{misc}<info name=\"CPUModel\""
        ),
    );
    let text = text.replace(
        "</topology>",
        "<support name=\"discovery.pu\"/><memtier/><memtier/></topology>",
    );
    let machine = read(&text);
    let notes: Vec<&str> = machine.notes().collect();
    assert_eq!(notes, ["`memtier` was left out"], "nobody needs the others");
    assert_eq!(machine, read(SMALL));
}

#[test]
fn children_are_put_in_order() {
    let lines: Vec<&str> = SMALL.lines().collect();
    let swapped = [&lines[..7], &lines[10..13], &lines[7..10], &lines[13..]].concat();
    assert_ne!(swapped, lines);
    assert_eq!(read(&swapped.join("\n")), read(SMALL));
}

#[test]
fn a_group_that_is_a_die_is_a_die() {
    let machine = read(&SMALL.replace("\"Package\"", "\"Group\" subtype=\"Die\""));
    assert_eq!(machine.objects(Kind::Die).len(), 1);
    assert_comes_back(&machine);
}

#[test]
fn machines_of_other_sources_come_back() {
    let machine = Machine::from_synthetic("package:2 [numa] l3:1 core:2 pu:2").unwrap();
    assert_eq!(Machine::from_xml(&machine.to_xml()).unwrap(), machine);
    assert!(machine.to_xml().contains("version=\"2.0\""));
}
