//! Messages by the same soft device in one guest: ours, beside rdma-core's perftest, and Open MPI by libfabric.

use super::guests::{Guests, LIMIT, Run, read};
use crate::compare::median_of;
use crate::guest::OpenMpi;
use crate::install;
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::path::PathBuf;
use std::time::Duration;
use xshell::cmd;

const SCRIPT: &str = include_str!("figures.sh");

/// How often each is measured, in turn with the others.
const ROUNDS: u32 = 15;

/// Messages in flight where the rate of long ones is measured.
const WINDOW: &str = "-DWINDOW=16";

/// A message of 8 B takes at most so many times what ib_write_lat takes, and one of 1 MiB in a window of 16 what
/// ib_write_bw takes; ping-pong, as the geometric mean over its lengths, what Open MPI's does.
const SHORT: f64 = 1.15;
const LONG: f64 = 1.0 / 0.95;
const PEER: f64 = 1.0;

const LENGTHS: [u64; 4] = [8, 1024, 65536, 1 << 20];

/// Measures, prints the medians, and fails where an aim is missed.
///
/// # Errors
/// When programs or guests cannot be made.
pub(crate) fn check(repo: &Repo) -> Result<StepOutcome> {
    Guests::with(repo, |guests| {
        let oxmpi = guests.add_ranks()?;
        let open_mpi = guests.host.equip_open_mpi(repo)?;
        guests.job.files.extend(twins(repo, &open_mpi)?);
        guests.job.tree = Some(open_mpi.tree);
        let runs = guests.boot(&Run {
            name: "rdma-figures",
            kind: "rxe",
            nodes: 1,
            memory: 1536,
            script: format!("oxmpi={oxmpi}\nrounds={ROUNDS}\n{SCRIPT}"),
            limit: LIMIT + Duration::from_secs(1800),
        })?;
        let mut tally = Tally::default();
        for run in &runs {
            tally += read("figures", run);
            let figures = Figures::of(&run.console);
            println!("{}", figures.table());
            for (name, found, most) in figures.verdicts() {
                let verdict = format!("{name}: {found:.2}, at most {most:.2} is aimed at");
                println!("{verdict}");
                tally += match found <= most {
                    true => Tally::ONE,
                    false => Tally::failed(verdict),
                };
            }
        }
        Ok(tally)
    })
}

/// The benchmarks in C, compiled with our library; and with theirs, beside which guests find them.
fn twins(repo: &Repo, open_mpi: &OpenMpi) -> Result<Vec<PathBuf>> {
    let sh = &repo.shell;
    let prefix = repo.root.join("target/compare/prefix");
    install::lay(repo, &prefix)?;
    let (compiler, folder) = (prefix.join("bin/oxmpicc"), repo.scratch("rdma-figures")?);
    let mut programs = Vec::new();
    for name in ["pingpong", "rate"] {
        let source = repo.root.join(format!("crates/bench/peers/{name}.c"));
        let ours = folder.join(format!("ours_{name}"));
        cmd!(sh, "{compiler} -O2 {WINDOW} -o {ours} {source}").run()?;
        open_mpi.compile(repo, &source, WINDOW, &format!("theirs_{name}"))?;
        programs.push(ours);
    }
    Ok(programs)
}

/// Nanoseconds of a message by who sent it, benchmark and length.
struct Figures<'a>(Vec<(&'a str, &'a str, u64, f64)>);

impl<'a> Figures<'a> {
    fn of(console: &'a str) -> Figures<'a> {
        let figure = |line: &'a str| {
            let mut words = line.strip_prefix("figure: ")?.split(' ');
            let (who, what) = (words.next()?, words.next()?);
            let (bytes, ns) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Some((who, what, bytes, ns))
        };
        Figures(console.lines().filter_map(figure).collect())
    }

    /// The median of the rounds; infinite where there is none.
    fn median(&self, who: &str, what: &str, bytes: u64) -> f64 {
        let own = self
            .0
            .iter()
            .filter(|row| (row.0, row.1, row.2) == (who, what, bytes));
        median_of(own.map(|row| row.3).collect()).unwrap_or(f64::INFINITY)
    }

    /// A table of the medians in microseconds.
    fn table(&self) -> String {
        let mut table = format!("{:8} {:>8}", "what", "bytes");
        let all = ["ours", "perftest", "ofi"];
        for who in all {
            table += &format!(" {who:>10}");
        }
        for (what, bytes) in LENGTHS
            .map(|bytes| ("pingpong", bytes))
            .into_iter()
            .chain([("rate", 1 << 20)])
        {
            table += &format!("\n{what:8} {bytes:8}");
            for who in all {
                let median = self.median(who, what, bytes) / 1000.0;
                table += &if median.is_finite() {
                    format!(" {median:>10.1}")
                } else {
                    format!(" {:>10}", "-")
                };
            }
        }
        table + "\n"
    }

    /// What is aimed at: a name, the ratio that was found, and the most that it may be.
    fn verdicts(&self) -> [(&'static str, f64, f64); 3] {
        let ours = |what, bytes| self.median("ours", what, bytes);
        let ratios = LENGTHS
            .map(|bytes| (ours("pingpong", bytes) / self.median("ofi", "pingpong", bytes)).ln());
        let mean = (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
        // A length that was not measured makes it 0.
        let peer = if mean > 0.0 { mean } else { f64::INFINITY };
        let short = ours("pingpong", 8) / self.median("perftest", "pingpong", 8);
        let long = ours("rate", 1 << 20) / self.median("perftest", "rate", 1 << 20);
        [
            ("8 B over ib_write_lat", short, SHORT),
            ("1 MiB, window 16, over ib_write_bw", long, LONG),
            ("ping-pong over Open MPI's", peer, PEER),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Figures;

    #[test]
    fn medians_are_of_one_program_and_length() {
        let said = "figure: ours pingpong 8 300.5\nx\nfigure: ours pingpong 8 100\nfigure: ours pingpong 8 200\n\
                    figure: perftest pingpong 8 50\nfigure: ours pingpong 1024 1\n";
        let figures = Figures::of(said);
        assert_eq!(figures.median("ours", "pingpong", 8), 200.0);
        assert!(figures.median("ofi", "pingpong", 8).is_infinite());
        assert_eq!(figures.verdicts()[0].1, 4.0);
    }
}
