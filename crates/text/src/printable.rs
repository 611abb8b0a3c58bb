//! Display of untrusted text ([`Printable`]) without control characters.

use core::fmt::{self, Write as _};

/// Displays an untrusted text, such as the name of a device, so that a terminal or an SVG may contain it: control
/// characters, characters that change the writing direction and characters that XML forbids become U+FFFD.
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

/// The character, or U+FFFD in its place.
pub(crate) fn printable(letter: char) -> char {
    let changes_direction = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_forbidden = matches!(letter, '\u{fffe}' | '\u{ffff}');
    if letter.is_control() || changes_direction || is_forbidden {
        char::REPLACEMENT_CHARACTER
    } else {
        letter
    }
}
