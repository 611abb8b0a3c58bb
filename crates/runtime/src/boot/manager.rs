//! The blocking shell around the PMI client: one descriptor to whoever started this process.

use std::env;
use std::fs::File;
use std::io::{Read, Write};

use oxmpi_wire::pmi::{Client, Reply, Request, Start, Variables};

use crate::error::{Error, Result};

/// The process manager, or its absence.
#[derive(Debug)]
pub(crate) struct Manager {
    rank: u32,
    size: u32,
    conversation: Option<Conversation>,
}

/// A PMI conversation over a descriptor that the manager left open.
#[derive(Debug)]
struct Conversation {
    client: Client,
    stream: File,
    /// The job's key-value space.
    space: String,
}

impl Manager {
    /// Finds out from the environment who started this process, and joins the job there.
    ///
    /// # Errors
    /// When the environment or the manager makes no sense.
    pub(crate) fn find() -> Result<Self> {
        const STEP: &str = "looking for the process manager";
        let names = ["PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "PMI_ID"];
        let values = names.map(|name| env::var(name).ok());
        let [fd, rank, size, port, id] = values.each_ref().map(Option::as_deref);
        let start = Start::read(&Variables {
            fd,
            rank,
            size,
            port,
            id,
            pmix_namespace: None,
            pmix_rank: None,
        })
        .map_err(|why| Error::start(STEP, why))?;
        match start {
            Start::Singleton if env::var_os("PMIX_RANK").is_some() => Err(Error::start(
                STEP,
                "it speaks PMIx (PMIX_RANK is set), this version PMI-1: start the job by oxmpi run, \
                 mpiexec.hydra or srun --mpi=pmi2; or unset PMIX_RANK to run this process alone",
            )),
            Start::Singleton => Ok(Self {
                rank: 0,
                size: 1,
                conversation: None,
            }),
            Start::Descriptor { fd, rank, size } => {
                let stream = oxmpi_os::inherit(fd)
                    .map_err(|why| Error::start(STEP, format_args!("PMI_FD={fd}: {why}")))?;
                Ok(Self {
                    rank,
                    size,
                    conversation: Some(Conversation::open(stream.into())?),
                })
            }
            _ => Err(Error::start(
                STEP,
                "it offers PMI_PORT, an address to connect to; this version takes PMI_FD, an open \
                 descriptor, which is the default of oxmpi run, Hydra and Slurm",
            )),
        }
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
        match &mut self.conversation {
            None => Ok(()),
            Some(talk) => {
                let space = talk.space.clone();
                let kvs = &space;
                talk.ask(Request::Put { kvs, key, value }, |_| Some(()))
            }
        }
    }

    /// Waits until every rank has come here.
    pub(crate) fn barrier(&mut self) -> Result<()> {
        match &mut self.conversation {
            None => Ok(()),
            Some(talk) => talk.ask(Request::Barrier, |_| Some(())),
        }
    }

    /// The value of `key`, if a rank has put it.
    pub(crate) fn get(&mut self, key: &str) -> Result<Option<String>> {
        match &mut self.conversation {
            None => Ok(None),
            Some(talk) => {
                let space = talk.space.clone();
                talk.ask(Request::Get { kvs: &space, key }, |reply| match reply {
                    Reply::Value(value) => Some(value.map(str::to_owned)),
                    _ => None,
                })
            }
        }
    }

    /// Leaves the job in order.
    pub(crate) fn finalize(&mut self) -> Result<()> {
        match &mut self.conversation {
            None => Ok(()),
            Some(talk) => talk.ask(Request::Finalize, |_| Some(())),
        }
    }

    /// Asks the manager to end the whole job with exit code `code`. Does what it can: the caller
    /// ends in any case.
    pub(crate) fn abort(&mut self, code: i32) {
        if let Some(talk) = &mut self.conversation
            && let Ok(line) = talk.client.request(Request::Abort { code })
        {
            // The job ends whether or not the manager hears of it: its ranks notice our death.
            let _ = talk.stream.write_all(line.as_bytes());
        }
    }
}

impl Conversation {
    fn open(stream: File) -> Result<Self> {
        let mut talk = Self {
            client: Client::new(),
            stream,
            space: String::new(),
        };
        talk.ask(Request::Init, |_| Some(()))?;
        talk.ask(Request::Maxes, |_| Some(()))?;
        talk.space = talk.ask(Request::KvsName, |reply| match reply {
            Reply::KvsName(name) => Some(name.to_owned()),
            _ => None,
        })?;
        Ok(talk)
    }

    /// Sends `request`, waits for the reply, and reads from it what `read` finds.
    fn ask<R>(
        &mut self,
        request: Request<'_>,
        read: impl FnOnce(Reply<'_>) -> Option<R>,
    ) -> Result<R> {
        const STEP: &str = "talking to the process manager";
        let fail = |why: &dyn std::fmt::Display| Error::start(STEP, why);
        let line = self.client.request(request).map_err(|why| fail(&why))?;
        self.stream
            .write_all(line.as_bytes())
            .map_err(|why| fail(&why))?;
        let mut bytes = [0; 1024];
        loop {
            let count = match self.stream.read(&mut bytes) {
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
                other => other.map_err(|why| fail(&why))?,
            };
            if count == 0 {
                return Err(match self.client.closed() {
                    Some(why) => fail(&why),
                    None => fail(&"the process manager closed the connection"),
                });
            }
            if let Some(reply) = self
                .client
                .feed(&bytes[..count])
                .map_err(|why| fail(&why))?
            {
                return read(reply)
                    .ok_or_else(|| fail(&"the process manager answered another question"));
            }
        }
    }
}
