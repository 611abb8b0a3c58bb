//! Functions that are not implemented.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::constants::MPI_ERR_UNSUPPORTED_OPERATION;
use crate::error_handling::{self, Error};
use crate::membership;
use crate::types::c_int;

/// The name of a missing function, which it says once.
pub(crate) struct Named {
    name: &'static str,
    said: AtomicBool,
}

impl Named {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            said: AtomicBool::new(false),
        }
    }

    #[cold]
    pub(crate) fn error(&self) -> c_int {
        if !self.said.swap(true, Ordering::Relaxed) {
            eprintln!(
                "oxmpi: {} is not implemented; `oxmpi info --abi` lists what is missing",
                self.name
            );
        }
        let code = MPI_ERR_UNSUPPORTED_OPERATION;
        match membership::is_running() && !self.only_returns() {
            true => {
                error_handling::raise(None, self.name, Error::new(code, "it is not implemented"))
            }
            false => code,
        }
    }

    /// Whether no error handler is called: never by the tools interface (MPI 5.0, section 15.3.9), and by default not for files
    /// (section 14.7), of which there are none yet that could have another one.
    fn only_returns(&self) -> bool {
        self.name.starts_with("MPI_T_") || self.name.starts_with("MPI_File_")
    }
}
