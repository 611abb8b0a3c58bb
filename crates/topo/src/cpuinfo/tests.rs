use super::{Processor, processors};
use crate::cpuset::CpuSet;
use crate::kind::Kind;
use crate::machine::Machine;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use proptest::prelude::*;
use proptest::sample::SizeRange;

/// A record of a processor with these lines.
fn record(cpu: usize, fields: &[(&str, u32)]) -> String {
    let mut text = format!("processor\t: {cpu}\nmodel name\t: 8: core id : 9\n");
    for (key, value) in fields {
        writeln!(text, "{key}\t\t: {value}").unwrap();
    }
    text + "power management:\n\n"
}

/// (processor, package, core, thread) of each.
fn places(text: &str) -> Vec<(usize, u32, u32, u32)> {
    let list = processors(text).unwrap_or_else(|error| panic!("{error}"));
    let place = |one: Processor| (one.cpu, one.package, one.core, one.thread);
    list.into_iter().map(place).collect()
}

#[test]
fn missing_cores_are_0_and_missing_threads_are_numbered() {
    let text = [
        record(3, &[("physical id", 1)]),
        record(0, &[("physical id", 1)]),
        record(2, &[("physical id", 0), ("core id", 7)]),
        record(1, &[("physical id", 0), ("core id", 4)]),
        record(4, &[("physical id", 0), ("core id", 7)]),
    ];
    let expected = [
        (0, 1, 0, 0),
        (1, 0, 4, 0),
        (2, 0, 7, 0),
        (3, 1, 0, 1),
        (4, 0, 7, 1),
    ];
    assert_eq!(places(&text.concat()), expected);
}

#[test]
fn processing_units_keep_the_number_of_their_thread() {
    let thread = |number| [("physical id", 0), ("core id", 0), ("thread id", number)];
    let text = [record(0, &thread(1)), record(1, &thread(0))].concat();
    let machine = Machine::from_cpuinfo(&text).unwrap();
    let threads: Vec<_> = machine.objects(Kind::Pu).map(|pu| pu.thread()).collect();
    assert_eq!(threads, [Some(1), Some(0)]);
}

#[test]
fn given_threads_stay_and_others_take_what_is_free() {
    let core = [("physical id", 0), ("core id", 0)];
    let with = |thread| [core[0], core[1], ("thread id", thread)];
    let text = [
        record(0, &core),
        record(1, &with(0)),
        record(2, &core),
        record(3, &with(2)),
        record(4, &core),
    ];
    let threads: Vec<u32> = places(&text.concat()).iter().map(|place| place.3).collect();
    assert_eq!(threads, [1, 0, 3, 2, 4]);
}

#[test]
fn the_machine_has_packages_cores_and_one_node() {
    let of = |cpu: u32| {
        record(
            cpu as usize,
            &[("physical id", cpu % 2), ("core id", cpu / 4)],
        )
    };
    let text: String = (0..8).map(of).collect();
    let machine = Machine::from_cpuinfo(&text).unwrap();
    let objects = |kind| -> Vec<String> {
        let objects = machine.objects(kind);
        objects.map(|object| format!("{object:?}")).collect()
    };
    let packages = "Package L#0 P#0 {0,2,4,6} Package L#1 P#1 {1,3,5,7}";
    assert_eq!(objects(Kind::Package).join(" "), packages);
    let cores = "Core L#0 P#0 {0,2} Core L#1 P#1 {4,6} Core L#2 P#0 {1,3} Core L#3 P#1 {5,7}";
    assert_eq!(objects(Kind::Core).join(" "), cores);
    let node = machine.logical(Kind::Numa, 0).unwrap();
    assert_eq!((node.cpus(), node.local_memory()), (machine.online(), None));
    assert_eq!(machine.objects(Kind::Numa).len(), 1);
    assert_eq!(machine.allowed(), &CpuSet::range(0, 8));
}

/// IBM Z writes lines about all processors first, and uses another key for a processor.
#[test]
fn records_may_begin_with_cpu_number() {
    let text = "vendor_id       : IBM/S390\n# processors    : 2\nmax thread id   : 1\n\
                processor 0: version = FF,  identification = 000000,  machine = 3906\n\
                processor 1: version = FF,  identification = 000000,  machine = 3906\n\n\
                cpu number      : 0\nphysical id     : 2\ncore id         : 5\nbook id : 1\n\n\
                cpu number      : 1\nphysical id     : 2\ncore id         : 5\nbook id : 1\n";
    assert_eq!(places(text), [(0, 2, 5, 0), (1, 2, 5, 1)]);
}

/// IA-64 has both keys, and only one of them is the processor.
#[test]
fn cpu_number_after_processor_is_ignored() {
    let text = "processor  : 3\ncpu number : 0\nphysical id: 1\ncore id    : 0\nthread id  : 1\n";
    assert_eq!(places(text), [(3, 1, 0, 1)]);
}

#[test]
fn a_new_processor_ends_the_record_before() {
    let text = "processor : 0\nphysical id : 0\nprocessor : 1\nphysical id : 1\n";
    assert_eq!(places(text), [(0, 0, 0, 0), (1, 1, 0, 0)]);
}

#[test]
fn lines_may_end_as_on_windows() {
    let text = record(0, &[("physical id", 3)]) + &record(1, &[("physical id", 3)]);
    assert_eq!(places(&text.replace('\n', "\r\n")), places(&text));
}

#[test]
fn errors_name_line_and_reason() {
    let good = "processor\t: 0\nphysical id\t: 0\n\n";
    let begin = "a line such as `processor : 0`, found the end";
    let number = |found| format!("a processor from 0 to 8191, found `{found}`");
    let small = |found| format!("a whole number below 2^32, found `{found}`");
    let package = |found| format!("a processor with `physical id` in its record, found `{found}`");
    let bare = format!("{good}processor\t: 12\r\ncore id : 0\r\n\r\n");
    let thread = [("physical id", 0), ("thread id", 1)];
    let with_id = |id| format!("processor : 0\nphysical id : {id}\n");
    let cases: [(&str, usize, &str); 13] = [
        ("", 1, begin),
        ("a\nb\n", 3, begin),
        ("processor : x", 1, &number("x")),
        ("processor : 8192", 1, &number("8192")),
        ("processor : 1 2", 1, &number(" 2")),
        ("processor : 0\n", 1, &package("0")),
        (&bare, 4, &package("12")),
        (
            &good.repeat(2),
            4,
            "a processor without another record, found `0`",
        ),
        (
            &with_id("1\nphysical id : 1"),
            3,
            "each key once in a record, found `1`",
        ),
        (&with_id("4294967296"), 2, &small("4294967296")),
        (&with_id("-1"), 2, &small("-1")),
        (
            &format!("{good}core id : 5\n"),
            4,
            "a line `processor` in the same record, found `5`",
        ),
        (
            &[record(0, &thread), record(1, &thread)].concat(),
            10,
            "a thread that no other processor of the core is, found `1`",
        ),
    ];
    for (text, line, expected) in cases {
        let error = Machine::from_cpuinfo(text).unwrap_err();
        let said = error.to_string();
        let start = format!("/proc/cpuinfo:{line}: expected {expected}\n");
        assert!(said.starts_with(&start), "{text:?}: {said}");
    }
}

/// The largest and widest machine: the most processors, each a package of its own.
#[test]
fn the_largest_machine_reads() {
    let text: String = (0..=Machine::LARGEST_CPU)
        .map(|cpu| record(cpu, &[("physical id", cpu as u32)]))
        .collect();
    let machine = Machine::from_cpuinfo(&text).unwrap();
    let packages = machine.objects(Kind::Package).len();
    assert_eq!(packages, Machine::LARGEST_CPU + 1);
}

/// A regular machine, its processors in any order: counts of packages, cores and threads, then the processors.
fn regular() -> impl Strategy<Value = ([usize; 3], Vec<usize>)> {
    let counts = (1..4usize, 1..5usize, 1..4usize);
    counts.prop_flat_map(|(packages, cores, threads)| {
        let size = packages * cores * threads;
        let all: Vec<usize> = (0..64).collect();
        let some = prop::sample::subsequence(all, SizeRange::from(size)).prop_shuffle();
        some.prop_map(move |cpus| ([packages, cores, threads], cpus))
    })
}

/// The records of a regular machine, with gaps between the numbers of packages and cores.
fn written([_, cores, threads]: [usize; 3], cpus: &[usize]) -> Vec<Processor> {
    let place = |(at, cpu): (usize, &usize)| Processor {
        cpu: *cpu,
        package: (at / threads / cores * 3) as u32,
        core: (at / threads % cores * 2) as u32,
        thread: (at % threads) as u32,
    };
    cpus.iter().enumerate().map(place).collect()
}

fn text(list: &[Processor]) -> String {
    let one = |place: &Processor| {
        let ids = [
            ("physical id", place.package),
            ("core id", place.core),
            ("thread id", place.thread),
        ];
        record(place.cpu, &ids)
    };
    list.iter().map(one).collect()
}

proptest! {
    #[test]
    fn what_is_written_reads_back_in_any_order((counts, cpus) in regular()) {
        let mut list = written(counts, &cpus);
        let in_order_of_the_tree = Machine::from_cpuinfo(&text(&list)).unwrap();
        list.sort();
        prop_assert_eq!(processors(&text(&list)).unwrap(), list.clone());
        let machine = Machine::from_cpuinfo(&text(&list)).unwrap();
        prop_assert_eq!(&machine, &in_order_of_the_tree);

        let [packages, cores, threads] = counts;
        prop_assert_eq!(machine.objects(Kind::Package).len(), packages);
        prop_assert_eq!(machine.objects(Kind::Core).len(), packages * cores);
        prop_assert_eq!(machine.objects(Kind::Pu).len(), packages * cores * threads);
        for place in list {
            let pu = machine.pu(place.cpu).unwrap();
            let os = |kind| pu.ancestor(kind).unwrap().os();
            prop_assert_eq!(os(Kind::Package), Some(place.package));
            prop_assert_eq!(os(Kind::Core), Some(place.core));
        }
    }

    #[test]
    fn any_text_is_a_machine_or_an_error_with_its_line(
        lines in prop::collection::vec("(processor|physical id|core id|thread id|cpu number|[ -~]{0,4}) ?:? ?([0-9]{0,5}|\\PC{0,3})|", 0..12),
    ) {
        let text = lines.join("\n");
        if let Err(error) = Machine::from_cpuinfo(&text) {
            let line = error.line().unwrap();
            prop_assert!(error.text() == text.lines().nth(line - 1).unwrap_or(""), "{}", error);
        }
    }
}
