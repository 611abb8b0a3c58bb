//! Emulated machines with many processors: compares `oxmpi topo` with hwloc, and cpuid with /sys, inside
//! each; checks that ranks and threads run where `oxmpi pin` says.

mod place;

use crate::guest::{Ending, GuestMachine, Host, Job, which};
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use serde_json::Value;
use std::time::Duration;

/// A guest boots in 10 s, on a busy host in a minute.
const LIMIT: Duration = Duration::from_secs(240);

/// One machine, and the commands that prepare it.
struct Case {
    name: &'static str,
    machine: GuestMachine,
    /// Commands that set `few` to the path of a new cgroup that limits processors.
    before: &'static str,
    /// The number of objects of each kind that hwloc must see.
    objects: [(&'static str, usize); 6],
}

const CASES: [Case; 2] = [
    Case {
        name: "four NUMA nodes",
        machine: GuestMachine::USUAL,
        before: "
            mount -t cgroup2 cgroup /sys/fs/cgroup
            echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control
            few=/sys/fs/cgroup/few",
        objects: [
            ("Package", 2),
            ("NUMANode", 4),
            ("L3", 2),
            ("L2", 8),
            ("Core", 8),
            ("PU", 16),
        ],
    },
    Case {
        name: "shared level 2 caches, one processor offline",
        machine: GuestMachine {
            modules: 2,
            cores: 2,
            ..GuestMachine::USUAL
        },
        before: "
            mount -t tmpfs cgroup /sys/fs/cgroup
            mkdir /sys/fs/cgroup/cpuset
            mount -t cgroup -o cpuset cgroup /sys/fs/cgroup/cpuset
            echo 0 > /sys/devices/system/cpu/cpu5/online
            few=/sys/fs/cgroup/cpuset/few",
        objects: [
            ("Package", 2),
            ("NUMANode", 4),
            ("L3", 2),
            ("L2", 4),
            ("Core", 8),
            ("PU", 15),
        ],
    },
];

const LOOK: &str = include_str!("look.sh");

/// The suffix of our output, the suffix of hwloc's, and what of the machine both describe.
const PICTURES: [(&str, &str, &str); 7] = [
    ("whole", "whole", "all of it"),
    ("distances", "distances", "the distances"),
    ("few", "few", "the part that a cgroup allows"),
    (
        "disallowed",
        "disallowed",
        "all of it from inside the cgroup",
    ),
    ("cpuid", "cpuid", "the part that cpuid describes"),
    ("xml", "whole", "oxmpi's XML, read by hwloc"),
    ("record", "whole", "oxmpi's recording, read by oxmpi"),
];

/// Boots each machine and compares the outputs.
///
/// # Errors
/// When a guest fails, or two outputs differ.
pub(super) fn check(repo: &Repo) -> Result<StepOutcome> {
    let host = match Host::equip(repo) {
        Ok(host) => host,
        Err(lacking) => return Ok(lacking.into()),
    };
    let oxmpi = repo.runtime()?.join("oxmpi");
    let lstopo = which("lstopo-no-graphics").ok_or("no lstopo-no-graphics on the path")?;
    let mut tally = Tally::default();
    for case in &CASES {
        let name = case.name;
        let job = Job {
            script: format!("set -eu\n{}\n{LOOK}", case.before),
            files: vec![oxmpi.clone(), lstopo.clone()],
            placed: Vec::new(),
            tree: None,
        };
        let run = host.boot(repo, "ci", case.machine, &job, LIMIT)?;
        if run.ending != Ending::Job(0) {
            return Err(format!("{name}: {}:\n{}", run.ending, run.console).into());
        }
        let read = |file: &str| repo.shell.read_file(run.out.join(file));
        let seen = read("whole.hwloc")?;
        for (kind, count) in case.objects {
            if seen.matches(&format!("{kind} L#")).count() != count {
                return Err(format!("{name}: hwloc does not see {count} {kind}:\n{seen}").into());
            }
        }
        for (ours, theirs, what) in PICTURES {
            let ours = read(&format!("{ours}.oxmpi"))?;
            let theirs = read(&format!("{theirs}.hwloc"))?;
            same(&ours, &theirs).map_err(|line| format!("{name}: {what}: {line}\n{ours}"))?;
            println!("{name}: {what}: as hwloc");
            tally += Tally::ONE;
        }
        let processors = |file| -> Result<String> { in_processors(&read(file)?) };
        same(&processors("cpuid.json")?, &processors("linux.json")?)
            .map_err(|line| format!("{name}: cpuid, with /sys in hwloc's place: {line}"))?;
        println!("{name}: cpuid and /sys agree");
        tally += Tally::ONE;
    }
    tally += place::check(repo, &host)?;
    Ok(tally.into())
}

/// Nothing, or the first line in which the two texts differ.
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

/// The objects of processors in a machine's JSON, one a line: the part that cpuid can describe.
///
/// # Errors
/// When there are none.
fn in_processors(json: &str) -> Result<String> {
    let machine: Value = serde_json::from_str(json)?;
    let objects = machine["objects"].as_array().ok_or("no objects")?;
    let lines = objects.iter().filter_map(|object| {
        let kind = object["type"].as_str()?;
        let part = ["Package", "Die", "Core", "PU"].contains(&kind) || kind.contains("Cache");
        let field = |name: &str| object[name].to_string();
        part.then(|| [kind, &field("os"), &field("cpus"), &field("size")].join(" ") + "\n")
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return Err("no processors in the JSON".into());
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    //! Tests of the comparison of two texts, and of the objects that cpuid can describe.

    use super::{in_processors, same};

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

    #[test]
    fn memory_is_not_what_processors_are_made_of() {
        let json = r#"{"objects": [
            {"type": "Machine", "cpus": "0-1"},
            {"type": "NUMANode", "cpus": "0-1", "os": 0, "memory": 7},
            {"type": "Group", "cpus": "0"},
            {"type": "L2Cache", "cpus": "0-1", "size": 4096},
            {"type": "PU", "cpus": "1", "os": 1}
        ]}"#;
        let lines = "L2Cache null \"0-1\" 4096\nPU 1 \"1\" null\n";
        assert_eq!(in_processors(json).unwrap(), lines);
        assert!(in_processors("{}").is_err());
        assert!(in_processors(r#"{"objects": [{"type": "Machine"}]}"#).is_err());
        assert!(in_processors("").is_err());
    }
}
