//! [`PidfdSet`]: notices that processes have ended.
//!
//! A pidfd becomes readable when its process ends, whichever process is its parent, and cannot be confused
//! with a later process of the same number.
//!
//! Source: pidfd_open(2).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::pipe::{PollFd, PollFlags, poll};

/// A set of watched processes, each with an index that the caller chose.
#[derive(Debug, Default)]
pub struct PidfdSet {
    watched: Vec<(u32, OwnedFd)>,
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
}
