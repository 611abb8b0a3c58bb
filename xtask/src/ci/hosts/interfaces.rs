//! The choice of network interfaces by two hosts that both have a bridge with the address that container engines give it.

use super::namespaces::Namespaces;
use crate::ci::ranks::ended;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::process::Command;

/// A setting, and what the job prints with it: `None` if it succeeds.
type InterfaceCase = (
    Option<(&'static str, &'static str)>,
    Option<&'static [&'static str]>,
);

const CASES: [InterfaceCase; 4] = [
    (None, None),
    (Some(("OXMPI_TCP_EXCLUDE", "docker0")), None),
    (
        Some(("OXMPI_TCP_INCLUDE", "ib0")),
        Some(&[
            "eth0: tcp_include = \"ib0\"",
            "docker0: tcp_include = \"ib0\"",
        ]),
    ),
    (
        Some(("OXMPI_TCP_EXCLUDE", "eth0")),
        Some(&[
            "172.17.0.1 port",
            "this host has that address, too",
            "tcp_exclude",
        ]),
    ),
];

/// Runs a job of two ranks on two hosts of `hosts` under each setting.
///
/// # Errors
/// When a job cannot be started.
pub(super) fn check(repo: &Repo, hosts: &Namespaces) -> Result<Tally> {
    hosts.add_bridges("docker0", "172.17.0.1/16")?;
    let built = repo.runtime()?;
    let (oxmpi, hello) = (built.join("oxmpi"), built.join("examples/hello"));
    let mut tally = Tally::default();
    for (setting, expected) in CASES {
        let mut job = Command::new(&oxmpi);
        job.args(["run", "--oversubscribe", "-n", "2", "-ppn", "1"]);
        job.args(["--wrap", &hosts.plain_command()]).arg(&hello);
        job.envs(setting);
        let output = ended(&mut job)?;
        let said = String::from_utf8_lossy(&output.stderr);
        let is_right = match expected {
            None => output.status.success(),
            Some(parts) => !output.status.success() && parts.iter().all(|part| said.contains(part)),
        };
        tally += match is_right {
            true => Tally::ONE,
            false => Tally::failed(format!("{setting:?}: {}, {said}", output.status)),
        };
    }
    hosts.remove_bridges("docker0")?;
    Ok(tally)
}
