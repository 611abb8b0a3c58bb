//! Texts from outside, made safe to show.

use core::fmt::{self, Write as _};

/// A text from outside, such as the name of a device, as a terminal or a picture may show it: each control character,
/// each that turns the direction of writing and each that XML forbids is shown as U+FFFD, so that the text stays on its
/// line, as it is.
///
/// ```
/// use oxmpi_text::Printable;
///
/// assert_eq!(Printable("eth0\x1b[2J").to_string(), "eth0\u{fffd}[2J");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = self.0.chars().map(printable);
        letters.try_for_each(|letter| f.write_char(letter))
    }
}

/// The character, or what is shown in its place.
pub(crate) fn printable(letter: char) -> char {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_forbidden = matches!(letter, '\u{fffe}' | '\u{ffff}');
    if letter.is_control() || turns || is_forbidden {
        char::REPLACEMENT_CHARACTER
    } else {
        letter
    }
}
