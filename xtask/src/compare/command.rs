//! The command line by which an implementation runs a benchmark program.

use super::programs::Implementation;
use super::works::Work;
use std::path::Path;
use std::process::Command;

impl Implementation {
    /// The command that runs `program`, and ends it after a minute. More ranks than cores never run in a
    /// real-time class, where waiting ranks would starve the others.
    pub(crate) fn command(&self, work: &Work, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "5", "60"]);
        if work.crowded() && in_realtime_class() {
            command.args(["chrt", "--other", "0"]);
        }
        let environment = self.environment.iter();
        let network = self.network.iter().filter(|_| work.network);
        command.envs(
            environment
                .chain(network)
                .map(|(name, value)| (name, value)),
        );
        // The memory of a library with its default settings counts.
        if work.crowded() && work.placed {
            command.envs(self.crowded.iter().copied());
        }
        if let Some(launcher) = &self.launcher {
            let options = if work.bound() {
                self.bound
            } else {
                self.unbound
            };
            command.arg(launcher).args(options);
            command.args(["-n", &work.ranks.to_string()]);
        }
        command.arg(program);
        command
    }
}

/// Whether this process, and so its children, run in a real-time class (`SCHED_FIFO` or `SCHED_RR`): field
/// 41 of `/proc/self/stat`, counted after the name in brackets, which may contain spaces.
fn in_realtime_class() -> bool {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let policy = behind_name.split_whitespace().nth(41 - 3);
    matches!(policy, Some("1" | "2"))
}
