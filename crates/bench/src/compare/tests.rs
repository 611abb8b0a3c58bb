//! Tests of reports of small runs, and of real ones.

use super::{ComparedRun, Figure, Kind, Report, Subject, TooMany, Unit, read};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

fn subject(benchmark: &str, ranks: usize, placement: &str) -> Subject {
    Subject {
        benchmark: benchmark.into(),
        ranks,
        placement: placement.into(),
        unit: Unit::Microseconds,
    }
}

fn figure(low: f64, value: f64, high: f64) -> Figure {
    Figure {
        value: Some(value),
        mean: None,
        range: Some((low, high)),
        remark: None,
        note: None,
    }
}

/// A run with these times of PingPong, one for each power of two from 8 on.
fn run(name: &str, kind: Kind, times: &[f64]) -> ComparedRun {
    let mut run = ComparedRun::new(name, kind);
    for (number, &time) in times.iter().enumerate() {
        let figure = figure(0.9 * time, time, 1.2 * time);
        run.add(subject("pingpong", 2, ""), 8 << number, figure);
    }
    run
}

fn ours_and_theirs() -> Report {
    let floor = run("floor", Kind::Floor, &[0.5, 0.5, 0.5]);
    let ours = run("ours", Kind::Rival, &[1.0, 2.2, 3.0]);
    let theirs = run("theirs <1>", Kind::Rival, &[2.0, 2.0, 1.0]);
    Report::new([floor, ours, theirs].into()).expect("two runs")
}

#[test]
fn the_first_is_held_against_the_best_other() {
    let report = ours_and_theirs();
    let table = &report.sections[0].tables[0];
    assert_eq!(table.subject.benchmark, "PingPong");
    let ratios: Vec<_> = table.rows.iter().filter_map(|row| row.ratio).collect();
    assert_eq!(
        [ratios[0].value, ratios[1].value, ratios[2].value],
        [0.5, 1.1, 3.0]
    );
    assert!(!ratios[0].lost() && ratios[1].lost() && ratios[2].lost());
    assert!(!ratios[0].open() && ratios[1].open() && !ratios[2].open());
    let (low, high) = ratios[2].range.expect("both have a spread");
    assert!((low - 2.7 / 1.2).abs() < 1e-9 && (high - 3.6 / 0.9).abs() < 1e-9);
    assert_eq!(report.score(), (3, 2));
    let mean = table.mean().expect("three ratios");
    assert!((mean - 1.65_f64.cbrt()).abs() < 1e-9);
    assert!(table.rows.iter().all(|row| row.floor == Some(0.5)));
}

#[test]
fn who_was_measured_elsewhere_only_may_be_the_best() {
    let mut ours = ComparedRun::new("ours", Kind::Rival);
    ours.add(subject("x", 2, "near"), 8, figure(1.0, 1.0, 1.0));
    let mut slow = ComparedRun::new("slow", Kind::Rival);
    slow.add(subject("x", 2, "near"), 8, figure(9.0, 9.0, 9.0));
    let mut elsewhere = ComparedRun::new("elsewhere", Kind::Rival);
    elsewhere.add(subject("x", 2, "far"), 8, figure(0.1, 0.1, 0.1));
    let report = Report::new([ours, slow, elsewhere].into()).unwrap();
    assert_eq!(report.sections[0].tables[0].rows[0].ratio, None);
    assert_eq!(report.score(), (0, 0));
}

#[test]
fn of_groups_the_slowest_counts_and_of_floors_the_fastest() {
    for (kind, expected) in [(Kind::Rival, 3.0), (Kind::Floor, 1.0)] {
        let mut run = ComparedRun::new("a", kind);
        for time in [2.0, 3.0, 1.0] {
            run.add(subject("Multi-x", 2, ""), 8, figure(time, time, time));
        }
        let kept = run.figure(&subject("Multi-x", 2, ""), 8).unwrap();
        assert_eq!((kept.value, run.figures().count()), (Some(expected), 1));
    }
}

#[test]
fn names_are_distinct_and_more_than_eight_are_refused() {
    let same = |count: usize| (0..count).map(|_| run("a", Kind::Rival, &[1.0])).collect();
    let report = Report::new(same(3)).unwrap();
    let names: Vec<&str> = report.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["a", "a (2)", "a (3)"]);
    let why: TooMany = Report::new(same(9)).unwrap_err();
    assert_eq!(why.to_string(), "9 runs; a report shows at most 8");
}

#[test]
fn the_text_has_every_row_and_says_what_is_lost() {
    let text = ours_and_theirs().text();
    for part in [
        "ours has lost 2 of 3 rows.",
        "PingPong, 2 ranks",
        "     8    1.000          2.000  theirs <1>   0.50  0.38 to 0.67     0.500        2.00\n",
        "3.00  2.25 to 4.00     0.500        6.00  lost\n",
        "1.10  0.83 to 1.47     0.500        4.40  lost, within the spread\n",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn the_page_needs_nothing_else_and_is_well_formed() {
    let page = ours_and_theirs().page();
    for part in [
        "theirs &lt;1&gt;",
        "prefers-color-scheme: dark",
        "<title>Benchmarks: ours and theirs",
        "Time over that of ours",
        "Bandwidth",
    ] {
        assert!(page.contains(part), "no {part:?}");
    }
    for part in [
        "http:", "https:", "<script", "src=", "@import", "url(", "NaN", "inf",
    ] {
        assert!(!page.contains(part), "{part:?} in the page");
    }
    assert_eq!(page.matches("<svg").count(), 3);
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let name = tag.split(['>', ' ']).next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if ["!DOCTYPE", "meta"].contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn one_run_alone_is_shown_over_ranks() {
    let mut run = ComparedRun::new("alone", Kind::Rival);
    for ranks in [2, 4, 8] {
        for bytes in [0, 8, 1024, 65536] {
            let time = (ranks as u64 * (bytes + 8)) as f64;
            run.add(
                subject("Allreduce", ranks, ""),
                bytes,
                figure(time, time, time),
            );
        }
    }
    let page = Report::new([run].into()).unwrap().page();
    assert_eq!(page.matches(">ranks</text>").count(), 1);
    assert!(page.contains(">64 KiB</text>") && !page.contains("lost</th>"));
}

fn bench(row: &str) -> String {
    format!(
        r#"{{"format": "oxmpi-bench", "version": 1, "new": [], "environment": {{"library": "oxmpi 0.1"}},
        "tables": [{{"benchmark": "PingPong", "processes": 2, "new": 1, "rows": [{row}]}}]}}"#
    )
}

#[test]
fn our_results_are_read() {
    let row = r#"{"bytes": 8, "block_min_us": 1, "block_median_us": 2, "block_p99_us": 3, "defect": null}"#;
    let runs = read("a", &bench(row)).unwrap();
    let figure = runs[0].figure(&subject("PingPong", 2, ""), 8).unwrap();
    assert_eq!((figure.value, figure.range), (Some(2.0), Some((1.0, 3.0))));
    assert_eq!(figure.note.as_deref(), Some("wrong data"));
    assert_eq!(runs[0].facts[0], ("library".into(), "oxmpi 0.1".into()));
}

#[test]
fn wrong_data_never_wins() {
    let row = |median: f64, defect: f64| {
        format!(
            r#"{{"bytes": 8, "block_min_us": 1, "block_median_us": {median}, "block_p99_us": 9,
            "defect": {defect}}}"#
        )
    };
    let wrong = || read("wrong", &bench(&row(1.0, 5.0))).unwrap();
    let right = |name, time| read(name, &bench(&row(time, 0.0))).unwrap();
    let ratio = |runs: [Vec<ComparedRun>; 3]| {
        let report = Report::new(runs.concat()).unwrap();
        let ratio = report.sections[0].tables[0].rows[0].ratio;
        ratio.map(|ratio| (ratio.best, ratio.value))
    };
    let (four, two) = (|| right("four", 4.0), || right("two", 2.0));
    assert_eq!(ratio([two(), wrong(), four()]), Some((2, 0.5)));
    assert_eq!(ratio([wrong(), two(), four()]), None);
}

const LISTING: &str = "\
#----------------------------------------
#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
#----------------------------------------
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         4.00         1.00
";

#[test]
fn beside_a_listing_means_are_compared() {
    let row = r#"{"bytes": 8, "t_max_us": 5, "block_min_us": 1, "block_median_us": 2, "block_p99_us": 3,
        "defect": 0}"#;
    let ours = read("ours", &bench(row)).unwrap();
    let listing = read("listing", LISTING).unwrap();
    let report = Report::new([ours, listing].concat()).unwrap();
    let row = &report.sections[0].tables[0].rows[0];
    let ratio = row.ratio.expect("both have a mean");
    assert_eq!((ratio.value, ratio.range), (1.25, None));
    for run in &report.runs {
        assert!(run.facts.iter().any(|(_, text)| text.contains("means of")));
    }

    let medians = run("medians", Kind::Rival, &[3.0]);
    let listing = read("listing", LISTING).unwrap();
    let report = Report::new([[medians].into(), listing].concat()).unwrap();
    assert_eq!(report.score(), (0, 0));
}

#[test]
fn the_method_of_a_run_is_reported() {
    let text = r#"{"format": "oxmpi-bench", "version": 2, "environment": {"transports": ["shm"],
        "settings": [{"name": "rendezvous", "value": "put", "origin": "environment"}]},
        "ranks": [{"host": "a", "cpus": "0"}, {"host": "a", "cpus": "2-3"}, {"host": "b", "cpus": "0"}],
        "tables": []}"#;
    let facts = &read("a", text).unwrap()[0].facts;
    let fact = |name: &str| {
        facts
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, text)| text.as_str())
    };
    assert_eq!(fact("transports"), Some("shm"));
    assert_eq!(fact("settings"), Some("rendezvous=put"));
    assert_eq!(fact("processors"), Some("a: 0 | 2-3; b: 0"));
}

/// With too few ranks for two groups, `-multi` runs the plain benchmark.
#[test]
fn one_group_is_the_plain_benchmark() {
    for (groups, name) in [
        ("[[0, 1]]", "PingPong"),
        ("[[0, 1], [2, 3]]", "Multi-PingPong"),
    ] {
        let text = format!(
            r#"{{"format": "oxmpi-bench", "version": 2, "tables": [{{"benchmark": "PingPong",
            "mode": "multiple", "processes": 2, "groups": {groups}, "rows": [{{"bytes": 8,
            "block_min_us": 1, "block_median_us": 2, "block_p99_us": 3, "defect": 0}}]}}]}}"#
        );
        let runs = read("a", &text).unwrap();
        assert!(
            runs[0].figure(&subject(name, 2, ""), 8).is_some(),
            "{groups}"
        );
    }
}

#[test]
fn groups_at_once_and_lengths_without_a_row_are_distinct() {
    let row = |group: u32, time: f64| {
        format!(
            r#"{{"group": {group}, "bytes": 8, "block_min_us": 1, "block_median_us": {time},
            "block_p99_us": 9, "defect": 0}}"#
        )
    };
    let text = format!(
        r#"{{"format": "oxmpi-bench", "version": 2, "method": {{"check": true, "off_cache": null}},
        "tables": [{{"benchmark": "PingPong", "mode": "multiple-each", "processes": 2,
        "rows": [{}, {}], "skipped": [{{"bytes": 16, "needed_bytes": 2048}}]}}]}}"#,
        row(0, 2.0),
        row(1, 3.0)
    );
    let runs = read("a", &text).unwrap();
    let figure = |bytes| {
        runs[0]
            .figure(&subject("Multi-PingPong", 2, ""), bytes)
            .unwrap()
    };
    assert_eq!(figure(8).value, Some(3.0));
    assert_eq!(
        figure(16).note.as_deref(),
        Some("not measured: a rank needs 2 KiB")
    );
    assert!(runs[0].facts.iter().any(|(name, _)| name == "checked"));
    assert!(
        Report::new(runs)
            .unwrap()
            .text()
            .contains("a: not measured")
    );
}

#[test]
fn a_comparison_has_a_run_for_each_implementation() {
    let row = |median: f64, method: &str| {
        format!(
            r#"{{"kernel": "pingpong", "method": "{method}", "ranks": 2, "bytes": 8, "unit": "ns",
            "min": 900, "median": {median}, "p99": 9000, "right": true}}"#
        )
    };
    let run = |name: &str, placement: &str, rows: &str| {
        format!(
            r#"{{"round": 0, "implementation": "{name}", "work": "pingpong", "ranks": 2,
            "placement": {placement}, "rows": [{rows}]}}"#
        )
    };
    let floor = [row(800.0, "line"), row(700.0, "ring")].join(",");
    let rounds = [
        run("floor", "\"near\"", &floor),
        run("oxmpi", "\"near\"", &row(1000.0, "")),
        run("oxmpi", "\"near\"", &row(3000.0, "")),
        run("oxmpi", "\"near\"", &row(2000.0, "")),
        run("oxmpi", "null", &row(50.0, "")),
        run("mpich", "\"near\"", &row(4000.0, "")),
    ];
    let text = format!(
        r#"{{"format": "oxmpi-compare", "version": 2, "date": "", "commit": "", "processor": "",
        "kernel": "", "compiler": "", "versions": {{}}, "runs": [{}]}}"#,
        rounds.join(",")
    );
    let runs = read("runs", &text).unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["oxmpi", "mpich", "floor"]);
    let near = subject("PingPong", 2, "near");
    let figure = |run: usize| runs[run].figure(&near, 8).unwrap();
    assert_eq!(
        (figure(0).value, figure(0).range),
        (Some(2.0), Some((1.0, 3.0)))
    );
    assert_eq!(figure(1).range, Some((0.9, 9.0)));
    assert_eq!((runs[2].kind, figure(2).value), (Kind::Floor, Some(0.7)));
    let report = Report::new(runs).unwrap();
    assert_eq!(report.sections[0].title(), "PingPong, near");
    assert_eq!(report.sections[0].tables[0].rows[0].floor, Some(0.7));
}

#[test]
fn a_comparison_as_csv_reads_as_its_json() {
    let text = "# format: oxmpi-compare 3\n# date: 2026-11-28\n# version mpich: 5.0.2\n\
        round,implementation,work,placement,probe_before_ns,probe_after_ns,kernel,method,choice,ranks,bytes,unit,min,median,p99,right\n\
        0,oxmpi,pingpong,near,30,31,pingpong,,,2,8,ns,900,1000,9000,true\n\
        0,mpich,pingpong,near,30,31,pingpong,,,2,8,ns,1800,2000,3000,true\n\
        1,oxmpi,pingpong,,30,180,pingpong,,,2,8,ns,9,10,11,true\n\
        2,oxmpi,pingpong,near,30,31,pingpong,,,2,8,ns,2900,3000,3100,false\n";
    let runs = read("runs", text).unwrap();
    let figure = |run: usize| {
        runs[run]
            .figure(&subject("PingPong", 2, "near"), 8)
            .unwrap()
    };
    assert_eq!(figure(0).range, Some((1.0, 3.0)));
    assert_eq!(figure(0).note.as_deref(), Some("wrong data in 1 runs"));
    assert_eq!(
        (figure(1).value, figure(1).range),
        (Some(2.0), Some((1.8, 3.0)))
    );
    let facts = |run: usize| format!("{:?}", runs[run].facts);
    assert!(facts(0).contains("2 of 3 kept") && facts(1).contains("5.0.2"));
    let cut = text.rsplit_once(",false").unwrap().0;
    let why = read("runs", cut).unwrap_err().to_string();
    assert!(
        why.contains("line: 8") && why.contains("15 fields, but"),
        "{why}"
    );
}

#[test]
fn what_cannot_be_read_says_why() {
    for (text, part) in [
        ("hello", "line 1: no listing"),
        ("{", "EOF"),
        (r#"{"format": "x"}"#, "its format is 'x'"),
        (
            r#"{"format": "oxmpi-bench", "version": 99}"#,
            "version 99 of oxmpi-bench",
        ),
        (
            r#"{"format": "oxmpi-compare", "version": 2}"#,
            "missing field",
        ),
        (&bench(r#"{"bytes": "8"}"#), "line 2"),
    ] {
        let why = read("a", text).unwrap_err().to_string();
        assert!(why.contains(part), "{text}: {why}");
    }
}
