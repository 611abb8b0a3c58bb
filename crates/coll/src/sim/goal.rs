//! Writes collectives as GOAL schedules, the input of LogGOPSim and its successors, so that the plans can
//! run in other simulators. Hoefler, Siebert and Lumsdaine, "Group operation assembly language: a
//! flexible way to express collective communication", 2009.

use core::fmt::{self, Write};

use super::{Error, Machine, Order, Placement, Setup, Simulation, Workload};
use crate::call::{Algorithm, Parameters};
use crate::plan::{Act, Acts, Part, Plan, PlanInputs};

/// Writes the plans of all ranks of a workload as one GOAL schedule.
///
/// Messages carry bytes. Local work becomes a calculation of the nanoseconds that the machine takes for
/// it, rounded up. Where a step needs earlier ones, an empty calculation joins them: it requires all
/// their acts, and the step's acts require it.
///
/// A plan that learns lengths is written with the lengths that it learns from this workload. As in a
/// [`Simulation`], learning takes no time.
///
/// # Errors
///
/// If a plan cannot be made, the plans do not match each other, or the text cannot be written.
///
/// # Cost
///
/// That of one simulation, and the text.
pub fn write_goal(
    out: &mut impl Write,
    machine: &Machine,
    work: &Workload,
    algorithm: Algorithm,
    parameters: &Parameters,
) -> Result<(), Error> {
    let failed = |_: fmt::Error| Error::Write;
    let (size, element) = (work.ranks(), work.element_bytes());
    let plan = |rank| {
        let call = work.call(rank).ok_or(Error::Neighborhood)?;
        Ok(algorithm.plan(&call, parameters)?)
    };
    // Lengths depend neither on the placement nor on costs.
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
            phases: 0,
            last_join: None,
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
    /// The number of labels so far.
    labels: u32,
    /// The first step whose acts no join covers.
    phases: u32,
    /// The label of the join that covers all steps below `joined`.
    last_join: Option<u32>,
    /// The first and last label of each step's acts; those of joins are in no step.
    firsts: alloc::vec::Vec<(u32, u32)>,
}

impl<W: Write> Schedule<'_, W> {
    fn rank<P: Plan>(&mut self, rank: u32, plan: &P, inputs: &PlanInputs<'_>) -> Result<(), Error> {
        let failed = |_: fmt::Error| Error::Write;
        let mut acts = Acts::new();
        // Readers of GOAL files reject a rank without operations.
        self.label("calc 0").map_err(failed)?;
        let mut step = 0;
        while step < plan.steps() {
            acts.clear();
            let needs = plan
                .step(step, inputs, &mut acts)
                .ok_or(Error::UnknownLength { rank })?;
            if needs > self.phases {
                self.join(needs).map_err(failed)?;
            }
            let first = self.labels;
            for act in acts.iter() {
                self.act(act).map_err(failed)?;
            }
            step = acts.after(step);
            self.firsts.push((first, self.labels));
            // Skipped steps hold no acts.
            self.firsts
                .resize(step as usize, (self.labels, self.labels));
        }
        Ok(())
    }

    /// Writes an operation under a new label.
    fn label(&mut self, operation: impl fmt::Display) -> Result<u32, fmt::Error> {
        self.labels += 1;
        writeln!(self.out, "l{}: {operation}", self.labels)?;
        Ok(self.labels)
    }

    /// Writes a join of the steps below `needs`.
    fn join(&mut self, needs: u32) -> fmt::Result {
        let last_join = self.label("calc 0")?;
        if let Some(before) = self.last_join {
            writeln!(self.out, "l{last_join} requires l{before}")?;
        }
        for &(first, end) in &self.firsts[self.phases as usize..needs as usize] {
            for label in first + 1..=end {
                writeln!(self.out, "l{last_join} requires l{label}")?;
            }
        }
        (self.last_join, self.phases) = (Some(last_join), needs);
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
            // The workload has no intra-node phases, as GOAL has messages only.
            Act::Size { .. } | Act::Learn { .. } | Act::IntraNode(_) => return Ok(()),
        };
        match self.last_join {
            Some(last_join) => writeln!(self.out, "l{label} requires l{last_join}"),
            None => Ok(()),
        }
    }
}
