//! The attributes of objects that this crate writes are those that hwloc wrote.

use super::{machine, names, text};
use oxmpi_topo::CpuSet;
use roxmltree::{Document, ParsingOptions};
use std::collections::BTreeMap;

/// Attributes that each program numbers anew, that a machine has no field for, and that differ between
/// versions 2 and 3.
const OTHERS: [&str; 6] = [
    "gp_index",
    "id",
    "kind",
    "subkind",
    "osdev_type",
    "cache_inclusive",
];

/// The attributes of all objects, in order; sets as lists.
fn objects(text: &str) -> Vec<BTreeMap<String, String>> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).unwrap();
    let objects = document
        .descendants()
        .filter(|node| node.has_tag_name("object"));
    let value = |name: &str, value: &str| match name.ends_with("set") {
        true => CpuSet::parse_mask(value).unwrap().to_string(),
        false => value.to_string(),
    };
    objects
        .map(|object| {
            let attributes = object
                .attributes()
                .filter(|attribute| !OTHERS.contains(&attribute.name()));
            attributes
                .map(|attribute| {
                    (
                        attribute.name().into(),
                        value(attribute.name(), attribute.value()),
                    )
                })
                .collect()
        })
        .collect()
}

#[test]
fn objects_are_written_as_hwloc_writes_them() {
    for name in names() {
        let (ours, hwlocs) = (objects(&machine(&name).to_xml()), objects(&text(&name)));
        for (ours, hwlocs) in ours.iter().zip(&hwlocs) {
            assert_eq!(ours, hwlocs, "{name}");
        }
        assert_eq!(ours.len(), hwlocs.len(), "{name}");
    }
}
