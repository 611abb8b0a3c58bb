//! Parses `KMP_AFFINITY` parameter by parameter, as OpenMP runtimes do.

use alloc::vec::Vec;

use oxmpi_text::{Error, Span, Words};

use crate::openmp::affinity::words::{LEVELS, PARAMETERS, SWITCHES, Switch, TYPES, granularities};
use crate::openmp::affinity::{Affinity, Granularity, Read};
use crate::openmp::message::Message;
use crate::openmp::proclist::{self, saturated};
use crate::openmp::{Dialect, Levels, Rules};

/// An accepted abbreviation of `granularity`.
const GRAN: &str = "gran";

/// The most mistakes reported for one setting. A message may quote the rest of the text, so without a limit
/// the output would grow with the square of the text's length.
const MOST_WRONG: usize = 64;

/// Parses a setting. Mistakes are reported and left out, and the rest counts; parsing ends after
/// [`MOST_WRONG`] mistakes.
pub(crate) fn parse(text: &str, dialect: Dialect) -> Read {
    let mut parser = Parser {
        text,
        at: 0,
        dialect,
        affinity: Affinity::default(),
        seen: Vec::new(),
        integers: Vec::new(),
        wrong: Vec::new(),
    };
    parser.blanks();
    while parser.at < text.len() && parser.wrong.len() < MOST_WRONG {
        parser.parameter();
    }
    parser.end()
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    at: usize,
    dialect: Dialect,
    pub(super) affinity: Affinity,
    /// The names of parameters that were set.
    pub(super) seen: Vec<&'static str>,
    pub(super) integers: Vec<(u64, Span)>,
    pub(super) wrong: Vec<(Message, Error)>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Reports a mistake in a part of the text.
    pub(super) fn warn(
        &mut self,
        message: Message,
        start: usize,
        end: usize,
        expected: &'static str,
    ) {
        let error = Error::new(Span { start, end }, expected);
        self.wrong.push((message, error));
    }

    fn begins_with(&self, word: &str) -> bool {
        let begin = self.rest().get(..word.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.begins_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Consumes the longest word of a list that the text continues with: some words are prefixes of others.
    fn eat_one_of<T: Copy>(&mut self, words: impl Iterator<Item = (&'static str, T)>) -> Option<T> {
        let (word, meaning) = words
            .filter(|(word, _)| self.begins_with(word))
            .max_by_key(|(word, _)| word.len())?;
        self.at += word.len();
        Some(meaning)
    }

    fn digits(&mut self) -> Option<u64> {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        self.at += length;
        (length > 0).then(|| saturated(&rest[..length]))
    }

    /// Reads one parameter and the comma behind it.
    fn parameter(&mut self) {
        let start = self.at;
        let new = self.dialect.levels == Levels::Current;
        let switches = SWITCHES
            .into_iter()
            .filter(|(_, switch, _)| new || *switch != Switch::Reset)
            .map(|(word, switch, on)| (word, (switch, on)));
        if let Some(kind) = self.eat_one_of(TYPES.into_iter()) {
            if self.may_set("type", start) {
                self.affinity.kind = kind;
            }
        } else if let Some((switch, on)) = self.eat_one_of(switches) {
            self.switch(switch, on, start);
        } else if self.eat("granularity") || self.eat(GRAN) {
            if !self.granularity(start) {
                return self.skip(start);
            }
        } else if self.eat("proclist") {
            match self.proclist(start) {
                Ok(true) => {}
                Ok(false) => return self.skip(start),
                Err(wrong) => {
                    self.wrong.push(wrong);
                    return self.skip_list();
                }
            }
        } else if let Some(number) = self.digits() {
            if self.integers.len() == 2 {
                let message = Message::ManyIntegers(self.text[start..].into());
                self.warn(
                    message,
                    start,
                    self.at,
                    "no more than two integers, permute and offset",
                );
            } else {
                let end = self.at;
                self.integers.push((number, Span { start, end }));
            }
        } else {
            return self.skip(start);
        }
        self.behind();
    }

    fn switch(&mut self, switch: Switch, on: bool, start: usize) {
        if !self.may_replace(switch.name(), start) {
            return;
        }
        match switch {
            Switch::Verbose => self.affinity.verbose = on,
            Switch::Warnings => self.affinity.warnings = on,
            Switch::Respect => self.affinity.respect = on,
            Switch::Duplicates => self.affinity.duplicates = on,
            Switch::Reset => {}
        }
    }

    /// Notes that a parameter is set. Warns and returns false if it was set before.
    fn may_set(&mut self, name: &'static str, start: usize) -> bool {
        let first = !self.seen.contains(&name);
        match first {
            true => self.seen.push(name),
            false => {
                let message = Message::Repeated(self.text[start..self.at].into());
                self.warn(message, start, self.at, "each parameter once");
            }
        }
        first
    }

    /// Like [`may_set`](Self::may_set), for modifiers: by the documented rules, later ones replace earlier
    /// ones.
    fn may_replace(&mut self, name: &'static str, start: usize) -> bool {
        self.dialect.rules == Rules::Documented || self.may_set(name, start)
    }

    /// Reads what follows the word `granularity`; false if no value follows.
    fn granularity(&mut self, start: usize) -> bool {
        self.blanks();
        if !self.eat("=") {
            return false;
        }
        self.blanks();
        let again = self.seen.contains(&"granularity");
        let by_value = self.dialect.levels == Levels::Current;
        if again && by_value && self.dialect.rules == Rules::Runtime {
            // The caller reports the value as trailing characters.
            return true;
        }
        let value = match self.eat_one_of(granularities(self.dialect)) {
            Some(value) => Some(value),
            None => self.digits().map(Granularity::Levels),
        };
        if value.is_some() && self.may_replace("granularity", start) {
            self.affinity.granularity = value;
            self.seen.push("granularity");
        }
        value.is_some()
    }

    /// Reads what follows the word `proclist`; false if no list follows.
    fn proclist(&mut self, start: usize) -> Result<bool, (Message, Error)> {
        self.blanks();
        if !self.eat("=") {
            return Ok(false);
        }
        self.blanks();
        if !self.eat("[") {
            return Ok(false);
        }
        let start_of_list = self.at;
        let read = proclist::parse(self.rest());
        let (items, length) =
            read.map_err(|(message, error)| (message, error.moved(start_of_list)))?;
        self.at += length;
        if !self.eat("]") {
            return Ok(false);
        }
        if self.may_set("proclist", start) {
            self.affinity.proclist = items;
        }
        Ok(true)
    }

    /// Skips a mistake that began at `start`, up to the next comma.
    fn skip(&mut self, start: usize) {
        let end = self
            .rest()
            .find(',')
            .map_or(self.text.len(), |comma| self.at + comma);
        let text = &self.text[start..end];
        let is_granularity = |name: &str| {
            let begin = name.get(..GRAN.len());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(GRAN))
        };
        let value = text
            .split_once('=')
            .filter(|(name, _)| is_granularity(name));
        let (words, from) = match value {
            Some((_, value)) => (LEVELS, end - value.len()),
            None => (PARAMETERS, start),
        };
        let error = unknown(words, &self.text[from..end]).moved(from);
        self.wrong.push((Message::Invalid(text.into()), error));
        self.at = (end + 1).min(self.text.len());
        self.blanks();
    }

    /// Skips a list with a syntax error.
    fn skip_list(&mut self) {
        let close = self.rest().find(']').unwrap_or(self.rest().len());
        self.at += close;
        let comma = self
            .rest()
            .find(',')
            .map_or(self.rest().len(), |comma| comma + 1);
        self.at += comma;
        self.blanks();
    }

    /// Reads the comma or the end behind a parameter; warns of other characters.
    fn behind(&mut self) {
        self.blanks();
        let rest = self.rest();
        if !rest.is_empty() && !rest.starts_with(',') {
            let end = rest.find(',').unwrap_or(rest.len());
            let message = Message::Trailing(rest[..end].into());
            self.warn(message, self.at, self.at + end, "a comma or the end");
            self.at += end;
        }
        self.eat(",");
        self.blanks();
    }
}

/// The error for the unknown word `typed`, with a suggestion from `words`.
fn unknown(words: Words, typed: &str) -> Error {
    let found = words.find(&typed.trim().to_ascii_lowercase());
    let error = found
        .err()
        .unwrap_or(Error::new(Span::whole(typed), "another word"));
    Error {
        span: Span::whole(typed),
        ..error
    }
}
