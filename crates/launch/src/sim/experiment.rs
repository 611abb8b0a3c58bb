//! Runs the simulations of a command line: each algorithm at each number of ranks and size.

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters, SharedMemory, Unsuited};
use oxmpi_coll::choice::choose;
use oxmpi_coll::phased::{PhasedPlan, Strategies, Strategy, choose_phase};
use oxmpi_coll::sim::{
    Classical, Error, MessageCounts, Offload, SimReport, Simulation, Workload, is_node_symmetric,
};
use oxmpi_os::limit;

use super::algorithm_name::{AlgorithmName, AlgorithmOptions};
use super::options::{AlgorithmSelection, Options};
use super::progress::{ExpectedEnd, ProgressLine};
use crate::diagnostics::CommandError;

/// An implementation to simulate, with options of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) implementation: Implementation,
    pub(super) own: AlgorithmOptions,
}

/// An implementation of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Implementation {
    /// An algorithm of the catalog, with the parameters of the choice.
    Catalog(Algorithm, Parameters),
    /// On nodes of different sizes: in phases, or by an algorithm for ranks in the order of their nodes.
    OnNodes(Strategy),
    /// The default of other libraries.
    Classical(Classical),
    /// A formula for offload to the network.
    Offload(Offload),
}

/// The name of the default of other libraries.
const CLASSICAL: &str = "classical";

impl Implementation {
    fn name(self) -> &'static str {
        match self {
            Implementation::Catalog(algorithm, _) => algorithm.name(),
            Implementation::OnNodes(Strategy::Phased) => "phased",
            Implementation::OnNodes(Strategy::InSlots(choice)) => choice.algorithm.name(),
            Implementation::Classical(_) => CLASSICAL,
            Implementation::Offload(Offload::InNetwork) => "in-network",
            Implementation::Offload(Offload::NicAtomic) => "nic-atomic",
        }
    }

    /// All implementations of the collective; on some nodes it also goes in phases.
    fn all(collective: Collective, has_phases: bool) -> Vec<Implementation> {
        let classical = match collective {
            Collective::Gatherv => Some(Classical::Gatherv),
            Collective::Scatterv => Some(Classical::Scatterv),
            _ => None,
        };
        // The formulas know nodes of one size only.
        let offload: &[Offload] = match collective {
            _ if has_phases => &[],
            Collective::Barrier => &[Offload::InNetwork, Offload::NicAtomic],
            Collective::Allreduce => &[Offload::InNetwork],
            _ => &[],
        };
        let phased = has_phases.then_some(Implementation::OnNodes(Strategy::Phased));
        let planned = collective.algorithms();
        let planned = planned.map(|one| Implementation::Catalog(one, Parameters::NONE));
        let classical = classical.map(Implementation::Classical);
        let offload = offload.iter().copied().map(Implementation::Offload);
        (phased.into_iter().chain(planned))
            .chain(classical)
            .chain(offload)
            .collect()
    }
}

impl Candidate {
    /// The name with its own options.
    fn name(self) -> String {
        self.own.append_to(self.implementation.name())
    }
}

/// The result of one simulation.
pub(super) struct SimResult {
    pub(super) ranks: u32,
    pub(super) bytes: u64,
    /// The name of the algorithm with its own options.
    pub(super) algorithm: String,
    pub(super) report: SimReport,
}

/// Runs all simulations.
///
/// # Errors
/// An unknown name, a call that no algorithm serves, or more memory needed than there is.
pub(super) fn run(options: &Options) -> Result<Vec<SimResult>, CommandError> {
    let mut rows = Vec::new();
    for (ranks, bytes) in options.points() {
        let work = Workload::new(options.collective, ranks, bytes);
        for candidate in candidates(options, &work).map_err(CommandError::Usage)? {
            let report = simulate(options, &work, candidate)?;
            rows.push(SimResult {
                ranks,
                bytes,
                algorithm: candidate.name(),
                report,
            });
        }
    }
    Ok(rows)
}

/// The implementations to simulate. With `all`, algorithms that do not suit are left out.
pub(super) fn candidates(options: &Options, work: &Workload) -> Result<Vec<Candidate>, String> {
    let call = work.call(0).ok_or_else(|| {
        format!(
            "{} depends on the neighbours of each rank and is not simulated",
            options.collective
        )
    })?;
    let nodes = options.nodes.as_deref();
    let has_phases = nodes.is_some_and(|nodes| PhasedPlan::serves(&call, nodes));
    let all = || Implementation::all(options.collective, has_phases).into_iter();
    let plain = |implementation| Candidate {
        implementation,
        own: AlgorithmOptions::default(),
    };
    Ok(match &options.which {
        AlgorithmSelection::Chosen => {
            let tuning = options.tuning();
            let why = |why: Unsuited| why.to_string();
            if let Some(nodes) = options.nodes.as_ref().filter(|_| has_phases) {
                let call = call.with_shared_memory(SharedMemory::OnNodes);
                let strategy =
                    Strategies::new().strategy(&call, nodes, &tuning, |call, place, choosable| {
                        let tuning = tuning.clone().placed(place).choosing(choosable);
                        choose_phase(call, tuning, |_| true)
                    });
                return Ok(vec![plain(Implementation::OnNodes(strategy.map_err(why)?))]);
            }
            let choice = choose(&call, &tuning).map_err(why)?;
            vec![plain(Implementation::Catalog(
                choice.algorithm,
                choice.parameters,
            ))]
        }
        AlgorithmSelection::All => {
            let blocking = work.blocking_call(0, options.setup(work.ranks()).placement);
            let suits =
                |algorithm: Algorithm| blocking.is_some_and(|call| algorithm.suits(&call).is_ok());
            all()
                .filter(|what| match what {
                    Implementation::Catalog(algorithm, _) => suits(*algorithm),
                    _ => true,
                })
                .map(plain)
                .collect()
        }
        AlgorithmSelection::Named(names) => {
            let find = |named: &AlgorithmName| {
                let what = all().find(|what| what.name() == named.name);
                let what = what.ok_or_else(|| {
                    let known: Vec<_> = all().map(Implementation::name).collect();
                    format!(
                        "{} has no algorithm `{}`; it has {}",
                        options.collective,
                        named.name,
                        known.join(", ")
                    )
                })?;
                check_radix(options, what, named.own)?;
                let own = named.own;
                Ok(Candidate {
                    implementation: what,
                    own,
                })
            };
            names.iter().map(find).collect::<Result<_, String>>()?
        }
    })
}

/// Checks the radix of a named algorithm. A radix for all algorithms is ignored by those without one.
fn check_radix(
    options: &Options,
    implementation: Implementation,
    own: AlgorithmOptions,
) -> Result<(), String> {
    let row = match implementation {
        Implementation::Catalog(algorithm, _) => Some(algorithm.row()),
        _ => None,
    };
    let row = row.filter(|row| row.parameters.radix > 0);
    let given = options.over(own, Parameters::NONE).radix;
    let (collective, name) = (options.collective, implementation.name());
    match row.map(|row| row.needs.max_radix) {
        Some(most) if given > most => Err(format!(
            "{collective} {name} takes a radix from 2 to {most}, not {given}"
        )),
        None if own.radix > 0 => Err(format!("{collective} {name} takes no radix")),
        _ => Ok(()),
    }
}

fn simulate(
    options: &Options,
    work: &Workload,
    candidate: Candidate,
) -> Result<SimReport, CommandError> {
    let own = candidate.own;
    let setup = options.setup(work.ranks());
    let setup = setup.with_flags(setup.flags || own.flags);
    let name = candidate.name();
    let failed = |why| {
        let sentence = format!(
            "{} {name} on {} ranks: {why}",
            options.collective,
            work.ranks()
        );
        match why {
            Error::Memory { .. } => CommandError::Io(sentence),
            _ => CommandError::Usage(sentence),
        }
    };
    let mut line = ProgressLine::new(&name, work.ranks());
    let memory = memory_left();
    match candidate.implementation {
        Implementation::Offload(offload) => Ok(SimReport {
            times: vec![offload.time(&setup, work.bytes())],
            counts: MessageCounts::default(),
        }),
        Implementation::Classical(classical) => {
            let expected = ExpectedEnd::Messages(u64::from(work.ranks()) - 1);
            let mut watch = |progress| line.show(progress, expected);
            let simulation = Simulation::new(&setup)
                .memory_limit(memory)
                .watch(&mut watch);
            on_nodes(simulation, options).run_classical(classical, work.bytes())
        }
        Implementation::OnNodes(strategy) => {
            let nodes = options.nodes.as_ref();
            let nodes =
                nodes.ok_or_else(|| CommandError::Usage("phases need listed nodes".into()))?;
            let mut watch = |progress| line.show(progress, ExpectedEnd::Unknown);
            let simulation = Simulation::new(&setup)
                .memory_limit(memory)
                .watch(&mut watch);
            simulation.work_by(work, nodes, (strategy, &options.tuning()))
        }
        Implementation::Catalog(algorithm, chosen) => {
            let setup = match &options.nodes {
                None if is_node_symmetric(algorithm) => setup.by_symmetry().unwrap_or(setup),
                _ => setup,
            };
            let parameters = options.over(own, chosen);
            let call = work.blocking_call(0, setup.placement);
            let model = options.tuning().model(work.ranks());
            let expected = call.map_or(ExpectedEnd::Unknown, |call| {
                ExpectedEnd::Time(algorithm.cost(&call, &parameters, &model))
            });
            let mut watch = |progress| line.show(progress, expected);
            let simulation = Simulation::new(&setup)
                .memory_limit(memory)
                .watch(&mut watch);
            on_nodes(simulation, options).work(work, algorithm, &parameters)
        }
    }
    .map_err(failed)
}

/// The simulation on listed nodes, if there are any.
const fn on_nodes<'a>(simulation: Simulation<'a>, options: &'a Options) -> Simulation<'a> {
    match &options.nodes {
        Some(nodes) => simulation.on(nodes),
        None => simulation,
    }
}

/// The bytes that a simulation may take.
fn memory_left() -> u64 {
    let limits = limit::available().into_iter().chain(limit::address_space());
    limits.map(|limit| limit.bytes).min().unwrap_or(u64::MAX)
}
