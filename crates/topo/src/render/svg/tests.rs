//! Properties of every picture: boxes do not overlap and contain their texts, whatever the machine.

mod devices;

use super::boxes::{Area, Scene, Shape, Size, Text};
use super::palette::{CLASSES, INK, Look, Palette};
use super::widths::Font;
use super::{Numbers, Overlay, Style, SvgOptions, labels, layout};
use crate::cpuset::CpuSet;
use crate::kind::Kind;
use crate::machine::Machine;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn machine(text: &str) -> Machine {
    Machine::from_synthetic(text).unwrap_or_else(|error| panic!("{error}"))
}

fn contains(outer: Area, inner: Area) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.right() <= outer.right()
        && inner.bottom() <= outer.bottom()
}

fn are_apart(a: Area, b: Area) -> bool {
    a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y
}

/// The room of a text, by the table of widths: from a letter's height above the baseline to a quarter of it
/// below.
fn room(text: &Text) -> Area {
    let (width, height) = (text.line.font.width(&text.line.text), text.line.font.size());
    Area {
        x: text.x
            - if text.is_centred {
                width.div_ceil(2)
            } else {
                0
            },
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
            let (left, top) = (x.min(right), y.min(bottom));
            let size = Size {
                width: x.max(right) - left,
                height: y.max(bottom) - top,
            };
            let line = Area {
                x: left,
                y: top,
                size,
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
    let groups = document
        .root_element()
        .children()
        .filter(|node| node.has_tag_name("g"));
    assert_eq!(groups.count(), scene.shapes.len());
}

/// Random regular machines with caches of all kinds, nodes and large numbers.
fn descriptions() -> impl Strategy<Value = String> {
    let words = ["group", "package", "die", "l3", "l2", "l1", "l1i", "core"];
    let levels = words.map(|word| {
        (
            Just(word),
            prop::option::weighted(0.6, (1..4usize, 0..1u64 << 44)),
        )
    });
    (levels, 1..4usize, 0..8usize).prop_map(|(levels, threads, place)| {
        let mut text = String::new();
        let mut count = 1;
        for (at, (word, level)) in levels.into_iter().enumerate() {
            if let Some((width, size)) = level {
                let width = if count > 60 { 1 } else { width };
                count *= width;
                text += &format!("{word}:{width} ");
                if word.starts_with('l') {
                    text.pop();
                    text += &format!("(size={}) ", size.max(1));
                }
                if at == place {
                    text += &format!("[numa(memory={size})] ");
                }
            }
        }
        text + &format!("pu:{threads}")
    })
}

fn options() -> impl Strategy<Value = SvgOptions> {
    let overlay = (
        "\\PC{0,12}",
        prop::collection::vec(0..200usize, 0..20),
        0..20usize,
        0..3u8,
    );
    let overlays = prop::collection::vec(overlay, 0..6);
    let numbers = prop_oneof![
        Just(Numbers::Both),
        Just(Numbers::Logical),
        Just(Numbers::Physical)
    ];
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
    let hatched = scene
        .shapes
        .iter()
        .filter(|shape| shape.face.marks.is_hatched);
    let hatched: Vec<Option<&str>> = hatched
        .map(|shape| shape.face.tooltip.lines().next())
        .collect();
    let names = [
        "PU L#3 P#3",
        "NUMANode L#1 P#1",
        "PU L#4 P#4",
        "PU L#5 P#5",
        "PU L#6 P#6",
        "PU L#7 P#7",
    ];
    assert_eq!(hatched[..6], names.map(Some));
    assert_eq!(hatched.len(), 7, "and the legend's sample");
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
        let label = shape.texts.last().unwrap().line.text.clone();
        (
            label,
            marks.fills.clone(),
            marks.outlines.clone(),
            marks.dots.clone(),
        )
    };
    assert_eq!(on(0), ("rank 0".into(), vec![0], vec![2], vec![]));
    assert_eq!(on(2), ("rank 0 +1".into(), vec![0, 1], vec![2], vec![]));
    assert_eq!(on(5), (String::new(), vec![], vec![], vec![]));
    assert_eq!(on(7), (String::new(), vec![], vec![], vec![11]));
    let svg = machine.to_svg(&options);
    for entry in ["rank 0: 0-2", "rank 1: 2-4", "domain: 0-3", "thread: 7"] {
        assert!(svg.contains(entry), "{entry}");
    }
}

#[test]
fn the_picture_grows_with_the_machine() {
    let length = |text: &str| machine(text).to_svg(&SvgOptions::default()).len();
    let (small, large) = (
        length("package:1 core:512 pu:2"),
        length("package:8 core:512 pu:2"),
    );
    assert!(
        large < 9 * small,
        "{large} bytes for 8192 PUs, {small} for 1024"
    );
    let flat = layout::scene(&machine("pu:8192"), &SvgOptions::default());
    assert!(flat.size.width < 3 * flat.size.height && flat.size.height < 3 * flat.size.width);
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
        let looks = Look::ALL.into_iter().filter(|look| look.is_framed());
        for look in looks {
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
