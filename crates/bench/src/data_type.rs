//! [`DataType`]: the type of the items of messages (`-data_type`).

/// The type of the items of messages, reductions apart. A library moves the bytes of every type alike; the type decides
/// which lengths there are, since messages have whole items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DataType {
    /// `MPI_BYTE`.
    #[default]
    Byte,
    /// `MPI_CHAR`: one byte.
    Char,
    /// `MPI_INT`: four bytes.
    Int,
    /// `MPI_FLOAT`: four bytes.
    Float,
    /// `MPI_DOUBLE`: eight bytes.
    Double,
}

impl DataType {
    /// The words of `-data_type`.
    pub const NAMES: [(&str, Self); 5] = [
        ("byte", Self::Byte),
        ("char", Self::Char),
        ("int", Self::Int),
        ("float", Self::Float),
        ("double", Self::Double),
    ];

    /// The name in MPI (MPI 5.0, section 3.2.2).
    pub fn mpi_name(self) -> &'static str {
        match self {
            Self::Byte => "MPI_BYTE",
            Self::Char => "MPI_CHAR",
            Self::Int => "MPI_INT",
            Self::Float => "MPI_FLOAT",
            Self::Double => "MPI_DOUBLE",
        }
    }

    /// Bytes of an item.
    pub fn size(self) -> usize {
        match self {
            Self::Byte | Self::Char => 1,
            Self::Int | Self::Float => 4,
            Self::Double => 8,
        }
    }
}
