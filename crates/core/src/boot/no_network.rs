//! A build without a network of our own: there is no [`NetworkListener`].

use std::convert::Infallible;
use std::fmt;

use oxmpi_shm::SegmentLayout;

use super::network_preference::NetworkPreference;
use super::node::Acceptor;
use super::{EndpointAddress, WiredRanks};
use crate::error::Result;

/// A rank that listens to a network, of which this build has none.
pub(crate) struct NetworkListener(pub(super) Infallible);

impl NetworkListener {
    /// The longest business card in bytes.
    pub(crate) const ROOM: usize = 0;

    /// Fails.
    ///
    /// # Errors
    /// Always: there is no network to the ranks of other nodes.
    pub(crate) fn open(
        preference: &NetworkPreference,
        _: Acceptor,
        _: EndpointAddress,
        _: &EndpointAddress,
        _: u32,
    ) -> Result<Self> {
        Err(preference.refusal())
    }

    /// Connects all ranks.
    ///
    /// # Errors
    /// None: there is no listener.
    pub(crate) fn join(
        self,
        _: u32,
        _: &[String],
        _: impl Fn(u32) -> SegmentLayout,
    ) -> Result<WiredRanks> {
        match self.0 {}
    }
}

impl fmt::Display for NetworkListener {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}
