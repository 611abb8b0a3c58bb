//! What a megabyte is.

/// How many bytes the column `Mbytes/sec` counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Megabyte {
    /// 2^20, as the User Guide 4.0.
    #[default]
    Binary,
    /// 10^6, as the original's releases since 2018.
    Decimal,
}

impl Megabyte {
    /// Bytes of one.
    pub fn bytes(self) -> f64 {
        match self {
            Megabyte::Binary => f64::from(1 << 20),
            Megabyte::Decimal => 1e6,
        }
    }
}
