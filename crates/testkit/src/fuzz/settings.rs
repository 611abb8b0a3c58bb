//! The grammars of settings: any text is read or refused in its own place, and what was read is
//! printed so that it is read back.

use std::fmt::Display;
use std::str::FromStr;

use oxmpi_pin::intel::{Cell, Domain, Order, ProcessorList};
use oxmpi_pin::openmpi::{BindTo, CpuList, MapBy};
use oxmpi_text::{Error, Nanos, NumberList, Ranges, Size, duration, size, switch};
use oxmpi_wire::transports::TransportList;

/// Parses `data` as every kind of setting, if it is UTF-8.
///
/// # Panics
/// On an error whose span exceeds the text or whose display is not three lines with a caret, and on a value
/// that does not parse back from its display.
pub fn settings(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for row in oxmpi_pin::SETTINGS {
        refused_in_place(text, (row.check)(text));
    }
    if let Some(list) = refused_in_place(text, TransportList::parse(text)) {
        let names = text.trim_start().trim_start_matches('^').split(',').count();
        assert_eq!(
            list.entries().count(),
            names,
            "every name of {text:?} counts"
        );
    }
    refused_in_place(text, switch(text));
    refused_in_place(text, text.parse::<Cell>());
    refused_in_place(text, text.parse::<ProcessorList>());
    read_back::<BindTo>(text);
    read_back::<CpuList>(text);
    read_back::<MapBy>(text);
    read_back::<Domain>(text);
    read_back::<Order>(text);
    if let Some(bytes) = refused_in_place(text, size(text)) {
        assert_eq!(size(&Size(bytes).to_string()), Ok(bytes));
    }
    if let Some(nanos) = refused_in_place(text, duration(text)) {
        assert_eq!(duration(&Nanos(nanos).to_string()), Ok(nanos));
    }
    list(text);
}

/// Most numbers of a list that are compared: a short text can have 2^32.
const COMPARED: usize = 4096;

fn list(text: &str) {
    let numbers = |text: &str| -> Result<Vec<u32>, Error> {
        let mut all = Vec::new();
        for range in Ranges::new(text) {
            let left = COMPARED.saturating_sub(all.len());
            all.extend(range?.into_iter().take(left));
        }
        Ok(all)
    };
    if let Some(all) = refused_in_place(text, numbers(text)) {
        assert_eq!(
            numbers(&NumberList(all.iter().copied()).to_string()),
            Ok(all)
        );
    }
}

fn read_back<T: FromStr<Err = Error> + Display + PartialEq>(text: &str) {
    if let Some(value) = refused_in_place(text, text.parse::<T>()) {
        let printed = value.to_string();
        assert!(
            printed.parse() == Ok(value),
            "{text:?} was printed as {printed}"
        );
    }
}

/// Returns the value; checks that an error points into `text` and displays it.
fn refused_in_place<T>(text: &str, result: Result<T, Error>) -> Option<T> {
    let error = match result {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    let (start, end) = (error.span.start, error.span.end);
    assert!(text.get(start..end).is_some(), "{start}..{end} of {text:?}");
    let shown = error.show(text).to_string();
    assert!(
        shown.lines().count() == 3 && shown.ends_with('^'),
        "{shown}"
    );
    None
}
