//! [`Error`]: why a call failed, and its code (MPI 5.0, section 9.4).

mod classes;

use std::borrow::Cow;
use std::fmt::Display;

pub(crate) use classes::{class_of_core, name as class_name, text as class_text};

use crate::constants::{
    MPI_COMM_NULL, MPI_DATATYPE_NULL, MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_RANK, MPI_ERR_TAG,
    MPI_ERRHANDLER_NULL, MPI_FILE_NULL, MPI_GROUP_NULL, MPI_INFO_NULL, MPI_MESSAGE_NULL,
    MPI_OP_NULL, MPI_REQUEST_NULL, MPI_SESSION_NULL, MPI_WIN_NULL,
};
use crate::handles::Handle;
use crate::types::{Status, c_int};

/// Why a call failed.
#[derive(Clone, Debug)]
pub(crate) struct Error {
    /// The error code.
    pub(crate) code: c_int,
    /// What happened.
    pub(crate) why: Cow<'static, str>,
    /// The status of the operation, where it has one.
    pub(crate) status: Option<Box<Status>>,
}

macro_rules! nulls {
    ($($name:ident)*) => {
        /// The null handles of all kinds, each with its name.
        const NULLS: &[(usize, &str)] = &[$(($name, stringify!($name))),*];
    };
}

nulls! {
    MPI_COMM_NULL MPI_DATATYPE_NULL MPI_ERRHANDLER_NULL MPI_FILE_NULL MPI_GROUP_NULL MPI_INFO_NULL MPI_MESSAGE_NULL
    MPI_OP_NULL MPI_REQUEST_NULL MPI_SESSION_NULL MPI_WIN_NULL
}

/// The result of a call's work.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(code: c_int, why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            why: why.into(),
            status: None,
        }
    }

    /// The status of the operation that ended with this error.
    pub(crate) fn status(&self) -> Status {
        self.status.as_deref().copied().unwrap_or(Status::EMPTY)
    }

    /// An argument that is wrong, where no other class says more.
    pub(crate) fn argument(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(MPI_ERR_ARG, why)
    }

    /// A handle that names no object.
    pub(crate) fn handle(code: c_int, what: &str, handle: impl Handle) -> Self {
        let address = handle.address();
        let why = match NULLS.iter().find(|null| null.0 == address) {
            Some((_, name)) => format!("the {what} is {name}"),
            None => format!("{address:#x} is no valid {what}: it was freed, or is of another kind"),
        };
        Self::new(code, why)
    }

    /// The same error, of one block of an array of them.
    #[cold]
    pub(crate) fn in_block(mut self, block: usize) -> Self {
        self.why = format!("in block {block}: {}", self.why).into();
        self
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
            error => {
                let mut of = Self::new(class_of_core(error.class()), error.to_string());
                if matches!(error, Core::Truncated { .. }) {
                    of.status = Some(Box::new(Status::of_error(&error)));
                }
                of
            }
        }
    }
}
