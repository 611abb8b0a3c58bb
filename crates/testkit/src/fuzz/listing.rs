//! Fuzz body of listings of the Intel MPI Benchmarks: a text is parsed, or refused with a line number.

use oxmpi_bench::listing::Listing;

/// Parses `data` as a listing, if it is UTF-8.
///
/// # Panics
/// On an error without a message or with a line beyond the text, on a row with a wrong line number, or whose
/// numbers do not match the columns without being marked as skipped, and on groups of other sizes than the
/// heading's.
pub fn listing(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let lines = text.lines().count();
    let listing = match Listing::parse(text) {
        Ok(listing) => listing,
        Err(error) => {
            assert!((1..=lines + 1).contains(&error.line), "{error}");
            return assert!(!error.why.is_empty(), "{error:?}");
        }
    };
    for table in &listing.tables {
        let heading = &table.heading;
        let sizes = heading.groups.iter().map(Vec::len);
        assert!(sizes.clone().all(|size| size == heading.processes));
        assert!(!heading.benchmark.is_empty() && heading.processes > 0);
        for row in &table.rows {
            assert!((table.line + 1..=lines).contains(&row.line));
            let (found, expected) = (row.values.len(), table.columns.len());
            assert_eq!(row.skipped.is_none(), found == expected, "{row:?}");
            assert!((1..=expected).contains(&found), "{row:?}");
        }
    }
}
