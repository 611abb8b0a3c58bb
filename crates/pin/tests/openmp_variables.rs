//! The variables other than `KMP_AFFINITY`, against recordings of OpenMP runtimes.

use std::collections::BTreeMap;

use crate::made_up::{machines, rows};
use oxmpi_pin::openmp::{Dialect, Levels, Request, Rules, Team, bind};
use oxmpi_topo::{CpuSet, Machine};

/// The recordings; the first lines describe the columns.
const ROWS: &str = include_str!("openmp_variables.txt");
/// Recorded reports.
const REPORTS: &str = include_str!("openmp_reports.txt");

/// Recordings that are not followed: libomp 14 where it differs from 19; texts that both refuse but the
/// standard allows; and a text of which both ignore the second half in silence.
fn is_exception(
    runtime: &str,
    threads: &str,
    variables: &BTreeMap<String, String>,
    warnings: &[String],
) -> bool {
    let says = |part: &str| warnings.iter().any(|text| text.contains(part));
    let places = variables.get("OMP_PLACES");
    let counted = places.is_some_and(|text| text.contains('('));
    let old = (counted && threads == "0")
        || says("too many requested")
        || says("level not detected")
        || says("KMP_AFFINITY: granularity setting: NUMA domain")
        || variables
            .get("OMP_PROC_BIND")
            .is_some_and(|text| ["foo", ""].contains(&text.as_str()));
    let excludes = places.is_some_and(|text| text.contains('!'));
    let cut_short = |text: &String| text == "1s2c";
    let half_read = variables.values().any(cut_short);
    excludes || half_read || (runtime == "libomp14" && old)
}

type Variables = BTreeMap<String, String>;

/// The team that current runtimes make of these variables.
fn team(machine: &Machine, variables: &Variables, mask: &str, threads: &str) -> Team {
    let mask: Option<CpuSet> = (mask != "-").then(|| mask.parse().unwrap());
    let request = Request {
        mask: mask.as_ref(),
        threads: threads.parse().unwrap(),
        ..Request::of(|name| variables.get(name).map(String::as_str))
    };
    let dialect = Dialect {
        levels: Levels::Current,
        rules: Rules::Runtime,
    };
    bind(machine, &request, dialect)
}

#[test]
fn every_row_is_explained() {
    let machines = machines();
    let mut exceptions = 0;
    let mut count = 0;
    for row in rows(ROWS) {
        let [
            name,
            runtime,
            threads,
            mask,
            variables,
            expected,
            warnings @ ..,
        ] = &row[..]
        else {
            panic!("{row:?}");
        };
        let variables: Variables = serde_json::from_str(variables).unwrap();
        let text = |json: &&str| -> String {
            let text: String = serde_json::from_str(json).unwrap();
            text.replace("using \"cores\".", "using cores.")
        };
        let theirs: Vec<String> = warnings.iter().map(text).collect();
        if is_exception(runtime, threads, &variables, &theirs) {
            exceptions += 1;
            continue;
        }
        let team = team(&machines[name], &variables, mask, threads);
        let sets: Vec<String> = team.threads.iter().map(|cpus| cpus.to_string()).collect();
        let ours: Vec<&str> = team
            .warnings
            .iter()
            .map(|warning| warning.text.as_str())
            .collect();
        assert_eq!(format!("=>{}", sets.join("|")), **expected, "{row:?}");
        assert_eq!(ours, theirs, "{row:?}");
        count += 1;
    }
    assert_eq!((count, exceptions), (524, 47));
}

#[test]
fn reports_are_those_of_the_runtime() {
    let machines = machines();
    let mut lines = REPORTS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .peekable();
    let mut count = 0;
    while let Some(head) = lines.next() {
        let printed = core::iter::from_fn(|| lines.next_if(|line| line.starts_with("  ")));
        let printed: Vec<&str> = printed.map(|line| &line[2..]).collect();
        let [name, _, threads, mask, variables] =
            head.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let variables = serde_json::from_str(variables).unwrap();
        let team = team(&machines[name], &variables, mask, threads);
        assert_eq!(team.report, printed, "{head}");
        count += 1;
    }
    assert_eq!(count, 15);
}
