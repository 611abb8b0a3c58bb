//! Measures how near the two processors are, before and after each run.

use crate::{Repo, Result};
use std::path::PathBuf;
use std::process::Command;
use xshell::cmd;

/// The probe program, and the vendor of the processor, by which its answer is read.
pub(crate) struct Probe {
    program: PathBuf,
    /// `amd`, `intel` or `other`.
    pub(crate) kind: &'static str,
    /// The processor's model name.
    pub(crate) model: String,
}

impl Probe {
    /// Builds the probe program.
    pub(crate) fn build(repo: &Repo) -> Result<Probe> {
        let sh = &repo.shell;
        cmd!(
            sh,
            "cargo build --release --package oxmpi-bench --example placement"
        )
        .quiet()
        .run()?;
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo")?;
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(": "))
                .map_or("", |(_, value)| value.trim())
        };
        let kind = match field("vendor_id") {
            "AuthenticAMD" => "amd",
            "GenuineIntel" => "intel",
            _ => "other",
        };
        let model = field("model name").to_owned();
        Ok(Probe {
            program: repo.root.join("target/release/examples/placement"),
            kind,
            model,
        })
    }

    /// Nanoseconds of a cache line from one processor to the other, measured for 10 ms.
    pub(crate) fn nanoseconds(&self) -> Result<f64> {
        let output = Command::new(&self.program).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = text
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        number.ok_or_else(|| {
            let why = String::from_utf8_lossy(&output.stderr);
            format!("the placement probe failed: {}", why.trim()).into()
        })
    }
}

/// The placement for a measured time; `None` when something else ran on the processors.
///
/// On AMD's chiplets the two virtual processors share a core complex (25 to 100 ns) or not (160 to 210 ns),
/// with nothing between; elsewhere there is one placement.
pub(crate) fn tag(kind: &str, nanoseconds: f64) -> Option<&'static str> {
    match kind {
        "amd" if nanoseconds < 130.0 => Some("near"),
        "amd" if nanoseconds < 300.0 => Some("far"),
        "amd" => None,
        _ => Some("one"),
    }
}
