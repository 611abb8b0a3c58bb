//! `oxmpi bench --sim`: runs the benchmark kernels on a simulated machine.
//!
//! The calls of one repetition of each rank are recorded (`recorder`) and run in the simulator of `oxmpi sim`: messages
//! as they are, a collective by the algorithm that the library would choose. All ranks start together. A time is that of
//! one repetition, not the average of many without a pause, as in a job.

mod recorder;

use oxmpi_bench::Memory;
use oxmpi_bench::kernels::{AnyKernel, Kernel};
use oxmpi_bench::suite::{Benchmark, Observer, Plan, SampleRow, Skip, tables};
use oxmpi_coll::catalog::Parameters;
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::plan::CallArrays;
use oxmpi_coll::sim::{Machine, Order, Placement, Setup, Simulation, is_node_symmetric};

use crate::sim::machine_model;
use recorder::KernelRecording;

/// The largest number of simulated ranks.
const RANKS_MAX: usize = 1 << 20;

/// Why benchmarks of other parts are refused.
const ONLY_MPI1: &str = "--sim: windows and overlap are not simulated; name benchmarks of MPI1, or leave --sim out to run EXT, \
                         RMA or NBC in a job of this machine";

/// A simulated machine and the number of ranks on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SimulatedJob {
    pub(super) name: String,
    machine: Machine,
    pub(super) ranks: usize,
}

impl SimulatedJob {
    /// Reads `MACHINE:RANKS`.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what was expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (named, ranks) = text.rsplit_once(':').unwrap_or((text, ""));
        let ranks = ranks.parse().ok().filter(|n| (1..=RANKS_MAX).contains(n));
        let ranks = ranks.ok_or_else(|| {
            format!("expected a machine and from 1 to {RANKS_MAX} ranks, such as gemini:12000")
        })?;
        let (name, machine) = machine_model::find(named)?;
        Ok(SimulatedJob {
            name,
            machine,
            ranks,
        })
    }

    /// The comment line that describes the simulation.
    pub(super) fn heading(&self) -> String {
        format!(
            "# Simulated: {} ranks on {}, {} on a node; one repetition from a common start\n",
            self.ranks, self.name, self.machine.per_node
        )
    }

    /// Refuses options without a meaning in a simulation, which moves no data and has one group and no cache.
    ///
    /// # Errors
    /// A sentence with the option.
    pub(super) fn check(&self, ranks: Option<usize>, plan: &Plan) -> Result<(), String> {
        let multiple = plan.benchmarks.iter().any(|one| one.multiple.is_some());
        let is_simulated = |one: &Benchmark| matches!(one.kernel, AnyKernel::Messages(_));
        if !plan.benchmarks.iter().all(is_simulated) {
            return Err(ONLY_MPI1.into());
        }
        let wrong = [
            (ranks.is_some(), "-n: --sim sets the number of ranks"),
            (plan.method.check, "-check: a simulation moves no data"),
            (
                plan.off_cache.is_some(),
                "-off_cache: a simulation has no cache",
            ),
            (
                plan.layout.map.is_some(),
                "-map: a simulation has one group at a time",
            ),
            (multiple, "-multi: a simulation has one group at a time"),
        ];
        match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, why)) => Err(format!("{why}; leave it or --sim out")),
            None => Ok(()),
        }
    }

    /// Simulates the tables of a plan.
    ///
    /// # Errors
    /// A sentence about the kernel that could not be simulated.
    pub(super) fn run(&self, plan: &Plan, observer: &mut impl Observer) -> Result<(), String> {
        for table in tables(plan, self.ranks) {
            observer.table(&table);
            let ranks = table.processes();
            let AnyKernel::Messages(kernel) = table.kernel else {
                return Err(ONLY_MPI1.into());
            };
            for bytes in plan.lengths_of(kernel) {
                let needed = Memory::bytes((kernel.info().buffer_sizes)(bytes, ranks), None);
                if needed > plan.memory {
                    observer.skip(&table, &Skip { bytes, needed });
                    continue;
                }
                let times = self.times(kernel, bytes, ranks)?;
                observer.row(&table, &row(kernel, bytes, &times));
            }
            observer.end(&table);
        }
        Ok(())
    }

    /// The time at which each rank completes its repetition, in picoseconds.
    fn times(&self, kernel: Kernel, bytes: usize, ranks: usize) -> Result<Vec<u64>, String> {
        let name = kernel.info().name;
        let failed = |why: &dyn std::fmt::Display| format!("{name} on {ranks} ranks: {why}");
        let mut recording = KernelRecording::new(kernel, bytes, ranks);
        let setup = self.setup(ranks);
        let report = match recording.of(0).collective {
            None => {
                let all: Vec<_> = (0..ranks).map(|rank| recording.of(rank).messages).collect();
                Simulation::new(&setup).run(|rank| Ok(all[rank as usize].clone()))
            }
            Some((call, blocks)) => {
                let choice = choose(&call, &self.tuning()).map_err(|why| failed(&why))?;
                let algorithm = choice.algorithm;
                let parameters = Parameters {
                    per_node: self.machine.per_node,
                    order: Order::Block,
                    ..choice.parameters
                };
                let symmetric = setup
                    .by_symmetry()
                    .ok()
                    .filter(|_| is_node_symmetric(algorithm));
                let given = CallArrays {
                    sends: &blocks,
                    recvs: &blocks,
                    ..CallArrays::NOTHING
                };
                let plan = |rank| {
                    let mut own = call;
                    own.rank = rank;
                    Ok(algorithm.plan(&own, &parameters)?)
                };
                Simulation::new(&symmetric.unwrap_or(setup))
                    .element_bytes(call.element_bytes)
                    .given(given)
                    .block(bytes as u64)
                    .run(plan)
            }
        };
        report
            .map(|report| report.times)
            .map_err(|why| failed(&why))
    }

    fn setup(&self, ranks: usize) -> Setup {
        let placement = Placement::new(Order::Block, ranks as u32, self.machine.per_node);
        Setup::new(self.machine, placement)
    }

    fn tuning(&self) -> Tuning {
        Tuning {
            machine: self.machine,
            per_node: self.machine.per_node,
            serial_copies: false,
            ..Tuning::default()
        }
    }
}

/// The result row of one repetition, with the picoseconds of each rank.
fn row(kernel: Kernel, bytes: usize, times: &[u64]) -> SampleRow {
    let counted = times.iter().step_by(kernel.info().counted(times.len()));
    let averages: Vec<f64> = counted.map(|&time| time as f64 / 1e6).collect();
    let slowest = averages.iter().copied().fold(0.0, f64::max);
    let subject = (kernel.info(), times.len());
    SampleRow::new(subject, bytes, 1, &averages, vec![slowest])
}

#[cfg(test)]
mod tests;
