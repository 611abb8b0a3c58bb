//! The scanner of all grammars ([`Scanner`]): one character of look-ahead, every [`Token`] with its span.

use crate::{Error, Expected, Span};

/// A piece of the scanned text and its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The text of the piece.
    pub text: &'a str,
    /// Its position in the scanned text, in bytes.
    pub span: Span,
}

impl Token<'_> {
    /// An error about this token.
    pub fn error(&self, expected: &'static str) -> Error {
        Error::new(self.span, expected)
    }
}

/// Scans a text from left to right. Every span it returns lies inside the text, on character boundaries.
///
/// ```
/// use oxmpi_text::Scanner;
///
/// let mut scanner = Scanner::new("4:compact");
/// assert_eq!(scanner.number("a size")?, 4);
/// assert!(scanner.eat(':'));
/// assert_eq!(scanner.word().text, "compact");
/// scanner.end("nothing more")?;
/// # Ok::<(), oxmpi_text::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The byte offset of the next character.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text that was not read yet.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Whether everything was read.
    pub fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    /// The next character, which stays unread.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads the next character if it is `wanted`; returns whether it was.
    pub fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Reads blanks.
    pub fn skip_blanks(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Reads characters while `wanted` holds; the token may be empty.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> Token<'a> {
        let rest = self.rest();
        let len = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let span = Span {
            start: self.at,
            end: self.at + len,
        };
        self.at = span.end;
        Token {
            text: &rest[..len],
            span,
        }
    }

    /// Reads a word of ASCII letters, digits, `_` and `-`; it may be empty.
    pub fn word(&mut self) -> Token<'a> {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }

    /// Reads a whole decimal number.
    ///
    /// # Errors
    /// `expected`, at the text that stands in place of digits, or at digits that exceed 64 bits.
    pub fn number(&mut self, expected: &'static str) -> Result<u64, Error> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.text.is_empty() {
            return Err(self.wrong(Expected::Text(expected)));
        }
        digits.text.parse().map_err(|_| digits.error(expected))
    }

    /// Checks that all was read.
    ///
    /// # Errors
    /// `expected`, at the rest.
    pub fn end(&self, expected: &'static str) -> Result<(), Error> {
        match self.is_done() {
            true => Ok(()),
            false => Err(Error::new(
                Span {
                    start: self.at,
                    end: self.text.len(),
                },
                expected,
            )),
        }
    }

    /// An error at the next word, or else the next character, or else the end.
    pub fn wrong(&self, expected: Expected) -> Error {
        let mut ahead = self.clone();
        let word = ahead.word();
        let span = if word.text.is_empty() {
            let len = self.peek().map_or(0, char::len_utf8);
            Span {
                start: self.at,
                end: self.at + len,
            }
        } else {
            word.span
        };
        Error {
            span,
            expected,
            suggestion: None,
        }
    }
}
