//! The cost of starting a job over several hosts: checks the exact number of messages, and prints the time.

use super::namespaces::Namespaces;
use crate::ci::ranks::ended;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const SIZES: [u32; 4] = [8, 16, 32, 64];

/// Jobs of each size and kind.
const ROUNDS: usize = 5;

/// What is counted: requests of all ranks of a job to their process manager, and their messages to other hosts.
const COUNTED: [&str; 5] = ["puts", "gets", "barriers", "messages", "bytes"];

/// One count of each of [`COUNTED`].
type StartCounts = [u32; 5];

/// Reads the line of a rank under `OXMPI_START_REPORT`.
fn read(line: &str) -> Option<StartCounts> {
    let (_, report) = line.strip_prefix("oxmpi: rank ")?.split_once(": ")?;
    let mut counts = StartCounts::default();
    for (count, what) in counts.iter_mut().zip(COUNTED) {
        let (before, _) = report.split_once(&format!(" {what}"))?;
        *count = before.rsplit([' ', ';', ',']).next()?.parse().ok()?;
    }
    Some(counts)
}

/// The expected counts of a job of `ranks` on `hosts`, at most 32, but the bytes, which vary.
const fn stated(ranks: u32, hosts: u32) -> [u32; 4] {
    let rounds = (hosts - 1).ilog2() + 1;
    // One entry of each rank; rank 0 lists node and local ranks, and leaders, by 32; a business card of
    // each leader.
    let puts = ranks + 1 + ranks.div_ceil(32) + 1 + hosts;
    // Each rank gets the first endpoint address, the number of nodes, and its node and local rank; rank
    // 0 gets all endpoint addresses; every other rank gets its leader's; each leader gets the leaders,
    // and a business card a round.
    let gets = 3 * ranks + (ranks - 1) + (ranks - hosts) + hosts * (1 + rounds);
    [puts, gets, 4 * ranks, hosts * rounds]
}

/// Starts and ends jobs of 8 to 64 ranks over all `hosts`, and prints their cost.
///
/// # Errors
/// When a job fails.
pub(super) fn check(repo: &Repo, hosts: &Namespaces) -> Result<Tally> {
    let built = repo.runtime()?;
    let (oxmpi, hello) = (built.join("oxmpi"), built.join("examples/hello"));
    let mut tally = Tally::default();
    let mut took = [StartCounts::default(); SIZES.len()];
    let (mut jobs, mut bare) = ([const { Vec::new() }; 4], [const { Vec::new() }; 4]);
    for _ in 0..ROUNDS {
        for (at, ranks) in SIZES.into_iter().enumerate() {
            let (millis, all) = start(&oxmpi, hosts, ranks, &hello)?;
            took[at] = all;
            jobs[at].push(millis);
            // For the processes alone: their command does nothing.
            bare[at].push(start(&oxmpi, hosts, ranks, Path::new("true"))?.0);
        }
    }
    println!(
        "init and finalize over {} hosts, medians of {ROUNDS} jobs; all ranks together",
        hosts.count()
    );
    println!(
        "ranks   job ms  processes alone   puts   gets  barriers  messages   bytes   of linear"
    );
    let mut first = None;
    for (at, ranks) in SIZES.into_iter().enumerate() {
        let (job, alone) = (median(&mut jobs[at]), median(&mut bare[at]));
        let first = *first.get_or_insert(job);
        let of_linear = job / first * f64::from(SIZES[0]) / f64::from(ranks);
        let [puts, gets, barriers, messages, bytes] = took[at];
        println!(
            "{ranks:5} {job:8.1} {alone:16.1} {puts:6} {gets:6} {barriers:9} {messages:9} {bytes:7} {of_linear:11.2}"
        );
        let (got, stated) = (&took[at][..4], stated(ranks, hosts.count()));
        tally += match got == stated {
            true => Tally::ONE,
            false => Tally::failed(format!(
                "start of {ranks} ranks: {:?} are {got:?}, {stated:?} are stated",
                &COUNTED[..4]
            )),
        };
    }
    Ok(tally)
}

/// Runs a job. Returns its time in milliseconds, and the counts that its ranks report.
fn start(
    oxmpi: &Path,
    hosts: &Namespaces,
    ranks: u32,
    program: &Path,
) -> Result<(f64, StartCounts)> {
    let (ranks, each) = (ranks.to_string(), (ranks / hosts.count()).to_string());
    let mut job = Command::new(oxmpi);
    job.args(["run", "--oversubscribe", "-n", &ranks, "-ppn", &each]);
    job.args(["--wrap", &hosts.plain_command()]).arg(program);
    job.env("OXMPI_START_REPORT", "on");
    let began = Instant::now();
    let output = ended(&mut job)?;
    let millis = began.elapsed().as_secs_f64() * 1e3;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!(
            "{} of {ranks} ranks: {}: {said}",
            program.display(),
            output.status
        )
        .into());
    }
    let mut all = StartCounts::default();
    for rank in said.lines().filter_map(read) {
        all = std::array::from_fn(|at| all[at] + rank[at]);
    }
    Ok((millis, all))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::{read, stated};

    #[test]
    fn the_line_of_a_rank_is_read() {
        let line = "oxmpi: rank 12: 1 puts, 23 gets, 4 barriers; 2 messages, 412 bytes, 12.3 ms";
        assert_eq!(read(line), Some([1, 23, 4, 2, 412]));
        for other in ["", "oxmpi: rank 1: lost", "hello from rank 12: 1 puts"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn messages_grow_no_more_than_linearly() {
        let all = |ranks| stated(ranks, 4).iter().sum::<u32>();
        assert!(all(64) <= 8 * all(8));
    }
}
