//! Doorbells: descriptors that wake ranks of a node that also sleep on other descriptors, such as sockets.
//!
//! They change how a sleeper is woken, not when: a rank that [announces](crate::ring::SleepFlag) its sleep is
//! rung instead of woken by a futex. A ring stays until it is heard, so one that comes before the sleep ends
//! it.

use std::io;
use std::vec::Vec;

use oxmpi_os::doorbell::{Doorbell, DoorbellAddress};

/// This rank's doorbell, and the addresses of those of all ranks.
#[derive(Debug)]
pub(crate) struct Doorbells {
    own: Doorbell,
    all: Vec<DoorbellAddress>,
}

impl Doorbells {
    /// The doorbell of rank `me` of `ranks` ranks that met at the socket called `name`.
    pub(crate) fn new(name: &str, ranks: u32, me: u32) -> io::Result<Self> {
        let addresses = (0..ranks).map(|rank| DoorbellAddress::new(&format!("{name}-{rank}")));
        let all: Vec<DoorbellAddress> = addresses.collect::<io::Result<_>>()?;
        Ok(Self {
            own: Doorbell::new(&all[me as usize])?,
            all,
        })
    }

    /// This rank's doorbell.
    pub(crate) const fn own(&self) -> &Doorbell {
        &self.own
    }

    /// Rings the doorbell of `rank`.
    pub(crate) fn ring(&self, rank: u32) {
        self.own.ring(&self.all[rank as usize]);
    }
}
