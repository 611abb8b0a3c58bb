//! Whether blocks, or layouts of one slice, have elements in common.

use std::ops::Range;

use oxmpi_wire::layout::Datatype;

/// Checks that no two blocks overlap.
///
/// # Errors
/// Two that do.
pub(crate) fn disjoint(ranges: &[Range<usize>]) -> Result<(), String> {
    let filled = |n: &usize| !ranges[*n].is_empty();
    let mut order: Vec<usize> = (0..ranges.len()).filter(filled).collect();
    order.sort_by_key(|&n| ranges[n].start);
    let overlap = |pair: &&[usize]| ranges[pair[0]].end > ranges[pair[1]].start;
    match order.windows(2).find(overlap) {
        None => Ok(()),
        Some(pair) => Err(format!(
            "blocks {} and {} both have the element at index {}",
            pair[0].min(pair[1]),
            pair[0].max(pair[1]),
            ranges[pair[1]].start
        )),
    }
}

/// Checks that no element of a layout in `written` is in another layout, of elements of `size` bytes.
///
/// # Errors
/// An element that is.
pub(super) fn disjoint_layouts(
    read: &[Datatype],
    written: &[Datatype],
    size: usize,
) -> Result<(), String> {
    let runs = |layouts: &[Datatype], is_written| {
        let runs = layouts.iter().flat_map(|layout| {
            let runs = layout.runs(0, layout.size());
            runs.map(|run| (run.offset, run.offset + run.len as i64))
        });
        runs.map(move |(start, end)| (start, end, is_written))
            .collect::<Vec<_>>()
    };
    let mut all = runs(read, false);
    all.extend(runs(written, true));
    all.sort_unstable();
    // Where the runs before end: the written ones, and all.
    let (mut written_end, mut any_end) = (0, 0);
    for (start, end, is_written) in all {
        if start < written_end || is_written && start < any_end {
            let index = start / size as i64;
            return Err(format!(
                "the element at index {index} would be written, and is in another view too"
            ));
        }
        any_end = any_end.max(end);
        if is_written {
            written_end = written_end.max(end);
        }
    }
    Ok(())
}
