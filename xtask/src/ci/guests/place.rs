//! Starts ranks and threads in an emulated machine and checks that they run where `oxmpi pin` says.

use super::LIMIT;
use crate::guest::{Ending, GuestMachine, Host, Job};
use crate::tally::Tally;
use crate::{Repo, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// Settings of the ranks' placement.
const RANKS: &str = include_str!("place.txt");
/// Settings of the threads' placement.
const THREADS: &str = include_str!("threads.txt");
const PROGRAM: &str = include_str!("threads.c");

/// One combination of settings to check.
struct Case<'a> {
    ranks: &'a str,
    /// The OpenMP runtime, and the number of threads of each rank.
    threads: Option<(&'a str, &'a str)>,
    /// The processors that the launcher is bound to.
    mask: Option<&'a str>,
    variables: Vec<&'a str>,
}

impl<'a> Case<'a> {
    fn of_ranks(line: &'a str) -> Option<Self> {
        let mut words = line.split(' ');
        let ranks = words.next()?;
        let (masks, variables): (Vec<_>, Vec<_>) =
            words.partition(|word| word.starts_with("mask="));
        Some(Case {
            ranks,
            threads: None,
            mask: masks.first().map(|mask| &mask["mask=".len()..]),
            variables,
        })
    }

    fn of_threads(line: &'a str) -> Option<Self> {
        let mut words = line.split(' ');
        let (runtime, ranks, threads) = (words.next()?, words.next()?, words.next()?);
        Some(Case {
            ranks,
            threads: Some((runtime, threads)),
            mask: None,
            variables: words.collect(),
        })
    }

    /// Commands that write the prediction of `oxmpi pin` to `/out/NUMBER.said` and the masks that were read
    /// to `/out/NUMBER.seen`.
    fn script(&self, number: usize) -> String {
        let mut before = self
            .mask
            .map_or(String::new(), |mask| format!("taskset -c {mask} "));
        before += "env";
        for variable in &self.variables {
            before += &format!(" '{variable}'");
        }
        let ranks = self.ranks;
        let (said, seen) = match self.threads {
            None => (
                String::new(),
                "sh -c 'echo \"$PMI_RANK 0 $(grep Cpus_allowed_list /proc/self/status | cut -f2)\"'".to_string(),
            ),
            Some((runtime, threads)) => (
                format!(" -t {threads} --rules runtime --levels current"),
                format!("sh -c 'set -o pipefail; ./threads-{runtime} | sed \"s/^/$PMI_RANK /\"'"),
            ),
        };
        let team = match self.threads {
            None | Some((_, "0")) => String::new(),
            Some((_, threads)) => format!("OMP_NUM_THREADS={threads} "),
        };
        format!(
            "{before} oxmpi pin -n {ranks}{said} --format json > /out/{number}.said\n\
             {before} {team}oxmpi run --oversubscribe -n {ranks} {seen} > /out/{number}.seen\n"
        )
    }
}

impl std::fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ranks", self.ranks)?;
        if let Some((runtime, threads)) = self.threads {
            write!(f, " of {threads} threads of {runtime}")?;
        }
        self.mask.map_or(Ok(()), |mask| write!(f, " in {mask}"))?;
        self.variables
            .iter()
            .try_for_each(|variable| write!(f, " {variable}"))
    }
}

/// Allowed processors by rank and thread.
type Places = BTreeMap<(usize, usize), String>;

/// Runs every case in a guest, and compares the masks read there with the prediction of `oxmpi pin`.
///
/// # Errors
/// When the guest fails, or a rank or thread may run elsewhere.
pub(super) fn check(repo: &Repo, host: &Host) -> Result<Tally> {
    let lines = |text: &'static str| text.lines().filter(|line| !line.starts_with('#'));
    let cases = lines(RANKS).filter_map(Case::of_ranks);
    let cases: Vec<Case<'_>> = cases
        .chain(lines(THREADS).filter_map(Case::of_threads))
        .collect();
    let scripts = cases
        .iter()
        .enumerate()
        .map(|(number, case)| case.script(number));
    let mut files = programs(repo, host)?;
    files.push(repo.runtime()?.join("oxmpi"));
    let job = Job {
        script: format!("set -eu\n{}", scripts.collect::<String>()),
        files,
        placed: Vec::new(),
        tree: None,
    };
    let run = host.boot(repo, "place", GuestMachine::USUAL, &job, LIMIT)?;
    if run.ending != Ending::Job(0) {
        return Err(format!("ranks in a guest: {}:\n{}", run.ending, run.console).into());
    }
    let mut tally = Tally::default();
    for (number, case) in cases.iter().enumerate() {
        let read = |what: &str| {
            repo.shell
                .read_file(run.out.join(format!("{number}.{what}")))
        };
        let said = said(&read("said")?, case.threads.is_some())?;
        let seen = seen(&read("seen")?)?;
        match said == seen {
            true => tally += Tally::ONE,
            false => {
                let finding =
                    format!("{case}:\n  oxmpi pin said {said:?}\n  ranks and threads had {seen:?}");
                println!("{finding}");
                tally += Tally::failed(finding);
            }
        }
    }
    println!("{} settings in a guest: {tally}", cases.len());
    Ok(tally)
}

/// Builds the program of OpenMP threads for each of the two runtimes.
fn programs(repo: &Repo, host: &Host) -> Result<Vec<PathBuf>> {
    let sh = &repo.shell;
    let folder = repo.scratch("threads")?;
    let (source, object) = (folder.join("threads.c"), folder.join("threads.o"));
    sh.write_file(&source, PROGRAM)?;
    let named = |runtime: &str| folder.join(format!("threads-{runtime}"));
    let (gomp, omp) = (named("libgomp"), named("libomp"));
    cmd!(sh, "cc -O1 -fopenmp -o {gomp} {source}").run()?;
    cmd!(sh, "cc -O1 -fopenmp -c -o {object} {source}").run()?;
    // LLVM's runtime runs code that gcc compiled for its own.
    let library = &host.libomp;
    let place = library.parent().unwrap_or(Path::new("/")).as_os_str();
    cmd!(sh, "cc -o {omp} {object} {library} -Wl,-rpath,{place}").run()?;
    Ok(vec![gomp, omp])
}

/// Reads the prediction from the JSON of `oxmpi pin`.
fn said(json: &str, with_threads: bool) -> Result<Places> {
    let answer: Value = serde_json::from_str(json)?;
    let ranks = answer["ranks"].as_array().ok_or("no ranks in the JSON")?;
    let mut places = Places::new();
    for (number, rank) in ranks.iter().enumerate() {
        let threads = rank["threads"].as_array().filter(|_| with_threads);
        let sets = match threads {
            Some(threads) => threads.iter().collect(),
            None => vec![&rank["cpus"]],
        };
        for (thread, set) in sets.into_iter().enumerate() {
            let set = set.as_str().ok_or("a place that is no text")?;
            places.insert((number, thread), set.to_owned());
        }
    }
    Ok(places)
}

/// Reads lines of rank, thread and processors.
fn seen(text: &str) -> Result<Places> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let rank = words.next()?.parse().ok()?;
        let thread = words.next()?.parse().ok()?;
        Some(((rank, thread), words.next()?.to_owned()))
    };
    let places = text
        .lines()
        .map(|text| line(text).ok_or_else(|| format!("'{text}' is no place").into()));
    places.collect()
}

#[cfg(test)]
mod tests {
    //! Tests of both readers.

    use super::{Case, said, seen};

    #[test]
    fn both_forms_are_one() {
        let json = r#"{"ranks":[{"rank":0,"cpus":"0-1","threads":["0","1"]},{"rank":1,"cpus":"2","threads":["2","2"]}]}"#;
        assert_eq!(
            said(json, true).unwrap(),
            seen("1 1 2\n0 0 0\n0 1 1\n1 0 2\n").unwrap()
        );
        assert_eq!(
            said(json, false).unwrap(),
            seen("0 0 0-1\n1 0 2\n").unwrap()
        );
        assert!(seen("0 0\n").is_err() && said("{}", false).is_err());
    }

    #[test]
    fn a_line_is_a_case() {
        let case = Case::of_ranks("3 mask=0-11 I_MPI_PIN_DOMAIN=2").unwrap();
        assert_eq!(case.to_string(), "3 ranks in 0-11 I_MPI_PIN_DOMAIN=2");
        assert!(
            case.script(7)
                .starts_with("taskset -c 0-11 env 'I_MPI_PIN_DOMAIN=2' oxmpi pin -n 3 ")
        );
        let case = Case::of_threads("libomp 2 4 KMP_AFFINITY=compact").unwrap();
        assert_eq!(
            case.to_string(),
            "2 ranks of 4 threads of libomp KMP_AFFINITY=compact"
        );
    }
}
