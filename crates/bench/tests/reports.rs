//! Tests of reports of real data: listings of the original, and published comparisons.

use oxmpi_bench::compare::{ComparedRun, Kind, Report, read};
use std::path::Path;

fn runs(path: &str) -> Vec<ComparedRun> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&path).expect("the file is there");
    read(path.to_str().expect("a plain name"), &text).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn listings_of_the_original_are_held_against_each_other() {
    let both = [runs("tests/imb/msglog.txt"), runs("tests/imb/all4.txt")].concat();
    let report = Report::new(both).expect("two runs");
    let pingpong = report
        .sections
        .iter()
        .find(|section| section.title() == "PingPong");
    let table = &pingpong.expect("both ran it").tables[0];
    let lengths: Vec<u64> = table.rows.iter().map(|row| row.bytes).collect();
    assert_eq!(lengths, [0, 8, 16, 32, 64, 128]);
    let ratios = table.rows.iter().map(|row| row.ratio.is_some());
    assert_eq!(
        ratios.collect::<Vec<_>>(),
        [true, true, true, true, true, false]
    );
    assert!(report.page().contains("Bcast") && report.text().contains("means of all repetitions"));
}

/// Of part NBC the time of both at once is compared, and the overlap stands beside it.
#[test]
fn overlap_stands_beside_the_time_of_both() {
    let report = Report::new(runs("tests/imb/nbc.txt")).expect("one run");
    let titles: Vec<String> = (report.sections.iter())
        .map(|section| section.title())
        .collect();
    let names = ["Ibcast", "Ireduce_pure", "Ibarrier", "Ibarrier_pure"];
    assert_eq!(titles, names.map(|name| format!("NBC {name}")));
    let figure = |section: usize, row: usize| {
        let figure = report.sections[section].tables[0].rows[row].figures[0].clone();
        let figure = figure.expect("it is in the listing");
        (figure.value, figure.remark)
    };
    assert_eq!(figure(0, 1), (Some(4.1), Some("overlap 24 %".into())));
    assert_eq!(figure(1, 1), (Some(2.2), None));
    assert_eq!(figure(2, 0), (Some(5.2), Some("overlap 34 %".into())));
    assert!(report.text().contains("nbc.txt: overlap 33 %"));
}

#[test]
fn groups_are_benchmarks_of_their_own() {
    let report = Report::new(runs("tests/imb/sample2b.txt")).expect("one run");
    let titles: Vec<String> = report
        .sections
        .iter()
        .map(|section| section.title())
        .collect();
    assert_eq!(titles, ["Multi-PingPing", "Multi-Allreduce", "Allreduce"]);
    let ranks = report.sections[2]
        .tables
        .iter()
        .map(|table| table.subject.ranks);
    assert_eq!(ranks.collect::<Vec<_>>(), [4, 6]);
    let first = report.sections[0].tables[0].rows[0].figures[0].as_ref();
    assert_eq!(first.and_then(|figure| figure.value), Some(2.28));
}

/// The published folders are in the repository, not in the package.
#[test]
fn kept_comparisons_are_shown_whole() {
    for folder in ["2026-11-22-intel-network-2", "2026-11-22-intel-network"] {
        let path = format!("runs/{folder}/runs.csv");
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(&path).exists() {
            continue;
        }
        let runs = runs(&path);
        assert!(runs.iter().any(|run| run.kind == Kind::Floor));
        let report = Report::new(runs).expect("as many as there are peers");
        assert_eq!(report.runs[0].name, "oxmpi");
        let (rows, lost) = report.score();
        assert!(
            rows > 10 && lost > 0 && lost < rows,
            "{folder}: {lost} of {rows}"
        );
        assert!(report.page().contains("<svg"));
    }
}
