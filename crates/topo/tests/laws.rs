//! Properties of every machine, tested on random synthetic machines and on some with devices.
#![cfg(all(feature = "std", feature = "xml"))]

use oxmpi_topo::view::{Devices, Levels, View};
use oxmpi_topo::{CpuSet, DeviceKind, Kind, Machine, Object};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The text of a level of one kind, and its number of objects in each of the level before.
fn level(word: &'static str) -> impl Strategy<Value = Option<(String, usize)>> {
    let attached = prop_oneof![
        3 => Just(""),
        1 => Just(" [numa(memory=1GiB)]"),
        1 => Just(" [numa] [numa(memory=2GiB)]"),
    ];
    let level = (1..3usize, attached)
        .prop_map(move |(count, attached)| (format!("{word}:{count}{attached} "), count));
    prop::option::of(level)
}

/// Regular machines with most kinds of objects, nodes anywhere and processors in any order.
fn machines() -> impl Strategy<Value = Machine> {
    let levels = ["group", "package", "die", "l3", "l2", "l1d", "core"].map(level);
    (levels, 1..4usize)
        .prop_flat_map(|(levels, threads)| {
            let levels = levels.into_iter().flatten();
            let (text, count) = levels
                .fold((String::new(), threads), |(text, all), (level, count)| {
                    (text + &level, all * count)
                });
            let numbers: Vec<usize> = (0..count).collect();
            (Just(text), Just(threads), Just(numbers).prop_shuffle())
        })
        .prop_map(|(mut text, threads, numbers)| {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            let _ = write!(text, "pu:{threads}(indexes={})", numbers.join(","));
            Machine::from_synthetic(&text).unwrap()
        })
}

/// Some numbers of processors, more than most machines have.
fn sets() -> impl Strategy<Value = CpuSet> {
    prop::collection::btree_set(0..64usize, 0..48).prop_map(|set| set.into_iter().collect())
}

/// The objects that a restriction to `cpus` keeps: those with a processor, and those with NUMA nodes attached
/// or inside.
fn left(machine: &Machine, cpus: &CpuSet) -> Vec<(Kind, Option<u32>, CpuSet)> {
    let has_memory = |object: Object<'_>| {
        object.kind() == Kind::Numa || {
            let nodes = machine.objects(Kind::Numa);
            nodes
                .flat_map(Object::ancestors)
                .any(|around| around == object)
        }
    };
    let objects = machine.iter().map(|object| (object, object.cpus() & cpus));
    let mut left: Vec<_> = objects
        .filter(|(object, cpus)| {
            !cpus.is_empty() || has_memory(*object) || object.parent().is_none()
        })
        .map(|(object, cpus)| (object.kind(), object.os(), cpus))
        .collect();
    left.sort();
    left
}

fn all(machine: &Machine) -> Vec<(Kind, Option<u32>, CpuSet)> {
    let objects = machine.iter();
    let mut all: Vec<_> = objects
        .map(|object| (object.kind(), object.os(), object.cpus().clone()))
        .collect();
    all.sort();
    all
}

/// The processors of all objects that have an operating system's number.
fn numbered(machine: &Machine) -> BTreeMap<(Kind, u32), CpuSet> {
    let number = |object: Object<'_>| Some(((object.kind(), object.os()?), object.cpus().clone()));
    machine.iter().filter_map(number).collect()
}

fn assert_is_a_tree(machine: &Machine) {
    for object in machine.iter() {
        let mut seen = CpuSet::new();
        let mut first = None;
        for child in object.children() {
            assert_eq!(child.parent(), Some(object));
            assert!(
                child.cpus().is_subset(object.cpus()),
                "{child:?} in {object:?}"
            );
            assert!(
                (&seen & child.cpus()).is_empty(),
                "{child:?} beside others in {object:?}"
            );
            seen = &seen | child.cpus();
            if let Some(cpu) = child.cpus().first() {
                assert!(first < Some(cpu), "{child:?} after others in {object:?}");
                first = Some(cpu);
            }
        }
        if object.children().len() > 0 {
            assert_eq!(&seen, object.cpus(), "what is inside {object:?}");
        }
    }
    for kind in Kind::all() {
        let numbers = machine.objects(kind).map(Object::logical);
        assert!(
            numbers.eq(0..machine.objects(kind).len() as u32),
            "numbers of {kind}"
        );
    }
}

/// Each NUMA node is attached to the outermost object with its processors, but not to the machine if another
/// has them.
fn assert_memory_is_attached_as_in_hwloc(machine: &Machine) {
    for numa in machine.objects(Kind::Numa) {
        let place = numa.parent().unwrap();
        assert_eq!(place.cpus(), numa.cpus(), "{numa:?} at {place:?}");
        let around = place
            .ancestors()
            .filter(|around| around.kind() != Kind::Machine);
        assert_eq!(
            around.filter(|around| around.cpus() == numa.cpus()).count(),
            0,
            "{numa:?} at {place:?}"
        );
        let inside = place.children().filter(|child| child.kind() != Kind::Pu);
        let same = inside.filter(|child| child.cpus() == numa.cpus()).count();
        assert!(
            place.kind() != Kind::Machine || same == 0,
            "{numa:?} at {place:?}"
        );
        assert_ne!(place.kind(), Kind::Pu);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn machines_are_trees(machine in machines(), kept in sets()) {
        assert_is_a_tree(&machine);
        assert_is_a_tree(&machine.restrict(&kept));
        assert_is_a_tree(&machine.view(&View { levels: Levels::Structure, ..View::default() }));
        assert_memory_is_attached_as_in_hwloc(&machine);
        prop_assert!(machine.is_uniform());
    }

    #[test]
    fn a_restriction_leaves_what_it_says(machine in machines(), kept in sets()) {
        let once = machine.restrict(&kept);
        prop_assert_eq!(all(&once), left(&machine, &kept));
        prop_assert_eq!(&once.restrict(&kept), &once);
    }

    #[test]
    fn one_restriction_after_another_is_that_to_both(machine in machines(), a in sets(), b in sets()) {
        let both = machine.restrict(&(&a & &b));
        prop_assert_eq!(&machine.restrict(&a).restrict(&b), &both);
        prop_assert_eq!(&machine.restrict(&b).restrict(&a), &both);
    }

    #[test]
    fn what_is_left_of_a_union_is_the_union_of_what_is_left(machine in machines(), a in sets(), b in sets()) {
        let mut parts = numbered(&machine.restrict(&a));
        for (object, cpus) in numbered(&machine.restrict(&b)) {
            let part = parts.entry(object).or_default();
            *part = &*part | &cpus;
        }
        prop_assert_eq!(numbered(&machine.restrict(&(&a | &b))), parts);
    }

    #[test]
    fn export_then_import_is_the_identity(machine in machines()) {
        let text = machine.to_synthetic().unwrap();
        prop_assert_eq!(&Machine::from_synthetic(&text).unwrap(), &machine, "{}", text);
        prop_assert_eq!(&Machine::from_xml(&machine.to_xml()).unwrap(), &machine);
    }

    #[test]
    fn the_common_ancestor_is_the_smallest_around_both(machine in machines(), one in any::<Index>(), two in any::<Index>()) {
        let objects: Vec<Object<'_>> = machine.iter().collect();
        let (one, two) = (*one.get(&objects), *two.get(&objects));
        let common = one.common_ancestor(two);
        prop_assert_eq!(two.common_ancestor(one), common);
        prop_assert_eq!(one.common_ancestor(one), one);
        let holds = |around: Object<'_>, object: Object<'_>| object == around || object.ancestors().any(|it| it == around);
        prop_assert!(holds(common, one) && holds(common, two));
        let smaller = common.children().chain(common.memory()).find(|child| holds(*child, one) && holds(*child, two));
        prop_assert_eq!(smaller, None);
    }

    #[test]
    fn steps_are_a_metric(machine in machines(), places in prop::array::uniform3(any::<Index>())) {
        let objects: Vec<Object<'_>> = machine.iter().collect();
        let [a, b, c] = places.map(|place| *place.get(&objects));
        prop_assert_eq!(a.steps_to(b) == 0, a == b);
        prop_assert_eq!(a.steps_to(b), b.steps_to(a));
        prop_assert!(a.steps_to(c) <= a.steps_to(b) + b.steps_to(c));
        let up = a.parent().map(|parent| a.steps_to(parent));
        prop_assert!(up.is_none_or(|steps| steps == 1));
    }

    #[test]
    fn the_nearest_node_is_the_smallest_that_covers(machine in machines(), place in any::<Index>()) {
        let objects: Vec<Object<'_>> = machine.iter().filter(|it| it.kind() != Kind::Numa).collect();
        let object = *place.get(&objects);
        let covering = machine.objects(Kind::Numa).filter(|numa| object.cpus().is_subset(numa.cpus()));
        let sizes = covering.map(|numa| numa.cpus().len());
        let nearest = object.nearest_numa();
        prop_assert_eq!(nearest.map(|numa| numa.cpus().len()), sizes.min());
        prop_assert!(nearest.is_none_or(|numa| object.cpus().is_subset(numa.cpus())));
    }

    #[test]
    fn levels_hold_every_object_once(machine in machines(), kept in sets()) {
        let machine = machine.restrict(&kept);
        let levels = machine.levels();
        let count: usize = levels.iter().map(Vec::len).sum();
        prop_assert_eq!(count + machine.objects(Kind::Numa).len(), machine.iter().len());
        for level in &levels {
            prop_assert!(level.iter().all(|object| object.kind() == level[0].kind()));
            prop_assert!(level.windows(2).all(|pair| pair[0].id() < pair[1].id()));
        }
    }

    #[test]
    fn views_only_leave_out(machine in machines(), kept in sets()) {
        let machine = machine.restrict(&kept);
        prop_assert_eq!(&machine.view(&View::EVERYTHING), &machine);
        let structure = machine.view(&View { levels: Levels::Structure, ..View::default() });
        let names = |machine: &Machine| -> BTreeSet<_> { all(machine).into_iter().collect() };
        prop_assert!(names(&structure).is_subset(&names(&machine)));
        for kind in [Kind::Machine, Kind::Numa, Kind::Pu] {
            prop_assert_eq!(structure.objects(kind).len(), machine.objects(kind).len());
        }
        prop_assert!(structure.iter().len() <= machine.default_view().iter().len());
    }
}

/// Machines with devices.
fn recorded() -> [Machine; 3] {
    ["power8gpudistances", "24em64t-2n6c2t-pci", "cxlmem+dax.v2"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/xml")
            .join(format!("{name}.xml"));
        Machine::from_xml(&fs::read_to_string(path).unwrap()).unwrap()
    })
}

#[test]
fn the_nearest_devices_share_the_innermost_ancestor() {
    let mut found = 0;
    for machine in recorded() {
        for object in machine.iter() {
            for kind in DeviceKind::all() {
                let devices: Vec<_> = machine
                    .devices()
                    .filter(|device| device.kind() == kind)
                    .collect();
                let depth = |near: Object<'_>| object.common_ancestor(near).ancestors().count();
                let deepest = devices.iter().map(|device| depth(device.near())).max();
                let expected: Vec<_> = devices
                    .iter()
                    .filter(|device| Some(depth(device.near())) == deepest)
                    .map(|device| device.id())
                    .collect();
                let nearest: Vec<_> = object
                    .nearest_devices(kind)
                    .map(|device| device.id())
                    .collect();
                assert_eq!(nearest, expected, "{kind} near {object}");
                found += nearest.len();
            }
        }
    }
    assert!(found > 100, "no devices");
}

#[test]
fn devices_form_a_forest() {
    for machine in recorded() {
        for device in machine.devices() {
            for child in device.children() {
                assert_eq!(child.parent(), Some(device));
                assert_eq!(child.near(), device.near());
                assert!(child.id() > device.id());
            }
            let mut roots = device.near().devices();
            assert_eq!(device.parent().is_none(), roots.any(|root| root == device));
        }
    }
}

/// Names and addresses of all devices.
fn devices(machine: &Machine) -> BTreeSet<String> {
    machine.devices().map(|device| device.to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn devices_outlive_their_processors(a in sets(), b in sets()) {
        for machine in recorded() {
            let once = machine.restrict(&a);
            assert_is_a_tree(&once);
            prop_assert_eq!(once.devices().len(), machine.devices().len());
            prop_assert_eq!(devices(&once), devices(&machine));
            prop_assert_eq!(&once.restrict(&b), &machine.restrict(&(&a & &b)));
        }
    }
}

#[test]
fn important_devices_are_some_of_all() {
    for machine in recorded() {
        let view = |devices| {
            machine.view(&View {
                devices,
                ..View::default()
            })
        };
        assert!(devices(&view(Devices::Important)).is_subset(&devices(&machine)));
        assert_eq!(devices(&view(Devices::All)), devices(&machine));
        assert_eq!(view(Devices::None).devices().len(), 0);
    }
}
