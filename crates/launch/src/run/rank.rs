//! One rank of a running job: its process and its PMI stream.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{ChildStdin, Command, Stdio};

use oxmpi_os::process::{self, Process, ProcessEnd, SpawnSetup};
use oxmpi_settings::JOB_VARIABLE;

use super::input::RankStdin;
use super::plan::{JobPlan, RankPlan};

/// Variables of other process managers, which ranks must not inherit.
const FOREIGN: [&str; 4] = ["PMI_PORT", "PMI_ID", "PMIX_NAMESPACE", "PMIX_RANK"];

/// A rank that was started.
pub(crate) struct RankProcess {
    process: Process,
    end: Option<ProcessEnd>,
    pmi: Option<UnixStream>,
    /// PMI replies that wait for room in the stream.
    replies: Vec<u8>,
}

impl RankProcess {
    /// Starts the program of `rank_plan` in the process group `group`. Returns the other end
    /// of [`RankStdin::Pipe`].
    ///
    /// # Errors
    /// `NotFound` if there is no such program; other errors of the system.
    pub(crate) fn start(
        plan: &JobPlan,
        rank_plan: &RankPlan,
        group: i32,
        stdin: RankStdin,
    ) -> io::Result<(Self, Option<ChildStdin>)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let program = &plan.programs[rank_plan.program];
        let words = plan.words(rank_plan);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(&program.arguments);
        if let Some(directory) = &program.directory {
            command.current_dir(directory).env("PWD", directory);
        }
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.envs(
            plan.env
                .iter()
                .chain(&program.env)
                .map(|(name, value)| (name, value)),
        );
        command.envs(rank_plan.openmp.iter().map(|(name, value)| (name, value)));
        command.envs(variables(plan, rank_plan, theirs.as_raw_fd()));
        command.stdin(match stdin {
            RankStdin::Nothing => Stdio::null(),
            RankStdin::Inherited => Stdio::inherit(),
            RankStdin::Pipe => Stdio::piped(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let setup = SpawnSetup {
            group,
            cpus: rank_plan.mask.as_deref(),
            keep: theirs.as_fd(),
        };
        let mut process = process::spawn(command, &setup)?;
        let stdin = process.stdin.take();
        let rank = Self {
            process,
            end: None,
            pmi: Some(ours),
            replies: Vec::new(),
        };
        Ok((rank, stdin))
    }

    /// Its standard output and standard error, once.
    pub(crate) fn take_output(&mut self) -> Option<[OwnedFd; 2]> {
        let stdout = self.process.stdout.take()?;
        let stderr = self.process.stderr.take()?;
        Some([stdout.into(), stderr.into()])
    }

    pub(crate) fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// How the process ended, if it has.
    pub(crate) fn end(&self) -> Option<ProcessEnd> {
        self.end
    }

    /// Checks whether the process has ended; returns its end the first time.
    pub(crate) fn poll_end(&mut self) -> Option<ProcessEnd> {
        if self.end.is_none() {
            self.end = self.process.try_wait().unwrap_or(None);
            return self.end;
        }
        None
    }

    /// The PMI stream, while it is open.
    pub(crate) fn pmi(&self) -> Option<&UnixStream> {
        self.pmi.as_ref()
    }

    /// Whether replies wait for room; until then no requests are read.
    pub(crate) fn has_pending_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Reads the PMI stream; `None` if there is nothing to read.
    pub(crate) fn read_pmi<'b>(&mut self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let read = match self.pmi.as_mut()?.read(buffer) {
            Ok(0) => None,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return None;
            }
            Ok(read) => Some(read),
            Err(_) => None,
        };
        match read {
            Some(read) => Some(&buffer[..read]),
            None => {
                self.pmi = None;
                None
            }
        }
    }

    /// Writes a reply to the PMI stream, as far as there is room.
    pub(crate) fn write_pmi(&mut self, line: &str) {
        self.replies.extend_from_slice(line.as_bytes());
        self.flush_pmi();
    }

    /// Writes replies that wait for room.
    pub(crate) fn flush_pmi(&mut self) {
        while let (Some(pmi), false) = (&mut self.pmi, self.replies.is_empty()) {
            match pmi.write(&self.replies) {
                Ok(written) => drop(self.replies.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The rank has closed its end; the end of its process follows.
                Err(_) => self.pmi = None,
            }
        }
        self.replies.clear();
    }
}

impl AsFd for RankProcess {
    /// The pidfd: readable when the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.process.as_fd()
    }
}

/// The PMI variables of a rank.
fn variables(plan: &JobPlan, rank_plan: &RankPlan, fd: i32) -> [(&'static str, OsString); 6] {
    let size = plan.ranks.len();
    let alone = (rank_plan.rank, size as u32);
    let (place, here) =
        (plan.virtual_hosts.as_ref()).map_or(alone, |hosts| hosts.local_rank(rank_plan.rank));
    [
        ("PMI_FD", fd.to_string().into()),
        ("PMI_RANK", rank_plan.rank.to_string().into()),
        ("PMI_SIZE", size.to_string().into()),
        ("MPI_LOCALRANKID", place.to_string().into()),
        ("MPI_LOCALNRANKS", here.to_string().into()),
        (JOB_VARIABLE, plan.key.clone().into()),
    ]
}
