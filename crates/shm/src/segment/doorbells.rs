//! Doorbells for the ranks of a node, where each sleeps beside other descriptors: sockets, say.
//!
//! They change how a sleeper is woken, not when: who [announces](crate::ring::SleepFlag) that it sleeps is rung where
//! a futex would be woken. A ring waits to be heard, so one that comes before the sleep ends it.

use std::io;
use std::vec::Vec;

use oxmpi_os::doorbell::{Address, Doorbell};

/// This rank's doorbell, and where those of all ranks are.
#[derive(Debug)]
pub(crate) struct Doorbells {
    own: Doorbell,
    all: Vec<Address>,
}

impl Doorbells {
    /// For rank `me` of the `ranks` that have met at the door called `door`.
    pub(crate) fn new(door: &str, ranks: u32, me: u32) -> io::Result<Self> {
        let addresses = (0..ranks).map(|rank| Address::new(&format!("{door}-{rank}")));
        let all: Vec<Address> = addresses.collect::<io::Result<_>>()?;
        Ok(Self {
            own: Doorbell::new(&all[me as usize])?,
            all,
        })
    }

    /// This rank's own.
    pub(crate) const fn own(&self) -> &Doorbell {
        &self.own
    }

    /// Rings at that of `rank`.
    pub(crate) fn ring(&self, rank: u32) {
        self.own.ring(&self.all[rank as usize]);
    }
}
