//! The process manager that started this process, according to the environment.

use std::env;

use oxmpi_wire::pmi::{Start, StartError, Variables};

/// The result of `read` for the way this process was started.
pub(crate) fn with_start<R>(read: impl FnOnce(Result<Start<'_>, StartError>) -> R) -> R {
    let values = Variables::NAMES.map(|name| env::var(name).ok());
    let variables = Variables::new(values.each_ref().map(Option::as_deref));
    read(Start::read(&variables))
}
