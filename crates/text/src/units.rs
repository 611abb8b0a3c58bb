//! Amounts with units: parsers of bytes, times and whole numbers, and display of bytes ([`Size`]) and times ([`Nanos`]).

use core::fmt;
use core::ops::RangeInclusive;

use crate::{Error, Scanner, Span};

/// Units of bytes: powers of 1,024, also under their short names, as all MPI products parse them.
const BYTES: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("K", 1 << 10),
    ("KB", 1 << 10),
    ("KiB", 1 << 10),
    ("M", 1 << 20),
    ("MB", 1 << 20),
    ("MiB", 1 << 20),
    ("G", 1 << 30),
    ("GB", 1 << 30),
    ("GiB", 1 << 30),
    ("T", 1 << 40),
    ("TB", 1 << 40),
    ("TiB", 1 << 40),
];

const TIMES: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];

/// Parses a number of bytes: `64K`, `1MiB`, `0.5G`, `4096`. `K`, `KB` and `KiB` are 1,024; case
/// does not matter.
///
/// # Errors
/// If the text is anything else, a fraction of a byte, or more than 2^64 - 1 bytes.
pub fn size(text: &str) -> Result<u64, Error> {
    amount(text, BYTES, "a size in bytes such as 4096, 64K or 1.5MiB")
}

/// Parses a duration to nanoseconds: `250ns`, `0.5us`, `20ms`, `2s`, `1min`; `0` needs no unit.
///
/// # Errors
/// If the text is anything else (also a number without unit), a fraction of a nanosecond, or more than 2^64 - 1 ns.
pub fn duration(text: &str) -> Result<u64, Error> {
    match text {
        "0" => Ok(0),
        _ => amount(
            text,
            TIMES,
            "a time with its unit such as 250ns, 0.5us, 20ms or 2s",
        ),
    }
}

/// Parses a whole decimal number that lies in `range`.
///
/// # Errors
/// `expected`, which should name the range, if the text is anything else.
pub fn whole(text: &str, range: RangeInclusive<u64>, expected: &'static str) -> Result<u64, Error> {
    let mut scanner = Scanner::new(text);
    let value = scanner.number(expected)?;
    scanner.end(expected)?;
    match range.contains(&value) {
        true => Ok(value),
        false => Err(Error::new(Span::whole(text), expected)),
    }
}

fn amount(text: &str, units: &[(&str, u64)], expected: &'static str) -> Result<u64, Error> {
    let wrong = Error::new(Span::whole(text), expected);
    let mut scanner = Scanner::new(text);
    let whole = scanner.number(expected)?;
    let decimals = match scanner.eat('.') {
        true => {
            let at = scanner.clone();
            let digits = scanner.take_while(|c| c.is_ascii_digit()).text;
            match digits.len() {
                // More decimals than this cannot make a whole number of the smallest unit matter.
                1..=18 => digits,
                _ => return Err(at.wrong(wrong.expected)),
            }
        }
        false => "",
    };
    let unit = scanner.take_while(char::is_alphabetic);
    let Some(&(_, factor)) = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit.text))
    else {
        return Err(unit.error(expected));
    };
    scanner.end(expected)?;

    let places = 10u128.pow(decimals.len() as u32);
    let fraction: u128 = if decimals.is_empty() {
        0
    } else {
        decimals.parse().map_err(|_| wrong)?
    };
    let scaled = (u128::from(whole) * places + fraction)
        .checked_mul(u128::from(factor))
        .ok_or(wrong)?;
    if scaled % places != 0 {
        return Err(wrong);
    }
    u64::try_from(scaled / places).map_err(|_| wrong)
}

/// Displays a number of bytes exactly, in the largest unit that divides it: `64KiB`, `1000`. [`size`] parses it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        exact(
            f,
            self.0,
            &[
                ("TiB", 1 << 40),
                ("GiB", 1 << 30),
                ("MiB", 1 << 20),
                ("KiB", 1 << 10),
            ],
            "",
        )
    }
}

/// Displays nanoseconds exactly, in the largest unit that divides them: `500ns`, `20ms`. [`duration`] parses it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nanos(pub u64);

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        exact(
            f,
            self.0,
            &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)],
            "ns",
        )
    }
}

fn exact(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(&str, u64)],
    smallest: &str,
) -> fmt::Result {
    let fits = units
        .iter()
        .find(|(_, factor)| value != 0 && value.is_multiple_of(*factor));
    match fits {
        Some((unit, factor)) => write!(f, "{}{unit}", value / factor),
        None => write!(f, "{value}{smallest}"),
    }
}
