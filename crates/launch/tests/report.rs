//! Tests of `oxmpi bench report` as a command.

use crate::common::{Done, finish, start};
use oxmpi_bench::listing::{Column, Listing, ListingLengths};
use oxmpi_testkit::folder::Folder;
use std::path::Path;

fn report(arguments: &[&str]) -> Done {
    finish(start(&[&["bench", "report"], arguments].concat()))
}

/// Runs `oxmpi bench` and parses its output as a listing of the Intel MPI Benchmarks.
fn bench_listing(arguments: &str) -> Listing {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let done = finish(start(&[&["bench"], &words[..]].concat()));
    assert_eq!(done.code, 0, "{}", done.err);
    one_listing(&done.out)
}

fn one_listing(text: &str) -> Listing {
    let listings = Listing::parse(text).unwrap_or_else(|why| panic!("{why} of:\n{text}"));
    <[Listing; 1]>::try_from(listings).expect("one listing")[0].clone()
}

/// The path of a recorded listing of the Intel MPI Benchmarks.
fn listing(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/tests/imb");
    folder.join(name).to_str().expect("a plain name").into()
}

#[test]
fn a_listing_of_oxmpi_parses_as_one_of_imb() {
    let listing = bench_listing("-n 2 MPI1 PingPong Barrier Allreduce -iter 20 -msglog 3:5");
    let header = &listing.header;
    assert_eq!(header.benchmarks, ["PingPong", "Barrier", "Allreduce"]);
    assert_eq!(header.lengths, ListingLengths::Within(0, 32));
    let texts = [
        &header.date,
        &header.machine,
        &header.system,
        &header.mpi_version,
    ];
    assert!(texts.iter().all(|text| !text.is_empty()), "{header:?}");
    assert_eq!(
        [&header.datatype, &header.operation],
        ["MPI_BYTE", "MPI_SUM"]
    );
    assert!(header.command.contains("-msglog 3:5") && listing.finished);
    assert!(listing.foreign.is_empty(), "{:?}", listing.foreign);
    let shapes = listing.tables.iter().map(|table| {
        let heading = &table.heading;
        (
            heading.benchmark.as_str(),
            heading.processes,
            table.columns.len(),
            table.rows.len(),
        )
    });
    let expected = [
        ("PingPong", 2, 4, 4),
        ("Barrier", 2, 4, 1),
        ("Allreduce", 2, 5, 4),
    ];
    assert_eq!(shapes.collect::<Vec<_>>(), expected);
    let pingpong = &listing.tables[0];
    let repetitions = pingpong.value(&pingpong.rows[3], &Column::Repetitions);
    assert_eq!(repetitions, Some(20.0));
}

#[test]
fn groups_of_oxmpi_parse_as_those_of_imb() {
    let each = bench_listing("-n 6 pingping allreduce -map 3x2 -multi 1 -iter 10 -msglog 3:4");
    let groups = [[0, 3], [1, 4], [2, 5]];
    assert!(each.tables[0].heading.multiple);
    assert_eq!(each.tables[0].heading.groups, groups);
    assert_eq!(each.tables[0].columns[0], Column::Group);
    assert_eq!(each.tables[0].rows.len(), 9);
    let worst = bench_listing("-n 6 pingping allreduce -map 3x2 -multi 0 -iter 10 -msglog 3:4");
    let original = one_listing(
        &std::fs::read_to_string(listing("sample2.txt")).expect("the listing is there"),
    );
    assert_eq!(worst.tables.len(), original.tables.len());
    for (table, model) in worst.tables.iter().zip(&original.tables) {
        assert_eq!(table.heading, model.heading);
        assert_eq!(table.columns, model.columns);
    }
}

#[test]
fn listings_are_reported_as_text() {
    let done = report(&["--text", &listing("sample1.txt"), &listing("msglog.txt")]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    for part in ["sample1 has lost 0 of ", "PingPong, 2 ranks", "best other"] {
        assert!(done.out.contains(part), "no {part:?} in:\n{}", done.out);
    }
}

#[test]
fn every_listing_of_a_file_is_reported_and_skipped_lines_are_named() {
    let folder = Folder::fresh();
    let text = |name| std::fs::read_to_string(listing(name)).expect("the listing is there");
    let texts = text("noise-in-table.txt") + &text("warning-between-tables.txt");
    let done = report(&["--text", &folder.write("two.txt", &texts)]);
    assert_eq!(done.code, 0, "{}", done.err);
    let part = "two.txt: warning: skips 2 lines of other origin: 38, 85;";
    assert!(done.err.contains(part), "{}", done.err);
    for part in ["two has lost 0 of ", "two (2)", "Alltoall, 8 ranks"] {
        assert!(done.out.contains(part), "no {part:?} in:\n{}", done.out);
    }
}

#[test]
fn an_existing_page_is_not_overwritten() {
    let folder = Folder::fresh();
    let page = folder.at("page.html");
    let done = report(&["-o", &page, &listing("sample2.txt")]);
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    let text = std::fs::read_to_string(&page).expect("the page is there");
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("Multi-PingPing"));
    let again = report(&["-o", &page, &listing("sample2.txt")]);
    assert!(
        again.code == 1 && again.err.contains("--force overwrites it"),
        "{}",
        again.err
    );
}

#[test]
fn a_wrong_file_is_named_with_its_line() {
    let text = std::fs::read_to_string(listing("sample1.txt")).expect("the listing is there");
    let folder = Folder::fresh();
    let wrong = folder.write("wrong.txt", &text.replace("0.09         0.00", "0.09"));
    let done = report(&[&wrong]);
    let part = "wrong.txt: line 36: 3 numbers under 4 columns";
    assert!(done.code == 1 && done.err.contains(part), "{}", done.err);
    let missing = report(&["nowhere.json"]);
    assert!(missing.code == 1 && missing.err.contains("nowhere.json: cannot be read"));
    assert_eq!(report(&[]).code, 2);
}
