//! Texts made to cost memory, time or stack are refused; others take memory in proportion to their length.

use super::model::{SMALL, changed};
use oxmpi_topo::Machine;
use std::fmt::Write;

#[track_caller]
fn refused(text: &str) -> String {
    let error = Machine::from_xml(text).expect_err("it reads").to_string();
    error.lines().next().unwrap().into()
}

#[test]
fn entities() {
    let mut text = String::from("<!DOCTYPE topology [\n<!ENTITY a \"aaaaaaaaaa\">\n");
    for (entity, inner) in ('b'..='j').zip('a'..) {
        let uses = format!("&{inner};").repeat(10);
        writeln!(text, "<!ENTITY {entity} \"{uses}\">").unwrap();
    }
    text += "]>\n<topology version=\"2.0\"><info name=\"a\" value=\"&j;\"/></topology>";
    assert_eq!(
        refused(&text),
        "line 2: expected no declaration of an entity, which could make a small file large, found `!ENTITY`"
    );
}

#[test]
fn a_million_objects_one_in_the_other() {
    let group = "<object type=\"Group\" cpuset=\"0x00000003\">";
    let machine = "<object type=\"Machine\" cpuset=\"0x00000003\">";
    let text = format!(
        "<topology version=\"2.0\">\n{machine}\n{}{}</object></topology>",
        group.repeat(1_000_000),
        "</object>".repeat(1_000_000)
    );
    assert_eq!(
        refused(&text),
        "line 3: expected objects nested at most 128 deep, found `<object`"
    );
    let device = "<object type=\"Bridge\" bridge_type=\"0-1\">";
    let text = text.replace(group, device);
    assert_eq!(
        refused(&text),
        "line 3: expected objects nested at most 128 deep, found `<object`"
    );
    let text = text.replace(device, "<object type=\"MemCache\" cpuset=\"0x1\">");
    assert_eq!(
        refused(&text),
        "line 3: expected objects nested at most 128 deep, found `<object`"
    );
}

#[test]
fn objects_as_deep_as_may_be() {
    let (begin, end) = ("<object type=\"Group\" cpuset=\"0x00000003\">", "</object>");
    let text = SMALL.replace(
        "<object type=\"Package\"",
        &format!("{}<object type=\"Package\"", begin.repeat(125)),
    );
    let text = text.replace(
        "  </object>\n</topology>",
        &format!("{}</object></topology>", end.repeat(125)),
    );
    let machine = Machine::from_xml(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Machine::from_xml(&machine.to_xml()).unwrap(), machine);
}

#[test]
fn too_many_objects() {
    let groups = "<object type=\"Group\" cpuset=\"0x0\"/>".repeat(1 << 17);
    let text = changed("gp_index=\"1\">\n", &format!("gp_index=\"1\">\n{groups}"));
    assert_eq!(
        refused(&text),
        "line 5: expected a machine of at most 131072 objects, found `<object`"
    );
    let devices = "<object type=\"OSDev\" osdev_type=\"0\"/>".repeat(1 << 17);
    let text = changed("gp_index=\"1\">\n", &format!("gp_index=\"1\">\n{devices}"));
    assert_eq!(
        refused(&text),
        "line 5: expected a machine of at most 131072 objects, found `<object`"
    );
}

#[test]
fn a_value_of_megabytes() {
    let mask = format!("cpuset=\"0x{}\" gp_index=\"3\"", "f".repeat(4 << 20));
    let text = changed("cpuset=\"0x00000003\" gp_index=\"3\"", &mask);
    assert!(
        refused(&text)
            .starts_with("line 6: expected numbers of processors up to 8191, found `0xfff")
    );
    let model = "x".repeat(4 << 20);
    let machine = Machine::from_xml(&changed("MODEL", &model)).unwrap();
    assert_eq!(Machine::from_xml(&machine.to_xml()).unwrap(), machine);
}

#[test]
fn a_hundred_thousand_attributes() {
    let attributes = (0..100_000).fold(String::new(), |all, number| {
        all + &format!(" a{number}=\"\"")
    });
    let text = changed("gp_index=\"3\"", &attributes);
    assert_eq!(
        refused(&text),
        "line 6: expected at most 1024 attributes, found `=`"
    );
    let text = changed("MODEL", &"=".repeat(100_000));
    assert!(Machine::from_xml(&text).is_ok());
}

#[test]
fn namespaces() {
    let expected =
        "line 3: expected no namespace, which no file of hwloc's declares, found `xmlns`";
    for attributes in ["xmlns:a=\"b\"", "c='\"' xmlns:a=\"b\"", "c=\"'\" xmlns='b'"] {
        assert_eq!(
            refused(&changed("<topology", &format!("<topology {attributes}"))),
            expected
        );
    }
    let text = changed("MODEL", "a model of xmlns=&quot;");
    assert!(Machine::from_xml(&text).is_ok());
}
