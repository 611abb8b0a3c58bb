//! Keywords: a closed set of words ([`Words`]), and on/off switches ([`switch`]).

use crate::{Error, Expected, Span, nearest};

/// The keywords of a grammar. An entry with a blank is a phrase (`a number`): it appears in messages and never matches.
#[derive(Clone, Copy, Debug)]
pub struct Words(pub &'static [&'static str]);

impl Words {
    /// The position of `typed` in the list. Case matters, as in the products whose words these are.
    ///
    /// # Errors
    /// If `typed` is none of the words: the error lists all words and suggests the nearest.
    pub fn find(&self, typed: &str) -> Result<usize, Error> {
        let is_word = |word: &&str| !word.contains(' ');
        let found = self
            .0
            .iter()
            .position(|word| *word == typed && is_word(word));
        if let Some(position) = found {
            return Ok(position);
        }
        Err(Error {
            span: Span::whole(typed),
            expected: Expected::OneOf(self.0),
            suggestion: nearest(typed, self.0.iter().copied().filter(is_word)),
        })
    }
}

/// Parses a switch: `on`, `yes`, `true`, `enable`, `1` or `off`, `no`, `false`, `disable`, `0`,
/// in any case.
///
/// # Errors
/// If the text is anything else.
pub fn switch(text: &str) -> Result<bool, Error> {
    const ON: [&str; 5] = ["on", "yes", "true", "enable", "1"];
    const OFF: [&str; 5] = ["off", "no", "false", "disable", "0"];
    let is = |words: [&str; 5]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match (is(ON), is(OFF)) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(Error {
            span: Span::whole(text),
            expected: Expected::OneOf(&["on", "off", "yes", "no", "1", "0"]),
            suggestion: nearest(text, ON.into_iter().chain(OFF)),
        }),
    }
}
