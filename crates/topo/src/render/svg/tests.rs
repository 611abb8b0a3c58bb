//! Properties of every picture: boxes do not overlap and contain their texts, whatever the machine.

mod devices;

use super::boxes::{Area, Face, Scene, Shape, Size, Text};
use super::palette::{CLASSES, INK, Look, Palette};
use super::widths::Font;
use super::{Numbers, Overlay, Style, SvgOptions, labels, layout};
use crate::cpuset::CpuSet;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::synthetic::tests::{descriptions, machine};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn contains(outer: Area, inner: Area) -> bool {
    let begins = outer.x <= inner.x && outer.y <= inner.y;
    begins && inner.right() <= outer.right() && inner.bottom() <= outer.bottom()
}

fn are_apart(a: Area, b: Area) -> bool {
    a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y
}

/// The room of a text, by the table of widths: from a letter's height above the baseline to a quarter of it
/// below.
fn room(text: &Text) -> Area {
    let (width, height) = (text.line.font.width(&text.line.text), text.line.font.size());
    Area {
        x: text.x - u32::from(text.is_centred) * width.div_ceil(2),
        y: text.y - height,
        size: Size {
            width,
            height: height + height.div_ceil(4),
        },
    }
}

/// The faults of a picture, in words.
fn faults(scene: &Scene) -> Vec<String> {
    let mut faults = Vec::new();
    let page = Area {
        x: 0,
        y: 0,
        size: scene.size,
    };
    let called = |shape: &Shape| format!("{:?} {:?}", shape.face.look, shape.face.tooltip);
    for (at, shape) in scene.shapes.iter().enumerate() {
        if !contains(page, shape.area) {
            faults.push(format!("{} leaves the page", called(shape)));
        }
        for later in &scene.shapes[at + 1..] {
            if !are_apart(shape.area, later.area) && !contains(shape.area, later.area) {
                faults.push(format!("{} overlaps {}", called(later), called(shape)));
            }
        }
        for text in &shape.texts {
            let room = room(text);
            if !contains(shape.area, room) {
                faults.push(format!("{} leaves {}", text.line.text, called(shape)));
            }
            for other in &scene.shapes {
                if !are_apart(other.area, room) && !contains(other.area, room) {
                    faults.push(format!("{} is under {}", text.line.text, called(other)));
                }
            }
        }
        for pair in shape.texts.windows(2) {
            if !are_apart(room(&pair[0]), room(&pair[1])) {
                faults.push(format!("{} overlaps the next line", pair[0].line.text));
            }
        }
    }
    for wire in &scene.wires {
        for part in wire.windows(2) {
            let ((x, y), (right, bottom)) = (part[0], part[1]);
            let line = Area {
                x: x.min(right),
                y: y.min(bottom),
                size: Size {
                    width: x.abs_diff(right),
                    height: y.abs_diff(bottom),
                },
            };
            for shape in &scene.shapes {
                if !are_apart(shape.area, line) && !contains(shape.area, line) {
                    faults.push(format!("a wire crosses {}", called(shape)));
                }
            }
        }
    }
    faults
}

/// The boxes of a kind, by the first line of their tooltips.
fn shapes<'s>(scene: &'s Scene, name: &str) -> Vec<&'s Shape> {
    let is_named = |shape: &&Shape| shape.face.tooltip.lines().next() == Some(name);
    scene.shapes.iter().filter(is_named).collect()
}

/// Checks that every object has one box, inside the boxes of its ancestors; caches are not frames, but bars
/// above their contents.
fn check(machine: &Machine, options: &SvgOptions) {
    let scene = layout::scene(machine, options);
    assert_eq!(faults(&scene), [""; 0]);
    for object in machine.iter() {
        let [shape] = shapes(&scene, &object.to_string())[..] else {
            panic!("{object} is not drawn once");
        };
        for around in object.ancestors().filter(|_| object.kind() != Kind::Numa) {
            let outer = shapes(&scene, &around.to_string())[0].area;
            let (from, to) = (shape.area.x, shape.area.right());
            let is_beside = around.kind().is_cache() && object.kind().holds_instructions_only();
            match around.kind().is_cache() {
                false => assert!(contains(outer, shape.area), "{object} in {around}"),
                true if is_beside => assert!(outer.y <= shape.area.y, "{object} by {around}"),
                true => {
                    assert!(outer.bottom() <= shape.area.y, "{object} below {around}");
                    let shared = outer.x < to && from < outer.right();
                    let pair = Kind::cache(around.kind().cache_level().unwrap(), true);
                    let instructions = pair.and_then(|kind| object.ancestor(kind));
                    assert!(shared || instructions.is_some(), "{object} below {around}");
                }
            }
        }
    }
    let svg = machine.to_svg(options);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let children = document.root_element().children();
    let groups = children.filter(|node| node.has_tag_name("g")).count();
    assert_eq!(groups, scene.shapes.len());
}

fn options() -> impl Strategy<Value = SvgOptions> {
    let overlay = (
        "\\PC{0,12}",
        prop::collection::vec(0..200usize, 0..20),
        0..20usize,
        0..3u8,
    );
    let overlays = prop::collection::vec(overlay, 0..6);
    let numbers = prop::sample::select(&[Numbers::Both, Numbers::Logical, Numbers::Physical]);
    let title = prop::collection::vec(".{0,40}", 0..3);
    (title, numbers, 0.1..10.0f64, any::<bool>(), overlays).prop_map(
        |(title, numbers, aspect, legend, overlays)| SvgOptions {
            title,
            numbers,
            aspect,
            legend,
            overlays: overlays
                .into_iter()
                .map(|(label, cpus, class, style)| Overlay {
                    label,
                    cpus: cpus.into_iter().collect(),
                    class,
                    style: [Style::Fill, Style::Outline, Style::Mark][style as usize],
                })
                .collect(),
            ..SvgOptions::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pictures_are_in_order(text in descriptions(), options in options()) {
        check(&machine(&text), &options);
    }

    #[test]
    fn cut_texts_fit(text in "\\PC{0,60}", room in 12..200u32) {
        for font in Font::ALL {
            prop_assert!(font.width(&font.cut(&text, room)) <= room.max(font.width("…")));
        }
    }
}

#[test]
fn what_is_not_allowed_is_hatched_and_what_is_off_is_there() {
    let mut machine = machine("package:2 [numa] core:2 pu:2");
    machine.allowed = CpuSet::range(0, 3);
    machine.allowed_memory = CpuSet::one(0);
    machine.offline = CpuSet::range(8, 11);
    check(&machine, &SvgOptions::default());
    let scene = layout::scene(&machine, &SvgOptions::default());
    let hatched = scene.shapes.iter().map(|shape| &shape.face);
    let hatched = hatched.filter(|face| face.marks.is_hatched);
    let name = |face: &Face| String::from(face.tooltip.lines().next().unwrap_or("sample"));
    let names: Vec<String> = hatched.map(name).collect();
    let pus = "PU L#4 P#4, PU L#5 P#5, PU L#6 P#6, PU L#7 P#7";
    let expected = format!("PU L#3 P#3, NUMANode L#1 P#1, {pus}, sample");
    assert_eq!(names.join(", "), expected, "with the legend's sample");
    assert_eq!(shapes(&scene, "PU P#9").len(), 1);
    let view = machine.default_view().to_svg(&SvgOptions::default());
    assert!(!view.contains("hatch"));
}

#[test]
fn overlays_are_on_their_processors_and_in_the_legend() {
    let machine = machine("package:2 core:2 pu:2");
    let overlays = vec![
        Overlay::new("rank 0", CpuSet::range(0, 3), 0),
        Overlay::new("rank 1", CpuSet::range(2, 5), 1),
        Overlay::new("domain", CpuSet::range(0, 4), 2).with_style(Style::Outline),
        Overlay::new("thread", CpuSet::one(7), 11).with_style(Style::Mark),
    ];
    let options = SvgOptions {
        overlays,
        ..SvgOptions::default()
    };
    check(&machine, &options);
    let scene = layout::scene(&machine, &options);
    let on = |cpu| {
        let shape = shapes(&scene, &format!("PU L#{cpu} P#{cpu}"))[0];
        let marks = &shape.face.marks;
        let label = &shape.texts.last().unwrap().line.text;
        let (fills, outlines, dots) = (&marks.fills, &marks.outlines, &marks.dots);
        format!("{label}: {fills:?} {outlines:?} {dots:?}")
    };
    assert_eq!(on(0), "rank 0: [0] [2] []");
    assert_eq!(on(2), "rank 0 +1: [0, 1] [2] []");
    assert_eq!(on(5), ": [] [] []");
    assert_eq!(on(7), ": [] [] [11]");
    let svg = machine.to_svg(&options);
    for entry in ["rank 0: 0-2", "rank 1: 2-4", "domain: 0-3", "thread: 7"] {
        assert!(svg.contains(entry), "{entry}");
    }
}

#[test]
fn the_picture_grows_with_the_machine() {
    let length = |text: &str| machine(text).to_svg(&SvgOptions::default()).len();
    let small = length("package:1 core:512 pu:2");
    let large = length("package:8 core:512 pu:2");
    assert!(large < 9 * small, "8192 PUs: {large}, 1024 PUs: {small}");
    let flat = layout::scene(&machine("pu:8192"), &SvgOptions::default());
    assert!(flat.size.width < 3 * flat.size.height && flat.size.height < 3 * flat.size.width);
}

/// Numbers of cores with a full grid near the wanted aspect: an incomplete row would look like missing cores.
#[test]
fn the_rows_of_a_grid_are_complete_where_they_can_be() {
    for cores in [4, 6, 8, 9, 10, 12, 16, 18, 20, 24, 32, 48, 64] {
        let machine = machine(&format!("package:1 core:{cores} pu:1"));
        let scene = layout::scene(&machine, &SvgOptions::default());
        let mut rows = BTreeMap::new();
        for core in machine.objects(Kind::Core) {
            let shape = shapes(&scene, &core.to_string())[0];
            *rows.entry(shape.area.y).or_insert(0) += 1;
        }
        let lengths: BTreeSet<usize> = rows.values().copied().collect();
        assert_eq!(lengths.len(), 1, "{cores} cores in rows of {lengths:?}");
    }
}

#[test]
fn sizes_are_short_and_speeds_have_units() {
    let cases = [
        (0, "0B"),
        (1023, "1023B"),
        (32 << 10, "32KB"),
        (1280 << 10, "1.25MB"),
        ((27 << 20) + (512 << 10), "27.5MB"),
        (64_000_000_000, "59.6GB"),
        (503 << 30, "503GB"),
        (u64::MAX, "15.9EB"),
    ];
    for (size, text) in cases {
        assert_eq!(labels::bytes(size), text);
    }
    assert_eq!(labels::speed(15_753_846_153), "15.7 GB/s");
    assert_eq!(labels::speed(250_000_000), "250 MB/s");
    assert_eq!(labels::speed(126_000_000_000), "126 GB/s");
}

/// The contrast of two colours, from 1 to 21.
///
/// Source: W3C, Web Content Accessibility Guidelines 2.1, "contrast ratio" and "relative luminance".
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour: &str| {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.03928 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) + 0.05
    };
    let (one, other) = (luminance(one), luminance(other));
    (one / other).max(other / one)
}

#[test]
fn texts_and_outlines_stand_out() {
    for palette in [Palette::Lstopo, Palette::ColourBlind] {
        for (at, (look, _)) in Look::ALL.into_iter().enumerate() {
            assert_eq!(
                look as usize, at,
                "{look:?} is at another place in the table"
            );
            if !look.is_framed() {
                continue;
            }
            let (fill, _) = look.colours(palette);
            assert!(contrast(INK, fill) >= 7.0, "text on {look:?}");
        }
        for class in 0..CLASSES {
            let (fill, line) = palette.overlay(class);
            assert!(contrast(INK, fill) >= 7.0, "text on fill {class}");
            assert!(contrast(line, "#ffffff") >= 3.0, "outline {class}");
        }
    }
}

/// Every machine whose XML the crate keeps.
#[test]
#[cfg(feature = "xml")]
fn pictures_of_known_machines_are_in_order() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xml");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "xml") {
            let text = std::fs::read_to_string(&path).unwrap();
            check(&Machine::from_xml(&text).unwrap(), &SvgOptions::default());
            count += 1;
        }
    }
    assert!(count >= 11, "the machines are gone");
}
