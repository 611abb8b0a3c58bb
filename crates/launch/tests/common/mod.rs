//! Helpers that run `oxmpi` and check that no process is left.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(unreachable_pub, reason = "a module of each test file")]

pub mod terminal;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use oxmpi_testkit::folder::Folder;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// The time after which a test that hangs is killed and fails: two minutes, or the seconds in
/// `OXMPI_TEST_WATCHDOG` for slow machines or networks.
fn watchdog() -> Duration {
    let seconds = std::env::var("OXMPI_TEST_WATCHDOG");
    let seconds = seconds.map_or(120, |text| text.parse().expect("seconds"));
    Duration::from_secs(seconds)
}

/// Exit code and output of a job.
#[derive(Debug)]
pub struct Done {
    /// The exit code, or 1000 + the signal that killed the launcher.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The command `oxmpi` with `arguments`, empty standard input and captured output. It ignores no signal: a
/// shell starts background jobs, such as a test, with SIGINT ignored.
pub fn oxmpi(arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command
        .args(["--default-signal", env!("CARGO_BIN_EXE_oxmpi")])
        .args(arguments)
        // Jobs warn of a variable that names no setting.
        .env_remove("OXMPI_TEST_WATCHDOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs `oxmpi run --oversubscribe` with these arguments to its end.
pub fn run(arguments: &[&str]) -> Done {
    finish(start(&[&["run", "--oversubscribe"], arguments].concat()))
}

/// Starts `oxmpi` with these arguments.
pub fn start(arguments: &[&str]) -> Job {
    Job(Some(oxmpi(arguments).spawn().expect("oxmpi starts")))
}

/// A launcher that is killed when its test fails.
pub struct Job(Option<Child>);

impl Job {
    /// The launcher's process number.
    pub fn id(&self) -> u32 {
        self.child().id()
    }

    /// The launcher's process.
    pub fn child(&self) -> &Child {
        self.0.as_ref().expect("it is taken at its end only")
    }

    /// The launcher's process, mutable.
    pub fn child_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is taken at its end only")
    }

    /// Waits until the launcher has been stopped by a signal.
    pub fn stopped(&self) {
        let watchdog = watch(self.id(), "is stopped");
        let pid = WaitId::Pid(Pid::from_child(self.child()));
        // NOWAIT leaves the end of the process to `finish`.
        let what = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = waitid(pid, what).expect("a child of ours");
        drop(watchdog);
        let status = status.expect("it was waited for");
        assert!(status.stopped(), "it was not stopped: {status:?}");
    }
}

impl From<Child> for Job {
    fn from(child: Child) -> Self {
        Self(Some(child))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // The test has failed; its job is killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits for the end of the launcher and of all processes with its output streams.
pub fn finish(job: impl Into<Job>) -> Done {
    let child = job.into().0.take().expect("it is taken at its end only");
    let watchdog = watch(child.id(), "ends and its output streams are closed");
    let output = child.wait_with_output().expect("its output can be read");
    drop(watchdog);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let signal = output.status.signal().unwrap_or_default();
    Done {
        code: output.status.code().unwrap_or(1000 + signal),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Starts a watchdog: it kills process `pid`, which fails the test, unless the result is dropped in time. `what` is
/// awaited of the process: it "ends", for example.
fn watch(pid: u32, what: &'static str) -> Sender<()> {
    let (sender, receiver) = channel::<()>();
    thread::spawn(move || {
        let limit = watchdog();
        if receiver.recv_timeout(limit) == Err(Timeout) {
            eprintln!("the test hangs: it has waited {limit:?} until process {pid} {what}");
            signal(pid, Signal::KILL);
        }
    });
    sender
}

/// Sends a signal to a process.
pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process number");
    kill_process(pid, signal).expect("the process exists");
}

/// The program of `examples/pmi_probe.rs`.
pub fn probe() -> String {
    let oxmpi = PathBuf::from(env!("CARGO_BIN_EXE_oxmpi"));
    let probe = oxmpi.with_file_name("examples").join("pmi_probe");
    assert!(
        probe.exists(),
        "it is not built: `cargo test -p oxmpi-launch` without `--test` does that"
    );
    probe.to_str().expect("text").to_owned()
}

/// Makes a named pipe.
pub fn named_pipe(path: &str) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).expect("a named pipe");
}

/// A named pipe that the processes of a job hold open: it ends when all of them have ended.
pub struct Leash {
    lines: Receiver<String>,
    _folder: Folder,
}

impl Leash {
    /// Makes the pipe, and returns its path and the reading side.
    pub fn new() -> (String, Self) {
        let folder = Folder::fresh();
        let path = folder.at("leash");
        named_pipe(&path);
        let (sender, lines) = channel();
        let file = path.clone();
        thread::spawn(move || {
            // `open` returns when the first rank opens the pipe; the lines end when the last process has
            // ended.
            let file = BufReader::new(File::open(file).expect("the named pipe is ours"));
            for line in file.lines() {
                // The receiver is gone when the test has failed.
                let _ = sender.send(line.expect("text"));
            }
        });
        let leash = Self {
            lines,
            _folder: folder,
        };
        (path, leash)
    }

    /// Waits for the next line that a process writes.
    pub fn line(&mut self) -> String {
        self.lines
            .recv_timeout(watchdog())
            .expect("a process of the job writes a line")
    }

    /// The process numbers of `ranks` ranks, each of which writes `rank R pid P` as its first line.
    pub fn pids(&mut self, ranks: usize) -> Vec<u32> {
        let mut pids = vec![0; ranks];
        for _ in 0..ranks {
            let line = self.line();
            let words: Vec<&str> = line.split(' ').collect();
            let ["rank", rank, "pid", pid] = words[..] else {
                panic!("unexpected report `{line}`")
            };
            pids[rank.parse::<usize>().expect("a rank")] = pid.parse().expect("a process number");
        }
        pids
    }

    /// Waits until no process holds the pipe open.
    pub fn end(self) {
        let alive = "every process of the job has ended";
        while self
            .lines
            .recv_timeout(watchdog())
            .map_err(|why| assert_eq!(why, Disconnected, "{alive}"))
            .is_ok()
        {}
    }
}
