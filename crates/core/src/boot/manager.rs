//! The process manager that has started this process: none, PMI-1 or PMIx.

use std::env;

use oxmpi_wire::pmi::{PmiVariables, StartMethod};

use super::pmi::PmiClient;
#[cfg(feature = "pmix")]
use super::pmix::PmixClient;
use crate::error::{Error, Result};

/// The process manager, if there is one, and this process's place in its job.
#[derive(Debug)]
pub(crate) struct ProcessManager {
    rank: u32,
    size: u32,
    protocol: ManagerProtocol,
    calls: ManagerCalls,
}

/// The number of calls to the process manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ManagerCalls {
    pub(crate) puts: u32,
    pub(crate) gets: u32,
    pub(crate) barriers: u32,
}

/// The protocol of a process manager.
#[derive(Debug)]
enum ManagerProtocol {
    /// No process manager has started this process, which is a job of its own.
    Alone,
    /// PMI-1, over a file descriptor or a connection.
    Pmi(Box<PmiClient>),
    /// PMIx, through its library.
    #[cfg(feature = "pmix")]
    Pmix(Box<PmixClient>),
}

/// Asks the process manager by a call that both protocols have; `$alone` is the answer without one.
macro_rules! ask {
    ($self:ident, $call:ident($($argument:expr),*), $alone:expr) => {
        match &mut $self.protocol {
            ManagerProtocol::Alone => $alone,
            ManagerProtocol::Pmi(client) => client.$call($($argument),*),
            #[cfg(feature = "pmix")]
            ManagerProtocol::Pmix(client) => client.$call($($argument),*),
        }
    };
}

impl ProcessManager {
    /// Finds the process manager by environment variables, and joins the job.
    ///
    /// # Errors
    /// When the variables or the manager's replies are malformed.
    pub(crate) fn find() -> Result<Self> {
        let values = PmiVariables::NAMES.map(|name| env::var(name).ok());
        let variables = PmiVariables::new(values.each_ref().map(Option::as_deref));
        let start = StartMethod::read(&variables)
            .map_err(|why| Error::start("looking for the process manager", why))?;
        match start {
            StartMethod::Descriptor { fd, rank, size } => {
                let conversation = PmiClient::at_descriptor(fd)?;
                Ok(Self::new(
                    rank,
                    size,
                    ManagerProtocol::Pmi(conversation.into()),
                ))
            }
            StartMethod::Port { address, id } => {
                let (conversation, place) = PmiClient::at_port(address, id)?;
                let protocol = ManagerProtocol::Pmi(conversation.into());
                Ok(Self::new(place.rank, place.size, protocol))
            }
            #[cfg(not(feature = "pmix"))]
            StartMethod::Pmix { .. } => Err(Error::start(
                "looking for the process manager",
                "a PMIx process manager has started this process, and the program was built without the feature \
                 `pmix` of oxmpi: build it with that feature, or start it by `oxmpi run` or through PMI-1",
            )),
            #[cfg(feature = "pmix")]
            StartMethod::Pmix { .. } => {
                let (client, size) = PmixClient::join()?;
                Ok(Self::new(
                    client.rank(),
                    size,
                    ManagerProtocol::Pmix(client.into()),
                ))
            }
            _ => Ok(Self::new(0, 1, ManagerProtocol::Alone)),
        }
    }

    fn new(rank: u32, size: u32, protocol: ManagerProtocol) -> Self {
        Self {
            rank,
            size,
            protocol,
            calls: ManagerCalls::default(),
        }
    }

    /// The calls until now.
    pub(crate) const fn calls(&self) -> ManagerCalls {
        self.calls
    }

    /// This process's rank in the job.
    pub(crate) const fn rank(&self) -> u32 {
        self.rank
    }

    /// Ranks in the job.
    pub(crate) const fn size(&self) -> u32 {
        self.size
    }

    /// Publishes `value` as `key`; ranks can get it after the next [`ProcessManager::barrier`].
    pub(crate) fn put(&mut self, key: &str, value: &str) -> Result<()> {
        self.calls.puts += 1;
        ask!(self, put(key, value), Ok(()))
    }

    /// Waits until every rank has called it.
    pub(crate) fn barrier(&mut self) -> Result<()> {
        self.calls.barriers += 1;
        ask!(self, barrier(), Ok(()))
    }

    /// The value that rank `of` has published as `key`, if it has.
    #[cfg_attr(
        not(feature = "pmix"),
        expect(unused_variables, reason = "PMI-1 has one space of keys")
    )]
    pub(crate) fn get(&mut self, of: u32, key: &str) -> Result<Option<String>> {
        self.calls.gets += 1;
        match &mut self.protocol {
            ManagerProtocol::Alone => Ok(None),
            // PMI-1 has one space of keys: they contain the rank's number where that matters.
            ManagerProtocol::Pmi(client) => client.get(key),
            #[cfg(feature = "pmix")]
            ManagerProtocol::Pmix(client) => client.get(of, key),
        }
    }

    /// The number of this process's program among those that the job was started with.
    pub(crate) fn program_number(&mut self) -> Result<Option<u32>> {
        ask!(self, program_number(), Ok(None))
    }

    /// Leaves the job in order.
    pub(crate) fn finalize(&mut self) -> Result<()> {
        ask!(self, finalize(), Ok(()))
    }

    /// Asks the manager to end the whole job with exit code `code`. Errors are ignored: the caller exits in
    /// any case.
    pub(crate) fn abort(&mut self, code: i32) {
        ask!(self, abort(code), ())
    }
}
