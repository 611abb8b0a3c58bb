//! One simulation after another.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::choice::choose;
use oxmpi_coll::sim::{Classical, Counts, Offload, Report, Setup, Simulation, Workload, shifts};

use super::algorithm_name::{AlgorithmName, AlgorithmOptions};
use super::options::{AlgorithmSelection, Options};

/// What is simulated against what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) what: Implementation,
    pub(super) own: AlgorithmOptions,
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Implementation {
    /// An algorithm of the catalog, with parameters where it was chosen with some.
    Catalog(Algorithm, Parameters),
    /// What other libraries do.
    Classical(Classical),
    /// What a network could do.
    Offload(Offload),
}

/// The name of what other libraries do.
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

    /// Everything that implements the collective.
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
    /// The algorithm's name, with what it has of its own.
    fn name(self) -> String {
        self.own.behind(self.what.name())
    }
}

/// A simulation's result.
pub(super) struct SimResult {
    pub(super) ranks: u32,
    pub(super) bytes: u64,
    /// Its name, with what it has of its own.
    pub(super) algorithm: String,
    pub(super) report: Report,
}

/// Runs all that the user asked for.
///
/// # Errors
/// A sentence about a name that is none, or a call that no algorithm serves.
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

/// What runs on these ranks: what does not suit is left out where all were asked for.
pub(super) fn candidates(options: &Options, work: &Workload) -> Result<Vec<Candidate>, String> {
    let call = work.call(0).ok_or_else(|| {
        format!(
            "{} depends on each rank's neighbours, and is not simulated",
            options.collective
        )
    })?;
    let all = || Implementation::all(options.collective).into_iter();
    let plain = |what| Candidate {
        what,
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
                Ok(Candidate { what, own })
            };
            names.iter().map(find).collect::<Result<_, String>>()?
        }
    })
}

/// Whether what is named takes the radix that it is given. The one that is given to all is nothing to
/// those that have none.
fn check_radix(
    options: &Options,
    what: Implementation,
    own: AlgorithmOptions,
) -> Result<(), String> {
    let row = match what {
        Implementation::Catalog(algorithm, _) => Some(algorithm.row()),
        Implementation::Classical(_) | Implementation::Offload(_) => None,
    };
    let row = row.filter(|row| row.parameters.radix > 0);
    let given = options.over(own, Parameters::NONE).radix;
    let (collective, name) = (options.collective, what.name());
    match row.map(|row| row.needs.max_radix) {
        Some(most) if given > most => Err(format!(
            "{collective} {name} takes a radix from 2 to {most}, not {given}"
        )),
        None if own.radix > 0 => Err(format!("{collective} {name} takes no radix")),
        _ => Ok(()),
    }
}

fn simulate(options: &Options, work: &Workload, candidate: Candidate) -> Result<Report, String> {
    let own = candidate.own;
    let setup = options.setup(work.ranks());
    let setup = setup.with_flags(setup.flags || own.flags);
    let name = candidate.name();
    let mut progress = SimProgress::new(&name, work.ranks());
    let mut watch = |events| progress.tell(events);
    let failed = |why| {
        format!(
            "{} {} on {} ranks: {why}",
            options.collective,
            name,
            work.ranks()
        )
    };
    match candidate.what {
        Implementation::Offload(offload) => Ok(Report {
            times: vec![offload.time(&setup, work.bytes())],
            counts: Counts::default(),
        }),
        Implementation::Classical(classical) => {
            let simulation = Simulation::new(&setup).watch(&mut watch);
            simulation.run_classical(classical, work.bytes())
        }
        Implementation::Catalog(algorithm, chosen) => {
            let setup = if shifts(algorithm) {
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
) -> Result<Report, oxmpi_coll::sim::Error> {
    let simulation = Simulation::new(setup).watch(watch);
    simulation.work(work, algorithm, parameters)
}

/// A line on a terminal that says that something goes on.
struct SimProgress {
    what: String,
    start: Instant,
    shown: bool,
}

/// Before this nobody wonders.
const QUIET_TIME: Duration = Duration::from_secs(1);

impl SimProgress {
    fn new(algorithm: &str, ranks: u32) -> Self {
        SimProgress {
            what: format!("{algorithm}, {ranks} ranks"),
            start: Instant::now(),
            shown: false,
        }
    }

    fn tell(&mut self, events: u64) {
        let elapsed = self.start.elapsed();
        let mut out = std::io::stderr();
        if elapsed > QUIET_TIME && out.is_terminal() {
            let seconds = elapsed.as_secs();
            // A terminal that is gone is nothing to stop for.
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
