//! Instructions of the calls that a short message takes, as callgrind counts them in the library that users install.

use super::harness::{Harness, Job, OURS};
use super::report::Report;
use crate::guest::apt::Apt;
use crate::{Result, install};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use xshell::cmd;

/// What is counted: its name, its functions, and the most instructions at `MPI_THREAD_SINGLE` and
/// `MPI_THREAD_MULTIPLE`.
const BOUNDS: [(&str, &[&str], [u64; 2]); 3] = [
    ("MPI_Send + MPI_Recv", &["MPI_Send", "MPI_Recv"], [170, 260]),
    ("MPI_Comm_size", &["MPI_Comm_size"], [15, 15]),
    ("MPI_Type_size", &["MPI_Type_size"], [15, 15]),
];

const LEVELS: [&str; 2] = ["single", "multiple"];

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    if cmd!(sh, "valgrind --version")
        .quiet()
        .ignore_stdout()
        .run()
        .is_err()
    {
        Apt::may_install(harness.repo, &["valgrind"])?;
        cmd!(sh, "apt-get install --quiet --yes valgrind").run()?;
    }
    let folder = harness.folder.join("instructions");
    sh.create_dir(&folder)?;
    // Other checks run the library as it is built faster.
    let prefix = match harness.is_installed {
        true => harness.prefix.clone(),
        false => folder.join("prefix"),
    };
    if !harness.is_installed {
        install::lay(harness.repo, &prefix)?;
    }
    let source = folder.join("instructions.c");
    sh.write_file(&source, include_str!("instructions.c"))?;
    let (wrapper, program) = (prefix.join("bin/oxmpicc"), folder.join("instructions"));
    // Symbols are bound at the start, and no call goes through a stub.
    cmd!(
        sh,
        "{wrapper} -O2 -fno-plt -Wl,-z,now -o {program} {source}"
    )
    .quiet()
    .run()?;
    for library in &harness.libraries {
        for (index, level) in LEVELS.into_iter().enumerate() {
            let job = Job {
                library,
                ranks: 2,
                limit: 300,
                folder: &folder,
                name: format!("instructions {level}"),
                environment: match library.name {
                    OURS => vec![("LD_LIBRARY_PATH".to_owned(), prefix.join("lib").into())],
                    _ => Vec::new(),
                },
            };
            let counts = match count(harness, &job, &program, level)? {
                Ok(counts) => counts,
                Err(why) if library.name != OURS => {
                    println!("{} on {}: {why}", job.name, library.name);
                    continue;
                }
                Err(why) => {
                    report.failure(&format!("{} on {}", job.name, library.name), &why);
                    continue;
                }
            };
            for (what, functions, most) in BOUNDS {
                let found = functions.iter().map(|name| counts.get(*name).copied());
                let found: Option<u64> = found.sum();
                let (most, name) = (most[index], format!("{what}, {level}"));
                let told = found.map_or("none".to_owned(), |found| found.to_string());
                println!("{name} on {}: {told} instructions", library.name);
                match found {
                    _ if library.name != OURS => {}
                    Some(found) if found <= most => report.success(&name),
                    _ => report.failure(
                        &name,
                        &format!("{told} instructions; at most {most} are expected"),
                    ),
                }
            }
        }
    }
    Ok(())
}

/// Instructions of a call of each function, the median of many calls: the others give room back to the sender, or wake the
/// receiver. Or why there are none.
fn count(
    harness: &Harness,
    job: &Job,
    program: &Path,
    level: &str,
) -> Result<Result<BTreeMap<String, u64>, String>> {
    let sh = &harness.repo.shell;
    let (profiles, sent) = (job.folder.join("profiles"), job.folder.join("sent"));
    sh.remove_path(&profiles)?;
    sh.remove_path(&sent)?;
    sh.create_dir(&profiles)?;
    let mut words = harness.launcher(job.library, job.ranks);
    words.extend([
        "valgrind".into(),
        "--quiet".into(),
        "--tool=callgrind".into(),
        "--compress-strings=no".into(),
        "--toggle-collect=counted".into(),
        "--dump-after=counted".into(),
        OsString::from(format!("--callgrind-out-file={}/%p", profiles.display())),
    ]);
    words.extend([program.into(), level.into(), sent.into()]);
    let ended = harness.watch(job, &words)?;
    if ended.code != Some(0) {
        let log = ended.log.display();
        return Ok(Err(format!("it ends with {:?}; {log}", ended.code)));
    }
    let mut counts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for profile in sh.read_dir(&profiles)? {
        for (function, count) in calls(&sh.read_file(profile)?) {
            counts.entry(function).or_default().push(count);
        }
    }
    let median = |mut counts: Vec<u64>| {
        counts.sort_unstable();
        counts[counts.len() / 2]
    };
    let counts = counts.into_iter();
    Ok(Ok(counts
        .map(|(name, counts)| (name, median(counts)))
        .collect()))
}

/// Instructions of the call of each function that `counted` calls, by what callgrind writes: `cfn=FUNCTION`, `calls=1
/// LINE`, and a line with that of the caller and the instructions.
fn calls(profile: &str) -> Vec<(String, u64)> {
    let mut counts = Vec::new();
    let (mut is_counted, mut is_call, mut function) = (false, false, "");
    for line in profile.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            is_counted = name == "counted";
        } else if let Some(name) = line.strip_prefix("cfn=") {
            // Both names of a function have one address.
            function = name.strip_prefix('P').unwrap_or(name);
        } else if line.starts_with("calls=") {
            is_call = is_counted;
        } else if std::mem::take(&mut is_call)
            && let Some(count) = line.split(' ').nth(1).and_then(|all| all.parse().ok())
        {
            counts.push((function.to_owned(), count));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    //! Reading what callgrind writes.

    use super::calls;

    #[test]
    fn the_calls_of_one_function_are_read() {
        let profile = "fn=main\n0 8\ncfn=counted\ncalls=1 0\n0 999\n\nfn=counted\n0 90\ncob=lib.so\ncfn=PMPI_Recv\n\
                       calls=1 0\n0 98\n0 7\ncfn=MPI_Send\ncalls=1 0\n0 71\n0 7\n\nfn=MPI_Send\n0 71\n";
        let expected = [("MPI_Recv".to_owned(), 98), ("MPI_Send".to_owned(), 71)];
        assert_eq!(calls(profile), expected);
    }
}
