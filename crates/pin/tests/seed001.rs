//! The listings and figures of "Thread Affinity Interface (Linux* and Windows*)", under the documented rules.

use oxmpi_pin::openmp::{Dialect, Request, Team, bind};
use oxmpi_topo::Machine;
use oxmpi_topo::cpuid::Dump;

/// The document's machine in cpuid's numbers: two packages, numbered 0 and 3, of two cores with `threads`
/// hardware threads. The operating system counts packages first, then cores, then threads.
fn machine(threads: u32) -> Machine {
    let mut dump = Dump::new();
    for cpu in 0..4 * threads {
        let (package, core, thread) = (cpu % 2 * 3, cpu / 2 % 2, cpu / 4);
        let apic = package << 2 | core << 1 | thread;
        let all = 2 * threads;
        let text = format!(
            "1 0 0 0 0 => b 756e6547 6c65746e 49656e69\n\
             1 1 0 0 0 => 6f1 {apic:x}000000 0 10000000\n\
             5 b 0 0 0 => 1 {threads:x} 100 {apic:x}\n\
             5 b 0 1 0 => 2 {all:x} 201 {apic:x}\n\
             5 b 0 2 0 => 0 0 2 {apic:x}\n"
        );
        dump.insert(cpu as usize, &text).unwrap();
    }
    Machine::from_cpuid(&dump).unwrap()
}

fn team(machine: &Machine, setting: &str, mask: Option<&str>) -> Team {
    let mask = mask.map(|mask| mask.parse().unwrap());
    let request = Request {
        kmp_affinity: Some(setting),
        mask: mask.as_ref(),
        ..Request::default()
    };
    bind(machine, &request, Dialect::default())
}

/// The processors of each thread, as lists.
fn threads(team: &Team) -> Vec<String> {
    team.threads.iter().map(|cpus| cpus.to_string()).collect()
}

/// Compares line by line; the lines of threads as a set, since threads start in any order.
fn assert_listed(team: &Team, listing: &str) {
    let is_binding = |line: &&str| line.contains("Internal thread");
    let (mut bindings, lines): (Vec<&str>, Vec<&str>) = listing
        .lines()
        .filter(|line| !line.is_empty())
        .partition(is_binding);
    let printed = team.report.join("\n");
    let (mut ours, rest): (Vec<&str>, Vec<&str>) = printed.lines().partition(is_binding);
    assert_eq!(rest, lines);
    bindings.sort();
    ours.sort();
    assert_eq!(ours, bindings);
    assert!(team.report.iter().all(|line| !line.contains('\n')));
    assert_eq!(team.warnings, []);
}

/// The lines that say where each thread is bound.
fn bound(sets: [&str; 8]) -> String {
    let line = |(thread, set): (usize, &str)| {
        format!("KMP_AFFINITY: Internal thread {thread} bound to OS proc set {{{set}}}\n")
    };
    sets.into_iter().enumerate().map(line).collect()
}

/// "Verbose, scatter message", of the machine without hyper-threading.
#[test]
fn scatter_without_hyper_threading() {
    let team = team(&machine(1), "verbose,scatter", None);
    assert_listed(
        &team,
        "\
KMP_AFFINITY: Affinity capable, using global cpuid info
KMP_AFFINITY: Initial OS proc set respected:
{0,1,2,3}
KMP_AFFINITY: 4 available OS procs - Uniform topology of
KMP_AFFINITY: 2 packages x 2 cores/pkg x 1 threads/core (4 total cores)
KMP_AFFINITY: OS proc to physical thread map ([] => level not in map):
KMP_AFFINITY: OS proc 0 maps to package 0 core 0 [thread 0]
KMP_AFFINITY: OS proc 2 maps to package 0 core 1 [thread 0]
KMP_AFFINITY: OS proc 1 maps to package 3 core 0 [thread 0]
KMP_AFFINITY: OS proc 3 maps to package 3 core 1 [thread 0]
KMP_AFFINITY: Internal thread 0 bound to OS proc set {0}
KMP_AFFINITY: Internal thread 2 bound to OS proc set {2}
KMP_AFFINITY: Internal thread 3 bound to OS proc set {3}
KMP_AFFINITY: Internal thread 1 bound to OS proc set {1}
",
    );
    assert_eq!(threads(&team), ["0", "1", "2", "3"]);
}

const WITH_HYPER_THREADING: &str = "\
KMP_AFFINITY: Affinity capable, using global cpuid info
KMP_AFFINITY: Initial OS proc set respected:
{0,1,2,3,4,5,6,7}
KMP_AFFINITY: 8 available OS procs - Uniform topology of
KMP_AFFINITY: 2 packages x 2 cores/pkg x 2 threads/core (4 total cores)
KMP_AFFINITY: OS proc to physical thread map ([] => level not in map):
KMP_AFFINITY: OS proc 0 maps to package 0 core 0 thread 0
KMP_AFFINITY: OS proc 4 maps to package 0 core 0 thread 1
KMP_AFFINITY: OS proc 2 maps to package 0 core 1 thread 0
KMP_AFFINITY: OS proc 6 maps to package 0 core 1 thread 1
KMP_AFFINITY: OS proc 1 maps to package 3 core 0 thread 0
KMP_AFFINITY: OS proc 5 maps to package 3 core 0 thread 1
KMP_AFFINITY: OS proc 3 maps to package 3 core 1 thread 0
KMP_AFFINITY: OS proc 7 maps to package 3 core 1 thread 1
";

/// The cores of threads in type compact.
const BY_CORES: [&str; 8] = ["0,4", "0,4", "2,6", "2,6", "1,5", "1,5", "3,7", "3,7"];

/// "Verbose, granularity=core,compact message"; also the topology map of the figure behind it.
#[test]
fn compact_by_cores() {
    let team = team(&machine(2), "verbose,granularity=core,compact", None);
    assert_listed(
        &team,
        &(WITH_HYPER_THREADING.to_string() + &bound(BY_CORES)),
    );
    assert_eq!(threads(&team), BY_CORES);
}

/// "In contrast, specifying KMP_AFFINITY=verbose,granularity=fine,compact or KMP_AFFINITY=verbose,granularity=thread,compact
/// binds each OpenMP thread to a single hardware thread context."
#[test]
fn compact_by_hardware_threads() {
    for setting in [
        "verbose,granularity=fine,compact",
        "verbose,granularity=thread,compact",
    ] {
        let team = team(&machine(2), setting, None);
        let sets = ["0", "4", "2", "6", "1", "5", "3", "7"];
        assert_listed(&team, &(WITH_HYPER_THREADING.to_string() + &bound(sets)));
    }
}

/// "Verbose,compact message", with an initial mask of {4,5,6,7}: "Because there are eight thread contexts on the system, by
/// default the compiler created eight threads for an OpenMP parallel construct."
#[test]
fn an_initial_mask_is_respected() {
    let team = team(&machine(2), "verbose,compact", Some("4-7"));
    assert_listed(
        &team,
        "\
KMP_AFFINITY: Affinity capable, using global cpuid info
KMP_AFFINITY: Initial OS proc set respected:
{4,5,6,7}
KMP_AFFINITY: 4 available OS procs - Uniform topology of
KMP_AFFINITY: 2 packages x 2 cores/pkg x 1 threads/core (4 total cores)
KMP_AFFINITY: OS proc to physical thread map ([] => level not in map):
KMP_AFFINITY: OS proc 4 maps to package 0 core 0 [thread 1]
KMP_AFFINITY: OS proc 6 maps to package 0 core 1 [thread 1]
KMP_AFFINITY: OS proc 5 maps to package 3 core 0 [thread 1]
KMP_AFFINITY: OS proc 7 maps to package 3 core 1 [thread 1]
KMP_AFFINITY: Internal thread 0 bound to OS proc set {4}
KMP_AFFINITY: Internal thread 1 bound to OS proc set {6}
KMP_AFFINITY: Internal thread 2 bound to OS proc set {5}
KMP_AFFINITY: Internal thread 3 bound to OS proc set {7}
KMP_AFFINITY: Internal thread 4 bound to OS proc set {4}
KMP_AFFINITY: Internal thread 5 bound to OS proc set {6}
KMP_AFFINITY: Internal thread 6 bound to OS proc set {5}
KMP_AFFINITY: Internal thread 7 bound to OS proc set {7}
",
    );
}

/// "Do not respect original affinity mask for the process. Binds OpenMP threads to all operating system processors."
#[test]
fn an_initial_mask_is_not_respected() {
    let team = team(&machine(2), "verbose,norespect,compact", Some("4-7"));
    assert_eq!(threads(&team), BY_CORES);
    let head = "KMP_AFFINITY: Initial OS proc set not respected:";
    assert_eq!(team.report[1..3], [head, "{4,5,6,7}"]);
}

/// "Specify KMP_AFFINITY=verbose,none to list a system topology map." The bindings are printed "unless the affinity type is
/// none".
#[test]
fn none_lists_the_map() {
    let team = team(&machine(2), "verbose,none", None);
    assert_listed(&team, WITH_HYPER_THREADING);
    assert_eq!(threads(&team), ["0-7"; 8]);
}

/// The figures, which show threads on hardware threads from left to right.
#[test]
fn figures() {
    let machine = machine(2);
    // The hardware threads from left to right: OS processors 0 4 2 6, and in package 3 1 5 3 7.
    let shown = |setting| threads(&team(&machine, setting, None)).join(" ");
    assert_eq!(shown("granularity=fine,compact"), "0 4 2 6 1 5 3 7");
    // "As evenly as possible across the entire system": packages, then cores, then hardware threads in turn.
    assert_eq!(shown("granularity=fine,scatter"), "0 1 2 3 4 5 6 7");
    // "The offset specifier indicates the starting position for thread assignment."
    assert_eq!(shown("granularity=fine,compact,0,3"), "6 1 5 3 7 0 4 2");
    // "Once each core has been assigned one OpenMP thread, the subsequent OpenMP threads are assigned to the available
    // cores in the same order, but they are assigned on the unbound thread contexts."
    assert_eq!(shown("granularity=fine,compact,1,0"), "0 2 1 3 4 6 5 7");
}

/// "logical ... is equivalent to compact, except that the permute specifier is not allowed"; "physical is equivalent to
/// compact with a permute specifier of 1", and to logical "where there is only a single thread context per core"; for both
/// "a single trailing integer is interpreted as an offset specifier".
#[test]
fn logical_and_physical() {
    for (deprecated, instead) in [
        ("logical", "compact"),
        ("logical,3", "compact,0,3"),
        ("physical", "compact,1"),
        ("physical,3", "compact,1,3"),
    ] {
        let setting = |kind| format!("granularity=fine,{kind}");
        let bound = |kind| threads(&team(&machine(2), &setting(kind), None));
        assert_eq!(bound(deprecated), bound(instead), "{deprecated}");
    }
    let bound = |kind| threads(&team(&machine(1), kind, None));
    assert_eq!(bound("physical"), bound("logical"));
}

/// "Modifiers are interpreted in order from left to right, and can negate each other."
#[test]
fn modifiers_negate_each_other() {
    let machine = machine(2);
    let quiet = team(&machine, "verbose,noverbose,compact", None);
    assert_eq!(quiet.report, [""; 0]);
    let last = team(&machine, "granularity=fine,granularity=core,compact", None);
    assert_eq!(threads(&last)[..2], ["0,4", "0,4"]);
    let mask = Some("4-7");
    let last = team(&machine, "norespect,respect,compact", mask);
    assert_eq!(threads(&last), ["4", "6", "5", "7", "4", "6", "5", "7"]);
    assert_eq!(last.warnings, []);
}

/// "If you do not specify a modifier, the noverbose, respect, and granularity=core modifiers are used automatically."
#[test]
fn defaults() {
    let machine = machine(2);
    let plain = team(&machine, "compact", Some("0,2,4-7"));
    let spelled = "noverbose,respect,granularity=core,compact,0,0";
    assert_eq!(plain, team(&machine, spelled, Some("0,2,4-7")));
    assert_eq!(plain.report, [""; 0]);
}
