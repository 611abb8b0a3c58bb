//! Which process manager started this process, as its environment says.

use std::env;

use oxmpi_wire::pmi::{Start, StartError, Variables};

/// What `read` makes of how this process was started.
pub(crate) fn with_start<R>(read: impl FnOnce(Result<Start<'_>, StartError>) -> R) -> R {
    let values = Variables::NAMES.map(|name| env::var(name).ok());
    let variables = Variables::new(values.each_ref().map(Option::as_deref));
    read(Start::read(&variables))
}
