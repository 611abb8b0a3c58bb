//! Reads the listings of the original in `imb/`, and compares the result with a simple count of their
//! lines.

use oxmpi_bench::listing::{Column, Listing, ListingLengths, ListingTable};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FILES: [&str; 8] = [
    "sample1",
    "sample2",
    "sample2b",
    "msglog",
    "all4",
    "npmin",
    "multibarrier",
    "include",
];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/imb")
        .join(name)
        .with_extension("txt")
}

fn text(name: &str) -> String {
    let path = path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn listing(name: &str) -> Listing {
    let listings = Listing::parse(&text(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    <[Listing; 1]>::try_from(listings).expect(name)[0].clone()
}

/// Name, processes of a group, waiting ranks, groups and rows.
fn outline(table: &ListingTable) -> (&str, usize, usize, usize, usize) {
    let heading = &table.heading;
    let groups = heading.groups.len();
    (
        &heading.benchmark,
        heading.processes,
        heading.waiting,
        groups,
        table.rows.len(),
    )
}

fn outlines(listing: &Listing) -> Vec<(&str, usize, usize, usize, usize)> {
    listing.tables.iter().map(outline).collect()
}

fn column(table: &ListingTable, column: &Column) -> Vec<f64> {
    let value = |row| table.value(row, column).expect("the column");
    table.rows.iter().map(value).collect()
}

/// Compares with a count of lines by their beginnings.
#[test]
fn nothing_is_lost_and_nothing_is_made_up() {
    for name in FILES {
        let (text, listing) = (text(name), listing(name));
        let begins = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!(listing.tables.len(), begins("# Benchmarking "), "{name}");
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()))
            .collect();
        let numbers: Vec<f64> = rows
            .iter()
            .flat_map(|row| row.split_whitespace())
            .map(|word| word.parse().unwrap())
            .collect();
        let read = || listing.tables.iter().flat_map(|table| &table.rows);
        let values: Vec<f64> = read().flat_map(|row| row.values.clone()).collect();
        assert_eq!(values, numbers, "{name}");
        assert_eq!(read().count(), rows.len(), "{name}");
        for (row, shown) in read().zip(rows) {
            assert_eq!(text.lines().nth(row.line - 1), Some(shown), "{name}");
        }
        let groups: usize = listing.tables.iter().map(|t| t.heading.groups.len()).sum();
        assert_eq!(groups, begins("# Group "), "{name}");
        let waiting = listing.tables.iter().filter(|t| t.heading.waiting > 0);
        let said = text.matches("additional processes waiting").count();
        assert_eq!(waiting.count(), said, "{name}");
    }
}

#[test]
fn headers_are_whole() {
    for name in FILES {
        let listing = listing(name);
        let header = &listing.header;
        assert_eq!(header.suite, "Intel(R) MPI Benchmarks 2021.11, MPI-1 part");
        assert!(header.date.starts_with("Sat Nov 21 07:03:") && header.date.ends_with(" 2026"));
        assert_eq!(
            [&header.machine, &header.system, &header.release],
            ["x86_64", "Linux", "6.18.44"]
        );
        assert_eq!(header.version, "#1 SMP PREEMPT_DYNAMIC @0");
        assert_eq!(
            [&header.mpi_version, &header.thread_level],
            ["3.1", ""],
            "{name}"
        );
        assert_eq!(
            [
                &header.datatype,
                &header.reduction_datatype,
                &header.operation
            ],
            ["MPI_BYTE", "MPI_FLOAT", "MPI_SUM"]
        );
        assert!(header.command.starts_with("IMB-MPI1 "), "{name}");
        let ran: BTreeSet<&String> = listing
            .tables
            .iter()
            .map(|t| &t.heading.benchmark)
            .collect();
        assert_eq!(ran, header.benchmarks.iter().collect(), "{name}");
        assert!(header.notes.is_empty() && listing.finished, "{name}");
        assert!(listing.foreign.is_empty(), "{name}");
    }
    let command = "IMB-MPI1 PingPong Allreduce -time 0.3";
    assert_eq!(listing("sample1").header.command, command);
    assert_eq!(
        listing("sample1").header.lengths,
        ListingLengths::Within(0, 4_194_304)
    );
    assert_eq!(
        listing("all4").header.lengths,
        ListingLengths::Within(0, 64)
    );
    assert_eq!(
        listing("sample2").header.lengths,
        ListingLengths::UserDefined
    );
}

#[test]
fn the_first_sample_has_its_columns_and_repetitions() {
    let listing = listing("sample1");
    assert_eq!(
        outlines(&listing),
        [("PingPong", 2, 0, 0, 24), ("Allreduce", 2, 0, 0, 22)]
    );
    let [pingpong, allreduce] = &listing.tables[..] else {
        panic!("two tables")
    };
    assert_eq!(
        pingpong.columns,
        [
            Column::Bytes,
            Column::Repetitions,
            Column::Time,
            Column::Throughput
        ]
    );
    assert_eq!(
        allreduce.columns[2..],
        [Column::TimeMin, Column::TimeMax, Column::TimeAvg]
    );
    let repetitions = [640.0, 320.0, 160.0, 80.0, 40.0, 20.0, 10.0];
    for table in [pingpong, allreduce] {
        let found = column(table, &Column::Repetitions);
        assert_eq!(found[found.len() - 7..], repetitions);
        assert_eq!(column(table, &Column::Bytes).last(), Some(&4_194_304.0));
    }
}

#[test]
fn the_second_sample_has_its_groups() {
    let first = listing("sample2");
    assert_eq!(
        outlines(&first),
        [
            ("PingPing", 2, 0, 3, 6),
            ("Allreduce", 2, 0, 3, 6),
            ("Allreduce", 4, 2, 0, 6),
            ("Allreduce", 6, 0, 0, 6),
        ]
    );
    let multiple = first.tables.iter().map(|table| table.heading.multiple);
    assert_eq!(multiple.collect::<Vec<_>>(), [true, true, false, false]);
    assert_eq!(first.tables[0].heading.groups, [[0, 3], [1, 4], [2, 5]]);
    assert_eq!(first.tables[2].heading.order, [[0, 3], [1, 4]]);
    assert_eq!(first.tables[3].heading.order, [[0, 3], [1, 4], [2, 5]]);
    assert_eq!(first.tables[0].columns.len(), 6);

    let second = listing("sample2b");
    assert_eq!(second.tables[0].heading.groups, [[0, 2], [3, 5], [4, 1]]);
    assert_eq!(second.tables[2].heading.order, [vec![0, 2, 4], vec![1]]);
    assert_eq!(second.tables[0].columns[0], Column::Group);
    let groups = column(&second.tables[0], &Column::Group);
    assert_eq!(groups, [0.0, 1.0, 2.0].repeat(6));
}

#[test]
fn a_barrier_has_no_lengths() {
    let listing = listing("multibarrier");
    assert_eq!(
        outlines(&listing),
        [
            ("Barrier", 2, 0, 2, 2),
            ("Barrier", 4, 0, 0, 1),
            ("Exchange", 2, 0, 2, 8),
            ("Exchange", 4, 0, 0, 4),
        ]
    );
    let barrier = &listing.tables[0];
    assert_eq!(barrier.value(&barrier.rows[1], &Column::Bytes), None);
    assert_eq!(
        barrier.value(&barrier.rows[1], &Column::TimeMax),
        Some(1.70)
    );
}

#[test]
fn lines_of_launchers_are_skipped() {
    for (name, pingpong, foreign) in [("noise-in-table", 5, 38), ("warning-between-tables", 3, 30)]
    {
        let listing = listing(name);
        assert_eq!(
            outlines(&listing),
            [("PingPong", 2, 6, 0, pingpong), ("Alltoall", 8, 0, 0, 4)]
        );
        assert_eq!(
            (&listing.foreign[..], listing.finished),
            (&[foreign][..], true)
        );
        let rows = listing.tables.iter().flat_map(|table| &table.rows);
        let reasons = rows.filter_map(|row| row.skipped.as_deref()?.split(' ').next());
        let expected = ["time-out.;", "int-overflow.;", "out-of-mem.;"];
        assert_eq!(reasons.collect::<Vec<_>>(), expected, "{name}");
    }
}

/// Lines that launchers, scripts and programs print: none of them is of a listing.
const FOREIGN: [&str; 7] = [
    "",
    "42",
    "17 4",
    "3 nodes are slow",
    "# WARNING x",
    "[node01:12345] 7 more processes have sent help message help-mpi-btl-openib.txt / no active ports found",
    "--------------------------------------------------------------------------",
];

/// A foreign line at any place of a text, also in headings and between listings, changes no table. It is named unless it
/// is blank, or a comment in a header, whose words are free.
#[test]
fn a_foreign_line_anywhere_changes_no_table() {
    let noisy = ["noise-in-table", "warning-between-tables"];
    let single = FILES.into_iter().chain(noisy).map(text);
    for text in single.chain([noisy.map(text).concat()]) {
        let listings = Listing::parse(&text).expect(&text);
        let lines: Vec<&str> = text.lines().collect();
        for number in 1..=lines.len() + 1 {
            for foreign in FOREIGN {
                let (above, below) = lines.split_at(number - 1);
                let changed = [above, &[foreign], below].concat().join("\n");
                let read = Listing::parse(&changed)
                    .unwrap_or_else(|why| panic!("'{foreign}' as line {number}: {why}\n{text}"));
                let tables = |listings: &[Listing], number| -> Vec<ListingTable> {
                    let tables = listings.iter().flat_map(|listing| listing.tables.clone());
                    tables.map(|table| moved(table, number)).collect()
                };
                let case = format!("'{foreign}' as line {number} of\n{text}");
                assert_eq!(
                    tables(&read, usize::MAX),
                    tables(&listings, number),
                    "{case}"
                );
                let is_finished = |listing: &Listing| listing.finished;
                assert!(
                    read.len() == listings.len() && read.iter().all(is_finished),
                    "{case}"
                );
                let named = |listings: &[Listing]| -> BTreeSet<usize> {
                    let foreign = listings.iter().flat_map(|listing| &listing.foreign);
                    foreign.copied().collect()
                };
                let mut expected: BTreeSet<usize> = named(&listings)
                    .into_iter()
                    .map(|line| line + usize::from(line >= number))
                    .collect();
                let headers = read.iter().map(|listing| &listing.header);
                let mut free =
                    headers.flat_map(|header| header.notes.iter().chain([&header.command]));
                if !foreign.is_empty() && !free.any(|words| format!("# {words}") == foreign) {
                    expected.insert(number);
                }
                assert_eq!(named(&read), expected, "{case}");
            }
        }
    }
}

/// The table in a text with one more line, which has this number.
fn moved(mut table: ListingTable, number: usize) -> ListingTable {
    let rows = table.rows.iter_mut().map(|row| &mut row.line);
    for line in rows.chain([&mut table.line]) {
        *line += usize::from(*line >= number);
    }
    table
}

/// Part NBC: the columns of an overlap, a barrier without lengths, and the rate of the computation in the header.
#[test]
fn overlap_is_read() {
    let listing = listing("nbc");
    assert!(listing.finished && listing.foreign.is_empty());
    assert_eq!(
        listing.header.suite,
        "Intel(R) MPI Benchmarks 2021.11, MPI-NBC part"
    );
    let names = ["Ibcast", "Ireduce_pure", "Ibarrier", "Ibarrier_pure"];
    assert_eq!(listing.header.benchmarks, names);
    assert!(
        listing
            .header
            .notes
            .iter()
            .any(|note| note == "performance of 4321.05 MFlops")
    );
    let found: Vec<(&str, usize)> = (listing.tables.iter())
        .map(|table| (table.heading.benchmark.as_str(), table.rows.len()))
        .collect();
    assert_eq!(
        found,
        [(names[0], 3), (names[1], 3), (names[2], 1), (names[3], 1)]
    );
    let [bcast, reduce, barrier, _] = &listing.tables[..] else {
        panic!("four tables");
    };
    assert_eq!(column(bcast, &Column::Bytes), [0.0, 8.0, 16.0]);
    assert_eq!(column(bcast, &Column::TimeOverlapped), [0.05, 4.1, 4.0]);
    assert_eq!(column(bcast, &Column::TimePure), [0.03, 2.3, 2.4]);
    assert_eq!(column(bcast, &Column::TimeCompute), [0.02, 2.35, 2.4]);
    assert_eq!(column(bcast, &Column::Overlap), [0.0, 23.91, 33.33]);
    assert_eq!(column(reduce, &Column::TimeMax), [0.04, 2.2, 2.25]);
    assert!(!barrier.columns.contains(&Column::Bytes));
    assert_eq!(column(barrier, &Column::Overlap), [33.87]);
}
