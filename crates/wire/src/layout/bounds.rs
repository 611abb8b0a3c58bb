//! [`Bounds`]: where a datatype begins and ends.

use super::error::{DatatypeError, narrow};

/// Offsets from `low` up to, not including, `high`; explicit bounds may have `high` below `low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    low: i64,
    high: i64,
}

/// The bounds of a typemap (MPI 5.0, section 5.1.6): of its bytes, and those that a resized datatype in it sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    bytes: Option<Span>,
    markers: Option<Span>,
    /// The largest alignment of a basic datatype in the typemap, 1 for an empty one.
    align: u16,
    /// The bounds that count: those of the markers if there are some, else of the bytes, with an extent that is
    /// rounded up to the alignment.
    low: i64,
    extent: i64,
}

impl Bounds {
    /// An empty typemap.
    pub(super) const EMPTY: Self = Self {
        bytes: None,
        markers: None,
        align: 1,
        low: 0,
        extent: 0,
    };

    /// `size` bytes from 0.
    pub(super) const fn basic(size: u16, align: u16) -> Self {
        Self {
            bytes: Some(Span {
                low: 0,
                high: size as i64,
            }),
            markers: None,
            align,
            low: 0,
            extent: (size as i64 + align as i64 - 1) / align as i64 * align as i64,
        }
    }

    pub(super) const fn low(&self) -> i64 {
        self.low
    }

    pub(super) const fn extent(&self) -> i64 {
        self.extent
    }

    /// The first byte's offset and the number of bytes to the end of the last one; zeros if there are none.
    pub(super) const fn of_bytes(&self) -> (i64, i64) {
        match self.bytes {
            Some(Span { low, high }) => (low, high - low),
            None => (0, 0),
        }
    }

    /// The typemap with markers at `low` and `low + extent`, and no others.
    ///
    /// # Errors
    /// If the upper bound exceeds 63 bits.
    pub(super) fn resized(self, low: i64, extent: i64) -> Result<Self, DatatypeError> {
        let high = narrow(i128::from(low) + i128::from(extent), "upper bound")?;
        Ok(Self {
            markers: Some(Span { low, high }),
            low,
            extent,
            ..self
        })
    }

    /// The union of copies of the typemap of which the lowest is moved by `low` and the highest by `high`.
    ///
    /// # Errors
    /// If a bound exceeds 63 bits.
    pub(super) fn moved(self, low: i128, high: i128) -> Result<Self, DatatypeError> {
        let moved = |span: Option<Span>| {
            span.map(|span| {
                Ok(Span {
                    low: narrow(i128::from(span.low) + low, "lower bound")?,
                    high: narrow(i128::from(span.high) + high, "upper bound")?,
                })
            })
            .transpose()
        };
        Self::new(moved(self.bytes)?, moved(self.markers)?, self.align)
    }

    /// The union of two typemaps.
    ///
    /// # Errors
    /// If a bound exceeds 63 bits.
    pub(super) fn union(self, other: Self) -> Result<Self, DatatypeError> {
        let union = |one: Option<Span>, other: Option<Span>| match (one, other) {
            (Some(one), Some(other)) => Some(Span {
                low: one.low.min(other.low),
                high: one.high.max(other.high),
            }),
            (one, other) => one.or(other),
        };
        Self::new(
            union(self.bytes, other.bytes),
            union(self.markers, other.markers),
            self.align.max(other.align),
        )
    }

    fn new(bytes: Option<Span>, markers: Option<Span>, align: u16) -> Result<Self, DatatypeError> {
        let extent = |span: Span, what| narrow(i128::from(span.high) - i128::from(span.low), what);
        let exact = bytes.map_or(Ok(0), |span| extent(span, "true extent"))?;
        let (low, extent) = match (markers, bytes) {
            (Some(span), _) => (span.low, extent(span, "extent")?),
            (None, Some(span)) => {
                let align = i128::from(align);
                let padded = (i128::from(exact) + align - 1) / align * align;
                narrow(i128::from(span.low) + padded, "upper bound")?;
                (span.low, narrow(padded, "extent")?)
            }
            (None, None) => (0, 0),
        };
        Ok(Self {
            bytes,
            markers,
            align,
            low,
            extent,
        })
    }
}
