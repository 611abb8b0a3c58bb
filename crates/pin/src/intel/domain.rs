//! `I_MPI_PIN_DOMAIN`: what one rank gets.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Expected, Scanner, Span, Words};

/// A part of the machine that forms one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `core`: the processors of one core.
    Core,
    /// `socket` or `sock`: the processors of one package.
    Socket,
    /// `numa`: the processors of one NUMA node.
    Numa,
    /// `node`: all processors, which is the same as no pinning.
    Node,
}

impl Shape {
    const ALL: [Self; 4] = [Self::Core, Self::Socket, Self::Numa, Self::Node];

    /// The word in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Socket => "socket",
            Self::Numa => "numa",
            Self::Node => "node",
        }
    }
}

/// How the processors of a node are cut into domains, one rank in each. Written as in
/// `I_MPI_PIN_DOMAIN=<mc-shape>` or `<size>[:compact]`.
///
/// ```
/// use oxmpi_pin::intel::{Domain, Shape};
///
/// assert_eq!("sock".parse(), Ok(Domain::Shape(Shape::Socket)));
/// assert_eq!("4:compact".parse(), Ok(Domain::Size(4)));
/// let wrong = "scoket".parse::<Domain>().unwrap_err();
/// assert_eq!(wrong.suggestion, Some("socket"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Domain {
    /// `auto`: as many processors as there are for each rank, the processors of the node divided by
    /// its ranks, rounded down, at least one. The default.
    #[default]
    Auto,
    /// `<n>`: this many processors, close to each other; at least one.
    Size(u32),
    /// A part of the machine.
    Shape(Shape),
}

const WORDS: Words = Words(&[
    "core",
    "socket",
    "sock",
    "numa",
    "node",
    "auto",
    "a number of processors",
]);
const SIZE: &str = "a number of processors from 1 to 4294967295";
const LAYOUTS: Words = Words(&["compact"]);

impl FromStr for Domain {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text);
        let word = scanner.word();
        if word.text.starts_with(|c: char| c.is_ascii_digit()) {
            let wrong = word.error(SIZE);
            let size = word
                .text
                .parse()
                .ok()
                .filter(|&size| size > 0)
                .ok_or(wrong)?;
            return layout(scanner).map(|()| Self::Size(size));
        }
        if word.text.is_empty() {
            let expected = Expected::OneOf(WORDS.0);
            return Err(Error {
                span: Span::whole(text),
                expected,
                suggestion: None,
            });
        }
        WORDS.find(word.text)?;
        if word.text == "auto" {
            return layout(scanner).map(|()| Self::Auto);
        }
        scanner.end("nothing behind a shape: only a size takes a layout")?;
        let shape = Shape::ALL
            .into_iter()
            .find(|shape| shape.word() == word.text);
        Ok(Self::Shape(shape.unwrap_or(Shape::Socket)))
    }
}

/// What may stand behind a size: nothing, or the layout that is the default anyway.
fn layout(mut scanner: Scanner<'_>) -> Result<(), Error> {
    if scanner.eat(':') {
        let layout = scanner.word();
        LAYOUTS
            .find(layout.text)
            .map_err(|error| error.moved(layout.span.start))?;
    }
    scanner.end("a size, and behind it nothing or `:compact`")
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Size(size) => write!(f, "{size}"),
            Self::Shape(shape) => f.write_str(shape.word()),
        }
    }
}
