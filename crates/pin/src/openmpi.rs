//! What users of Open MPI type, and its report of bindings.

mod bind_to;
mod report;

pub use bind_to::BindTo;
pub use report::Report;
