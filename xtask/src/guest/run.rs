//! Boots one guest, runs its job and fetches the results.

use super::host::Host;
use super::job::Job;
use super::machine::GuestMachine;
use crate::{Repo, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The kernel's command line. Emulated processors use the host's cycle counter; comparing it across
/// processors or calibrating it fails on a busy host, so the kernel takes time from the board's timer.
const KERNEL: &str = "console=ttyS0 quiet panic=-1 rdinit=/init nokaslr mitigations=off \
                      tsc=reliable clocksource=acpi_pm no_timer_check random.trust_cpu=on";

/// What a guest gets besides its machine.
#[derive(Default)]
pub(super) struct Extra {
    /// Variables for its job, as `a=1 b=2`: the kernel passes unknown parameters to process 1.
    pub(super) variables: String,
    /// Further arguments of QEMU.
    pub(super) devices: Vec<String>,
}

/// The result of a guest.
pub(crate) struct GuestRun {
    pub(crate) ending: Ending,
    /// The console: the kernel's messages and the job's output.
    pub(crate) console: String,
    /// The folder with the files that the job wrote to `/out`.
    pub(crate) out: PathBuf,
}

/// How a guest ended.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Ending {
    /// The job ended with this status, and its files were fetched.
    #[error("the job ended with status {0}")]
    Job(u8),
    /// The guest ran until its time limit.
    #[error("the guest still ran when its time was over")]
    Late,
    /// The guest ended before its job did.
    #[error("the guest ended before its job did")]
    Died,
    /// QEMU did not boot the guest, or was killed: its exit status and its messages.
    #[error("QEMU {status}: {1}", status = exit_text(*.0))]
    Refused(Option<i32>, String),
    /// QEMU is missing.
    #[error("there is no qemu-system-x86_64")]
    NoQemu,
}

/// What QEMU's exit status says; `None` means that a signal ended it.
fn exit_text(status: Option<i32>) -> String {
    status.map_or_else(|| "was killed".into(), |status| format!("gave {status}"))
}

impl Host {
    /// Boots `machine`, runs `job` in it, and fetches its results, within `limit`.
    ///
    /// All files are in the folder `name` under `target/xtask/guest`, which is emptied first.
    ///
    /// # Errors
    /// When QEMU cannot emulate the machine, or a file cannot be read or written.
    pub(crate) fn boot(
        &self,
        repo: &Repo,
        name: &str,
        machine: GuestMachine,
        job: &Job,
        limit: Duration,
    ) -> Result<GuestRun> {
        self.boot_with(repo, name, machine, job, limit, &Extra::default())
    }

    /// As [`Host::boot`], with further variables and arguments.
    pub(super) fn boot_with(
        &self,
        repo: &Repo,
        name: &str,
        machine: GuestMachine,
        job: &Job,
        limit: Duration,
        extra: &Extra,
    ) -> Result<GuestRun> {
        let folder = repo.scratch(&format!("guest/{name}"))?;
        let root = folder.join("root.cpio");
        std::fs::write(&root, job.root(&self.busybox)?)?;
        let (console, home) = (folder.join("console.log"), folder.join("home.tar.gz"));

        let mut qemu = qemu(limit);
        qemu.args(machine.arguments()?)
            .arg("-kernel")
            .arg(&self.kernel)
            .arg("-initrd")
            .arg(&root)
            .args(["-append", &format!("{KERNEL} {}", extra.variables)])
            .args(&extra.devices)
            .args(serial("console", &console))
            .args(serial("home", &home));
        let start = Instant::now();
        let output = qemu.stdin(Stdio::null()).output()?;
        let report = unpack(&home, &folder)?;
        let said = String::from_utf8_lossy(&output.stderr);
        let late = start.elapsed() >= limit;
        Ok(GuestRun {
            ending: ending(output.status.code(), late, said.trim(), report.as_deref()),
            console: String::from_utf8_lossy(&std::fs::read(&console).unwrap_or_default())
                .into_owned(),
            out: folder.join("out"),
        })
    }
}

/// QEMU without a display or default devices, killed 5 s after `limit`.
fn qemu(limit: Duration) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["--foreground", "--kill-after=5"])
        .arg(limit.as_secs_f64().to_string())
        .arg("qemu-system-x86_64")
        .args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ])
        .args(["-accel", "tcg,thread=multi"]);
    command
}

/// QEMU's arguments for a serial port that writes to a file.
fn serial(name: &str, path: &Path) -> [String; 4] {
    // A comma separates options; a double comma is a comma.
    let path = path.display().to_string().replace(',', ",,");
    [
        "-chardev".into(),
        format!("file,id={name},path={path}"),
        "-serial".into(),
        format!("chardev:{name}"),
    ]
}

/// Unpacks the archive that the guest sent, and returns the job's status, its last entry.
fn unpack(home: &Path, folder: &Path) -> Result<Option<String>> {
    // A truncated archive yields its complete files, and no status.
    Command::new("tar")
        .args(["--extract", "--gzip", "--no-same-owner", "--file"])
        .arg(home)
        .arg("--directory")
        .arg(folder)
        .stderr(Stdio::null())
        .status()?;
    Ok(std::fs::read_to_string(folder.join("status")).ok())
}

/// Decides how a guest ended: from the status of `timeout` and QEMU, whether the time limit passed, QEMU's
/// messages, and the job's status.
fn ending(status: Option<i32>, late: bool, said: &str, report: Option<&str>) -> Ending {
    let job = report.and_then(|text| text.trim().parse().ok());
    match (status, job) {
        (Some(0), Some(status)) => Ending::Job(status),
        (Some(0), None) => Ending::Died,
        (Some(124 | 137), _) if late => Ending::Late,
        (Some(126 | 127), _) => Ending::NoQemu,
        (status, _) => Ending::Refused(status, said.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    //! Tests that each way to end is told from the others.

    use super::{Ending, ending, serial};
    use std::path::Path;

    #[test]
    fn each_end_differs_from_the_others() {
        let refused = |status, said: &str| Ending::Refused(status, said.into());
        for (status, late, said, report, expected) in [
            (Some(0), false, "", Some("0\n"), Ending::Job(0)),
            (Some(0), false, "", Some("137\n"), Ending::Job(137)),
            (Some(0), true, "", Some("3\n"), Ending::Job(3)),
            (Some(0), false, "", None, Ending::Died),
            (Some(0), false, "", Some(""), Ending::Died),
            (Some(124), true, "", None, Ending::Late),
            (Some(137), true, "", None, Ending::Late),
            (Some(137), false, "", None, refused(Some(137), "")),
            (
                Some(1),
                false,
                "bad -smp",
                None,
                refused(Some(1), "bad -smp"),
            ),
            (Some(127), false, "", None, Ending::NoQemu),
        ] {
            let what = format!("{status:?}, late {late}, {said:?}, {report:?}");
            assert_eq!(ending(status, late, said, report), expected, "{what}");
        }
    }

    #[test]
    fn a_comma_in_a_path_is_no_option() {
        let arguments = serial("home", Path::new("/a,b"));
        assert_eq!(arguments[1], "file,id=home,path=/a,,b");
    }
}
