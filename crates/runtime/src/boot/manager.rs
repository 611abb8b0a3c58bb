//! The process manager, whichever it is: who started this process and answers for the whole job.

use std::env;

use oxmpi_wire::pmi::{Start, Variables};

use super::pmi::Conversation;
use super::pmix::Member;
use crate::error::{Error, Result};

/// The process manager, or its absence, and this process's place in its job.
#[derive(Debug)]
pub(crate) struct Manager {
    rank: u32,
    size: u32,
    talk: Talk,
    asked: Asked,
}

/// What the manager was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) puts: u32,
    pub(crate) gets: u32,
    pub(crate) barriers: u32,
}

/// How one talks to it.
#[derive(Debug)]
enum Talk {
    /// Nobody started this process: it is a job of its own.
    Alone,
    /// PMI-1, over a descriptor or a connection.
    Pmi(Box<Conversation>),
    /// PMIx, through its library.
    Pmix(Box<Member>),
}

impl Manager {
    /// Finds out from the environment who started this process, and joins the job there.
    ///
    /// # Errors
    /// When the environment or the manager makes no sense.
    pub(crate) fn find() -> Result<Self> {
        let values = Variables::NAMES.map(|name| env::var(name).ok());
        let variables = Variables::new(values.each_ref().map(Option::as_deref));
        let start = Start::read(&variables)
            .map_err(|why| Error::start("looking for the process manager", why))?;
        match start {
            Start::Descriptor { fd, rank, size } => {
                let conversation = Conversation::at_descriptor(fd)?;
                Ok(Self::new(rank, size, Talk::Pmi(conversation.into())))
            }
            Start::Port { address, id } => {
                let (conversation, place) = Conversation::at_port(address, id)?;
                let talk = Talk::Pmi(conversation.into());
                Ok(Self::new(place.rank, place.size, talk))
            }
            Start::Pmix { .. } => {
                let (member, size) = Member::join()?;
                Ok(Self::new(member.rank(), size, Talk::Pmix(member.into())))
            }
            _ => Ok(Self::new(0, 1, Talk::Alone)),
        }
    }

    fn new(rank: u32, size: u32, talk: Talk) -> Self {
        Self {
            rank,
            size,
            talk,
            asked: Asked::default(),
        }
    }

    /// What it was asked for until now.
    pub(crate) const fn asked(&self) -> Asked {
        self.asked
    }

    /// This process's rank in the job.
    pub(crate) const fn rank(&self) -> u32 {
        self.rank
    }

    /// Ranks in the job.
    pub(crate) const fn size(&self) -> u32 {
        self.size
    }

    /// Makes `value` known to every rank as `key`, after the next [`Manager::barrier`].
    pub(crate) fn put(&mut self, key: &str, value: &str) -> Result<()> {
        self.asked.puts += 1;
        match &mut self.talk {
            Talk::Alone => Ok(()),
            Talk::Pmi(talk) => talk.put(key, value),
            Talk::Pmix(member) => member.put(key, value),
        }
    }

    /// Waits until every rank has come here.
    pub(crate) fn barrier(&mut self) -> Result<()> {
        self.asked.barriers += 1;
        match &mut self.talk {
            Talk::Alone => Ok(()),
            Talk::Pmi(talk) => talk.barrier(),
            Talk::Pmix(member) => member.barrier(),
        }
    }

    /// The value that rank `of` has put as `key`, if it has.
    pub(crate) fn get(&mut self, of: u32, key: &str) -> Result<Option<String>> {
        self.asked.gets += 1;
        match &mut self.talk {
            Talk::Alone => Ok(None),
            // One space for all: keys name their ranks where that matters.
            Talk::Pmi(talk) => talk.get(key),
            Talk::Pmix(member) => member.get(of, key),
        }
    }

    /// Leaves the job in order.
    pub(crate) fn finalize(&mut self) -> Result<()> {
        match &mut self.talk {
            Talk::Alone => Ok(()),
            Talk::Pmi(talk) => talk.finalize(),
            Talk::Pmix(member) => member.finalize(),
        }
    }

    /// Asks the manager to end the whole job with exit code `code`. Does what it can: the caller
    /// ends in any case.
    pub(crate) fn abort(&mut self, code: i32) {
        match &mut self.talk {
            Talk::Alone => {}
            Talk::Pmi(talk) => talk.abort(code),
            Talk::Pmix(member) => member.abort(code),
        }
    }
}
