//! Emulated machines of many processors: what `oxmpi` says of one from inside, against hwloc there.

use crate::guest::{Ending, Host, Job, Machine, which};
use crate::steps::{Outcome, Tally};
use crate::{Repo, Result};
use std::time::Duration;

/// A guest boots in 10 seconds, on a busy host in a minute.
const LIMIT: Duration = Duration::from_secs(240);

/// One machine, and what is done to it before it is looked at.
struct Case {
    name: &'static str,
    machine: Machine,
    before: &'static str,
}

const CASES: [Case; 2] = [
    Case {
        name: "usual",
        machine: Machine::USUAL,
        before: "",
    },
    Case {
        name: "modules, one processor offline",
        machine: Machine {
            modules: 2,
            cores: 2,
            ..Machine::USUAL
        },
        before: "echo 0 > /sys/devices/system/cpu/cpu5/online",
    },
];

const LOOK: &str = "lstopo-no-graphics > /out/lstopo.txt && oxmpi info > /out/info.txt";

/// Kinds of objects that both count.
const KINDS: [&str; 5] = ["Package", "NUMANode", "L3Cache", "Core", "PU"];

/// Boots each machine and compares what is said of it.
///
/// # Errors
/// When a guest does not end well, or something said of it is wrong.
pub(super) fn check(repo: &Repo) -> Result<Outcome> {
    let host = match Host::equip(repo) {
        Ok(host) => host,
        Err(lacking) => return Ok(lacking.into()),
    };
    let oxmpi = repo.oxmpi()?;
    let lstopo = which("lstopo-no-graphics").ok_or("no lstopo-no-graphics on the path")?;
    let mut tally = Tally::default();
    for case in &CASES {
        let job = Job {
            script: format!("{}\n{LOOK}", case.before),
            files: vec![oxmpi.clone(), lstopo.clone()],
        };
        let run = host.boot(repo, "ci", case.machine, &job, LIMIT)?;
        if run.ending != Ending::Job(0) {
            return Err(format!("{}: {}:\n{}", case.name, run.ending, run.console).into());
        }
        let read = |name| repo.shell.read_file(run.out.join(name));
        let (lstopo, info) = (read("lstopo.txt")?, read("info.txt")?);
        for kind in KINDS {
            let theirs = counted(&lstopo, kind);
            let ours = format!("{theirs} {kind}");
            if !info.contains(&format!(" {ours}")) {
                return Err(format!("{}: not {ours} in:\n{info}", case.name).into());
            }
            tally += Tally::ONE;
        }
        println!("{}: as hwloc sees it", case.name);
    }
    Ok(tally.into())
}

/// How many objects of a kind lstopo shows.
fn counted(lstopo: &str, kind: &str) -> usize {
    let object = format!("{} L#", kind.trim_end_matches("Cache"));
    lstopo.matches(&object).count()
}

#[cfg(test)]
mod tests {
    //! How lstopo's picture is counted.

    use super::counted;

    #[test]
    fn objects_are_counted_not_their_numbers() {
        let lstopo = "Package L#0 + L3 L#0 (16MB)\n  Core L#0 + PU L#0 (P#1)\n  Core L#1\n";
        assert_eq!(counted(lstopo, "Core"), 2);
        assert_eq!(counted(lstopo, "L3Cache"), 1);
        assert_eq!(counted(lstopo, "PU"), 1);
        assert_eq!(counted(lstopo, "NUMANode"), 0);
    }
}
