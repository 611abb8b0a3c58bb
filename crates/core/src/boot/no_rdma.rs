//! A build without RDMA: no rank has a port.

use oxmpi_shm::heap::Heap;
use oxmpi_tcp::{TcpRx, TcpTx};

use super::network_preference::NetworkPreference;
use crate::error::{Error, Result};
use crate::links::NetworkEnds;

/// The text in place of a fabric where there is none.
pub(super) const NONE: &str = "-";

/// The RDMA port that this rank does not have.
pub(crate) struct Rdma;

impl Rdma {
    pub(super) const fn open(_: &NetworkPreference, _: u32) -> Self {
        Self
    }

    pub(super) const fn is_open(&self) -> bool {
        false
    }

    pub(super) fn refusal(&self, preference: &NetworkPreference) -> Error {
        preference.refusal()
    }

    pub(super) fn fabric(&self) -> String {
        NONE.into()
    }

    pub(super) const fn fabric_number(&self) -> u16 {
        0
    }

    #[expect(clippy::unnecessary_wraps, reason = "as with RDMA")]
    pub(super) fn over<'a>(
        self,
        (tx, rx): (TcpTx, TcpRx),
        _: &str,
        _: impl Iterator<Item = &'a str>,
        _: &[u32],
        _: Option<&Heap>,
    ) -> Result<(NetworkEnds, Option<String>)> {
        Ok((NetworkEnds::tcp(tx, rx), None))
    }
}
