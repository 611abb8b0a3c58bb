//! Errors name the line and what is expected.

use super::model::{SMALL, changed};
use oxmpi_topo::Machine;

/// The line and the message for [`SMALL`] with something changed.
#[track_caller]
fn error(from: &str, to: &str) -> (usize, String) {
    let error = Machine::from_xml(&changed(from, to)).expect_err("it reads");
    let message = error.to_string();
    let (_, message) = message.split_once(": ").unwrap();
    let first = message.lines().next().unwrap();
    (error.line().expect("a line"), first.into())
}

macro_rules! errors {
    ($($name:ident: $from:expr => $to:expr, $line:literal, $message:literal;)*) => {
        $(#[test]
        fn $name() {
            assert_eq!(error($from, $to), ($line, String::from($message)));
        })*
    };
}

errors! {
    an_end_of_another_element: "    </object>\n  </object>" => "    </objekt>\n  </object>", 14,
        "expected the end of the innermost element, found `<`";
    no_end: "</topology>" => "", 17, "expected an end for each element, found the end";
    an_attribute_twice: "gp_index=\"3\"" => "gp_index=\"3\" type=\"Core\"", 6,
        "expected every attribute once, found `t`";
    an_unknown_reference: "MODEL" => "&model;", 7,
        "expected `&amp;` for `&`, or `&lt;`, `&gt;`, `&quot;`, `&apos;`, found `&`";
    another_root: "<topology version=\"2.0\">" => "<topologydiff version=\"2.0\">", 16,
        "expected the end of the innermost element, found `<`";
    no_version: " version=\"2.0\"" => "", 3,
        "expected version 2 or 3; a file without version is from hwloc 1, convert it with lstopo of hwloc 2, \
         found `<topology`";
    version_1: "\"2.0\"" => "\"1.0\"", 3,
        "expected version 2 or 3; convert files of hwloc 1 with lstopo of hwloc 2, found `1.0`";
    version_4: "\"2.0\"" => "\"4.0\"", 3, "expected a version that begins with `2.` or `3.`, found `4.0`";
    another_outermost_object: "\"Machine\"" => "\"Package\"", 4,
        "expected Machine as the outermost object, found `Package`";
    a_machine_inside: "\"Package\"" => "\"Machine\"", 6,
        "expected a type of object inside a machine, such as Package, L3Cache, Core or PU, found `Machine`";
    an_unknown_type: "\"Package\"" => "\"Socket\"", 6,
        "expected a type of object inside a machine, such as Package, L3Cache, Core or PU, found `Socket`";
    no_type: "type=\"Package\" " => "", 6, "expected an object with a type, found `<object`";
    no_cpuset: "<object type=\"Package\" os_index=\"0\" cpuset=\"0x00000003\"" => "<object type=\"Package\"", 6,
        "expected an object with a cpuset, found `<object`";
    no_mask: "os_index=\"0\" cpuset=\"0x00000003\" gp_index=\"3\"" => "cpuset=\"0-1\" gp_index=\"3\"", 6,
        "expected a hexadecimal mask such as 0x0000000f, found `0-1`";
    a_mask_without_end: "os_index=\"0\" cpuset=\"0x00000003\" gp_index=\"3\"" => "cpuset=\"0xf...f\" gp_index=\"3\"", 6,
        "expected a hexadecimal mask such as 0x0000000f, found `0xf...f`";
    outside_its_parent: "\"0x00000002\" gp_index=\"6\"" => "\"0x00000006\" gp_index=\"6\"", 11,
        "expected no processors but those of the objects inside, found `0x00000006`";
    outside_its_package: "cpuset=\"0x00000003\" gp_index=\"3\"" => "cpuset=\"0x00000001\" gp_index=\"3\"", 11,
        "expected processors of its parent object, found `0x00000002`";
    more_than_inside: "cpuset=\"0x00000003\" gp_index=\"1\"" => "cpuset=\"0x00000007\" gp_index=\"1\"", 4,
        "expected no processors but those of the objects inside, found `0x00000007`";
    a_pu_without_number: "type=\"PU\" os_index=\"1\"" => "type=\"PU\"", 12,
        "expected a PU with an os_index, found `<object`";
    a_pu_of_another_number: "type=\"PU\" os_index=\"1\"" => "type=\"PU\" os_index=\"3\"", 12,
        "expected the PU's os_index alone, found `0x00000002`";
    a_number_too_large: "type=\"PU\" os_index=\"1\"" => "type=\"PU\" os_index=\"8192\"", 12,
        "expected numbers of processors up to 8191, found `8192`";
    no_number: "type=\"PU\" os_index=\"1\"" => "type=\"PU\" os_index=\"+1\"", 12, "expected a number, found `+1`";
    a_node_too_large: "type=\"NUMANode\" os_index=\"0\"" => "type=\"NUMANode\" os_index=\"1024\"", 5,
        "expected numbers of NUMA nodes up to 1023, found `1024`";
    a_node_without_number: "type=\"NUMANode\" os_index=\"0\"" => "type=\"NUMANode\"", 5,
        "expected a NUMA node with an os_index, found `<object`";
    an_object_in_a_node: "gp_index=\"2\"/>" => "gp_index=\"2\"><object type=\"Core\" cpuset=\"0x1\"/></object>", 5,
        "expected nothing but memory inside memory, found `<object`";
    an_object_in_a_pu: "gp_index=\"5\"/>" => "gp_index=\"5\"><object type=\"Core\" cpuset=\"0x1\"/></object>", 9,
        "expected no object but devices inside a PU, found `Core`";
    a_second_object: "</topology>" => "<object/></topology>", 16,
        "expected all other objects inside the first, found `<object`";
    a_cache_of_another_level: "\"Core\" os_index=\"0\"" => "\"L2Cache\" depth=\"3\"", 8,
        "expected the level that the type of the cache says, found `3`";
    a_cache_of_another_type: "\"Core\" os_index=\"0\"" => "\"L1iCache\" cache_type=\"1\"", 8,
        "expected 2, the type of an instruction cache, found `1`";
    a_size_that_is_none: "\"Core\" os_index=\"0\"" => "\"L2Cache\" cache_size=\"4 MiB\"", 8,
        "expected bytes as a number, found `4 MiB`";
    an_info_without_name: "name=\"CPUModel\" " => "", 7, "expected an info with a name, found `<info`";
    kinds_that_overlap: "</topology>" =>
        "<cpukind cpuset=\"0x1\"/>\n<cpukind cpuset=\"0x3\"/></topology>", 17,
        "expected processors that no other kind has, found `<cpukind`";
    too_few_distances: "</topology>" => "<distances2 type=\"Core\" nbobjs=\"2\" kind=\"5\" indexing=\"gp\">\
        <indexes>4 6</indexes><u64values>1 2 3</u64values></distances2></topology>", 16,
        "expected the square root of the number of values, found `2`";
    no_distances: "</topology>" => "<distances2 type=\"Core\" nbobjs=\"2\" kind=\"5\" indexing=\"gp\">\
        <indexes>4 6</indexes><u64values>1 2 3 x</u64values></distances2></topology>", 16,
        "expected distances as numbers, found `<u64values`";
    an_address_that_is_none: "  </object>\n</topology>" =>
        "<object type=\"PCIDev\" pci_busid=\"00:20.0\"/></object></topology>", 15,
        "expected an address on a PCI bus such as 0000:3b:00.1, found `00:20.0`";
    a_bridge_of_no_type: "  </object>\n</topology>" =>
        "<object type=\"Bridge\" bridge_type=\"0-2\"/></object></topology>", 15,
        "expected 0-1 for a host bridge or 1-1 for a PCI bridge, found `0-2`";
    buses_backwards: "  </object>\n</topology>" =>
        "<object type=\"Bridge\" bridge_type=\"0-1\" bridge_pci=\"0000:[0c-00]\"/></object></topology>", 15,
        "expected a PCI domain and its buses such as 0000:[3a-3c], found `0000:[0c-00]`";
    a_core_in_a_device: "  </object>\n</topology>" =>
        "<object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"Core\"/></object></object></topology>", 15,
        "expected nothing but devices inside a device, found `<object`";
}

/// The first line of the error in `text`.
#[track_caller]
fn first_line(text: &str) -> String {
    let shown = Machine::from_xml(text).unwrap_err().to_string();
    shown.lines().next().unwrap().into()
}

#[test]
fn siblings_overlap() {
    let text = changed("type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"0\"")
        .replace("0x00000002", "0x00000001");
    let expected = "line 11: expected processors that no object beside it has, found `0x00000001`";
    assert_eq!(first_line(&text), expected);
    let shown = Machine::from_xml(&text).unwrap_err().to_string();
    assert!(shown.ends_with("^^^^^^^^^^"), "{shown}");
}

#[test]
fn two_nodes_of_one_number() {
    let line = SMALL.lines().nth(4).unwrap();
    let text = changed(line, &format!("{line}\n{line}"));
    let expected = "line 6: expected a number that no other NUMA node has, found `0`";
    assert_eq!(first_line(&text), expected);
}

#[test]
fn another_root_element() {
    for text in ["<topologydiff/>", "<html></html>"] {
        let shown = first_line(text);
        let expected =
            "line 1: expected the element `topology`, with which hwloc's XML begins, found ";
        assert!(shown.starts_with(expected), "{shown}");
    }
    let expected = "line 1: expected the element `topology`, found the end";
    assert_eq!(first_line(""), expected);
}
