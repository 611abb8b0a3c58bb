//! How many ranks each program of a job has: what `-n`, the ranks per host and the slots of hosts say.

use super::hosts::{self, Host};
use super::options::Options;

/// The number of ranks of each program.
///
/// A program without `-n` has the ranks per host times the hosts; without those, as many ranks as the hosts have slots; if
/// a host states none, one for each of `granted` processors.
///
/// # Errors
/// If the hosts have fewer slots than there are ranks, unless oversubscription is asked for. Where it is refused in words
/// (`NOOVERSUBSCRIBE`) and no slots are stated, the processors count.
pub(super) fn of_programs(options: &Options, granted: usize) -> Result<Vec<u64>, String> {
    let slots = hosts::slots(&options.hosts);
    // Without --wrap all names are those of this machine.
    let hosts = match options.wrap {
        Some(_) => options.hosts.len().max(1),
        None => 1,
    };
    let implied = match (options.ranks_per_host, slots) {
        (Some(each), _) => u64::from(each) * hosts as u64,
        (None, Some(slots)) => slots,
        (None, None) => granted as u64,
    };
    let programs = options.programs.iter();
    let counts = programs.map(|program| program.ranks.map_or(implied, u64::from));
    let counts: Vec<u64> = counts.collect();
    let ranks: u64 = counts.iter().sum();
    let too_many = |room: String| {
        let ask = "start fewer ranks, or pass --oversubscribe if more are intended";
        format!("{ranks} ranks do not fit {room}: {ask}")
    };
    match (options.oversubscribe, slots) {
        (Some(true), _) | (None, None) => {}
        (_, Some(slots)) if ranks > slots => {
            let listed: Vec<String> = options.hosts.iter().map(Host::to_string).collect();
            let plural = if slots == 1 { "" } else { "s" };
            let stated = listed.join(",");
            return Err(too_many(format!(
                "into the {slots} slot{plural} of {stated}"
            )));
        }
        (Some(false), None) if ranks > granted as u64 => {
            let plural = if granted == 1 { "" } else { "s" };
            return Err(too_many(format!("on {granted} processor{plural}")));
        }
        _ => {}
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::options::parse;

    /// The counts of a command line on four processors, or the error.
    fn counts(line: &str) -> Result<Vec<u64>, String> {
        let words: Vec<_> = line.split_whitespace().map(Into::into).collect();
        of_programs(&parse(&words).expect(line), 4)
    }

    #[test]
    fn what_is_stated_decides() {
        for (line, expected) in [
            ("a", &[4][..]),
            ("-n 7 a", &[7]),
            ("-H localhost a", &[4]),
            ("-H localhost:2 a", &[2]),
            ("-H localhost:2,127.0.0.1:3 a", &[5]),
            // One host without a number leaves the sum unknown.
            ("-H localhost:2,127.0.0.1 a", &[4]),
            ("-H [::1]:3 a", &[3]),
            ("-H ::1 -n 9 a", &[9]),
            ("-H localhost:3 -n 1 a", &[1]),
            ("-H localhost:3 -n 1 a : -n 2 b", &[1, 2]),
            ("--npernode 1 a", &[1]),
            ("-N 2 a", &[2]),
            ("-ppn 3 a", &[3]),
            ("-N 2 -n 4 a", &[4]),
            ("-N 2 -H localhost:3 a", &[2]),
            ("-N 2 --wrap env a", &[2]),
            ("-N 2 --wrap env -H a,b,c a", &[6]),
            ("--wrap env -H a:1,b:2 a", &[3]),
            // More than the slots, as asked.
            ("-H localhost:2 -n 3 --oversubscribe a", &[3]),
            ("-H localhost:2 -n 3 --map-by :OVERSUBSCRIBE a", &[3]),
            ("-n 4 --nooversubscribe a", &[4]),
        ] {
            assert_eq!(counts(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn more_ranks_than_slots_are_refused_and_the_slots_named() {
        let ask = "start fewer ranks, or pass --oversubscribe if more are intended";
        for (line, says) in [
            (
                "-H localhost:1 -n 2 a",
                "2 ranks do not fit into the 1 slot of localhost:1",
            ),
            (
                "-H localhost:1 -N 2 a",
                "2 ranks do not fit into the 1 slot of localhost:1",
            ),
            (
                "-H localhost:2,[::1]:1 -n 2 a : -n 2 b",
                "4 ranks do not fit into the 3 slots of localhost:2,[::1]:1",
            ),
            (
                "-H localhost:2 --map-by core:NOOVERSUBSCRIBE -n 3 a",
                "3 ranks do not fit into the 2 slots of localhost:2",
            ),
            (
                "--nooversubscribe -n 5 a",
                "5 ranks do not fit on 4 processors",
            ),
        ] {
            assert_eq!(counts(line), Err(format!("{says}: {ask}")), "{line}");
        }
    }
}
