//! [`PidfdSet`]: notices that processes have ended.
//!
//! A pidfd becomes readable when its process ends, whichever process is its parent, and cannot be confused
//! with a later process of the same number. Where the system has none (Linux before 5.3, valgrind before 3.21), the folder
//! of the process in /proc serves instead, which is that of this process as long as it is open.
//!
//! Source: pidfd_open(2), proc_pid_stat(5).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::pipe::{PollFd, PollFlags, poll};

/// A set of watched processes, each with an index that the caller chose.
#[derive(Debug, Default)]
pub struct PidfdSet {
    watched: Vec<(u32, OwnedFd)>,
    /// Those of which there is no pidfd: their folders in /proc.
    folders: Vec<(u32, OwnedFd)>,
    gone: Vec<u32>,
}

impl PidfdSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Watches process `pid` as `index`. One that has ended already is reported by the next
    /// [`PidfdSet::ended`].
    ///
    /// # Errors
    /// What pidfd_open says: mostly that this process has too many open files.
    pub fn add(&mut self, index: u32, pid: u32) -> io::Result<()> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid =
            pid.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a process number"))?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => self.watched.push((index, fd)),
            Err(Errno::SRCH) => self.gone.push(index),
            Err(Errno::NOSYS) => self.add_folder(index, pid)?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Watches a process without a pidfd.
    fn add_folder(&mut self, index: u32, pid: Pid) -> io::Result<()> {
        let path = format!("/proc/{}", pid.as_raw_nonzero());
        match open(
            path,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        ) {
            Ok(folder) => self.folders.push((index, folder)),
            Err(Errno::NOENT | Errno::SRCH) => self.gone.push(index),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// The indexes of the processes that ended since the last call, each once. Does not wait.
    ///
    /// # Errors
    /// The error of poll.
    pub fn ended(&mut self) -> io::Result<Vec<u32>> {
        let mut gone = std::mem::take(&mut self.gone);
        gone.extend(
            self.folders
                .extract_if(.., |(_, folder)| has_ended(folder))
                .map(|(index, _)| index),
        );
        if self.watched.is_empty() {
            return Ok(gone);
        }
        let mut fds: Vec<PollFd<'_>> = self
            .watched
            .iter()
            .map(|(_, fd)| PollFd::new(fd, PollFlags::IN))
            .collect();
        if poll(&mut fds, Some(Duration::ZERO))? == 0 {
            return Ok(gone);
        }
        let ended: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut ended = ended.into_iter();
        self.watched.retain(|(index, _)| {
            let over = ended.next() == Some(true);
            if over {
                gone.push(*index);
            }
            !over
        });
        Ok(gone)
    }
}

/// Whether the process with this folder in /proc has ended: the folder is empty, or tells of a zombie.
fn has_ended(folder: &OwnedFd) -> bool {
    let mut text = [0; 512];
    let Ok(stat) = openat(
        folder,
        "stat",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    ) else {
        return true;
    };
    let len = rustix::io::read(&stat, &mut text).unwrap_or(0);
    // The name before the state may have parentheses of its own.
    let mut words = text[..len].rsplit(|&byte| byte == b')');
    !matches!(words.next(), Some([b' ', state, ..]) if !b"ZX".contains(state))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn reports_each_once() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut watch = PidfdSet::new();
        watch.add(3, std::process::id()).unwrap();
        watch.add(5, child.id()).unwrap();
        assert!(watch.ended().unwrap().is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(watch.ended().unwrap(), [5]);
        assert!(watch.ended().unwrap().is_empty());
        watch.add(6, child.id()).unwrap();
        assert_eq!(watch.ended().unwrap(), [6]);
        assert!(watch.add(7, 0).is_err());
    }

    #[test]
    fn a_folder_tells_the_end_as_a_pidfd_does() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = |number: u32| Pid::from_raw(number as i32).unwrap();
        let mut watch = PidfdSet::new();
        watch.add_folder(3, pid(std::process::id())).unwrap();
        watch.add_folder(5, pid(child.id())).unwrap();
        assert!(watch.ended().unwrap().is_empty());
        child.kill().unwrap();
        while watch.ended().unwrap() != [5] {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(watch.ended().unwrap().is_empty());
        watch.add_folder(6, pid(child.id())).unwrap();
        assert_eq!(watch.ended().unwrap(), [6]);
    }
}
