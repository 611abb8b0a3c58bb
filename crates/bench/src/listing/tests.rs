//! Tests of damaged listings, and of cases that the real listings lack.

use super::{Column, Listing, ListingError, ListingLengths};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

const HEADER: &str = "\
starting 4 processes
#----------------
#    Intel(R) MPI Benchmarks 4.0, MPI-1 part
#----------------
# Date                  : today at 07:03
# Message lengths were user defined
# a line of its own
";

/// A table with this heading, columns and rows.
fn table(heading: &str, below: &str) -> String {
    let rule = "#----------------\n";
    format!("{HEADER}{rule}{heading}{rule}{below}")
}

const PINGPONG: &str = "# Benchmarking PingPong \n# #processes = 2 \n";
const COLUMNS: &str = "  #bytes #repetitions      t[usec]   Mbytes/sec\n";

fn parsed(text: &str) -> Listing {
    let listings = Listing::parse(text).unwrap();
    <[Listing; 1]>::try_from(listings).expect("one listing")[0].clone()
}

fn wrong(text: &str) -> ListingError {
    Listing::parse(text).expect_err(text)
}

#[test]
fn a_header_says_what_it_knows() {
    let listing = parsed(HEADER);
    let header = &listing.header;
    assert_eq!(header.suite, "Intel(R) MPI Benchmarks 4.0, MPI-1 part");
    assert_eq!(header.date, "today at 07:03");
    assert_eq!(header.lengths, ListingLengths::UserDefined);
    assert_eq!(header.notes, ["a line of its own"]);
    assert_eq!((header.machine.as_str(), listing.finished), ("", false));
}

#[test]
fn a_row_that_was_skipped_says_why() {
    let below =
        format!("{COLUMNS}  64  1000  0.11  584.93\n  128  out-of-mem.; needed X= 0.5 GB\n");
    let listing = parsed(&table(PINGPONG, &below));
    let rows = &listing.tables[0].rows;
    assert_eq!((rows[0].values.len(), &rows[0].skipped), (4, &None));
    assert_eq!(rows[1].values, [128.0]);
    let why = rows[1].skipped.as_deref();
    assert_eq!(why, Some("out-of-mem.; needed X= 0.5 GB"));
    let value = |column| listing.tables[0].value(&rows[1], &column);
    assert_eq!(
        (value(Column::Bytes), value(Column::Time)),
        (Some(128.0), None)
    );
}

#[test]
fn columns_of_other_programs_are_kept() {
    let below = "# Every message is checked: timings not valid\n #bytes #repetitions t[usec] wakeups[%] defects\n 0 1 2.5 99.5 inf\n";
    let listing = parsed(&table(PINGPONG, below));
    let table = &listing.tables[0];
    assert_eq!(listing.foreign, [1]);
    assert_eq!(table.columns[3], Column::Other("wakeups[%]".into()));
    let defects = table.value(&table.rows[0], &Column::Defects);
    assert_eq!(defects, Some(f64::INFINITY));
}

#[test]
fn what_follows_the_last_line_is_another_program_s() {
    let below = format!("{COLUMNS} 0 1 2 3\n\n# All processes entering MPI_Finalize\n\ngood bye\n");
    let listing = parsed(&table(PINGPONG, &below));
    assert!(listing.finished && listing.tables[0].rows.len() == 1);
}

#[test]
fn a_long_group_goes_on_in_further_lines() {
    let heading = "# Benchmarking Multi-Bcast\n\
                   # ( 2 groups of 3 processes each running simultaneous ) \n\
                   # Group  0:     0    3\n#     6\n# \n# Group  1:     1    4    7\n# \n\
                   # ( 2 additional processes waiting in MPI_Barrier)\n";
    let listing = parsed(&table(heading, ""));
    let heading = &listing.tables[0].heading;
    assert_eq!(heading.groups, [vec![0, 3, 6], vec![1, 4, 7]]);
    assert_eq!(
        (heading.processes, heading.waiting, heading.multiple),
        (3, 2, true)
    );
}

#[test]
fn lines_of_other_origin_are_skipped_and_numbered() {
    let cut = table(
        "# Benchmarking PingPong\nsrun: warning: slow\n# #processes = 2\n",
        &format!(
            "one 2 3 4\n{COLUMNS} 0 1 2 3\n7 more processes have sent help message\n\
             12:00:01 node down\n[node01:9] 8 nan inf\n 1 1 2 3\n 2 5 time-out.; over\nend\n"
        ),
    );
    let listing = parsed(&cut);
    assert_eq!(listing.foreign, [1, 10, 13, 16, 17, 18, 21]);
    let values = listing.tables[0].rows.iter().map(|row| &row.values[..]);
    let expected: [&[f64]; 3] = [&[0.0, 1.0, 2.0, 3.0], &[1.0, 1.0, 2.0, 3.0], &[2.0, 5.0]];
    assert_eq!(values.collect::<vec::Vec<_>>(), expected);
    let header = HEADER.replace("# Message", "note\n# Message");
    assert_eq!(parsed(&header).foreign, [1, 6]);
}

#[test]
fn texts_that_are_almost_rows_are_of_other_origin() {
    let text = |row: &str| table(PINGPONG, &format!("{COLUMNS} 0 1 2 3\n{row}\n"));
    for row in ["1 2", "1", "1 2 ranks", "time-out.; over"] {
        let listing = parsed(&text(row));
        let found = (listing.tables[0].rows.len(), &listing.foreign[..]);
        assert_eq!(found, (1, &[1, 14][..]), "{row}");
    }
    let listing = parsed(&text("\n1 2 3\n\n1 2 3 4"));
    let found = (listing.tables[0].rows.len(), &listing.foreign[..]);
    assert_eq!(found, (2, &[1, 15][..]), "a blank may end a table");
    assert_eq!(parsed(&format!("{HEADER} 1 2 3\n")).foreign, [1, 8]);
    let numbers = table(
        &format!("{PINGPONG}# 3 4\n# 3 nodes\n# ( beta )\n"),
        COLUMNS,
    );
    assert_eq!(parsed(&numbers).foreign, [1, 11, 12, 13]);
}

#[test]
fn every_listing_of_a_text_is_read() {
    let cut = table(PINGPONG, &format!("{COLUMNS} 0 1 2 3\n"));
    let whole = format!("{cut}late\n# All processes entering MPI_Finalize\nbetween\n");
    let listings = Listing::parse(&[whole.as_str(), &cut, HEADER, &whole].concat()).unwrap();
    let shapes = listings.iter().map(|listing| {
        let lines = listing.tables.iter().map(|table| table.line).collect();
        (lines, listing.finished, listing.foreign.clone())
    });
    let expected = [
        (vec![8], true, vec![1, 14]),
        (vec![24], false, vec![16, 17, 30]),
        (vec![], false, vec![37]),
        (vec![44], true, vec![50, 52]),
    ];
    assert_eq!(shapes.collect::<vec::Vec<_>>(), expected);
}

#[test]
fn errors_name_the_line_and_what_would_fit() {
    let below = |rows: &str| table(PINGPONG, &format!("{COLUMNS}{rows}"));
    let cases = [
        (String::from("hello"), 1, "no listing"),
        (below(" 1 2 3\n"), 13, "3 numbers under 4 columns"),
        (below(" 1 2 3 4 5\n"), 13, "5 numbers under 4 columns"),
        (below(" 1.5 2 3 4\n"), 13, "'1.5' is no whole number"),
        (below(" 1 2 3 4 five\n"), 13, "'five' where a number stands"),
        (below(&COLUMNS[1..]), 13, "columns are named again"),
        (
            table(PINGPONG, " 0 1 2\n# All processes entering MPI_Finalize"),
            8,
            "no line that names columns",
        ),
        (table("", ""), 8, "no line '# Benchmarking NAME'"),
        (table("# Benchmarking X\n", ""), 8, "no number of processes"),
        (
            table("# #processes = two\n", ""),
            9,
            "'two' is no whole number",
        ),
        (table("# Group 0: one\n", ""), 9, "'one' are no ranks"),
        (table("# Group 1: 0\n", ""), 9, "group 1 where 0 comes next"),
        (table(COLUMNS, ""), 9, "a heading ends with a rule"),
        (
            format!("{HEADER}#----------\n# Benchmarking X\n"),
            10,
            "ends in a heading",
        ),
        (
            table(
                "# Benchmarking X\n# ( 2 groups of 1 processes)\n# Group 0: 0\n",
                "",
            ),
            8,
            "says 2 groups and lists 1",
        ),
        (
            table(
                "# Benchmarking X\n# ( 1 groups of 2 processes)\n# Group 0: 0\n",
                "",
            ),
            8,
            "a group of 1 ranks among groups of 2",
        ),
        (
            table(
                "# Benchmarking X\n# #processes = 2; rank order (rowwise):\n# 0\n",
                "",
            ),
            8,
            "the order of 2 processes lists 1",
        ),
    ];
    for (text, line, part) in cases {
        let error = wrong(&text);
        assert!(
            error.line == line && error.why.contains(part),
            "{error}:\n{text}"
        );
        assert!(error.to_string().starts_with(&format!("line {line}: ")));
    }
}
