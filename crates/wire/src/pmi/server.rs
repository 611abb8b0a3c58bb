//! The process manager's side of PMI-1 for a whole job ([`Server`]), as a state machine without IO.
//!
//! The caller moves the bytes: it passes what a rank writes to [`Server::feed`], and carries out the
//! [`Event`]s of [`Server::poll`]. A rank that breaks the protocol causes an [`Event::Fault`], after which
//! the job should be ended.
//!
//! Beside the requests of [`Command`] it serves published names, and refuses to start further ranks, so that
//! `MPI_Comm_spawn` fails with an error.

mod names;
mod spawn;
#[cfg(all(test, feature = "std"))]
mod tests;

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use super::command::Command;
use super::line::{Excerpt, Line, LineError, LineReader, write_line};
use super::{KEY_MAX, KVS_NAME_MAX, VALUE_MAX};
use names::PublishedNames;
use spawn::{BlockLine, SpawnBlock};

/// Bytes of keys and values in the key-value space per rank; a `put` beyond is refused.
const SPACE_PER_RANK: usize = 1 << 20;

/// What the caller has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Write `line` to `rank`.
    Write {
        /// The rank.
        rank: u32,
        /// The reply with its newline.
        line: String,
    },
    /// This rank has joined the job: from now on it has to leave in order.
    Joined(u32),
    /// This rank has left the job in order.
    Left(u32),
    /// This rank requests the end of the job.
    Abort {
        /// The rank.
        rank: u32,
        /// The exit code for the job.
        code: i32,
    },
    /// This rank broke the protocol; the job should be ended.
    Fault {
        /// The rank.
        rank: u32,
        /// Why.
        fault: ServerError,
    },
}

/// Why a rank cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// It sent bytes that are not a line.
    #[error("{0}")]
    Line(#[from] LineError),
    /// It sent a command that this server does not know.
    #[error("{0} is not a PMI-1 request that this server knows")]
    Unknown(Excerpt),
    /// It sent a command without a required field, or with one that is not a number.
    #[error("the PMI request {line} has no valid `{field}`")]
    Field {
        /// The beginning of the line.
        line: Excerpt,
        /// The field's name.
        field: &'static str,
    },
    /// It sent a command in a state that does not allow it.
    #[error("the PMI request `{request}` came {when}")]
    Order {
        /// The command's word.
        request: &'static str,
        /// The state of the rank.
        when: &'static str,
    },
    /// It waits in a barrier that another rank cannot enter any more.
    #[error("it waits in a PMI barrier, and rank {gone} has ended without entering it")]
    Stuck {
        /// The rank that ended.
        gone: u32,
    },
}

/// State of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankState {
    /// It has not joined, or has left in order.
    Outside,
    /// It has joined.
    Joined,
    /// It waits in the barrier.
    Waiting,
    /// Its process has ended.
    Gone,
}

#[derive(Debug)]
struct Rank {
    appnum: u32,
    state: RankState,
    /// Its further bytes are ignored, since it aborted or broke the protocol.
    ignored: bool,
    reader: LineReader,
    /// A request of several lines that is not complete.
    spawn: Option<SpawnBlock>,
}

/// The PMI-1 server of one job.
#[derive(Debug)]
pub struct Server {
    kvs: String,
    ranks: Vec<Rank>,
    space: BTreeMap<String, String>,
    space_bytes: usize,
    names: PublishedNames,
    events: VecDeque<Event>,
}

impl Server {
    /// Makes the server of a job whose key-value space has the name `kvs` and whose rank `i` runs program
    /// `appnums[i]`.
    ///
    /// # Panics
    /// If `kvs` is not a valid value of a field.
    #[must_use]
    pub fn new(kvs: &str, appnums: &[u32]) -> Self {
        let fit = super::line::check_text(kvs, KVS_NAME_MAX - 1);
        assert_eq!(
            fit,
            Ok(()),
            "the name of a key-value space must fit a PMI line"
        );
        let rank = |appnum: &u32| Rank {
            appnum: *appnum,
            state: RankState::Outside,
            ignored: false,
            reader: LineReader::new(),
            spawn: None,
        };
        Self {
            kvs: kvs.to_owned(),
            ranks: appnums.iter().map(rank).collect(),
            space: BTreeMap::new(),
            space_bytes: 0,
            names: PublishedNames::default(),
            events: VecDeque::new(),
        }
    }

    /// Puts a value before the job starts, such as `PMI_process_mapping`.
    pub fn preset(&mut self, key: &str, value: &str) {
        self.space.insert(key.to_owned(), value.to_owned());
    }

    /// The state of `rank`.
    ///
    /// # Panics
    /// If the job has no such rank.
    #[must_use]
    pub fn rank_state(&self, rank: u32) -> RankState {
        self.ranks[rank as usize].state
    }

    /// Takes in bytes that `rank` wrote. Poll afterwards.
    ///
    /// # Panics
    /// If the job has no such rank.
    pub fn feed(&mut self, rank: u32, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.ranks[rank as usize].ignored {
            let after = match self.ranks[rank as usize].reader.push(rest) {
                Ok(None) => return,
                Ok(Some(after)) => self.serve(rank).map(|()| after),
                Err(error) => Err(error.into()),
            };
            match after {
                Ok(after) => rest = after,
                Err(fault) => self.fault(rank, fault),
            }
        }
    }

    /// Records that the process of `rank` has ended and that all its bytes were fed. Poll afterwards.
    ///
    /// # Panics
    /// If the job has no such rank.
    pub fn gone(&mut self, rank: u32) {
        self.ranks[rank as usize].state = RankState::Gone;
        if let Some(waiting) = self.first_in(RankState::Waiting) {
            self.fault(waiting, ServerError::Stuck { gone: rank });
        }
    }

    /// The next event; poll after [`feed`](Self::feed) and [`gone`](Self::gone) until `None`.
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The first rank in this state.
    fn first_in(&self, state: RankState) -> Option<u32> {
        let found = self.ranks.iter().position(|rank| rank.state == state);
        found.map(number)
    }

    fn fault(&mut self, rank: u32, fault: ServerError) {
        self.ranks[rank as usize].ignored = true;
        self.events.push_back(Event::Fault { rank, fault });
    }

    /// Serves the complete line in the reader of `rank`.
    fn serve(&mut self, rank: u32) -> Result<(), ServerError> {
        let bytes = self.ranks[rank as usize].reader.line().to_vec();
        if self.spawns(rank, &bytes)? {
            return Ok(());
        }
        let line = Line::parse(&bytes)?;
        if self.ranks[rank as usize].state == RankState::Joined
            && let Some(line) = self.names.serve(&line)?
        {
            self.events.push_back(Event::Write { rank, line });
            return Ok(());
        }
        let command: Command = line
            .command()
            .parse()
            .map_err(|()| ServerError::Unknown(Excerpt::new(line.text().as_bytes())))?;
        self.check_order(rank, command)?;
        match command {
            Command::Init => self.init(rank, &line),
            Command::Maxes => {
                let maxes: [(&str, &dyn Display); 3] = [
                    ("kvsname_max", &KVS_NAME_MAX),
                    ("keylen_max", &KEY_MAX),
                    ("vallen_max", &VALUE_MAX),
                ];
                self.reply(rank, command, &maxes);
                Ok(())
            }
            Command::Appnum => {
                let appnum = self.ranks[rank as usize].appnum;
                self.reply(rank, command, &[("appnum", &appnum)]);
                Ok(())
            }
            Command::UniverseSize => {
                let size = self.ranks.len();
                self.reply(rank, command, &[("size", &size)]);
                Ok(())
            }
            Command::KvsName => {
                let kvs = self.kvs.clone();
                self.reply(rank, command, &[("kvsname", &kvs)]);
                Ok(())
            }
            Command::Put => self.put(rank, &line),
            Command::Get => self.get(rank, &line),
            Command::Barrier => self.barrier(rank),
            Command::Abort => {
                let code = line.number("exitcode").unwrap_or(1);
                self.ranks[rank as usize].ignored = true;
                self.events.push_back(Event::Abort { rank, code });
                Ok(())
            }
            Command::Finalize => {
                self.ranks[rank as usize].state = RankState::Outside;
                self.reply(rank, command, &[]);
                self.events.push_back(Event::Left(rank));
                Ok(())
            }
        }
    }

    /// Takes a line of a request to start further ranks, and refuses it after its last line. Returns whether
    /// the line was one.
    fn spawns(&mut self, rank: u32, line: &[u8]) -> Result<bool, ServerError> {
        let sender = &mut self.ranks[rank as usize];
        let Some(block) = &mut sender.spawn else {
            sender.spawn = SpawnBlock::begin(line);
            if sender.spawn.is_some() && sender.state != RankState::Joined {
                return Err(ServerError::Unknown(Excerpt::new(line)));
            }
            return Ok(sender.spawn.is_some());
        };
        match block.feed(line) {
            BlockLine::More => {}
            BlockLine::Next => sender.spawn = None,
            BlockLine::Last => {
                sender.spawn = None;
                let line = "cmd=spawn_result rc=-1 msg=spawn_is_not_offered\n".to_owned();
                self.events.push_back(Event::Write { rank, line });
            }
        }
        Ok(true)
    }

    fn check_order(&self, rank: u32, command: Command) -> Result<(), ServerError> {
        let when = match (self.ranks[rank as usize].state, command) {
            (RankState::Joined, Command::Init) => "a second time",
            (RankState::Outside, Command::Init)
            | (RankState::Joined, _)
            | (RankState::Waiting, Command::Abort) => {
                return Ok(());
            }
            (RankState::Outside, _) => "before `init`",
            (RankState::Waiting, _) => "while its barrier was still open",
            (RankState::Gone, _) => "after its process had ended",
        };
        Err(ServerError::Order {
            request: command.request_word(),
            when,
        })
    }

    fn init(&mut self, rank: u32, line: &Line<'_>) -> Result<(), ServerError> {
        let version: u32 = required(line, "pmi_version", line.number("pmi_version"))?;
        // A client of a later version 1.x falls back to this one.
        let rc = if version == 1 { 0 } else { -1 };
        self.reply(
            rank,
            Command::Init,
            &[("pmi_version", &1), ("pmi_subversion", &1), ("rc", &rc)],
        );
        if version == 1 {
            self.ranks[rank as usize].state = RankState::Joined;
            self.events.push_back(Event::Joined(rank));
        }
        Ok(())
    }

    fn put(&mut self, rank: u32, line: &Line<'_>) -> Result<(), ServerError> {
        let key = required(line, "key", line.value("key"))?;
        let value = required(line, "value", line.value("value"))?;
        let message = if self.foreign(line)? {
            "unknown_kvsname"
        } else if key.len() >= KEY_MAX {
            "key_too_long"
        } else if value.len() >= VALUE_MAX {
            "value_too_long"
        } else if self.space_bytes + key.len() + value.len() > SPACE_PER_RANK * self.ranks.len() {
            "space_full"
        } else {
            self.space_bytes += key.len() + value.len();
            if let Some(old) = self.space.insert(key.to_owned(), value.to_owned()) {
                self.space_bytes -= key.len() + old.len();
            }
            self.reply(rank, Command::Put, &[("rc", &0), ("msg", &"success")]);
            return Ok(());
        };
        self.reply(rank, Command::Put, &[("rc", &-1), ("msg", &message)]);
        Ok(())
    }

    fn get(&mut self, rank: u32, line: &Line<'_>) -> Result<(), ServerError> {
        let key = required(line, "key", line.value("key"))?;
        let value = if self.foreign(line)? {
            None
        } else {
            self.space.get(key).cloned()
        };
        match value {
            Some(value) => self.reply(
                rank,
                Command::Get,
                &[("rc", &0), ("msg", &"success"), ("value", &value)],
            ),
            None => {
                let message = alloc::format!("key_{key}_not_found");
                self.reply(
                    rank,
                    Command::Get,
                    &[("rc", &-1), ("msg", &message), ("value", &"unknown")],
                );
            }
        }
        Ok(())
    }

    /// Whether a request names another key-value space than this job's.
    fn foreign(&self, line: &Line<'_>) -> Result<bool, ServerError> {
        Ok(required(line, "kvsname", line.value("kvsname"))? != self.kvs)
    }

    fn barrier(&mut self, rank: u32) -> Result<(), ServerError> {
        self.ranks[rank as usize].state = RankState::Waiting;
        if let Some(gone) = self.first_in(RankState::Gone) {
            return Err(ServerError::Stuck { gone });
        }
        if self
            .ranks
            .iter()
            .all(|rank| rank.state == RankState::Waiting)
        {
            for rank in 0..self.ranks.len() {
                self.ranks[rank].state = RankState::Joined;
                self.reply(number(rank), Command::Barrier, &[]);
            }
        }
        Ok(())
    }

    fn reply(&mut self, rank: u32, command: Command, fields: &[(&str, &dyn Display)]) {
        let mut line = String::new();
        // Writing to a growing string cannot fail.
        let _ = write_line(&mut line, command.reply_word(), fields);
        self.events.push_back(Event::Write { rank, line });
    }
}

/// The rank with this index in the table, which has at most 2^32 ranks.
fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn required<T>(line: &Line<'_>, field: &'static str, value: Option<T>) -> Result<T, ServerError> {
    value.ok_or_else(|| ServerError::Field {
        line: Excerpt::new(line.text().as_bytes()),
        field,
    })
}
