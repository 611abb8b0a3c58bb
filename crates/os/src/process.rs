//! Starts processes that cannot outlive their parent, and watches their end.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use rustix::process::{Pid, PidfdFlags, Resource, WaitId, WaitIdOptions, WaitIdStatus};

use crate::affinity;
use crate::signal::{self, Signal};

/// What a new process gets besides its program, arguments, environment and standard streams.
#[derive(Debug, Clone, Copy)]
pub struct SpawnSetup<'a> {
    /// The process group that it enters. The group's leader must be alive.
    pub group: i32,
    /// The affinity mask of the new process (see [`affinity`]); `None`: its parent's mask.
    pub cpus: Option<&'a [u64]>,
    /// A descriptor that the new process inherits under the same number.
    pub keep: BorrowedFd<'a>,
}

/// A child process, and a descriptor that becomes readable when the process ends.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    pidfd: OwnedFd,
    /// Its standard input, if it was piped.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if it was piped.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if it was piped.
    pub stderr: Option<ChildStderr>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It exited with this code.
    Exited(i32),
    /// This signal killed it.
    Killed(i32),
}

/// The calling thread, by the number that the kernel gives it. Unlike that of the standard library it is known in exit
/// handlers, too.
#[must_use]
pub fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Ends the process with this code; no exit handler runs.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: the call has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Starts `command` in a process group and bound to processors, both set before exec.
///
/// The kernel kills the new process when the calling *thread* ends (prctl(2), PR_SET_PDEATHSIG): call this
/// from a thread that outlives the process.
///
/// # Errors
/// `NotFound` if the program does not exist; else the error of fork, exec or pidfd_open.
///
/// # Cost
/// One fork and exec; returns after exec.
pub fn spawn(mut command: Command, setup: &SpawnSetup<'_>) -> io::Result<Process> {
    let parent = rustix::process::getpid();
    let group = Pid::from_raw(setup.group);
    let cpus = setup.cpus.map(<[u64]>::to_vec);
    let keep = setup.keep.as_raw_fd();
    let before_exec = move || {
        rustix::process::setpgid(None, group)?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // A parent that died before the line above sends no signal any more.
        if rustix::process::getppid() != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        signal::unblock_all()?;
        if let Some(cpus) = &cpus {
            affinity::set_current(cpus)?;
        }
        // SAFETY: the caller's borrow keeps the descriptor open until this function returns, and
        // the child has a copy of the table of descriptors as it was at the fork.
        let keep = unsafe { BorrowedFd::borrow_raw(keep) };
        rustix::io::fcntl_setfd(keep, rustix::io::FdFlags::empty())?;
        Ok(())
    };
    // SAFETY: the closure makes system calls only: no allocation, no lock, nothing dropped.
    unsafe { command.pre_exec(before_exec) };
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let process = rustix::process::pidfd_open(pid, PidfdFlags::empty()).map(|pidfd| Process {
        pid,
        pidfd,
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
    });
    process.map_err(|error| {
        // This process cannot watch the child, so the child must not run. Both calls succeed for a child.
        let _ = child.kill();
        let _ = child.wait();
        error.into()
    })
}

impl Process {
    /// The pid of the process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Reaps the process if it has ended and returns how; `None` while it runs.
    ///
    /// # Errors
    /// The error of waitid(2): `ECHILD` if an earlier call has reaped it.
    pub fn try_wait(&self) -> io::Result<Option<ProcessEnd>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let status = rustix::process::waitid(WaitId::PidFd(self.pidfd.as_fd()), options)?;
        Ok(status.as_ref().and_then(end_of))
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

fn end_of(status: &WaitIdStatus) -> Option<ProcessEnd> {
    status
        .exit_status()
        .map(ProcessEnd::Exited)
        .or_else(|| status.terminating_signal().map(ProcessEnd::Killed))
}

/// Sends `signal` to every process of a group. A group without processes is no error.
pub fn signal_group(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group).filter(|group| *group != Pid::INIT) {
        // Fails only if the group is empty or all its processes belong to another user.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Makes this process the parent of every descendant whose own parent ends.
///
/// # Errors
/// The error of prctl(2), PR_SET_CHILD_SUBREAPER.
pub fn become_subreaper() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Kills and reaps every child of this process, and every orphan that it adopts from them as a subreaper,
/// until no child is left.
///
/// # Errors
/// The error of reading /proc.
///
/// # Cost
/// One system call if there is no child.
pub fn end_children() -> io::Result<()> {
    let me = rustix::process::getpid();
    while any_child() {
        for pid in children_of(me)? {
            // An error means that the child has ended; then the wait reaps it at once.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            let _ = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
        }
    }
    Ok(())
}

/// Reaps ended children while `which` accepts their pids. A subreaper thus reaps adopted orphans, and leaves
/// the exit status of its own children to [`Process::try_wait`].
pub fn reap_ended(which: impl Fn(i32) -> bool) {
    while let Some(pid) = any_ended().filter(|pid| which(pid.as_raw_nonzero().get())) {
        // The child has ended, so this reaps it at once.
        let _ = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
    }
}

/// An ended child that was not reaped.
fn any_ended() -> Option<Pid> {
    let look = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the pointer names memory for one record, which the call fills or leaves zero.
    let done = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), look) };
    if done != 0 {
        return None;
    }
    // SAFETY: all bytes are zero or written by the call, and zero bytes are a valid record.
    let info = unsafe { info.assume_init() };
    // SAFETY: after waitid the record is that of a child, or all zero, which gives no process.
    Pid::from_raw(unsafe { info.si_pid() })
}

fn any_child() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::All, look).is_ok()
}

fn children_of(parent: Pid) -> io::Result<Vec<Pid>> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Ok(entry) = entry else { continue };
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
            .and_then(Pid::from_raw)
        else {
            continue;
        };
        // A process without this file has been reaped, so it is no child.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        if parent_in(&stat) == Some(parent.as_raw_nonzero().get()) {
            children.push(pid);
        }
    }
    Ok(children)
}

/// The parent's pid in a line of /proc/PID/stat. The name before it is in parentheses and may contain any
/// byte, so the last parenthesis ends it.
fn parent_in(stat: &str) -> Option<i32> {
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(1)?.parse().ok()
}

/// What the kernel says of a process, such as `running`, `sleeping` or `stopped` (proc_pid_status(5)); `None` if
/// there is no such process.
#[must_use]
pub fn state(pid: i32) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let (_, after) = status.split_once("\nState:")?;
    let (_, word) = after.lines().next()?.split_once('(')?;
    Some(word.trim_end_matches(')').to_owned())
}

/// Raises the limit of open descriptors (RLIMIT_NOFILE) of this process and its later children to at least
/// `needed`.
///
/// # Errors
/// The hard limit, if it is below `needed`.
pub fn raise_open_files(needed: u64) -> Result<(), u64> {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(maximum) = limit.maximum.filter(|maximum| *maximum < needed) {
        return Err(maximum);
    }
    limit.current = Some(needed);
    rustix::process::setrlimit(Resource::Nofile, limit).map_err(|_| limit.current.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::GroupGuard;
    use crate::pipe::{PollFd, PollFlags, poll};
    use std::process::Stdio;

    fn start(command: Command) -> io::Result<Process> {
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let (keep, _other) = io::pipe()?;
        let keep = keep.as_fd();
        let cpus = None;
        spawn(command, &SpawnSetup { group, cpus, keep })
    }

    /// What a process writes to its standard output until its end.
    fn output(process: &mut Process) -> String {
        let stdout = process.stdout.take().expect("piped");
        io::read_to_string(stdout).expect("text")
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        command
    }

    fn wait(process: &Process) -> ProcessEnd {
        poll(&mut [PollFd::new(process, PollFlags::IN)], None).expect("poll");
        process
            .try_wait()
            .expect("it was not waited for")
            .expect("it has ended")
    }

    #[test]
    fn the_end_of_a_process_is_reported() {
        let end = |script| wait(&start(shell(script)).expect("sh"));
        assert_eq!(end("exit 7"), ProcessEnd::Exited(7));
        assert_eq!(end("kill -KILL $$"), ProcessEnd::Killed(libc::SIGKILL));
    }

    #[test]
    fn the_state_of_a_process_is_named() {
        let own = state(std::process::id().cast_signed()).expect("it runs");
        assert!(
            !own.is_empty() && own.bytes().all(|byte| byte != b')'),
            "{own}"
        );
        assert_eq!(state(0), None);
    }

    #[test]
    fn a_missing_program_is_not_found() {
        let error = start(Command::new("no-such-program")).expect_err("it does not exist");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_process_starts_pinned_and_with_its_descriptor() {
        let all = affinity::current().expect("a mask");
        let last = affinity::cpus(&all).last().expect("at least one processor");
        let (reader, _writer) = io::pipe().expect("a pipe");
        let number = reader.as_raw_fd();
        let setup = SpawnSetup {
            group: rustix::process::getpgrp().as_raw_nonzero().get(),
            cpus: Some(&affinity::mask([last])),
            keep: reader.as_fd(),
        };
        let script = format!(
            "grep Cpus_allowed_list /proc/self/status; test -e /proc/self/fd/{number} && echo kept"
        );
        let mut process = spawn(shell(&script), &setup).expect("sh");
        let expected = format!("Cpus_allowed_list:\t{last}\nkept\n");
        assert_eq!(output(&mut process), expected);
        assert_eq!(wait(&process), ProcessEnd::Exited(0));
    }

    #[test]
    fn a_process_starts_with_no_signal_blocked() {
        let signals = signal::Signals::collect(&[Signal::USR2]).expect("a signal descriptor");
        let mut command = Command::new("grep");
        command
            .args(["SigBlk", "/proc/self/status"])
            .stdout(Stdio::piped());
        let mut process = start(command).expect("grep");
        let blocked = output(&mut process);
        let blocked = blocked.trim_start_matches("SigBlk:").trim();
        assert_eq!(blocked.trim_matches('0'), "");
        assert_eq!(wait(&process), ProcessEnd::Exited(0));
        drop(signals);
    }

    #[test]
    fn a_guard_takes_its_group_with_it() {
        let guard = GroupGuard::start("OXMPI_TEST=none").expect("a guard");
        let (keep, _other) = io::pipe().expect("a pipe");
        let setup = SpawnSetup {
            group: guard.group(),
            cpus: None,
            keep: keep.as_fd(),
        };
        let mut process = spawn(shell("sleep 100 & wait"), &setup).expect("sh");
        drop(guard);
        assert_eq!(wait(&process), ProcessEnd::Killed(libc::SIGKILL));
        // End of file: no process has the pipe open, not even the background process.
        assert_eq!(output(&mut process), "");
    }

    #[test]
    fn a_name_with_parentheses_does_not_hide_the_parent() {
        assert_eq!(parent_in("12 (a) b (c)) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in("12"), None);
    }
}
