//! Parsers for the values of settings: a scanner with byte spans, numbers with units, lists of ranges, keywords, "did
//! you mean", and one error for all grammars, which displays the text with carets under the wrong part and what was
//! expected there.
//!
//! ```
//! use oxmpi_text::{Words, size};
//!
//! assert_eq!(size("64K"), Ok(65_536));
//!
//! const SHAPES: Words = Words(&["core", "socket", "numa", "node"]);
//! let wrong = SHAPES.find("sokcet").unwrap_err();
//! assert_eq!(
//!     wrong.show("sokcet").to_string(),
//!     "expected core, socket, numa or node, found `sokcet`; did you mean `socket`?\n  sokcet\n  ^^^^^^"
//! );
//! ```
//!
//! [`Setting`] is the row type of the settings tables that other crates export, and [`SettingsTable`] finds rows in
//! them. This crate defines no setting, reads neither files nor the environment, does not allocate, and never panics on
//! any text.

#![no_std]
#![forbid(unsafe_code)]

mod error;
mod printable;
mod ranges;
mod scan;
mod setting;
mod suggest;
mod units;
mod words;

pub use error::{Error, Expected, Shown, Span};
pub use printable::Printable;
pub use ranges::{NumberList, Range, Ranges};
pub use scan::{Scanner, Token};
pub use setting::{Alias, EnvName, Level, Product, Setting, SettingsTable};
pub use suggest::{distance, nearest};
pub use units::{Nanos, Size, duration, size, whole};
pub use words::{Words, switch};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
