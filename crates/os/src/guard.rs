//! [`GroupGuard`]: a small process that kills a process group when its owner ends for any reason.
//!
//! The guard leads the group, so no other group gets this number until the owner reaps the guard. It sleeps
//! in one read of a pipe whose write end only the owner has. From its fork on it makes system calls only, so
//! a process with several threads may fork it.

use std::ffi::CStr;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, RawDir};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions};

use crate::process::signal_group;
use crate::signal::{Signal, block_all};

/// Most passes over /proc: marked processes may fork during a pass.
const ROUNDS: usize = 8;

/// A process group that the guard kills when the process that owns this value ends.
#[derive(Debug)]
pub struct GroupGuard {
    pid: Pid,
    /// Write end of the guard's pipe; the kernel closes it when the owner ends.
    _lifeline: PipeWriter,
}

impl GroupGuard {
    /// Starts a new process group with its guard.
    ///
    /// `mark` is an environment entry, `NAME=value`, that every process of the job has. When the owner dies,
    /// the guard also kills the user's processes with this entry, so it finds those that left the group.
    ///
    /// # Errors
    /// The error of pipe(2), fork(2) or setpgid(2).
    pub fn start(mark: &str) -> io::Result<Self> {
        let (reader, lifeline) = io::pipe()?;
        // SAFETY: the child calls `watch` only, which makes system calls on memory it owns
        // and neither allocates nor takes a lock, so other threads' state does not matter.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => watch(&reader, lifeline, mark.as_bytes()),
            pid => {
                let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData)?;
                // The guard makes the same call; the order does not matter.
                rustix::process::setpgid(Some(pid), Some(pid))?;
                Ok(Self {
                    pid,
                    _lifeline: lifeline,
                })
            }
        }
    }

    /// The group's number (PGID).
    #[must_use]
    pub fn group(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }
}

impl Drop for GroupGuard {
    /// Kills all processes of the group, also the guard.
    fn drop(&mut self) {
        signal_group(self.group(), Signal::KILL);
        // The guard has received SIGKILL, so this wait ends.
        let _ = rustix::process::waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED);
    }
}

/// The main function of the guard process.
fn watch(reader: &PipeReader, lifeline: PipeWriter, mark: &[u8]) -> ! {
    block_all();
    drop(lifeline);
    // The owner makes the same call; the order does not matter.
    let _ = rustix::process::setpgid(None, None);
    // No process writes: the read returns when the kernel closes the last write end.
    while rustix::io::read(reader, &mut [0_u8; 1]) == Err(rustix::io::Errno::INTR) {}
    for _ in 0..ROUNDS {
        if end_marked(mark).unwrap_or(0) == 0 {
            break;
        }
    }
    signal_group(
        rustix::process::getpgrp().as_raw_nonzero().get(),
        Signal::KILL,
    );
    // SAFETY: ends this process at once; reached only if the signal above did not.
    unsafe { libc::_exit(0) }
}

/// Kills every other process whose environment has `mark`. Returns their number.
fn end_marked(mark: &[u8]) -> rustix::io::Result<usize> {
    let me = rustix::process::getpid();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let processes = rustix::fs::openat(CWD, c"/proc", flags, Mode::empty())?;
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(&processes, &mut buffer);
    let mut ended = 0;
    while let Some(entry) = entries.next() {
        let process = environ_of(entry?.file_name().to_bytes());
        let Some((pid, path)) = process.filter(|(pid, _)| *pid != me) else {
            continue;
        };
        // The pidfd is opened before the check, so the signal cannot reach a later process with that pid.
        let Ok(pidfd) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else {
            continue;
        };
        if is_marked(&processes, &path, mark).unwrap_or(false)
            && rustix::process::pidfd_send_signal(&pidfd, Signal::KILL).is_ok()
        {
            ended += 1;
        }
    }
    Ok(ended)
}

/// The path `PID/environ` with its final zero.
type EnvironPath = [u8; 24];

/// The pid and the `environ` path of an entry of /proc; `None` if the entry is no process.
fn environ_of(entry: &[u8]) -> Option<(Pid, EnvironPath)> {
    const TAIL: &[u8] = b"/environ";
    let pid = str::from_utf8(entry)
        .ok()?
        .parse()
        .ok()
        .and_then(Pid::from_raw)?;
    let mut path = [0; size_of::<EnvironPath>()];
    let end = entry.len() + TAIL.len();
    path.get_mut(..entry.len())?.copy_from_slice(entry);
    path.get_mut(entry.len()..end)?.copy_from_slice(TAIL);
    (end < path.len()).then_some((pid, path))
}

/// Whether the environment of a process has `mark`.
fn is_marked(processes: &OwnedFd, path: &EnvironPath, mark: &[u8]) -> rustix::io::Result<bool> {
    let path = CStr::from_bytes_until_nul(path).map_err(|_| rustix::io::Errno::INVAL)?;
    let environment = rustix::fs::openat(
        processes,
        path,
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut buffer = [0_u8; 4096];
    let mut kept = 0;
    loop {
        let read = rustix::io::read(&environment, &mut buffer[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let filled = kept + read;
        if buffer[..filled]
            .windows(mark.len())
            .any(|window| window == mark)
        {
            return Ok(true);
        }
        // The mark may begin in these bytes and end in the next.
        kept = filled.min(mark.len().saturating_sub(1));
        buffer.copy_within(filled - kept..filled, 0);
    }
}
