//! Open MPI's options `--cpu-set`, `--map-by`, `--bind-to` and `--use-hwthread-cpus`, and its report of bindings.

mod bind_to;
mod cpu_list;
mod level;
mod map_by;
mod mapping;
mod place;
mod report;

pub use bind_to::BindTo;
pub use cpu_list::CpuList;
pub use level::Level;
pub use map_by::{MapBy, MapTarget};
pub use mapping::{Mapping, MappingError};
pub use report::Report;

pub(crate) use place::place;
