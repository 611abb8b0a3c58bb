//! `mpirun --bind-to`.

use core::str::FromStr;

use oxmpi_text::{Error, Words};

use crate::Settings;
use crate::intel::{Domain, Layout, Order, Shape, Size};

/// To what each rank is bound. Ranks take these parts of the machine in its order.
///
/// ```
/// use oxmpi_pin::openmpi::BindTo;
///
/// assert_eq!("core".parse(), Ok(BindTo::Core));
/// assert_eq!("package".parse(), Ok(BindTo::Socket));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindTo {
    /// `none`: to nothing.
    None,
    /// `hwthread`: one processor.
    HwThread,
    /// `core`.
    Core,
    /// `socket`, since Open MPI 5 also `package`.
    Socket,
    /// `numa`: one NUMA node.
    Numa,
}

const WORDS: Words = Words(&["none", "hwthread", "core", "socket", "package", "numa"]);

impl FromStr for BindTo {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match WORDS.find(text)? {
            0 => Self::None,
            1 => Self::HwThread,
            2 => Self::Core,
            5 => Self::Numa,
            _ => Self::Socket,
        })
    }
}

impl From<BindTo> for Settings {
    fn from(bind_to: BindTo) -> Self {
        let domain = match bind_to {
            BindTo::None => Domain::Shape(Shape::Node),
            BindTo::HwThread => Domain::Size(Size::Number(1), Layout::Compact),
            BindTo::Core => Domain::Shape(Shape::Core),
            BindTo::Socket => Domain::Shape(Shape::Socket),
            BindTo::Numa => Domain::Shape(Shape::Numa),
        };
        Self {
            pin: bind_to != BindTo::None,
            domain: Some(domain),
            order: Order::Compact,
            ..Self::default()
        }
    }
}
