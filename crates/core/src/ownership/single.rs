//! An endpoint that one thread uses.

use std::rc::Rc;

use super::super::thread_endpoints::{self, SingleCount};
use super::super::threading::Threading;
use super::unlocked::Unlocked;
use super::{EndpointCell, drive, list_single};
use crate::error::Result;

/// One thread uses the endpoint, and takes no lock.
#[derive(Clone)]
pub struct Single(pub(super) Rc<SingleEndpoint>);

/// An endpoint that its thread drives for as long as it lives.
pub(super) struct SingleEndpoint {
    pub(super) endpoint: EndpointCell,
    _count: SingleCount,
}

impl Single {
    /// The endpoint of the calling thread, which drives it while it waits.
    #[must_use]
    pub fn new(endpoint: EndpointCell) -> Self {
        let endpoint = Rc::new(SingleEndpoint {
            _count: SingleCount::new(drive),
            endpoint,
        });
        // SAFETY: the cell is in an `Rc`, whose content nobody takes out.
        unsafe { endpoint.endpoint.list(true) };
        list_single(&endpoint);
        Self(endpoint)
    }
}

impl Threading for Single {}

impl Unlocked for Single {
    fn hold(endpoint: EndpointCell) -> Result<Self> {
        Ok(Self::new(endpoint))
    }

    #[inline(always)]
    fn cell(&self) -> &EndpointCell {
        &self.0.endpoint
    }

    #[inline(always)]
    fn has_others() -> bool {
        thread_endpoints::any()
    }
}
