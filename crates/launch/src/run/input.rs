//! Standard input of the ranks.
//!
//! A rank inherits a file or pipe, so that the bytes it does not read stay for the next program of a shell script.
//! A rank cannot inherit a terminal, because ranks are not in the foreground process group of the terminal: the
//! launcher reads the terminal and forwards the bytes. What is typed while no rank reads belongs to the shell, so
//! the launcher reads the terminal only while rank 0 is blocked until it has input.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Stdin, Write};
use std::os::fd::AsFd;
use std::process::ChildStdin;
use std::str::FromStr;
use std::time::{Duration, Instant};

use oxmpi_os::{blocked, pipe};

/// Time between two checks whether rank 0 waits for input, while there is some.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Standard input of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RankStdin {
    /// /dev/null.
    Nothing,
    /// That of the launcher.
    Inherited,
    /// A pipe that the launcher writes.
    Pipe,
}

/// The ranks that read standard input: the value of `--stdin`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputRanks {
    /// Rank 0; a terminal is read only while rank 0 waits for input.
    #[default]
    WhenAwaited,
    /// No rank.
    None,
    /// This rank; a terminal is read at once.
    One(u32),
    /// Each rank gets a copy.
    All,
}

impl FromStr for InputRanks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "all" => Ok(Self::All),
            rank => rank.parse().map(Self::One).map_err(|_| {
                format!("`{rank}` is no rank; expected a rank such as 0, `all` or `none`")
            }),
        }
    }
}

impl InputRanks {
    /// Checks that a job of `ranks` ranks has the rank.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn check(self, ranks: u32) -> Result<(), String> {
        match self {
            Self::One(rank) if rank >= ranks => {
                let last = ranks - 1;
                Err(format!(
                    "--stdin {rank}: the ranks of this job are 0 to {last}"
                ))
            }
            _ => Ok(()),
        }
    }

    /// The standard input of `rank`.
    pub(crate) fn stdin(self, rank: u32) -> RankStdin {
        let reader = match self {
            Self::WhenAwaited => Some(0),
            Self::None => None,
            Self::One(reader) => Some(reader),
            Self::All => return RankStdin::Pipe,
        };
        match reader == Some(rank) {
            true if io::stdin().is_terminal() => RankStdin::Pipe,
            true => RankStdin::Inherited,
            false => RankStdin::Nothing,
        }
    }
}

/// Standard input, and the pipes to the ranks that get it.
pub(crate) struct InputForwarder {
    /// Standard input of the launcher.
    pub(crate) from: Stdin,
    is_terminal: bool,
    when_awaited: bool,
    /// The pipes to the ranks that still read.
    pipes: Vec<InputPipe>,
    /// What was read last.
    bytes: Vec<u8>,
    /// Standard input is not read before this time, which may be over.
    held_until: Option<Instant>,
}

/// The pipe to a rank.
pub(crate) struct InputPipe {
    pub(crate) to: File,
    pid: i32,
    /// How much of the bytes it has got.
    sent: usize,
}

impl InputForwarder {
    pub(crate) fn new(ranks: InputRanks) -> Self {
        let from = io::stdin();
        Self {
            is_terminal: from.is_terminal(),
            from,
            when_awaited: ranks == InputRanks::WhenAwaited,
            pipes: Vec::new(),
            bytes: Vec::new(),
            held_until: None,
        }
    }

    /// Adds the pipe to the rank whose process is `pid`.
    ///
    /// # Errors
    /// The error of the system call.
    pub(crate) fn add(&mut self, to: ChildStdin, pid: i32) -> io::Result<()> {
        pipe::set_nonblocking(&to)?;
        self.pipes.push(InputPipe {
            to: std::os::fd::OwnedFd::from(to).into(),
            pid,
            sent: 0,
        });
        Ok(())
    }

    /// The pipes whose ranks must read before standard input is read again.
    pub(crate) fn unsent(&self) -> impl Iterator<Item = &InputPipe> {
        let length = self.bytes.len();
        self.pipes.iter().filter(move |pipe| pipe.sent < length)
    }

    /// The rank whose process was `pid` has ended. `false` if no rank is left that reads.
    pub(crate) fn ended(&mut self, pid: i32) -> bool {
        self.pipes.retain(|pipe| pipe.pid != pid);
        !self.pipes.is_empty()
    }

    /// The time before which standard input is not read; `None` if it may be read at `now`.
    pub(crate) fn held_until(&self, now: Instant) -> Option<Instant> {
        // What was there may vanish meanwhile: Ctrl-C empties the queue of a terminal.
        self.held_until.filter(|until| now < *until)
    }

    /// Standard input has bytes, or a pipe has room: reads and writes without blocking. `false` at the end of the
    /// input.
    pub(crate) fn forward(&mut self, now: Instant) -> bool {
        if self.unsent().next().is_none() {
            self.held_until = None;
            if !self.may_read() {
                self.held_until = Some(now + CHECK_INTERVAL);
                return true;
            }
            self.bytes.resize(4096, 0);
            match pipe::read(self.from.as_fd(), &mut self.bytes) {
                Ok(0) | Err(_) => return false,
                Ok(read) => self.bytes.truncate(read),
            }
            self.pipes.iter_mut().for_each(|pipe| pipe.sent = 0);
        }
        let bytes = &self.bytes;
        self.pipes.retain_mut(|pipe| pipe.write(bytes));
        !self.pipes.is_empty()
    }

    /// Whether the launcher may take input from the shell or from other programs of its terminal.
    fn may_read(&self) -> bool {
        if self.is_terminal && !pipe::is_foreground(&self.from) {
            return false;
        }
        // Where the kernel does not say what a rank waits for, it gets all input.
        let awaits = |pipe: &InputPipe| {
            !matches!(blocked::awaits_input(pipe.pid, &pipe.to), Ok(Some(false)))
        };
        !self.when_awaited || self.pipes.iter().any(awaits)
    }
}

impl InputPipe {
    /// Writes what the rank has not got, as far as there is room. `false`: the rank has closed its input.
    fn write(&mut self, bytes: &[u8]) -> bool {
        match self.to.write(&bytes[self.sent..]) {
            Ok(written) => self.sent += written,
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_names_ranks() {
        for (text, ranks) in [
            ("none", Some(InputRanks::None)),
            ("all", Some(InputRanks::All)),
            ("0", Some(InputRanks::One(0))),
            ("17", Some(InputRanks::One(17))),
            ("-1", None),
            ("", None),
            ("some", None),
        ] {
            assert_eq!(text.parse().ok(), ranks, "{text}");
        }
    }

    #[test]
    fn a_rank_that_the_job_does_not_have_is_refused() {
        let refused = InputRanks::One(4).check(4).expect_err("ranks are 0 to 3");
        assert_eq!(refused, "--stdin 4: the ranks of this job are 0 to 3");
        for ranks in [
            InputRanks::One(3),
            InputRanks::All,
            InputRanks::None,
            InputRanks::WhenAwaited,
        ] {
            assert_eq!(ranks.check(4), Ok(()), "{ranks:?}");
        }
    }

    /// The event loop must sleep, even if what was held has vanished.
    #[test]
    fn held_input_is_held_for_a_while() {
        let now = Instant::now();
        let mut input = InputForwarder::new(InputRanks::WhenAwaited);
        assert_eq!(input.held_until(now), None);
        assert!(input.forward(now), "no rank waits for it");
        assert_eq!(input.held_until(now), Some(now + CHECK_INTERVAL));
        assert_eq!(input.held_until(now + CHECK_INTERVAL), None);
    }

    #[test]
    fn a_rank_that_has_ended_reads_nothing() {
        let mut input = InputForwarder::new(InputRanks::All);
        for pid in [7, 8] {
            let (_, to) = io::pipe().expect("a pipe");
            let to = std::os::fd::OwnedFd::from(to).into();
            input.pipes.push(InputPipe { to, pid, sent: 0 });
        }
        assert!(input.ended(7), "the other one reads");
        let left: Vec<i32> = input.pipes.iter().map(|pipe| pipe.pid).collect();
        assert_eq!(left, [8]);
        assert!(!input.ended(8));
    }

    #[test]
    fn a_rank_without_input_reads_nothing() {
        for (ranks, rank) in [
            (InputRanks::WhenAwaited, 1),
            (InputRanks::None, 0),
            (InputRanks::One(1), 0),
        ] {
            assert_eq!(ranks.stdin(rank), RankStdin::Nothing, "{ranks:?}");
        }
        assert_eq!(InputRanks::All.stdin(7), RankStdin::Pipe);
    }
}
