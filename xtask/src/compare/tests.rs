//! Arguments, placements and tables, without running anything.

use super::placement::tag;
use super::programs::Implementation;
use super::rounds::{Row, Run};
use super::works::Work;
use super::{Options, summary};

fn options(line: &str) -> super::Result<Options> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    Options::parse(&words)
}

#[test]
fn arguments_are_checked() {
    let given = options("--what init,pingpong --sizes 8,64 --rounds 7 --publish").unwrap();
    assert_eq!(
        (given.works.len(), given.rounds, given.publish),
        (2, 7, true)
    );
    assert_eq!(given.works[1].arguments, ["8", "64"]);
    for (line, part) in [
        ("--rounds 0", "a whole number above 0"),
        ("--rounds", "needs a value"),
        ("--sizes 8,x", "'x'"),
        ("--what pingpong,latency", "'latency'"),
        ("--fast", "'--fast'"),
    ] {
        let error = options(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn placements_are_told_apart_where_they_differ_in_kind() {
    assert_eq!(tag("amd", 44.0), Some("near"));
    assert_eq!(tag("amd", 175.0), Some("far"));
    assert_eq!(tag("amd", 900.0), None);
    assert_eq!(tag("intel", 60.0), Some("one"));
}

fn implementation(name: &'static str) -> Implementation {
    Implementation {
        name,
        ..Implementation::default()
    }
}

fn kept(implementation: &'static str, tag: Option<&'static str>, median: f64) -> Run {
    let row = Row {
        kernel: "pingpong".into(),
        ranks: 2,
        bytes: 8,
        min: median,
        median,
        p99: median,
        right: true,
    };
    Run {
        round: 0,
        implementation,
        work: "pingpong",
        probes: None,
        tag,
        rows: vec![row],
    }
}

#[test]
fn tables_take_medians_within_a_placement_and_show_losses() {
    let works = Work::named("pingpong", &["8".into()]).unwrap();
    let all = [
        implementation("oxmpi"),
        implementation("mpich"),
        implementation("openmpi"),
    ];
    let mut runs = Vec::new();
    for (ours, theirs) in [(90.0, 800.0), (100.0, 900.0), (5000.0, 850.0)] {
        runs.push(kept("oxmpi", Some("near"), ours));
        runs.push(kept("mpich", Some("near"), theirs));
        runs.push(kept("openmpi", Some("near"), 80.0));
        runs.push(kept("oxmpi", None, 1.0));
    }
    runs.push(kept("oxmpi", Some("far"), 200.0));
    let text = summary::tables(&works[0], &all, &runs);
    let near = text
        .split("placement ")
        .find(|part| part.starts_with("near"))
        .unwrap();
    let rows: Vec<Vec<&str>> = near
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| row.first() == Some(&"8"))
        .collect();
    assert_eq!(
        rows[0],
        ["8", "0.100", "0.850", "0.080", "1.25", "lost"],
        "{text}"
    );
    assert_eq!(
        rows[1],
        ["8", "0.090", "0.800", "0.080", "1.12", "lost"],
        "{text}"
    );
    assert!(
        text.contains("far") && text.contains("3 runs dropped"),
        "{text}"
    );
}
