//! Files with the programs of a job, one a line with its options: `--app` of Open MPI, `-configfile` of MPICH.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use oxmpi_os::file::{HANDWRITTEN_MAX, read_bytes};

/// A line of a file, in words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProgramLine {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    /// At least one.
    pub(super) words: Vec<OsString>,
}

/// The lines of a file, without empty ones and those that begin with `#`.
///
/// # Errors
/// A sentence with the file, and the line where one is wrong.
pub(super) fn lines(path: &Path) -> Result<Vec<ProgramLine>, String> {
    let file = path.display();
    let bytes =
        read_bytes(path, HANDWRITTEN_MAX).map_err(|why| format!("cannot read {file}: {why}"))?;
    let lines = split(&bytes).map_err(|(line, why)| format!("{file}:{line}: {why}"))?;
    match lines.is_empty() {
        true => Err(format!("{file} has no program")),
        false => Ok(lines),
    }
}

/// Splits a text into lines; a backslash at the end joins two. The error has the number of its line.
fn split(text: &[u8]) -> Result<Vec<ProgramLine>, (usize, &'static str)> {
    let mut lines = Vec::new();
    let mut joined = Vec::new();
    let mut number = 1;
    // The empty line ends one that is joined to nothing.
    let all = text.split(|byte| *byte == b'\n').chain([&b""[..]]);
    for (here, line) in (1..).zip(all) {
        if joined.is_empty() {
            number = here;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(begin) = line.strip_suffix(b"\\") {
            joined.extend_from_slice(begin);
            continue;
        }
        joined.extend_from_slice(line);
        let words = words(&std::mem::take(&mut joined)).map_err(|why| (number, why))?;
        if !words.is_empty() {
            lines.push(ProgramLine { number, words });
        }
    }
    Ok(lines)
}

/// Splits a line into words as a shell does: blanks separate words, quotation marks keep them, a backslash keeps the next
/// byte. Variables and patterns are not replaced.
fn words(line: &[u8]) -> Result<Vec<OsString>, &'static str> {
    if line.trim_ascii_start().starts_with(b"#") {
        return Ok(Vec::new());
    }
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(mark)) if byte == mark => quote = None,
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (b' ' | b'\t', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    match quote {
        Some(_) => Err("a quotation mark is not closed in its line"),
        None => Ok(words.into_iter().map(OsString::from_vec).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_words_are_those_of_a_shell() {
        for (text, expected) in [
            ("", &[][..]),
            ("# none\n\n  \n\t# none\n", &[]),
            (
                "-n 1 a\n-n 2 b x",
                &[(1, &["-n", "1", "a"][..]), (2, &["-n", "2", "b", "x"])],
            ),
            ("# first\r\na b\r\n", &[(2, &["a", "b"])]),
            ("a \\\n  b \\\n c\nd", &[(1, &["a", "b", "c"]), (4, &["d"])]),
            ("a \\", &[(1, &["a"])]),
            (
                r#"'a b' "c 'd' \" \\" e\ f g'h'"i" '' 'j\k' l#m #n"#,
                &[(
                    1,
                    &["a b", r#"c 'd' " \"#, "e f", "ghi", "", r"j\k", "l#m", "#n"],
                )],
            ),
        ] {
            let expected = expected.iter().map(|(number, words)| ProgramLine {
                number: *number,
                words: words.iter().map(OsString::from).collect(),
            });
            assert_eq!(split(text.as_bytes()), Ok(expected.collect()), "{text}");
        }
        let bytes = split(b"-wdir d\xffir a").expect("bytes are as good as text");
        assert_eq!(bytes[0].words[1], OsString::from_vec(b"d\xffir".to_vec()));
        let why = "a quotation mark is not closed in its line";
        assert_eq!(split(b"a\n\n'b\n'c d"), Err((3, why)));
    }
}
