//! The process manager that started this process, according to the environment.

use std::env;

use oxmpi_wire::pmi::{PmiVariables, StartError, StartMethod};

/// The result of `read` for the way this process was started.
pub(crate) fn with_start<R>(read: impl FnOnce(Result<StartMethod<'_>, StartError>) -> R) -> R {
    let values = PmiVariables::NAMES.map(|name| env::var(name).ok());
    let variables = PmiVariables::new(values.each_ref().map(Option::as_deref));
    read(StartMethod::read(&variables))
}
