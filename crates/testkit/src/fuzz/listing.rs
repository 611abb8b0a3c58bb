//! Fuzz body of listings of the Intel MPI Benchmarks: a text is parsed, or refused with a line number.

use oxmpi_bench::listing::Listing;
use std::collections::BTreeSet;

/// Parses `data` as listings, if it is UTF-8.
///
/// # Panics
/// On an error without a message or with a line beyond the text, on a row with a wrong line number, or whose
/// numbers do not match the columns without being marked as skipped, on a line that is read twice or that is both a
/// row and of other origin, and on groups of other sizes than the heading's.
pub fn listing(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let lines = text.lines().count();
    let listings = match Listing::parse(text) {
        Ok(listings) => listings,
        Err(error) => {
            assert!((1..=lines + 1).contains(&error.line), "{error}");
            return assert!(!error.why.is_empty(), "{error:?}");
        }
    };
    let mut seen = BTreeSet::new();
    for &line in listings.iter().flat_map(|listing| &listing.foreign) {
        assert!(
            (1..=lines).contains(&line) && seen.insert(line),
            "line {line}"
        );
    }
    for table in listings.iter().flat_map(|listing| &listing.tables) {
        let heading = &table.heading;
        let sizes = heading.groups.iter().map(Vec::len);
        assert!(sizes.clone().all(|size| size == heading.processes));
        assert!(!heading.benchmark.is_empty() && heading.processes > 0);
        for row in &table.rows {
            assert!((table.line + 1..=lines).contains(&row.line));
            assert!(seen.insert(row.line), "{row:?}");
            let (found, expected) = (row.values.len(), table.columns.len());
            assert_eq!(row.skipped.is_none(), found == expected, "{row:?}");
            assert!((1..=expected).contains(&found), "{row:?}");
        }
    }
}
