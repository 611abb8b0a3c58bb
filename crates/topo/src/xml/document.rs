//! Parses XML into elements and attributes with their positions, within bounds of memory and time.

use crate::cpuset::CpuSet;
use alloc::string::String;
use core::str::FromStr;
use oxmpi_text::{Error, Span};
use roxmltree::{Document, Node, ParsingOptions};

/// The most attributes of an element: the parser compares each with all others.
const MOST_ATTRIBUTES: usize = 1024;

/// The attribute that declares a namespace: the parser gives every element a list of all that are in scope.
const NAMESPACE: &str = "xmlns";

/// The most elements and texts between elements: room for eight of each in every object.
const MOST_NODES: u32 = 1 << 21;

/// Parses the elements of a text.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Error> {
    refuse(text)?;
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| malformed(text, &error))
}

/// Refuses texts that would take the parser excessive memory or time. hwloc never writes such.
fn refuse(text: &str) -> Result<(), Error> {
    let has_namespaces = text.contains(NAMESPACE);
    let mut start = 0;
    for tag in text.split_inclusive('<') {
        let part = |from: usize, length: usize| Span {
            start: start + from,
            end: start + from + length,
        };
        if tag.starts_with("!ENTITY") {
            let expected = "no declaration of an entity, which could make a small file large";
            return Err(Error::new(part(0, "!ENTITY".len()), expected));
        }
        let signs = tag.bytes().filter(|byte| *byte == b'=').count();
        if signs > MOST_ATTRIBUTES {
            let mut names = outside_values(tag).filter(|(_, c)| *c == '=');
            if let Some((at, _)) = names.nth(MOST_ATTRIBUTES) {
                return Err(Error::new(part(at, 1), "at most 1024 attributes"));
            }
        }
        let is_namespace = |(at, _): &(usize, char)| tag[*at..].starts_with(NAMESPACE);
        if has_namespaces && let Some((at, _)) = outside_values(tag).find(is_namespace) {
            let expected = "no namespace, which no file of hwloc's declares";
            return Err(Error::new(part(at, NAMESPACE.len()), expected));
        }
        start += tag.len();
    }
    Ok(())
}

/// The characters of a tag outside of quotes, with their positions.
fn outside_values(tag: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    let is_outside = move |(_, c): &(usize, char)| match quote {
        None if matches!(c, '"' | '\'') => {
            quote = Some(*c);
            false
        }
        None => true,
        Some(begun) => {
            quote = quote.filter(|_| begun != *c);
            false
        }
    };
    let chars = tag.char_indices().filter(is_outside);
    chars.take_while(|(_, c)| *c != '>')
}

fn malformed(text: &str, error: &roxmltree::Error) -> Error {
    use roxmltree::Error as E;
    let end = Span {
        start: text.len(),
        end: text.len(),
    };
    let expected = match error {
        E::NoRootNode => return Error::new(end, "the element `topology`"),
        E::UnclosedRootNode | E::UnexpectedEndOfStream => {
            return Error::new(end, "an end for each element");
        }
        E::NodesLimitReached => return Error::new(end, "at most 2097152 elements and texts"),
        E::UnexpectedCloseTag(..) => "the end of the innermost element",
        E::DuplicatedAttribute(..) => "every attribute once",
        E::UnknownEntityReference(..) | E::MalformedEntityReference(_) => {
            "`&amp;` for `&`, or `&lt;`, `&gt;`, `&quot;`, `&apos;`"
        }
        E::InvalidAttributeValue(_) => "`&lt;` for `<` in an attribute",
        E::NonXmlChar(..) => "a character that XML allows",
        E::InvalidName(_) => "a name",
        E::InvalidComment(_) => "a comment without `--` inside",
        _ => "well-formed XML",
    };
    let pos = error.pos();
    let lines = text.split_inclusive('\n');
    let above: usize = lines.take(pos.row as usize - 1).map(str::len).sum();
    let line = text.get(above..).unwrap_or("");
    let mut places = line.char_indices().map(|(at, _)| above + at);
    let start = places.nth(pos.col as usize - 1).unwrap_or(text.len());
    let end = places.next().unwrap_or(text.len());
    Error::new(Span { start, end }, expected)
}

/// An element of a document.
#[derive(Clone, Copy)]
pub(super) struct Element<'a>(Node<'a, 'a>);

/// The value of an attribute.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) text: &'a str,
    span: Span,
}

impl<'a> Element<'a> {
    pub(super) fn root(document: &'a Document<'a>) -> Self {
        Self(document.root_element())
    }

    pub(super) fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    /// The elements directly inside.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        self.0.children().filter(Node::is_element).map(Self)
    }

    /// The words between the elements inside.
    pub(super) fn words(self) -> impl Iterator<Item = &'a str> {
        let texts = self.0.children().filter_map(|node| node.text());
        texts.flat_map(str::split_ascii_whitespace)
    }

    pub(super) fn get(self, name: &str) -> Option<Value<'a>> {
        let attribute = self.0.attribute_node(name)?;
        let range = attribute.range_value();
        Some(Value {
            text: attribute.value(),
            span: Span {
                start: range.start,
                end: range.end,
            },
        })
    }

    /// The attribute `name`; its absence is an error that `expected` is missing.
    pub(super) fn need(self, name: &str, expected: &'static str) -> Result<Value<'a>, Error> {
        self.get(name).ok_or_else(|| self.wrong(expected))
    }

    /// The attribute `name` as a number, if it is there.
    pub(super) fn number<T: FromStr>(
        self,
        name: &str,
        expected: &'static str,
    ) -> Result<Option<T>, Error> {
        let value = self.get(name);
        value.map(|value| value.number(expected)).transpose()
    }

    pub(super) fn text(self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.text.into())
    }

    /// An error at the element's name.
    pub(super) fn wrong(self, expected: &'static str) -> Error {
        let start = self.0.range().start;
        let end = start + 1 + self.name().len();
        Error::new(Span { start, end }, expected)
    }
}

impl Value<'_> {
    pub(super) fn wrong(self, expected: &'static str) -> Error {
        Error::new(self.span, expected)
    }

    /// Parses the value as a decimal number.
    pub(super) fn number<T: FromStr>(self, expected: &'static str) -> Result<T, Error> {
        let digits = self.text.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.text.parse().ok().filter(|_| digits);
        number.ok_or_else(|| self.wrong(expected))
    }

    /// Parses the value as a mask of numbers up to `largest`.
    pub(super) fn set(self, largest: usize, expected: &'static str) -> Result<CpuSet, Error> {
        let set = CpuSet::parse_mask(self.text).ok();
        let set = set.ok_or_else(|| self.wrong("a hexadecimal mask such as 0x0000000f"))?;
        match set.last() {
            Some(last) if last > largest => Err(self.wrong(expected)),
            _ => Ok(set),
        }
    }
}
