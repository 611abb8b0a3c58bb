//! Lists of transports and devices that a setting includes or excludes: parser and types.

use oxmpi_text::{Error, Expected, Span};

/// Names that mean all transports and devices.
const EVERYTHING: [&str; 2] = ["auto", "all"];

const NAME: &str = "the name of a transport or a device";
const ONE_CARET: &str =
    "a name: one ^ before the first name excludes the whole list, and lists cannot be mixed";
const PORT: &str = "a port of a device, from 1 to 254";
const SOMETHING: &str = "names to exclude: ranks need at least one transport";

/// A parsed list of transports and devices: those to use, or with `^` those not to use.
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

/// One name of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedName<'a> {
    /// The name of a transport, or of a device such as `mlx5_0` or `eth0`.
    pub name: &'a str,
    /// The port of the device, where one is given.
    pub port: Option<u8>,
}

/// A list and the setting that gave it.
#[derive(Clone, Copy, Debug)]
pub struct TransportPreference<'a> {
    /// The list.
    pub list: TransportList<'a>,
    /// The setting with its origin, for messages: `transports = ^tcp (OMPI_MCA_btl)`.
    pub by: &'a str,
}

impl<'a> TransportList<'a> {
    /// Parses a list.
    ///
    /// # Errors
    /// If a part is not a name, included and excluded names are mixed, or everything is excluded.
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

    /// Whether the list names what not to use.
    #[must_use]
    pub const fn excludes(&self) -> bool {
        self.excludes
    }

    /// Whether the list allows all transports and devices.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.entries()
            .any(|entry| EVERYTHING.contains(&entry.name) && entry.port.is_none())
    }

    /// Iterates over the names, in the order of the list.
    pub fn entries(&self) -> impl Iterator<Item = ListedName<'a>> + use<'a> {
        self.list.split(',').filter_map(|part| entry(part).ok())
    }
}

/// Parses `NAME` or `NAME:PORT`, with blanks around it.
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
