//! The values of Intel MPI's pinning variables, as types that parse and print: domains, orders, cells,
//! processor lists.

mod cell;
mod domain;
mod order;
mod processor_list;

pub use cell::Cell;
pub(crate) use domain::mask;
pub use domain::{Domain, Layout, Shape, Size};
pub use order::Order;
pub(crate) use processor_list::PARTS;
pub use processor_list::{Amount, Cells, Map, Members, Part, ProcessorList};
