#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod address;
pub mod door;
pub mod frame;
mod log;
pub mod pulse;
pub mod settings;
pub mod transport;

pub use address::{Card, Filter};
pub use door::JobKey;
pub use oxmpi_wire as wire;
pub use settings::SETTINGS;
pub use transport::{Options, Site, TcpRx, TcpTx};
