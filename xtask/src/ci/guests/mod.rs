//! Emulated machines of many processors: what `oxmpi topo` says of one from inside, against hwloc
//! there.

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
    /// Sets `few` to a folder that is yet to be made, of a cgroup that limits processors.
    before: &'static str,
}

const CASES: [Case; 2] = [
    Case {
        name: "four NUMA nodes",
        machine: Machine::USUAL,
        before: "
            mount -t cgroup2 cgroup /sys/fs/cgroup
            echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control
            few=/sys/fs/cgroup/few",
    },
    Case {
        name: "shared level 2 caches, one processor offline",
        machine: Machine {
            modules: 2,
            cores: 2,
            ..Machine::USUAL
        },
        before: "
            mount -t tmpfs cgroup /sys/fs/cgroup
            mkdir /sys/fs/cgroup/cpuset
            mount -t cgroup -o cpuset cgroup /sys/fs/cgroup/cpuset
            echo 0 > /sys/devices/system/cpu/cpu5/online
            few=/sys/fs/cgroup/cpuset/few",
    },
];

const LOOK: &str = include_str!("look.sh");

/// What ours prints, what hwloc prints, and what of the machine both show.
const PICTURES: [(&str, &str, &str); 7] = [
    ("whole", "whole", "all of it"),
    ("distances", "distances", "its distances"),
    ("few", "few", "what a cgroup leaves of it"),
    (
        "disallowed",
        "disallowed",
        "all of it from inside the cgroup",
    ),
    ("cpuid", "cpuid", "what cpuid tells of it"),
    ("xml", "whole", "oxmpi's XML of it, read by hwloc"),
    ("record", "whole", "oxmpi's recording of it, read by oxmpi"),
];

/// Boots each machine and compares what is said of it.
///
/// # Errors
/// When a guest does not end well, or the two sides do not say the same.
pub(super) fn check(repo: &Repo) -> Result<Outcome> {
    let host = match Host::equip(repo) {
        Ok(host) => host,
        Err(lacking) => return Ok(lacking.into()),
    };
    let oxmpi = repo.oxmpi()?;
    let lstopo = which("lstopo-no-graphics").ok_or("no lstopo-no-graphics on the path")?;
    let mut tally = Tally::default();
    for case in &CASES {
        let name = case.name;
        let job = Job {
            script: format!("{}\n{LOOK}", case.before),
            files: vec![oxmpi.clone(), lstopo.clone()],
        };
        let run = host.boot(repo, "ci", case.machine, &job, LIMIT)?;
        if run.ending != Ending::Job(0) {
            return Err(format!("{name}: {}:\n{}", run.ending, run.console).into());
        }
        let read = |file: &str| repo.shell.read_file(run.out.join(file));
        for (ours, theirs, what) in PICTURES {
            let ours = read(&format!("{ours}.oxmpi"))?;
            let theirs = read(&format!("{theirs}.hwloc"))?;
            same(&ours, &theirs).map_err(|line| format!("{name}: {what}: {line}\n{ours}"))?;
            println!("{name}: {what}: as hwloc");
            tally += Tally::ONE;
        }
    }
    Ok(tally.into())
}

/// Nothing, or the first line in which two texts differ.
fn same(ours: &str, theirs: &str) -> std::result::Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let (mut ours, mut theirs) = (ours.lines(), theirs.lines());
    for number in 1.. {
        let (our, their) = (ours.next(), theirs.next());
        if our != their || our.is_none() {
            let shown =
                |line: Option<&str>| line.map_or("the end".into(), |line| format!("'{line}'"));
            let (our, their) = (shown(our), shown(their));
            return Err(format!("line {number} is {our}, and hwloc's is {their}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Where two texts differ.

    use super::same;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        assert_eq!(same("a\nb\n", "a\nb\n"), Ok(()));
        let line = same("a\nb\n", "a\nc\n").unwrap_err();
        assert_eq!(line, "line 2 is 'b', and hwloc's is 'c'");
        let line = same("a\n", "a\nc\n").unwrap_err();
        assert_eq!(line, "line 2 is the end, and hwloc's is 'c'");
        let line = same("a", "a\n").unwrap_err();
        assert_eq!(line, "line 2 is the end, and hwloc's is the end");
    }
}
