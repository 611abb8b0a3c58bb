//! [`DatatypeError`]: why a datatype cannot be made.

use thiserror::Error;

/// Why a datatype cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DatatypeError {
    /// A number exceeds 63 bits.
    #[error("the {0} of the datatype exceeds 63 bits")]
    TooLarge(&'static str),
    /// A sub-array has an empty dimension, or one that exceeds the array.
    #[error(
        "dimension {dimension}: the sub-array has {len} elements from {start}, expected 1 or more within the array's {whole}"
    )]
    Dimension {
        /// Index of the dimension.
        dimension: usize,
        /// Elements of the array.
        whole: u64,
        /// Elements of the sub-array.
        len: u64,
        /// Its first element.
        start: u64,
    },
    /// Blocks of a distribution that do not cover their dimension.
    #[error(
        "{ranks} blocks of {block} elements do not cover the {whole} elements of their dimension once"
    )]
    Distribution {
        /// Elements of the array.
        whole: u64,
        /// Ranks that they are spread over.
        ranks: u64,
        /// Elements of a block.
        block: u64,
    },
}

/// `value` as a signed number of 64 bits.
///
/// # Errors
/// [`DatatypeError::TooLarge`] with `what` it is.
pub(super) fn narrow(value: i128, what: &'static str) -> Result<i64, DatatypeError> {
    i64::try_from(value).map_err(|_| DatatypeError::TooLarge(what))
}
