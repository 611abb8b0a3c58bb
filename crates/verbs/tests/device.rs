//! Tests on a device, which `OXMPI_TEST_RDMA="DEVICE GID_INDEX"` names; without it there is nothing to test, and they
//! pass. `cargo xtask ci rdma` runs them in a machine with a soft-RoCE device.

mod conformance;
mod connection;
mod failures;
mod objects;
mod transfers;

type Outcome = Result<(), Box<dyn std::error::Error>>;
