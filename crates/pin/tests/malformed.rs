//! Every malformed value with which Intel MPI's launcher was observed: where it is wrong, and what is
//! expected there.

use std::collections::BTreeSet;

use oxmpi_pin::{Compat, Settings};

/// The observed settings, in columns with tabs between them.
const ROWS: &str = include_str!("intel2021.txt");

/// Each value with the expected carets and message below it.
const EXPECTED: &str = include_str!("malformed.txt");

#[test]
fn what_is_said_of_every_malformed_value() {
    let columns = ROWS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split('\t'));
    let values: BTreeSet<(&str, &str)> = columns
        .filter_map(|column| column.split_once('='))
        .filter(|(name, _)| name.starts_with("I_MPI_"))
        .collect();
    let said: Vec<String> = values
        .iter()
        .filter_map(|(name, value)| said(name, value))
        .collect();
    let expected: Vec<&str> = EXPECTED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let lines: Vec<&str> = said.iter().flat_map(|text| text.lines()).collect();
    for (line, expected) in lines.iter().zip(&expected) {
        assert_eq!(line, expected);
    }
    assert_eq!(lines.len(), expected.len());
    assert!(
        said.len() > 60,
        "the malformed values are gone: {}",
        said.len()
    );
}

/// The value, and below it carets and the message; `None` if the value is accepted.
fn said(name: &str, value: &str) -> Option<String> {
    let set = |other: &str| (other == name).then_some(value);
    let wrong = Settings::read(Compat::Documented, set).err()?;
    assert_eq!((wrong.name, &*wrong.text), (name, value));
    let shown = wrong.cause.show(value).to_string();
    let [message, _, carets] = shown.lines().collect::<Vec<_>>()[..] else {
        panic!("{shown}");
    };
    let indent = " ".repeat(name.len() + 1);
    // The text is indented by two columns there.
    let carets = &carets[2..];
    Some(format!("{name}={value}\n{indent}{carets} {message}\n"))
}
