#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod address;
pub mod frame;
pub mod handshake;
pub mod liveness;
mod log;
pub mod settings;
pub mod transport;

pub use address::{BusinessCard, InterfaceFilter};
pub use handshake::JobKey;
pub use oxmpi_wire as wire;
pub use settings::SETTINGS;
pub use transport::{PassiveEndpoint, TcpOptions, TcpRx, TcpTx};
