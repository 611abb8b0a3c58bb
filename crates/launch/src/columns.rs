//! Text in columns: aligned tables and wrapped paragraphs.

/// Rows of equal length as a table: columns are aligned and two blanks apart.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let padded = cells.map(|(cell, &width)| format!("{cell:width$}"));
        let line = padded.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

/// The words of `text` in lines of at most `width` characters.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let len = word.chars().count();
        let separator = match column {
            0 => "",
            _ if column + 1 + len > width => "\n",
            _ => " ",
        };
        column = if separator == " " {
            column + 1 + len
        } else {
            len
        };
        lines += separator;
        lines += word;
    }
    lines
}
