use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Object;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use proptest::prelude::*;

/// One object a line, indented by depth, as `lstopo --of console` prints them.
fn outline(machine: &Machine) -> String {
    fn write(object: Object<'_>, depth: usize, text: &mut String) {
        let _ = writeln!(text, "{:depth$}{object} {}", "", object.cpus());
        let inside = object.memory().chain(object.children());
        inside.for_each(|inner| write(inner, depth + 1, text));
    }
    let mut text = String::new();
    write(machine.root(), 0, &mut text);
    text
}

pub(crate) fn machine(text: &str) -> Machine {
    Machine::from_synthetic(text).unwrap_or_else(|error| panic!("{error}"))
}

fn pus(text: &str) -> Vec<u32> {
    let machine = machine(text);
    machine.objects(Kind::Pu).filter_map(|pu| pu.os()).collect()
}

/// Random regular machines: levels in any order hwloc allows, nodes, sizes and numbers.
pub(crate) fn descriptions() -> impl Strategy<Value = String> {
    let words = ["group", "package", "die", "l3", "l2", "l1", "l1i", "core"];
    let level = |word| {
        (
            Just(word),
            prop::option::of((1..4usize, 0..1u64 << 44, any::<bool>())),
        )
    };
    (words.map(level), 1..4usize, 0..3usize, any::<u64>()).prop_map(
        |(levels, threads, nodes, seed)| {
            let mut text = String::new();
            let (mut width, mut all_nodes) = (threads, 0);
            for (word, level) in levels {
                let Some((arity, size, attached)) = level else {
                    continue;
                };
                let arity = if width > 120 { 1 } else { arity };
                width *= arity;
                let _ = write!(text, "{word}:{arity}");
                if word.starts_with('l') {
                    let _ = write!(text, "(size={size})");
                }
                text.push(' ');
                let free = (Machine::LARGEST_NUMA + 1 - all_nodes) / width;
                let nodes = if attached { nodes.min(free) } else { 0 };
                all_nodes += nodes * width;
                for node in 0..nodes {
                    let _ = write!(text, "[numa(memory={})] ", size + node as u64 + 1);
                }
            }
            let mut numbers: Vec<usize> = (0..width).collect();
            (0..width).for_each(|at| numbers.swap(at, (seed as usize >> (at % 40)) % width));
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let _ = write!(text, "pu:{threads}(indexes={})", numbers.join(","));
            text
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back(text in descriptions()) {
        let machine = machine(&text);
        let written = machine.to_synthetic().unwrap();
        prop_assert_eq!(Machine::from_synthetic(&written).unwrap(), machine, "{}", written);
    }

    #[test]
    fn objects_nest(text in descriptions()) {
        let machine = machine(&text);
        for object in machine.iter() {
            let mut inside = crate::CpuSet::new();
            for child in object.children() {
                prop_assert!(!inside.intersects(child.cpus()), "{child:?} overlaps a sibling");
                prop_assert!(child.cpus().first() > inside.last() || child.cpus().first() > inside.first());
                prop_assert_eq!(child.parent(), Some(object));
                inside = &inside | child.cpus();
            }
            if object.children().len() > 0 {
                prop_assert_eq!(&inside, object.cpus());
            }
            prop_assert!(object.memory().all(|numa| numa.cpus() == object.cpus()));
            prop_assert_eq!(machine.logical(object.kind(), object.logical() as usize), Some(object));
            prop_assert_eq!(machine.object(object.id()), object);
        }
    }

    #[test]
    fn restriction_keeps_what_it_says(text in descriptions(), kept in prop::collection::btree_set(0..200usize, 0..60)) {
        let machine = machine(&text);
        let kept: crate::CpuSet = kept.into_iter().collect();
        let once = machine.restrict(&kept);
        prop_assert_eq!(once.online(), &(machine.online() & &kept));
        prop_assert_eq!(once.restrict(&kept), once.clone());
        prop_assert_eq!(once.allowed_memory(), machine.allowed_memory());
        prop_assert_eq!(once.objects(Kind::Numa).len(), machine.objects(Kind::Numa).len());
        prop_assert_eq!(machine.restrict(machine.online()), machine.clone());
        let view = once.default_view();
        prop_assert_eq!(view.default_view(), view);
    }

    #[test]
    fn any_text_reads_or_is_refused(text in "([a-z0-9]{1,3}:[0-9]{1,3}[ \\[\\](=,:*)]{0,2}){0,6}|\\PC{0,20}") {
        if let Err(error) = Machine::from_synthetic(&text) {
            let span = error.cause().span;
            prop_assert!(text.get(span.start..span.end).is_some(), "{error}");
        }
    }
}

#[test]
fn levels_nest_as_in_hwloc() {
    let text = "pack:2 numa:1 l3:1 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)";
    let expected = "\
Machine 0-7
 Package L#0 P#0 0,2,4,6
  NUMANode L#0 P#0 0,2,4,6
  L3Cache L#0 0,2,4,6
   Core L#0 P#0 0,4
    PU L#0 P#0 0
    PU L#1 P#4 4
   Core L#1 P#1 2,6
    PU L#2 P#2 2
    PU L#3 P#6 6
 Package L#1 P#1 1,3,5,7
  NUMANode L#1 P#1 1,3,5,7
  L3Cache L#1 1,3,5,7
   Core L#2 P#2 1,5
    PU L#4 P#1 1
    PU L#5 P#5 5
   Core L#3 P#3 3,7
    PU L#6 P#3 3
    PU L#7 P#7 7
";
    assert_eq!(outline(&machine(text)), expected);
}

#[test]
fn counts_alone_get_hwlocs_kinds() {
    let kinds = |text| {
        let machine = machine(text);
        let kinds: Vec<String> = Kind::all()
            .filter(|kind| machine.objects(*kind).len() > 0)
            .map(|kind| format!("{kind}:{}", machine.objects(kind).len()))
            .collect();
        kinds.join(" ")
    };
    assert_eq!(kinds("3"), "Machine:1 NUMANode:1 PU:3");
    assert_eq!(kinds("2 2"), "Machine:1 Group:2 NUMANode:2 PU:4");
    let groups = "Machine:1 Group:4 Package:2 NUMANode:4";
    assert_eq!(kinds("2 2 2"), format!("{groups} PU:8"));
    assert_eq!(kinds("2 2 2 2"), format!("{groups} Core:8 PU:16"));
}

#[test]
fn numa_nodes_find_their_place() {
    let expected = "\
Machine 0-7
 NUMANode L#8 P#8 0-7
 Package L#0 P#0 0-3
  NUMANode L#2 P#2 0-3
  NUMANode L#3 P#3 0-3
  Core L#0 P#0 0-1
   NUMANode L#0 P#0 0-1
   PU L#0 P#0 0
   PU L#1 P#1 1
";
    let outline = outline(&machine("[numa] pack:2 [numa] [numa] core:2 [numa] pu:2"));
    assert!(outline.starts_with(expected), "{outline}");
}

#[test]
fn indexes_are_hwlocs() {
    let eight = |indexes| pus(&format!("pack:2 core:2 pu:2(indexes={indexes})"));
    assert_eq!(eight("core:pack"), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(eight("pack:core"), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(eight("core"), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(eight("pack"), [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(eight("2*4"), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(eight("4*2:1*4"), [0, 2, 4, 6, 1, 3, 5, 7]);
}

#[test]
fn sizes_and_memory() {
    let machine = machine("pack:2 [numa(memory=16GB)] l3:1(size=32MiB) l1d:2 pu:1");
    let cache = |kind| machine.logical(kind, 0).and_then(Object::cache).unwrap();
    let (l3, l1) = (cache(Kind::L3), cache(Kind::L1));
    assert_eq!((l3.size, l3.unified), (32 << 20, true));
    assert_eq!((l1.size, l1.unified), (32 << 10, false));
    let unsaid = self::machine("l4:1 l2:2 l1:1 pu:1");
    let caches = |kind| unsaid.objects(kind).filter_map(Object::cache);
    assert!(caches(Kind::L1).count() == 2 && caches(Kind::L1).all(|l1| l1.unified));
    let size = |kind| caches(kind).next().unwrap().size;
    assert_eq!((size(Kind::L4), size(Kind::L2)), (64 << 20, 4 << 20));
    let numa = machine.logical(Kind::Numa, 1).unwrap();
    assert_eq!(numa.local_memory(), Some(16_000_000_000));
    assert_eq!(numa.siblings().count(), 0);
    assert_eq!(machine.pu(3).and_then(Object::nearest_numa), Some(numa));
}

#[test]
fn refuses_with_the_place_and_what_would_be_right() {
    const CASES: &str = "\
; ; levels such as package:2 core:4 pu:2
core:2; core:2; pu as the last level
pack:2 2; 2; kinds at every level or at none
pack:2 sokcet:2 pu:1; sokcet; group, package, die, numa
machine:1 pu:2; machine; another kind: the machine itself is implicit
pack:0 pu:1; 0; from 1 to 8192 objects
pack pu:1;  ; a colon and the number of objects
core:2 core:2 pu:1; core:2; each kind at one level only
numa:2 [numa] pu:1; [numa]; NUMA nodes either as a level or in brackets
core:1099511627776 pu:2; 1099511627776; from 1 to 8192 objects
core:8192 pu:2; pu:2; a machine of at most 8192 processors
numa:2048 pu:2; numa:2048; a machine of at most 1024 NUMA nodes
pack:2(size=1MB) pu:2; size; only caches have a size
l2:2(size=1Q) pu:2; Q; kB, MB, GB
l2:2(size=99999999TB) pu:2; 99999999TB; less than 2^64 bytes
pu:2(indexes=0); 0; one number for each object
pu:2(indexes=0,0); 0,0; different numbers
pu:4(indexes=3*2); 3*2; loops that reach each object of the level once
core:2 pu:4(indexes=pack); pack; a kind of level around
1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1; 1; at most 16 levels
";
    for case in CASES.lines() {
        let [text, place, expected] = case.split("; ").collect::<Vec<_>>().try_into().unwrap();
        let error = Machine::from_synthetic(text).unwrap_err();
        assert_eq!(error.cause().span.of(text), place, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_default_view_leaves_out_groups_that_say_nothing() {
    let machine = machine("group:2 package:2 group:2 pu:2");
    let groups = |machine: &Machine| machine.objects(Kind::Group).len();
    assert_eq!(groups(&machine), 2 + 8);
    assert_eq!(groups(&machine.default_view()), 2 + 8);
    let half = machine.restrict(&crate::CpuSet::from_iter([0, 2, 4, 8]));
    let expected = "\
Machine 0,2,4,8
 NUMANode L#0 P#0 0,2,4,8
 Group L#0 0,2,4
  Package L#0 P#0 0,2
   PU L#0 P#0 0
   PU L#1 P#2 2
  Package L#1 P#1 4
   PU L#2 P#4 4
 Group L#1 8
  Package L#2 P#2 8
   PU L#3 P#8 8
";
    assert_eq!(outline(&half.default_view()), expected);
    let one = half.restrict(&crate::CpuSet::from_iter([0, 2, 8]));
    assert_eq!(groups(&one.default_view()), 0);
}

#[test]
fn irregular_machines_have_no_string() {
    let machine = machine("pack:2 core:2 pu:2");
    let text = "[numa(memory=1GiB)] package:2 core:2 pu:2";
    assert_eq!(machine.to_synthetic().unwrap(), text);
    let lame = machine.restrict(&crate::CpuSet::range(0, 7));
    let error = lame.to_synthetic().unwrap_err();
    assert_eq!(error.first, "Core L#0 P#0");
    assert_eq!(error.other, "Core L#3 P#3");
}
