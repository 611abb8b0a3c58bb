//! [`Error`]: why a call failed, and its code (MPI 5.0, section 9.4).

mod classes;

use std::borrow::Cow;
use std::fmt::Display;

pub(crate) use classes::{class_of_core, name as class_name, text as class_text};

use crate::constants::{MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_RANK, MPI_ERR_TAG};
use crate::handles::Handle;
use crate::types::c_int;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Error {
    /// The error code.
    pub(crate) code: c_int,
    /// What happened.
    pub(crate) why: Cow<'static, str>,
}

/// The result of a call's work.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(code: c_int, why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            why: why.into(),
        }
    }

    /// An argument that is wrong, where no other class says more.
    pub(crate) fn argument(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(MPI_ERR_ARG, why)
    }

    /// A handle that names no object.
    pub(crate) fn handle(code: c_int, what: &str, handle: impl Handle) -> Self {
        let address = handle.address();
        Self::new(
            code,
            format!(
                "{address:#x} is no valid {what}: it is null, was freed, or is of another kind"
            ),
        )
    }

    /// A negative count.
    pub(crate) fn count(count: impl Display) -> Self {
        Self::new(
            MPI_ERR_COUNT,
            format!("the count is {count}, and at least 0 is expected"),
        )
    }
}

impl From<oxmpi_core::Error> for Error {
    #[cold]
    fn from(error: oxmpi_core::Error) -> Self {
        use oxmpi_core::Error as Core;
        match error {
            // Ranks and tags of a C program are signed.
            Core::Rank { rank, named, size } if named > i32::MAX as usize => Self::new(
                MPI_ERR_RANK,
                format!(
                    "rank {rank} named rank {}, but the communicator has ranks 0 to {}",
                    named as i32,
                    size - 1
                ),
            ),
            Core::Tag { rank, tag } if tag > i32::MAX as u32 => Self::new(
                MPI_ERR_TAG,
                format!("rank {rank} used tag {}, but tags begin at 0", tag as i32),
            ),
            Core::GroupRank { named, size } if named > i32::MAX as usize => Self::new(
                MPI_ERR_RANK,
                format!(
                    "rank {} of a group was named, but the group has {size} ranks",
                    named as i32
                ),
            ),
            error => Self::new(class_of_core(error.class()), error.to_string()),
        }
    }
}
