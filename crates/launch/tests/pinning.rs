//! Tests that ranks run on the processors that pinning assigns.

use crate::common::{finish, run, start};
use oxmpi_os::affinity;
use oxmpi_topo::{CpuSet, Kind, Machine};

/// The processors that the tests may use.
fn granted() -> Vec<usize> {
    let mask = affinity::current().expect("every thread has a mask");
    affinity::cpus(&mask).collect()
}

const SHOW: [&str; 3] = [
    "sh",
    "-c",
    "echo $PMI_RANK $(grep Cpus_allowed_list /proc/self/status)",
];

fn shown(arguments: &[&str]) -> Vec<String> {
    let done = run(&[arguments, &SHOW].concat());
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let mut lines: Vec<String> = done
        .out
        .lines()
        .map(|line| line.replace("Cpus_allowed_list: ", ""))
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn as_many_ranks_as_processors_get_one_each() {
    let ranks = granted().len().min(9);
    let lines = shown(&["-n", &ranks.to_string(), "--bind-to", "hwthread"]);
    let mut cpus: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    assert_eq!(cpus.len(), ranks, "{lines:?}");
}

#[test]
fn the_launcher_reads_settings_given_for_ranks() {
    let all = shown(&["-n", "1"]).remove(0);
    let all = all.trim_start_matches("0 ");
    for off in [
        ["-env", "I_MPI_PIN", "off"],
        ["-genv", "I_MPI_PIN_DOMAIN", "node"],
        ["-genv", "OXMPI_PIN", "no"],
    ] {
        let expected = [format!("0 {all}"), format!("1 {all}")];
        assert_eq!(
            shown(&[&["-n", "2"], &off as &[&str]].concat()),
            expected,
            "{off:?}"
        );
    }
    assert_eq!(
        shown(&["-n", "1", "--bind-to", "none"]),
        [format!("0 {all}")]
    );
}

#[test]
fn the_map_and_the_bindings_are_printed() {
    let first = granted()[0];
    let host = oxmpi_os::host::name();
    let done = run(&[
        "-n",
        "1",
        "--bind-to",
        "hwthread",
        "--display-map",
        "--report-bindings",
        "true",
    ]);
    let map = format!(
        "Job map: 1 rank on {host}\n   rank  processors  program\n      0  {first:<10}  true\n  1 rank on "
    );
    assert!(done.out.starts_with(&map), "{}", done.out);
    assert!(
        done.err.starts_with(&format!("[{host}:")) && done.err.contains("] MCW rank 0 "),
        "{}",
        done.err
    );
}

#[test]
fn ranks_that_share_a_processor_are_reported_once() {
    let ranks = granted().len() + 1;
    let done = finish(start(&["run", "-n", &ranks.to_string(), "true"]));
    assert_eq!(
        (done.code, done.err.lines().count()),
        (0, 1),
        "{}",
        done.err
    );
    assert!(
        done.err.starts_with(&format!(
            "oxmpi: {ranks} ranks on {} processors: ",
            ranks - 1
        )),
        "{}",
        done.err
    );
}

#[test]
fn wrong_settings_are_shown_with_a_caret() {
    let caret = "found `cor`; did you mean `core`?\n  cor\n  ^^^\nSee `oxmpi run --help`.\n";
    let done = run(&["-n", "2", "--bind-to", "cor", "true"]);
    assert!(
        done.code == 2 && done.err.starts_with("oxmpi: --bind-to: ") && done.err.ends_with(caret),
        "{done:?}"
    );
    let done = run(&["-n", "2", "-genv", "OXMPI_PIN_DOMAIN", "cor", "true"]);
    assert!(
        done.code == 2
            && done.err.starts_with("oxmpi: OXMPI_PIN_DOMAIN: ")
            && done.err.ends_with("  cor\n  ^^^\n"),
        "{done:?}"
    );
    let done = run(&["-n", "2", "-genv", "I_MPI_PIN_DOMAIN", "cor", "true"]);
    assert!(
        done.code == 0
            && done.err.contains("I_MPI_PIN_DOMAIN")
            && done.err.ends_with("  cor\n  ^^^\n"),
        "{done:?}"
    );
    let done = run(&["-n", "2", "--mca", "no_such", "1", "true"]);
    assert!(
        done.code == 0 && done.err.starts_with("oxmpi: ignored: --mca no_such: "),
        "{done:?}"
    );
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
}

#[test]
fn options_of_open_mpi_map_and_bind() {
    let all: Vec<String> = granted().iter().map(ToString::to_string).collect();
    let done = run(&["-n", "1", "-cpu-set", "0-99999", "true"]);
    assert!(
        done.code == 2 && done.err.starts_with("oxmpi: --cpu-set: no processors "),
        "{done:?}"
    );
    let done = run(&["-n", "1", "--map-by", "socket:PE=none", "true"]);
    assert!(
        done.code == 2 && done.err.contains("  socket:PE=none\n            ^^^^\n"),
        "{done:?}"
    );
    let lines = shown(&[
        "-n",
        "1",
        "--map-by",
        "hwthread:OVERSUBSCRIBE",
        "-bind-to",
        "hwthread",
    ]);
    assert_eq!(lines, [format!("0 {}", all[0])]);
}

#[test]
fn lists_cells_and_exclude_lists_pin_ranks() {
    let all = granted();
    let (first, last) = (all[0], all[all.len() - 1]);
    let listed = format!("{last},{first}");
    let lines = shown(&["-n", "2", "-genv", "I_MPI_PIN_PROCESSOR_LIST", &listed]);
    assert_eq!(lines, [format!("0 {last}"), format!("1 {first}")]);
    let set = |cpus: &[usize]| cpus.iter().copied().collect::<CpuSet>();
    let excluded = first.to_string();
    let exclude = ["-genv", "I_MPI_PIN_PROCESSOR_EXCLUDE_LIST", &excluded];
    let domain = ["-genv", "I_MPI_PIN_DOMAIN", "1"];
    if let [_, second, ..] = all[..] {
        let lines = shown(&[&["-n", "1"], &exclude[..], &domain].concat());
        assert_eq!(lines, [format!("0 {second}")]);
    }
    // A cell is a core: with as many ranks as cores, each has the first allowed thread of its own.
    let machine = Machine::this().expect("this machine");
    let allowed = set(&all);
    let cores = machine.objects(Kind::Core);
    let firsts = cores.filter_map(|core| (core.cpus() & &allowed).first());
    let firsts: CpuSet = firsts.take(9).collect();
    if allowed.len() < 9 && !firsts.is_empty() {
        let ranks = firsts.len().to_string();
        let cell = ["-genv", "I_MPI_PIN_CELL", "core"];
        let lines = shown(&[&["-n", &ranks], &cell[..], &domain].concat());
        let taken = lines.iter().filter_map(|line| line.split_once(' '));
        let taken: CpuSet = taken
            .map(|(_, cpu)| cpu.parse::<usize>().expect("one"))
            .collect();
        assert_eq!(taken, firsts);
    }
}

#[test]
fn compat_rules_accept_malformed_settings() {
    // The launcher of Intel MPI takes a wrong domain as one processor for each rank.
    let wrong = ["-n", "1", "-genv", "I_MPI_PIN_DOMAIN", "cor"];
    let theirs = ["-genv", "OXMPI_PIN_COMPAT", "intel-2021"];
    let done = run(&[&wrong[..], &theirs, &SHOW].concat());
    let first = granted()[0];
    assert_eq!(
        done.out,
        format!("0 Cpus_allowed_list: {first}\n"),
        "{done:?}"
    );
    assert!(
        done.err
            .starts_with("oxmpi: read as the launcher of Intel MPI reads it: I_MPI_PIN_DOMAIN: "),
        "{done:?}"
    );
}

#[test]
fn options_say_which_settings_they_override() {
    let done = run(&[
        "-n",
        "1",
        "--bind-to",
        "none",
        "-genv",
        "I_MPI_PIN_DOMAIN",
        "core",
        "true",
    ]);
    let warning =
        "oxmpi: I_MPI_PIN_DOMAIN is ignored because --bind-to is set; unset one of them\n";
    assert_eq!((done.code, done.err.as_str()), (0, warning));
}

#[test]
fn each_program_is_placed_by_its_own_settings() {
    let (all, first) = (granted(), granted()[0]);
    let show = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status"];
    let one = [
        "--display-map",
        "-n",
        "1",
        "-env",
        "I_MPI_PIN_PROCESSOR_LIST",
    ];
    let other = [":", "-n", "1", "-env", "I_MPI_PIN", "0"];
    let place = first.to_string();
    let done = run(&[&one[..], &[&place], &show, &other, &show].concat());
    assert_eq!(done.code, 0, "{done:?}");
    let row = format!("\n      0  {place} ");
    assert!(done.out.contains(&row), "{done:?}");
    let says = ["  Program 0: ", "Program 1: ", "Pinning is off: not pinned"];
    let is_said = says.map(|words| done.out.contains(words));
    assert_eq!(is_said, [true; 3], "{done:?}");
    let bound = format!("Cpus_allowed_list:\t{place}\n");
    let ranks = if all.len() > 1 { 1 } else { 2 };
    assert_eq!(done.out.matches(&bound).count(), ranks, "{done:?}");
    // A setting of the whole job.
    let done = run(&[
        "-n",
        "1",
        "true",
        ":",
        "-n",
        "1",
        "-env",
        "OXMPI_PERHOST",
        "3",
        "false",
    ]);
    let says = "for program 0 (true) and `3` for program 1 (false), but counts for the whole job";
    assert!(done.code != 0 && done.err.contains(says), "{done:?}");
}

#[test]
fn variables_of_openmp_are_set() {
    let first = granted()[0];
    let show = [
        "sh",
        "-c",
        "echo $PMI_RANK $OMP_PLACES $OMP_PROC_BIND $OMP_NUM_THREADS",
    ];
    let bound = [
        "-n",
        "2",
        "--bind-to",
        "hwthread",
        "--map-by",
        "hwthread:OVERSUBSCRIBE",
    ];
    let fine = ["-genv", "KMP_AFFINITY", "granularity=fine,compact,1"];
    // A rank on one processor has one place for all threads, so there is no warning.
    let done = run(&[&bound[..], &fine, &show].concat());
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let all = granted();
    let node = ["-n", "1", "-genv", "I_MPI_PIN_DOMAIN", "node"];
    let threads = ["-genv", "OMP_NUM_THREADS", "3"];
    let asked = |extra: &[&str]| run(&[&node[..], &fine, &threads, extra, &show].concat()).out;
    if all.len() > 1 {
        let out = asked(&[]);
        assert!(out.starts_with(&format!("0 {{{first}}},{{")), "{out}");
        assert!(
            out.ends_with(" close 3\n") && out.matches('{').count() == 3,
            "{out}"
        );
    }
    // Variables that the user has set do not change.
    assert_eq!(
        asked(&[
            "-env",
            "OMP_PLACES",
            "sockets",
            "-env",
            "OMP_PROC_BIND",
            "primary"
        ]),
        "0 sockets primary 3\n"
    );
}
