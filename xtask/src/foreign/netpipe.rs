//! NetPIPE: ping-pong of 1 B to 8 MiB, with every byte checked once.

use super::harness::{Ended, Harness, Job};
use super::report::Report;
use crate::Result;
use std::process::Command;

const LAST: u64 = 8 << 20;

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let folder = harness.source("netpipe", "3.7.2", "")?;
    let mut make = Command::new("make");
    make.args(["-s", "mpi"])
        .arg(format!("MPICC={}", harness.wrapper("oxmpicc").display()));
    harness.build("netpipe", &folder, make)?;
    let last = LAST.to_string();
    for (name, option) in [("netpipe", "-a"), ("netpipe -i", "-i")] {
        for library in &harness.libraries {
            let job = Job {
                library,
                ranks: 2,
                limit: 240,
                folder: &folder,
                name: name.into(),
                environment: Vec::new(),
            };
            let arguments = [option, "-l", "1", "-u", &last, "-n", "10"];
            let ended = harness.run(&job, &folder.join("NPmpi"), &arguments)?;
            report.job(name, library.name, &ended, verdict(&ended, option == "-i"));
        }
    }
    Ok(())
}

/// Whether all sizes were played, and no byte was wrong.
fn verdict(ended: &Ended, checked: bool) -> Result<(), String> {
    if ended.code != Some(0) {
        return Err(format!("it ends with {:?}", ended.code));
    }
    let sizes = ended.text.lines().filter_map(size);
    let largest = sizes.max().unwrap_or_default();
    if largest < LAST {
        return Err(format!("its largest message has {largest} B"));
    }
    let failed = ended.text.to_lowercase().contains("integrity check failed");
    if checked && failed {
        return Err("bytes are wrong".into());
    }
    Ok(())
}

/// The size in a line such as ` 12: 64 bytes 10 times --> ...`.
fn size(line: &str) -> Option<u64> {
    let (_, rest) = line.trim().split_once(':')?;
    rest.trim().split_once(" bytes")?.0.parse().ok()
}
