//! The rule that sources speak the field's language: words that the glossary replaces are found in names, settings,
//! messages and file names.
//!
//! `vocabulary.txt` is the list. An exception is argued where it is made, in a comment on the same line or the line before:
//! `// word 'lane': PCI Express has lanes`.

use super::sources::each_source;
use super::tokens::{self, Token};
use crate::{Repo, Result};
use std::collections::BTreeSet;

/// The list: a word, the folder in which it has its old sense, and what to say there.
const LIST: &str = include_str!("vocabulary.txt");

/// A row of the list.
struct Replaced<'a> {
    word: &'a str,
    /// The start of the paths that the row is about; `.` means all.
    folder: &'a str,
    /// Whether texts are searched, too: not for a word of plain English.
    in_texts: bool,
    instead: &'a str,
    /// Names in which the word has a sense of its own.
    allowed: Vec<&'a str>,
}

impl Replaced<'_> {
    fn is_about(&self, path: &str) -> bool {
        self.folder == "." || path.starts_with(self.folder)
    }
}

/// The rows of `list`: columns between bars, `word | folder | names or all | say instead | allowed names`.
fn rows(list: &str) -> Vec<Replaced<'_>> {
    let lines = list
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let rows = lines.filter_map(|line| {
        let mut columns = line.split('|').map(str::trim);
        Some(Replaced {
            word: columns.next()?,
            folder: columns.next()?,
            in_texts: columns.next()? == "all",
            instead: columns.next()?,
            allowed: columns
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect(),
        })
    });
    rows.collect()
}

/// Words that the glossary replaces, each with its place and what to say instead.
pub(super) fn replaced(repo: &Repo) -> Result<Vec<String>> {
    let rows = rows(LIST);
    each_source(repo, |path, text| findings(&rows, path, text))
}

fn findings(rows: &[Replaced<'_>], path: &str, text: &str) -> Vec<String> {
    let rows: Vec<_> = rows.iter().filter(|row| row.is_about(path)).collect();
    let find = |whole: &str, is_text: bool| {
        let words = words_of(whole);
        rows.iter().find(|row| {
            words.contains(row.word) && (row.in_texts || !is_text) && !row.allowed.contains(&whole)
        })
    };
    let mut findings = Vec::new();
    if let Some(row) = path.split('/').find_map(|name| find(name, false)) {
        findings.push(format!(
            "{path}: its path says '{}'; say {}",
            row.word, row.instead
        ));
    }
    let mut found = Vec::new();
    let mut argued = BTreeSet::new();
    for (token, line) in tokens::of(text) {
        match token {
            Token::Name(name) => found.extend(find(name, false).map(|row| (line, row))),
            Token::Text(text) => found.extend(find(text, true).map(|row| (line, row))),
            Token::Comment(comment) => argued.extend(argued_word(comment).map(|word| (line, word))),
            Token::Sign(_) => {}
        }
    }
    let is_argued =
        |line: usize, word| argued.contains(&(line, word)) || argued.contains(&(line - 1, word));
    found.retain(|(line, row)| !is_argued(*line, row.word));
    found.dedup_by_key(|(line, row)| (*line, row.word));
    findings.extend(
        found
            .into_iter()
            .map(|(line, row)| format!("{path}:{line}: '{}'; say {}", row.word, row.instead)),
    );
    findings
}

/// The word that a comment `// word 'WORD': REASON` argues for.
fn argued_word(comment: &str) -> Option<&str> {
    let (word, reason) = comment.strip_prefix("// word '")?.split_once("': ")?;
    (!reason.trim().is_empty()).then_some(word)
}

/// The words of a name or a text in lower case: parts between other signs, and parts of a name in camel case. A plural
/// counts as its singular.
fn words_of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for part in text.split(|c: char| !c.is_alphabetic()) {
        let mut word = String::new();
        let mut before = ' ';
        for letter in part.chars().chain([' ']) {
            if letter == ' ' || (letter.is_uppercase() && before.is_lowercase()) {
                let singular = word.strip_suffix('s').unwrap_or(&word).to_owned();
                words.extend([std::mem::take(&mut word), singular]);
            }
            word.extend(letter.to_lowercase());
            before = letter;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "# a comment\nzorb | . | all | endpoint | PciZorb\nguest | crates/tcp | names | pending connection\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        findings(&rows(SAMPLE), path, text)
    }

    /// Each row of the list finds its word in a name, a folder and, if it says so, a text.
    #[test]
    fn words_of_the_list_are_found_in_their_folders() {
        let rows = rows(LIST);
        assert!(rows.len() > 20, "{}", rows.len());
        for row in &rows {
            let (word, folder) = (row.word, row.folder.replace('.', "crates"));
            let name = findings(
                &rows,
                &format!("{folder}/a.rs"),
                &format!("fn old_{word}() {{}}"),
            );
            let path = findings(&rows, &format!("{folder}/old_{word}/mod.rs"), "");
            let text = findings(
                &rows,
                &format!("{folder}/a.rs"),
                &format!("const A: &str = \"a {word}\";"),
            );
            let counts = (name.len(), path.len(), text.len());
            assert_eq!(counts, (1, 1, usize::from(row.in_texts)), "{word}");
        }
    }

    #[test]
    fn a_word_is_found_in_names_texts_and_file_names_but_not_in_comments() {
        assert_eq!(
            found(
                "crates/a/zorb.rs",
                "// a zorb\nstruct OwnZorb;\nconst A: &str = \"no zorbs\";"
            ),
            [
                "crates/a/zorb.rs: its path says 'zorb'; say endpoint",
                "crates/a/zorb.rs:2: 'zorb'; say endpoint",
                "crates/a/zorb.rs:3: 'zorb'; say endpoint",
            ]
        );
        assert_eq!(
            found("crates/a/b.rs", "let zorbed = (zorbing, zorbs_, PciZorb);").len(),
            1
        );
    }

    #[test]
    fn a_row_is_about_its_folder() {
        assert_eq!(
            found("crates/tcp/src/a.rs", "fn guests() -> &str { \"a guest\" }").len(),
            1
        );
        assert_eq!(found("xtask/src/a.rs", "fn guests() {}").len(), 0);
    }

    #[test]
    fn an_exception_is_argued_on_its_line_or_the_one_before() {
        let argued = "// word 'zorb': PCI Express has zorbs\nlet zorb = 1;\nlet zorbs = 2;";
        assert_eq!(found("a.rs", argued), ["a.rs:3: 'zorb'; say endpoint"]);
        assert_eq!(found("a.rs", "let zorb = 1; // word 'zorb': ").len(), 1);
    }
}
