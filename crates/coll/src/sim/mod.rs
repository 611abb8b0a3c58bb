//! A discrete-event simulator of collectives: runs all ranks' plans with the [executor](crate::exec) of
//! real calls over a model of processors, network adapters and message queues.
//!
//! The model is LogGP, with these additions:
//!
//! - Each rank has a processor, which is busy for `send` with a message that it sends and for `recv` with
//!   one that it receives, in the order of arrival.
//! - Each node has one adapter. Its sending and its receiving end serve one message after another, each
//!   for `gap` or its bytes at `byte`, whichever takes longer.
//! - A message between two ranks of a node takes the node's path. Copies overlap, unless
//!   [`Setup::serial_copies`] makes the receiver's processor copy one message after another.
//! - A receive searches the queue of unexpected messages, a message the queue of posted receives. Each
//!   entry visited costs [`Setup::matching`]; 0 models a library that matches by hashing.
//! - A message of more than [`Machine::eager`] bytes uses a rendezvous: it is announced, the receiver's
//!   adapter fetches it once its receive is posted, and only then is the sender done.
//! - A reduction costs the node's `byte` per byte, a copy within a rank's memory costs [`Machine::copy`].
//! - With [`Setup::flags`], a message of at most [`Machine::FLAG`] bytes is a flag written to the
//!   receiver's memory: nothing is matched, and sender and receiver pay what they pay inside a node.
//! - An [intra-node phase](crate::plan::IntraNodeOp) takes the time of its [cost form](crate::cost) after
//!   its last rank has entered.
//!
//! The model leaves out the network between the adapters (topology, congestion), noise, connection
//! set-up, the limits of a node's memory bandwidth, and caches.
//!
//! A simulation gives the same numbers on every machine: times are whole picoseconds, and simultaneous
//! events have a fixed order.
//!
//! ```
//! use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
//! use oxmpi_coll::sim::{Machine, Order, Placement, Setup, Simulation, Workload};
//!
//! let setup = Setup::new(Machine::GEMINI, Placement::new(Order::Block, 1_000, 16));
//! let work = Workload::new(Collective::Barrier, 1_000, 0);
//! let dissemination = Algorithm::BarrierDissemination;
//! let report = Simulation::new(&setup).work(&work, dissemination, &Parameters::NONE)?;
//! assert_eq!(report.counts.messages, 10_000);
//! assert!(report.last() > 10_000_000, "ten rounds take more than 10 us");
//! # Ok::<(), oxmpi_coll::sim::Error>(())
//! ```

mod classical;
mod counts;
mod driver;
mod error;
mod events;
mod goal;
mod intra_node;
mod memory;
mod message;
mod nodes;
mod offload;
mod queue;
mod state;
mod symmetry;
mod tables;
mod workload;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub use crate::machine::{Machine, PathCosts};
pub use crate::placement::{Order, Placement};
pub use classical::Classical;
pub use counts::MessageCounts;
pub use error::Error;
pub use goal::write_goal;
pub use offload::Offload;
pub use symmetry::is_node_symmetric;
pub use workload::Workload;

use crate::call::setters;
use crate::exec::{Execution, Failure, Progress};
use crate::nodes::NodeMap;
use crate::plan::{CallArrays, LearnedLengths, Plan};
use driver::{RankDriver, Request};
use memory::{Budget, room_for};
use nodes::SimNodes;
use state::SimState;
use tables::LEAST_BYTES_OF_RANK;

/// The simulated system: a machine, the placement of ranks, and how messages are matched and copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The costs of messages, reductions and copies.
    pub machine: Machine,
    /// The nodes of the ranks.
    pub placement: Placement,
    /// Picoseconds per queue entry that matching visits.
    pub matching: u64,
    /// Whether messages of at most [`Machine::FLAG`] bytes are flags written to the receiver's memory.
    pub flags: bool,
    /// Whether a rank's processor copies messages from its own node one after another; else such copies
    /// overlap with all other work.
    pub serial_copies: bool,
    /// Whether only one node is simulated; see [`Setup::by_symmetry`].
    one_node: bool,
}

setters! {
    Setup:
    with_flags(flags: bool)
    with_serial_copies(serial_copies: bool)
}

impl Setup {
    /// A setup without matching costs, flags and serial copies.
    pub const fn new(machine: Machine, placement: Placement) -> Self {
        Setup {
            machine,
            placement,
            matching: 0,
            flags: false,
            serial_copies: false,
            one_node: false,
        }
    }

    /// The setup with a cost of matching, in picoseconds per queue entry visited.
    pub const fn with_matching(self, picoseconds: u64) -> Self {
        Setup {
            matching: picoseconds,
            ..self
        }
    }

    /// Simulates only one node and derives the others by symmetry.
    ///
    /// The times equal those of a full simulation exactly if a shift of all ranks by one node changes
    /// nothing: with block placement, full nodes, and an algorithm whose rank `r + m` does what rank `r`
    /// does with all peers `m` higher modulo the ranks, where `m` is the ranks per node. A message to the
    /// node `d` above then equals a message that this node receives from the node `d` below at the same
    /// time. [`is_node_symmetric`] says which algorithms qualify.
    ///
    /// # Errors
    ///
    /// [`Error::Uneven`] if the placement is not block or nodes are not full.
    pub const fn by_symmetry(self) -> Result<Self, Error> {
        if !self.placement.is_uniform() {
            let (size, per_node) = (self.placement.size(), self.placement.per_node());
            return Err(Error::Uneven { size, per_node });
        }
        Ok(Setup {
            one_node: true,
            ..self
        })
    }

    /// The number of simulated ranks.
    const fn ranks(&self) -> u32 {
        if self.one_node {
            self.placement.per_node()
        } else {
            self.placement.size()
        }
    }

    /// The number of nodes that each simulated node represents.
    const fn nodes_represented(&self) -> u64 {
        if self.one_node {
            self.placement.nodes() as u64
        } else {
            1
        }
    }
}

/// The result of a simulation. Times are picoseconds from the common start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimReport {
    /// The time at which each simulated rank was done.
    pub times: Vec<u64>,
    /// The counts of all ranks.
    pub counts: MessageCounts,
}

impl SimReport {
    /// The time at which the last rank was done.
    pub fn last(&self) -> u64 {
        self.times.iter().copied().max().unwrap_or(0)
    }

    /// The mean of the times at which ranks were done.
    pub fn mean(&self) -> u64 {
        let sum: u128 = self.times.iter().map(|&time| u128::from(time)).sum();
        (sum / (self.times.len().max(1) as u128)) as u64
    }
}

/// The work of a rank: a plan, or a classical algorithm that no plan describes.
trait Program {
    /// Starts all acts that can start. Returns whether the rank is done.
    fn advance(
        &mut self,
        given: CallArrays<'_>,
        driver: &mut RankDriver<'_, '_>,
    ) -> Result<bool, Error>;
}

impl<P: Plan> Program for Execution<P, Request> {
    fn advance(
        &mut self,
        given: CallArrays<'_>,
        driver: &mut RankDriver<'_, '_>,
    ) -> Result<bool, Error> {
        let rank = driver.rank;
        match Execution::advance(self, given, driver) {
            Ok(progress) => Ok(progress == Progress::Done),
            Err(Failure::Driver(error)) => Err(error),
            Err(_) => Err(Error::UnknownLength { rank }),
        }
    }
}

/// A simulation to be run, with its inputs.
pub struct Simulation<'a> {
    setup: &'a Setup,
    nodes: Option<&'a Arc<NodeMap>>,
    element: u64,
    given: CallArrays<'a>,
    block: u64,
    memory_limit: u64,
    time_limit: u64,
    watch: Option<&'a mut dyn FnMut(SimProgress)>,
}

/// How far a simulation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimProgress {
    /// The events so far.
    pub events: u64,
    /// The simulated time, in picoseconds.
    pub time: u64,
    /// The messages that are received and whose senders are done.
    pub messages: u64,
}

/// The number of events between two looks at memory and calls of the watch function.
const WATCH: u64 = 1 << 14;

impl<'a> Simulation<'a> {
    /// A simulation with elements of one byte and without arrays.
    pub const fn new(setup: &'a Setup) -> Self {
        Simulation {
            setup,
            nodes: None,
            element: 1,
            given: CallArrays::NOTHING,
            block: 0,
            memory_limit: u64::MAX,
            time_limit: u64::MAX,
            watch: None,
        }
    }

    /// Places the ranks on nodes of any sizes, in place of the setup's placement, of which only the number of ranks
    /// counts.
    pub const fn on(mut self, nodes: &'a Arc<NodeMap>) -> Self {
        self.nodes = Some(nodes);
        self
    }

    /// Sets the bytes of an element.
    pub const fn element_bytes(mut self, bytes: u64) -> Self {
        self.element = bytes;
        self
    }

    /// Sets the arrays that every rank is given.
    pub const fn given(mut self, given: CallArrays<'a>) -> Self {
        self.given = given;
        self
    }

    /// Sets the length in bytes that every learned length has: no data travel, and all blocks are equally
    /// long.
    pub const fn block(mut self, bytes: u64) -> Self {
        self.block = bytes;
        self
    }

    /// Sets the bytes of memory that the simulation may take. It is refused before it starts if its ranks do
    /// not fit, and ends with [`Error::Memory`] if a table has to grow, for the messages under way, and does not fit beside
    /// the old one. It also ends so if the system refuses memory below this limit.
    pub const fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Sets the picoseconds that the ranks may take. A simulation ends with [`Error::Time`] as soon as one is
    /// seen to take longer: a search for the fastest algorithm spends less on the others.
    pub const fn time_limit(mut self, picoseconds: u64) -> Self {
        self.time_limit = picoseconds;
        self
    }

    /// Sets a function that is called every 16,384 events.
    pub const fn watch(mut self, watch: &'a mut dyn FnMut(SimProgress)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Runs every simulated rank's plan.
    ///
    /// # Errors
    ///
    /// If a plan cannot be made, or the plans do not match each other.
    pub fn run<P: Plan>(self, plan: impl Fn(u32) -> Result<P, Error>) -> Result<SimReport, Error> {
        let mut executions = self.executions(plan)?;
        self.simulate(&mut executions)
    }

    /// The lengths that each simulated rank's plan learns while they run.
    fn learned<P: Plan>(
        self,
        plan: impl Fn(u32) -> Result<P, Error>,
    ) -> Result<Vec<LearnedLengths>, Error> {
        let mut executions = self.executions(plan)?;
        self.simulate(&mut executions)?;
        let learned = executions.iter().map(|one| one.learned().clone());
        Ok(learned.collect())
    }

    /// An execution of each simulated rank's plan.
    fn executions<P: Plan>(
        &self,
        plan: impl Fn(u32) -> Result<P, Error>,
    ) -> Result<Vec<Execution<P, Request>>, Error> {
        self.programs(|rank| plan(rank).map(Execution::new))
    }

    /// Each simulated rank's program.
    fn programs<P>(&self, program: impl Fn(u32) -> Result<P, Error>) -> Result<Vec<P>, Error> {
        let ranks = self.setup.ranks();
        let budget = self.budget::<P>();
        budget.check(u64::from(ranks) * LEAST_BYTES_OF_RANK, 0)?;
        let room = room_for(ranks as usize);
        let mut programs = room.map_err(|_| {
            Budget {
                programs: 0,
                ..budget
            }
            .refused(0, budget.programs)
        })?;
        for rank in 0..ranks {
            programs.push(program(rank)?);
        }
        Ok(programs)
    }

    /// The memory that the simulation of such programs may take.
    fn budget<P>(&self) -> Budget {
        let ranks = self.setup.ranks();
        Budget {
            ranks,
            programs: u64::from(ranks) * size_of::<P>() as u64,
            limit: self.memory_limit,
        }
    }

    /// Runs every simulated rank's program to its end.
    fn simulate<P: Program>(mut self, programs: &mut [P]) -> Result<SimReport, Error> {
        let ranks = self.setup.ranks();
        let nodes = SimNodes {
            setup: self.setup,
            listed: self.nodes.map(|nodes| &**nodes),
        };
        let budget = self.budget::<P>();
        let mut state = SimState::new(self.setup, nodes, self.element, self.block, budget)?;
        let bytes = u64::from(ranks) * size_of::<u64>() as u64;
        let times = room_for(ranks as usize);
        let mut times = times.map_err(|_| state.budget.refused(state.bytes(), bytes))?;
        let mut left = 0;
        for rank in 0..ranks {
            left += u32::from(!self.advance(&mut state, programs, rank)?);
        }
        let mut events = 0_u64;
        while let Some(ready) = state.step() {
            if let Some(rank) = ready? {
                left -= u32::from(self.advance(&mut state, programs, rank)?);
                // A rank's time never falls, so the last rank's is no less.
                if state.rank(rank).cpu > self.time_limit {
                    let limit = self.time_limit;
                    return Err(Error::Time { limit });
                }
            }
            events += 1;
            if events.is_multiple_of(WATCH) {
                state.budget.check(state.bytes(), 0)?;
                if let Some(watch) = self.watch.as_mut() {
                    watch(SimProgress {
                        events,
                        time: state.now(),
                        messages: state.finished,
                    });
                }
            }
        }
        if let Some(rank) = state.ranks.iter().position(|rank| !rank.done) {
            let (rank, others) = (rank as u32, left - 1);
            return Err(Error::Deadlock { rank, others });
        }
        times.extend(state.ranks.iter().map(|rank| rank.cpu));
        let report = SimReport {
            times,
            counts: state.counts.times(self.setup.nodes_represented()),
        };
        let limit = self.time_limit;
        (report.last() <= limit)
            .then_some(report)
            .ok_or(Error::Time { limit })
    }

    /// Advances a rank. Returns whether it became done.
    fn advance<P: Program>(
        &self,
        state: &mut SimState<'_>,
        programs: &mut [P],
        rank: u32,
    ) -> Result<bool, Error> {
        let mut driver = RankDriver { state, rank };
        let done = programs[rank as usize].advance(self.given, &mut driver)?;
        let before = core::mem::replace(&mut state.rank(rank).done, done);
        Ok(done && !before)
    }
}
