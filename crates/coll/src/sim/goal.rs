//! A collective as a GOAL schedule: what LogGOPSim and its successors read (Hoefler, Siebert and
//! Lumsdaine, "Group operation assembly language: a flexible way to express collective
//! communication", 2009), so that others can run the same plans through a simulator of their own.

use core::fmt::{self, Write};

use super::{Error, Machine, Order, Placement, Setup, Simulation, Workload};
use crate::call::{Algorithm, Parameters};
use crate::plan::{Act, Acts, Part, Plan, PlanInputs};

/// Writes the plans of all ranks of the workload as one schedule.
///
/// Messages carry bytes. Local work becomes a calculation of as many
/// nanoseconds as the machine takes for it, rounded up. Where a step needs earlier ones, a
/// calculation of no time stands for them: it needs all their acts, and the step's acts need it.
///
/// A plan that learns lengths from its messages is written with those that it learns from this
/// workload's. As in a [`Simulation`], learning takes no time.
///
/// # Errors
///
/// When a plan cannot be made, the plans do not fit together, or the text cannot be written.
///
/// # Cost
///
/// That of one simulation besides the text.
pub fn write_goal(
    out: &mut impl Write,
    machine: &Machine,
    work: &Workload,
    algorithm: Algorithm,
    parameters: &Parameters,
) -> Result<(), Error> {
    let failed = |_: fmt::Error| Error::Unwritten;
    let (size, element) = (work.ranks(), work.element_bytes());
    let plan = |rank| {
        let call = work.call(rank).ok_or(Error::Neighbors)?;
        Ok(algorithm.plan(&call, parameters)?)
    };
    // Lengths depend neither on where ranks are nor on what messages cost.
    let setup = Setup::new(*machine, Placement::new(Order::Block, size, 1));
    let learned = Simulation::new(&setup).of(work).learned(plan)?;
    writeln!(out, "num_ranks {size}").map_err(failed)?;
    for (rank, learned) in (0..).zip(&learned) {
        writeln!(out, "\nrank {rank} {{").map_err(failed)?;
        let mut schedule = Schedule {
            out,
            element,
            machine,
            labels: 0,
            joined: 0,
            gate: None,
            firsts: alloc::vec![],
        };
        schedule.rank(rank, &plan(rank)?, &PlanInputs::new(work.given(), learned))?;
        writeln!(out, "}}").map_err(failed)?;
    }
    Ok(())
}

/// One rank's schedule while it is written.
struct Schedule<'a, W> {
    out: &'a mut W,
    element: u64,
    machine: &'a Machine,
    /// Labels given so far.
    labels: u32,
    /// The first step whose acts no gate has joined.
    joined: u32,
    /// The label that stands for all steps below `joined`.
    gate: Option<u32>,
    /// Each step's first label; a gate's label belongs to none.
    firsts: alloc::vec::Vec<(u32, u32)>,
}

impl<W: Write> Schedule<'_, W> {
    fn rank<P: Plan>(&mut self, rank: u32, plan: &P, inputs: &PlanInputs<'_>) -> Result<(), Error> {
        let failed = |_: fmt::Error| Error::Unwritten;
        let mut acts = Acts::new();
        // A rank without any operation is none to the readers of such files.
        self.label("calc 0").map_err(failed)?;
        let mut step = 0;
        while step < plan.steps() {
            acts.clear();
            let needs = plan
                .step(step, inputs, &mut acts)
                .ok_or(Error::Broken { rank })?;
            if needs > self.joined {
                self.join(needs).map_err(failed)?;
            }
            let first = self.labels;
            for act in acts.iter() {
                self.act(act).map_err(failed)?;
            }
            step = acts.after(step);
            self.firsts.push((first, self.labels));
            // Steps that are left out hold nothing.
            self.firsts
                .resize(step as usize, (self.labels, self.labels));
        }
        Ok(())
    }

    /// A label for what is done.
    fn label(&mut self, what: impl fmt::Display) -> Result<u32, fmt::Error> {
        self.labels += 1;
        writeln!(self.out, "l{}: {what}", self.labels)?;
        Ok(self.labels)
    }

    /// Joins the steps below `needs`.
    fn join(&mut self, needs: u32) -> fmt::Result {
        let gate = self.label("calc 0")?;
        if let Some(before) = self.gate {
            writeln!(self.out, "l{gate} requires l{before}")?;
        }
        for &(first, end) in &self.firsts[self.joined as usize..needs as usize] {
            for label in first + 1..=end {
                writeln!(self.out, "l{gate} requires l{label}")?;
            }
        }
        (self.gate, self.joined) = (Some(gate), needs);
        Ok(())
    }

    fn act(&mut self, act: &Act) -> fmt::Result {
        let bytes = |part: Part| part.len() * self.element;
        let work = |part: Part, byte: u64| (bytes(part) * byte).div_ceil(1000);
        let (copy, reduce) = (self.machine.copy(), self.machine.node.byte);
        let label = match *act {
            Act::Send { to, tag, from } => {
                self.label(format_args!("send {}b to {to} tag {tag}", bytes(from)))?
            }
            Act::Recv { from, tag, into } => {
                self.label(format_args!("recv {}b from {from} tag {tag}", bytes(into)))?
            }
            Act::Copy { from, .. } => self.label(format_args!("calc {}", work(from, copy)))?,
            Act::Reduce { from, .. } => self.label(format_args!("calc {}", work(from, reduce)))?,
            // The calls say of no ranks that they share memory: GOAL has messages only.
            Act::Size { .. } | Act::Learn { .. } | Act::IntraNode(_) => return Ok(()),
        };
        match self.gate {
            Some(gate) => writeln!(self.out, "l{label} requires l{gate}"),
            None => Ok(()),
        }
    }
}
