//! How long a collective takes on a machine that is not there: all ranks' plans, run by the same
//! [executor](crate::exec) that runs them in life, over a model of processors, adapters and queues.
//!
//! The model is LogGP's, with what real machines add to it:
//!
//! - each rank has a processor, busy for `send` with a message it sends and `recv` with one that
//!   comes, in the order in which they come;
//! - each node has one adapter, whose two ends serve one message after another: the larger of `gap`
//!   and its bytes at `byte` each;
//! - between two ranks of a node a message takes the node's own path; copies overlap, unless
//!   [`Setup::serial_copies`] makes the receiver's processor do one after another;
//! - a receive is looked for along the queue of messages without one, a message along the queue of
//!   posted receives, and each entry looked at costs [`Setup::matching`] (0 is a library that finds
//!   them by hashing);
//! - a message beyond [`Machine::eager`] bytes is announced, fetched by the receiver's adapter once
//!   its receive is there, and only then is the sender done;
//! - reducing costs the node's `byte` each byte, copying within a rank's memory [`Machine::copy`];
//! - with [`Setup::flags`] a message of at most [`Machine::FLAG`] bytes is a flag that the sender puts
//!   into the receiver's memory: no matching, and both ends pay what they pay inside a node;
//! - what ranks of a node do [together](crate::plan::IntraNodeOp) takes as long as its form says, from
//!   when the last of them has come.
//!
//! It leaves out the network between the adapters (topology, congestion), noise, connection
//! set-up, the limits of a node's memory bandwidth, and caches.
//!
//! The same simulation gives the same numbers everywhere: times are whole picoseconds, and events
//! of one time have an order.
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
mod driver;
mod error;
mod events;
mod goal;
mod intra_node;
mod message;
mod offload;
mod queue;
mod symmetry;
mod workload;
mod world;

use alloc::vec::Vec;

pub use crate::machine::{Machine, PathCosts};
pub use crate::placement::{Order, Placement};
pub use classical::Classical;
pub use error::Error;
pub use goal::write_goal;
pub use offload::Offload;
pub use symmetry::shifts;
pub use workload::Workload;
pub use world::MessageCounts;

use crate::exec::{Execution, Failure, Progress};
use crate::plan::{CallArrays, LearnedLengths, Plan};
use driver::{Request, View};
use world::World;

/// A machine, the ranks on it, and how its library matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// What things cost.
    pub machine: Machine,
    /// Where the ranks are.
    pub placement: Placement,
    /// Picoseconds for each entry of a queue that is looked at.
    pub matching: u64,
    /// Whether messages of at most [`Machine::FLAG`] bytes are flags put into the receiver's memory.
    pub flags: bool,
    /// Whether a rank's processor copies what comes from ranks of its node, one message after
    /// another; else such copies overlap with everything.
    pub serial_copies: bool,
    /// Whether one node stands for all: see [`Setup::by_symmetry`].
    one_node: bool,
}

/// A message's way.
struct Hop {
    /// Nodes from the receiver's to the sender's, counted upwards around the group; 0 inside a node.
    distance: u32,
    /// The simulated rank that gets it.
    target: u32,
    /// The sender as the receiver knows it.
    from: u32,
}

impl Setup {
    /// Ranks on a machine, with matching for nothing and no flags.
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

    /// Costs `picoseconds` for each entry of a queue that is looked at.
    pub const fn with_matching(self, picoseconds: u64) -> Self {
        Setup {
            matching: picoseconds,
            ..self
        }
    }

    /// Sends messages of at most [`Machine::FLAG`] bytes as flags.
    pub const fn with_flags(self, flags: bool) -> Self {
        Setup { flags, ..self }
    }

    /// Lets each rank's processor copy what comes from its node.
    pub const fn with_serial_copies(self, serial_copies: bool) -> Self {
        Setup {
            serial_copies,
            ..self
        }
    }

    /// Simulates one node only, and lets it stand for all.
    ///
    /// That gives the same times as simulating every rank exactly when a shift of all ranks by one
    /// node changes nothing: in block placement with all nodes full, and for an algorithm whose
    /// rank `r + m` does what rank `r` does with all peers `m` higher around the group, where `m`
    /// is the ranks of a node. Then a message that leaves for the node `d` above is, seen from
    /// there, one that comes from the node `d` below, and so from this node's own past. Whether an
    /// algorithm is one of those says [`shifts`].
    ///
    /// # Errors
    ///
    /// [`Error::Uneven`] in another placement.
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

    /// Ranks that are simulated.
    const fn ranks(&self) -> u32 {
        if self.one_node {
            self.placement.per_node()
        } else {
            self.placement.size()
        }
    }

    /// Nodes that are simulated.
    const fn nodes(&self) -> u32 {
        if self.one_node {
            1
        } else {
            self.placement.nodes()
        }
    }

    /// Nodes for which each simulated one stands.
    const fn stands_for(&self) -> u64 {
        if self.one_node {
            self.placement.nodes() as u64
        } else {
            1
        }
    }

    /// The node of a simulated rank.
    const fn home(&self, rank: u32) -> u32 {
        if self.one_node {
            0
        } else {
            self.placement.node(rank)
        }
    }

    /// The way from a simulated rank to a rank of the group.
    fn hop(&self, source: u32, to: u32) -> Hop {
        let (place, nodes) = (&self.placement, self.placement.nodes());
        let (here, there) = (place.node(source), place.node(to));
        let distance = if here >= there {
            here - there
        } else {
            here + nodes - there
        };
        if self.one_node {
            Hop {
                distance,
                target: place.local(to),
                from: place.rank(distance, source),
            }
        } else {
            Hop {
                distance,
                target: to,
                from: source,
            }
        }
    }
}

/// What a simulation found. Times are picoseconds from the common start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimReport {
    /// When each simulated rank was done.
    pub times: Vec<u64>,
    /// What was counted.
    pub counts: MessageCounts,
}

impl SimReport {
    /// When the last rank was done.
    pub fn last(&self) -> u64 {
        self.times.iter().copied().max().unwrap_or(0)
    }

    /// The mean over the ranks of when each was done.
    pub fn mean(&self) -> u64 {
        let sum: u128 = self.times.iter().map(|&time| u128::from(time)).sum();
        (sum / (self.times.len().max(1) as u128)) as u64
    }
}

/// What a rank does: a plan, or what other libraries do that no plan does.
trait Program {
    /// Starts what can start; whether all is done.
    fn advance(&mut self, given: CallArrays<'_>, view: &mut View<'_, '_>) -> Result<bool, Error>;
}

impl<P: Plan> Program for Execution<P, Request> {
    fn advance(&mut self, given: CallArrays<'_>, view: &mut View<'_, '_>) -> Result<bool, Error> {
        let rank = view.rank;
        match Execution::advance(self, given, view) {
            Ok(progress) => Ok(progress == Progress::Done),
            Err(Failure::Driver(error)) => Err(error),
            Err(_) => Err(Error::Broken { rank }),
        }
    }
}

/// A simulation to be run.
pub struct Simulation<'a> {
    setup: &'a Setup,
    element: u64,
    given: CallArrays<'a>,
    block: u64,
    watch: Option<&'a mut dyn FnMut(u64)>,
}

/// Events from one look at the simulation to the next.
const WATCH: u64 = 1 << 20;

impl<'a> Simulation<'a> {
    /// Elements have one byte, and the caller has no arrays.
    pub const fn new(setup: &'a Setup) -> Self {
        Simulation {
            setup,
            element: 1,
            given: CallArrays::NOTHING,
            block: 0,
            watch: None,
        }
    }

    /// An element has this many bytes.
    pub const fn element_bytes(mut self, bytes: u64) -> Self {
        self.element = bytes;
        self
    }

    /// The arrays of the caller.
    pub const fn given(mut self, given: CallArrays<'a>) -> Self {
        self.given = given;
        self
    }

    /// Every length that a message tells a plan is this one, in bytes: no data travel here, and
    /// all blocks are equally long.
    pub const fn block(mut self, bytes: u64) -> Self {
        self.block = bytes;
        self
    }

    /// Tells how many events there have been, every million.
    pub const fn watch(mut self, watch: &'a mut dyn FnMut(u64)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Runs each simulated rank's plan.
    ///
    /// # Errors
    ///
    /// When a plan cannot be made, or the plans do not fit together.
    pub fn run<P: Plan>(self, plan: impl Fn(u32) -> Result<P, Error>) -> Result<SimReport, Error> {
        let mut executions = self.executions(plan)?;
        self.simulate(&mut executions)
    }

    /// The lengths that each simulated rank's plan learns when they run.
    fn learned<P: Plan>(
        self,
        plan: impl Fn(u32) -> Result<P, Error>,
    ) -> Result<Vec<LearnedLengths>, Error> {
        let mut executions = self.executions(plan)?;
        self.simulate(&mut executions)?;
        let learned = executions.iter().map(|one| one.learned().clone());
        Ok(learned.collect())
    }

    /// Each simulated rank's plan, ready to run.
    fn executions<P: Plan>(
        &self,
        plan: impl Fn(u32) -> Result<P, Error>,
    ) -> Result<Vec<Execution<P, Request>>, Error> {
        let ranks = 0..self.setup.ranks();
        ranks.map(|rank| plan(rank).map(Execution::new)).collect()
    }

    /// Runs each simulated rank's program.
    fn simulate<P: Program>(mut self, programs: &mut [P]) -> Result<SimReport, Error> {
        let ranks = self.setup.ranks();
        let mut world = World::new(self.setup, self.element, self.block, ranks);
        let mut left = 0;
        for rank in 0..ranks {
            left += u32::from(!self.advance(&mut world, programs, rank)?);
        }
        let mut events = 0_u64;
        while let Some(ready) = world.step() {
            if let Some(rank) = ready? {
                left -= u32::from(self.advance(&mut world, programs, rank)?);
            }
            events += 1;
            if events.is_multiple_of(WATCH)
                && let Some(watch) = self.watch.as_mut()
            {
                watch(events);
            }
        }
        if let Some(rank) = world.ranks.iter().position(|rank| !rank.done) {
            let (rank, others) = (rank as u32, left - 1);
            return Err(Error::Deadlock { rank, others });
        }
        let times = world.ranks.iter().map(|rank| rank.cpu);
        Ok(SimReport {
            times: times.collect(),
            counts: world.counts.times(self.setup.stands_for()),
        })
    }

    /// Lets a rank go on; whether it is now done and was not before.
    fn advance<P: Program>(
        &self,
        world: &mut World<'_>,
        programs: &mut [P],
        rank: u32,
    ) -> Result<bool, Error> {
        let mut view = View { world, rank };
        let done = programs[rank as usize].advance(self.given, &mut view)?;
        let before = core::mem::replace(&mut world.rank(rank).done, done);
        Ok(done && !before)
    }
}
