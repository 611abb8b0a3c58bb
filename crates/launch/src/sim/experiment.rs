//! Runs the simulations of a command line: each algorithm at each number of ranks and size.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::choice::choose;
use oxmpi_coll::sim::{
    Classical, MessageCounts, Offload, Setup, SimReport, Simulation, Workload, is_node_symmetric,
};

use super::algorithm_name::{AlgorithmName, AlgorithmOptions};
use super::options::{AlgorithmSelection, Options};

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
            Implementation::Classical(_) => CLASSICAL,
            Implementation::Offload(Offload::InNetwork) => "in-network",
            Implementation::Offload(Offload::NicAtomic) => "nic-atomic",
        }
    }

    /// All implementations of the collective.
    fn all(collective: Collective) -> Vec<Implementation> {
        let classical = match collective {
            Collective::Gatherv => Some(Classical::Gatherv),
            Collective::Scatterv => Some(Classical::Scatterv),
            _ => None,
        };
        let offload: &[Offload] = match collective {
            Collective::Barrier => &[Offload::InNetwork, Offload::NicAtomic],
            Collective::Allreduce => &[Offload::InNetwork],
            _ => &[],
        };
        let planned = collective.algorithms();
        let planned = planned.map(|one| Implementation::Catalog(one, Parameters::NONE));
        let classical = classical.map(Implementation::Classical);
        let offload = offload.iter().copied().map(Implementation::Offload);
        planned.chain(classical).chain(offload).collect()
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
/// An unknown name, or a call that no algorithm serves.
pub(super) fn run(options: &Options) -> Result<Vec<SimResult>, String> {
    let mut rows = Vec::new();
    for (ranks, bytes) in options.points() {
        let work = Workload::new(options.collective, ranks, bytes);
        for candidate in candidates(options, &work)? {
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
    let all = || Implementation::all(options.collective).into_iter();
    let plain = |implementation| Candidate {
        implementation,
        own: AlgorithmOptions::default(),
    };
    Ok(match &options.which {
        AlgorithmSelection::Chosen => {
            let choice = choose(&call, &options.tuning()).map_err(|why| why.to_string())?;
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
                    Implementation::Classical(_) | Implementation::Offload(_) => true,
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
        Implementation::Classical(_) | Implementation::Offload(_) => None,
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

fn simulate(options: &Options, work: &Workload, candidate: Candidate) -> Result<SimReport, String> {
    let own = candidate.own;
    let setup = options.setup(work.ranks());
    let setup = setup.with_flags(setup.flags || own.flags);
    let name = candidate.name();
    let mut progress = SimProgress::new(&name, work.ranks());
    let mut watch = |events| progress.show(events);
    let failed = |why| {
        format!(
            "{} {} on {} ranks: {why}",
            options.collective,
            name,
            work.ranks()
        )
    };
    match candidate.implementation {
        Implementation::Offload(offload) => Ok(SimReport {
            times: vec![offload.time(&setup, work.bytes())],
            counts: MessageCounts::default(),
        }),
        Implementation::Classical(classical) => {
            let simulation = Simulation::new(&setup).watch(&mut watch);
            simulation.run_classical(classical, work.bytes())
        }
        Implementation::Catalog(algorithm, chosen) => {
            let setup = if is_node_symmetric(algorithm) {
                setup.by_symmetry().unwrap_or(setup)
            } else {
                setup
            };
            let parameters = options.over(own, chosen);
            planned(&setup, work, algorithm, &parameters, &mut watch)
        }
    }
    .map_err(failed)
}

fn planned(
    setup: &Setup,
    work: &Workload,
    algorithm: Algorithm,
    parameters: &Parameters,
    watch: &mut dyn FnMut(u64),
) -> Result<SimReport, oxmpi_coll::sim::Error> {
    let simulation = Simulation::new(setup).watch(watch);
    simulation.work(work, algorithm, parameters)
}

/// A progress line on the terminal, for long simulations.
struct SimProgress {
    what: String,
    start: Instant,
    shown: bool,
}

/// No progress is shown before this time.
const QUIET_TIME: Duration = Duration::from_secs(1);

impl SimProgress {
    fn new(algorithm: &str, ranks: u32) -> Self {
        SimProgress {
            what: format!("{algorithm}, {ranks} ranks"),
            start: Instant::now(),
            shown: false,
        }
    }

    fn show(&mut self, events: u64) {
        let elapsed = self.start.elapsed();
        let mut out = std::io::stderr();
        if elapsed > QUIET_TIME && out.is_terminal() {
            let seconds = elapsed.as_secs();
            // An error of the progress line does not stop the simulation.
            let _ = write!(
                out,
                "\r{}: {} million events, {seconds} s",
                self.what,
                events >> 20
            );
            self.shown = true;
        }
    }
}

impl Drop for SimProgress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
