//! Open MPI's options `--cpu-set`, `--map-by` and `--bind-to`, and its report of bindings.

mod bind_to;
mod level;
mod map_by;
mod mapping;
mod report;

pub use bind_to::BindTo;
pub use level::Level;
pub use map_by::{By, MapBy};
pub use mapping::{Mapping, UnknownProcessors, cpu_set};
pub use report::Report;

pub(crate) use mapping::place;
