//! The PMI-1 client: one stream to the process manager.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::time::Duration;

use oxmpi_os::pipe::{self, PollFd, PollFlags};
use oxmpi_wire::pmi::{Client, ClientError, JobRank, PmiRequest, PortHandshake, Reply};

use crate::error::{Error, Result};

/// How long the process manager may take to answer anything but a barrier.
const TIMEOUT: Duration = Duration::from_secs(60);

const STEP: &str = "talking to the process manager";

/// The PMI-1 client on a stream.
#[derive(Debug)]
pub(super) struct PmiClient {
    client: Client,
    stream: ManagerStream,
    /// The job's key-value space.
    space: String,
}

/// Bytes to and from the manager.
#[derive(Debug)]
struct ManagerStream {
    file: File,
    timeout: Duration,
}

impl PmiClient {
    /// Joins the job over the descriptor `fd` (`PMI_FD`), which the manager left open. What is open there is checked
    /// first: a file would be overwritten.
    pub(super) fn at_descriptor(fd: i32) -> Result<Self> {
        let stream = oxmpi_os::inherit_stream(fd).map_err(|why| {
            let why = format_args!(
                "PMI_FD={fd} should be the socket of the process manager: {why}. The programs between that and \
                 this one must keep it open (in Python: subprocess.run(..., pass_fds=[{fd}]) or close_fds=False)"
            );
            Error::start(STEP, why)
        })?;
        Self::open(ManagerStream::new(stream, TIMEOUT))
    }

    /// Connects to `address`, `host:port` (`PMI_PORT`), as the process that the manager calls `id`,
    /// and joins the job there.
    pub(super) fn at_port(address: &str, id: u32) -> Result<(Self, JobRank)> {
        let stream = connect(address)
            .map_err(|why| Error::start(STEP, format_args!("PMI_PORT={address}: {why}")))?;
        Self::connected(ManagerStream::new(stream.into(), TIMEOUT), id)
    }

    fn connected(mut stream: ManagerStream, id: u32) -> Result<(Self, JobRank)> {
        let place = stream.identify(id)?;
        Ok((Self::open(stream)?, place))
    }

    fn open(stream: ManagerStream) -> Result<Self> {
        let mut client = Self {
            client: Client::new(),
            stream,
            space: String::new(),
        };
        client.ask(PmiRequest::Init, |_| Some(()))?;
        client.ask(PmiRequest::Maxes, |_| Some(()))?;
        client.space = client.ask(PmiRequest::KvsName, |reply| match reply {
            Reply::KvsName(name) => Some(name.to_owned()),
            _ => None,
        })?;
        Ok(client)
    }

    /// Publishes `value` as `key`; ranks can get it after the next barrier.
    pub(super) fn put(&mut self, key: &str, value: &str) -> Result<()> {
        let space = self.space.clone();
        let kvs = &space;
        self.ask(PmiRequest::Put { kvs, key, value }, |_| Some(()))
    }

    /// Waits until every rank has called it.
    pub(super) fn barrier(&mut self) -> Result<()> {
        self.ask(PmiRequest::Barrier, |_| Some(()))
    }

    /// The value of `key`, if a rank has published it.
    pub(super) fn get(&mut self, key: &str) -> Result<Option<String>> {
        let space = self.space.clone();
        self.ask(PmiRequest::Get { kvs: &space, key }, |reply| match reply {
            Reply::Value(value) => Some(value.map(str::to_owned)),
            _ => None,
        })
    }

    /// The number of this process's program, if the manager knows it.
    pub(super) fn program_number(&mut self) -> Result<Option<u32>> {
        self.ask(PmiRequest::Appnum, |reply| match reply {
            Reply::Appnum(number) => Some(number),
            _ => None,
        })
    }

    /// Leaves the job in order.
    pub(super) fn finalize(&mut self) -> Result<()> {
        self.ask(PmiRequest::Finalize, |_| Some(()))
    }

    /// Asks for the end of the whole job.
    pub(super) fn abort(&mut self, code: i32) {
        if let Ok(line) = self.client.request(PmiRequest::Abort { code }) {
            // The job ends even if the manager does not get this: its ranks notice this process's death.
            let _ = self.stream.file.write_all(line.as_bytes());
        }
    }

    /// Sends `request`, waits for the reply, and gives what `read` finds in it.
    fn ask<R>(
        &mut self,
        request: PmiRequest<'_>,
        read: impl FnOnce(Reply<'_>) -> Option<R>,
    ) -> Result<R> {
        let word = request.command().request_word();
        // A barrier waits for other ranks; everything else the manager answers at once.
        let timeout = (request != PmiRequest::Barrier).then_some(self.stream.timeout);
        let line = self.client.request(request).map_err(failed)?;
        self.stream
            .file
            .write_all(line.as_bytes())
            .map_err(failed)?;
        let mut bytes = [0; 1024];
        loop {
            let received = self.stream.read(&mut bytes, word, timeout)?;
            if received.is_empty() {
                let why = self.client.closed();
                return Err(failed(why.unwrap_or(ClientError::Closed(word))));
            }
            if let Some(reply) = self.client.feed(received).map_err(failed)? {
                return read(reply)
                    .ok_or_else(|| failed("the process manager answered another question"));
            }
        }
    }
}

impl ManagerStream {
    fn new(stream: OwnedFd, timeout: Duration) -> Self {
        Self {
            file: stream.into(),
            timeout,
        }
    }

    /// Identifies this process to a manager that it has connected to.
    fn identify(&mut self, id: u32) -> Result<JobRank> {
        let line = PortHandshake::line(id);
        self.file.write_all(line.as_bytes()).map_err(failed)?;
        let mut opening = PortHandshake::default();
        let mut bytes = [0; 1024];
        loop {
            let received = self.read(&mut bytes, "initack", Some(self.timeout))?;
            if received.is_empty() {
                return Err(failed(opening.closed()));
            }
            if let Some(place) = opening.feed(received).map_err(failed)? {
                return Ok(place);
            }
        }
    }

    /// Waits for bytes, for `timeout` at most (`None`: for ever). Empty: the manager has closed the stream.
    /// `request` is what it should answer.
    fn read<'b>(
        &mut self,
        bytes: &'b mut [u8],
        request: &str,
        timeout: Option<Duration>,
    ) -> Result<&'b [u8]> {
        let ready = pipe::poll(&mut [PollFd::new(&self.file, PollFlags::IN)], timeout);
        if ready.map_err(failed)? == 0 {
            let waited = timeout.unwrap_or_default().as_secs_f32();
            return Err(failed(format_args!(
                "the process manager has not answered `{request}` within {waited} s"
            )));
        }
        loop {
            match self.file.read(bytes) {
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                other => return other.map(|count| &bytes[..count]).map_err(failed),
            }
        }
    }
}

/// Connects to the first of the addresses of `host:port` that answers.
fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(why) => last = why,
        }
    }
    Err(last)
}

fn failed(why: impl Display) -> Error {
    Error::start(STEP, why)
}

#[cfg(test)]
mod tests;
