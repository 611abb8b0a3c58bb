//! The text of a list that includes or excludes.

use oxmpi_text::{Error, Expected, Span};

/// What stands for "whatever is best here".
const EVERYTHING: [&str; 2] = ["auto", "all"];

const NAME: &str = "the name of a transport or a device";
const ONE_CARET: &str =
    "a name: one ^ before the first name excludes the whole list, and lists cannot be mixed";
const PORT: &str = "a port of a device, from 1 to 254";
const SOMETHING: &str = "names to leave out: ranks need some way to talk";

/// A list of transports and devices: those that are wanted, or with `^` those that are not.
///
/// The form is `auto`, or `NAME[:PORT],...`, or `^NAME[:PORT],...`; `all` means `auto`.
///
/// ```
/// use oxmpi_wire::transports::TransportList;
///
/// let wish = TransportList::parse("^openib,mlx5_0:1").unwrap();
/// assert!(wish.excludes());
/// let ports: Vec<_> = wish.entries().map(|entry| entry.port).collect();
/// assert_eq!(ports, [None, Some(1)]);
///
/// let mixed = TransportList::parse("tcp,^sm").unwrap_err();
/// assert_eq!(mixed.span.start, 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportList<'a> {
    list: &'a str,
    excludes: bool,
}

/// One of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedName<'a> {
    /// A transport, or a device such as `mlx5_0` or `eth0`.
    pub name: &'a str,
    /// The port of the device.
    pub port: Option<u8>,
}

/// A wish, and where it was made: `transports = ^tcp (OMPI_MCA_btl)`.
#[derive(Clone, Copy, Debug)]
pub struct TransportPreference<'a> {
    /// What is wanted.
    pub list: TransportList<'a>,
    /// Where that was said, for sentences.
    pub by: &'a str,
}

impl<'a> TransportList<'a> {
    /// Reads a list.
    ///
    /// # Errors
    /// A list of which a part is no name; included and excluded names together; everything excluded.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let blanks = text.len() - text.trim_start().len();
        let (list, excludes) = match text[blanks..].strip_prefix('^') {
            Some(rest) => (rest, true),
            None => (&text[blanks..], false),
        };
        let mut at = text.len() - list.len();
        for part in list.split(',') {
            let entry = entry(part).map_err(|error| error.moved(at))?;
            if excludes && EVERYTHING.contains(&entry.name) {
                let span = Span {
                    start: at,
                    end: at + part.len(),
                };
                return Err(Error::new(span, SOMETHING));
            }
            at += part.len() + 1;
        }
        Ok(Self { list, excludes })
    }

    /// Whether the names are those that are not wanted.
    #[must_use]
    pub const fn excludes(&self) -> bool {
        self.excludes
    }

    /// Whether whatever is best is wanted.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.entries()
            .any(|entry| EVERYTHING.contains(&entry.name) && entry.port.is_none())
    }

    /// Its names, in their order.
    pub fn entries(&self) -> impl Iterator<Item = ListedName<'a>> + use<'a> {
        self.list.split(',').filter_map(|part| entry(part).ok())
    }
}

/// Reads `NAME` or `NAME:PORT`, with blanks around it.
fn entry(part: &str) -> Result<ListedName<'_>, Error> {
    let word = part.trim();
    let start = part.len() - part.trim_start().len();
    let wrong = |from: usize, to: usize, expected| Error {
        span: Span {
            start: start + from,
            end: start + to,
        },
        expected: Expected::Text(expected),
        suggestion: None,
    };
    if word.starts_with('^') {
        return Err(wrong(0, word.len(), ONE_CARET));
    }
    let (name, port) = match word.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (word, None),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte);
    if name.is_empty() || !name.bytes().all(plain) {
        return Err(wrong(0, name.len(), NAME));
    }
    let port = port.map(|digits| {
        let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|port| (1..=254).contains(port));
        let port = number.filter(|_| all_digits);
        port.ok_or_else(|| wrong(name.len() + 1, word.len(), PORT))
    });
    Ok(ListedName {
        name,
        port: port.transpose()?,
    })
}
