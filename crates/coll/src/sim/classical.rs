//! The linear gatherv and scatterv that MPICH, Open MPI and UCC use by default, which no plan describes:
//! the root posts a receive from, or starts a send to, every rank at once. The executor of plans limits
//! the messages under way. Blocks are equally long.

use alloc::vec::Vec;

use super::driver::{RankDriver, Request};
use super::error::Error;
use super::memory::room_for;
use super::{Program, SimReport, Simulation};
use crate::exec::Driver;
use crate::plan::{Buf, CallArrays, Part};

/// A linear algorithm without a limit of messages under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classical {
    /// Every rank sends its block to rank 0.
    Gatherv,
    /// Rank 0 sends every rank its block.
    Scatterv,
}

/// One rank of such an algorithm.
struct LinearProgram {
    algorithm: Classical,
    block: Part,
    started: bool,
    /// The messages under way, last first.
    open: Vec<Request>,
}

impl Program for LinearProgram {
    fn advance(
        &mut self,
        _: CallArrays<'_>,
        driver: &mut RankDriver<'_, '_>,
    ) -> Result<bool, Error> {
        if !self.started {
            self.started = true;
            self.start(driver)?;
            self.open.reverse();
        }
        while let Some(request) = self.open.last_mut() {
            if !driver.done(request)? {
                return Ok(false);
            }
            self.open.pop();
        }
        Ok(true)
    }
}

impl LinearProgram {
    fn start(&mut self, driver: &mut RankDriver<'_, '_>) -> Result<(), Error> {
        let (size, at_root) = (driver.state.setup.placement.size(), driver.rank == 0);
        let peers = if at_root { 1..size } else { 0..1 };
        let state = &driver.state;
        self.open = room_for(peers.len()).map_err(|_| {
            let more = peers.len() * size_of::<Request>();
            state.budget.refused(state.bytes(), more as u64)
        })?;
        for peer in peers {
            let sends = at_root == (self.algorithm == Classical::Scatterv);
            let request = if sends {
                driver.send(peer, 0, self.block)?
            } else {
                driver.recv(peer, 0, self.block)?
            };
            self.open.extend(request);
        }
        Ok(())
    }
}

impl Simulation<'_> {
    /// Runs a classical algorithm on blocks of `count` elements.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`]; none else that a caller could cause.
    pub fn run_classical(self, algorithm: Classical, count: u64) -> Result<SimReport, Error> {
        let mut programs = self.programs(|_| {
            Ok(LinearProgram {
                algorithm,
                block: Part::new(Buf::In, 0, count),
                started: false,
                open: Vec::new(),
            })
        })?;
        self.simulate(&mut programs)
    }
}
