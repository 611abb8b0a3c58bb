//! The size of a megabyte in reports.

/// The number of bytes that the column `Mbytes/sec` counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Megabyte {
    /// 2^20, as in the User Guide 4.0.
    #[default]
    Binary,
    /// 10^6, as in the original's releases since 2018.
    Decimal,
}

impl Megabyte {
    /// The size in bytes.
    pub fn bytes(self) -> f64 {
        match self {
            Megabyte::Binary => f64::from(1 << 20),
            Megabyte::Decimal => 1e6,
        }
    }
}
