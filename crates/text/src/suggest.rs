//! "Did you mean": edit distance of short words ([`distance`], [`nearest`]), without allocation.

/// Characters of the longest word that is compared.
const LONGEST: usize = 64;

/// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string
/// alignment), ignoring ASCII case. `None` if `b` has more than 64 characters.
///
/// ```
/// assert_eq!(oxmpi_text::distance("sokcet", "socket"), Some(1));
/// ```
pub fn distance(a: &str, b: &str) -> Option<usize> {
    let mut columns = ['\0'; LONGEST];
    let mut width = 0;
    for c in b.chars() {
        *columns.get_mut(width)? = c.to_ascii_lowercase();
        width += 1;
    }
    let columns = &columns[..width];

    // Three rows of the table: two above, the one above, and the row being filled.
    let mut above2 = [0; LONGEST + 1];
    let mut above: [usize; LONGEST + 1] = core::array::from_fn(|i| i);
    let mut previous = None;
    for (i, c) in a.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut row = [i + 1; LONGEST + 1];
        for (j, &d) in columns.iter().enumerate() {
            let replaced = above[j] + usize::from(c != d);
            let mut best = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if j > 0 && previous == Some(d) && c == columns[j - 1] {
                best = best.min(above2[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        above2 = above;
        above = row;
        previous = Some(c);
    }
    Some(above[width])
}

/// The candidate nearest to `typed`, the first of several. `None` if it differs in more than a third of the characters
/// of `typed` (one edit is always allowed), or if `typed` has a single character.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let len = typed.chars().count();
    if !(2..=LONGEST).contains(&len) {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|word| Some((distance(typed, word)?, word)))
        .filter(|&(edits, _)| edits <= (len / 3).max(1))
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, word)| word)
}
