//! One simulation after another.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::{Algorithm, Collective, Parameters};
use oxmpi_coll::choice::choose;
use oxmpi_coll::sim::{Classical, Counts, Offload, Report, Setup, Simulation, Workload, shifts};

use super::options::{Options, Which};

/// What is simulated against what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contender {
    /// An algorithm of the catalog, with parameters where it was chosen with some.
    Catalog(Algorithm, Parameters),
    /// What other libraries do.
    Classical(Classical),
    /// What a network could do.
    Offload(Offload),
}

/// The name of what other libraries do.
const CLASSICAL: &str = "classical";

impl Contender {
    pub(super) fn name(self) -> &'static str {
        match self {
            Contender::Catalog(algorithm, _) => algorithm.name(),
            Contender::Classical(_) => CLASSICAL,
            Contender::Offload(Offload::InNetwork) => "in-network",
            Contender::Offload(Offload::NicAtomic) => "nic-atomic",
        }
    }

    /// Everything that implements the collective.
    fn all(collective: Collective) -> Vec<Contender> {
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
        let planned = planned.map(|one| Contender::Catalog(one, Parameters::NONE));
        let classical = classical.map(Contender::Classical);
        let offload = offload.iter().copied().map(Contender::Offload);
        planned.chain(classical).chain(offload).collect()
    }
}

/// A simulation's result.
pub(super) struct Row {
    pub(super) ranks: u32,
    pub(super) bytes: u64,
    pub(super) algorithm: &'static str,
    pub(super) report: Report,
}

/// Runs all that the user asked for.
///
/// # Errors
/// A sentence about a name that is none, or a call that no algorithm serves.
pub(super) fn run(options: &Options) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (ranks, bytes) in options.points() {
        let work = Workload::new(options.collective, ranks, bytes);
        for contender in contenders(options, &work)? {
            let report = simulate(options, &work, contender)?;
            rows.push(Row {
                ranks,
                bytes,
                algorithm: contender.name(),
                report,
            });
        }
    }
    Ok(rows)
}

/// What runs on these ranks: what does not suit is left out where all were asked for.
pub(super) fn contenders(options: &Options, work: &Workload) -> Result<Vec<Contender>, String> {
    let call = work.call(0).ok_or_else(|| {
        format!(
            "{} depends on each rank's neighbours, and is not simulated",
            options.collective
        )
    })?;
    let all = || Contender::all(options.collective).into_iter();
    Ok(match &options.which {
        Which::Chosen => {
            let choice = choose(&call, &options.tuning()).map_err(|why| why.to_string())?;
            vec![Contender::Catalog(choice.algorithm, choice.parameters)]
        }
        Which::All => {
            let blocking = work.blocking_call(0, options.setup(work.ranks()).placement);
            let suits =
                |algorithm: Algorithm| blocking.is_some_and(|call| algorithm.suits(&call).is_ok());
            all()
                .filter(|contender| match contender {
                    Contender::Catalog(algorithm, _) => suits(*algorithm),
                    Contender::Classical(_) | Contender::Offload(_) => true,
                })
                .collect()
        }
        Which::Named(names) => {
            let named = |name: &String| {
                all()
                    .find(|contender| contender.name() == name)
                    .ok_or_else(|| {
                        let known: Vec<_> = all().map(Contender::name).collect();
                        format!(
                            "{} has no algorithm `{name}`; it has {}",
                            options.collective,
                            known.join(", ")
                        )
                    })
            };
            names.iter().map(named).collect::<Result<_, _>>()?
        }
    })
}

fn simulate(options: &Options, work: &Workload, contender: Contender) -> Result<Report, String> {
    let setup = options.setup(work.ranks());
    let mut progress = Progress::new(contender.name(), work.ranks());
    let mut watch = |events| progress.tell(events);
    let failed = |why| {
        format!(
            "{} {} on {} ranks: {why}",
            options.collective,
            contender.name(),
            work.ranks()
        )
    };
    match contender {
        Contender::Offload(offload) => Ok(Report {
            times: vec![offload.time(&setup, work.bytes())],
            counts: Counts::default(),
        }),
        Contender::Classical(classical) => {
            let simulation = Simulation::new(&setup).watch(&mut watch);
            simulation.run_classical(classical, work.bytes())
        }
        Contender::Catalog(algorithm, chosen) => {
            let setup = if shifts(algorithm) {
                setup.by_symmetry().unwrap_or(setup)
            } else {
                setup
            };
            planned(&setup, work, algorithm, &options.over(chosen), &mut watch)
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
struct Progress {
    what: String,
    start: Instant,
    shown: bool,
}

/// Before this nobody wonders.
const PATIENCE: Duration = Duration::from_secs(1);

impl Progress {
    fn new(algorithm: &str, ranks: u32) -> Self {
        Progress {
            what: format!("{algorithm}, {ranks} ranks"),
            start: Instant::now(),
            shown: false,
        }
    }

    fn tell(&mut self, events: u64) {
        let elapsed = self.start.elapsed();
        let mut out = std::io::stderr();
        if elapsed > PATIENCE && out.is_terminal() {
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

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
