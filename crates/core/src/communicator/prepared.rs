//! Sends and receives that are prepared once and started repeatedly (MPI 5.0, section 3.9).

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
use oxmpi_wire::engine::Mode;

use super::super::request::RawRequest;
use super::super::threading::Threading;
use super::Communicator;
use crate::envelope::{Source, Status, Tag};
use crate::error::Result;

/// A send or a receive that can be started repeatedly, on the communicator that prepared it. It holds nothing of the
/// endpoint between two runs.
#[derive(Clone, Copy)]
pub struct PreparedMessage {
    bytes: RawBytes,
    call: MessageCall,
}

/// The call that a prepared message makes.
#[derive(Clone, Copy)]
enum MessageCall {
    Send { to: usize, tag: u32, mode: Mode },
    BufferedSend { to: usize, tag: u32 },
    Receive { source: Source, tag: Tag },
}

impl<A: Threading> Communicator<A> {
    /// Prepares a send (`MPI_Send_init`, and `MPI_Ssend_init` and `MPI_Rsend_init` by `mode`).
    ///
    /// # Errors
    /// A wrong rank or tag.
    pub fn prepare_send(
        &self,
        bytes: RawBytes,
        to: usize,
        tag: u32,
        mode: Mode,
    ) -> Result<PreparedMessage> {
        self.address(to, tag)?;
        let call = MessageCall::Send { to, tag, mode };
        Ok(PreparedMessage { bytes, call })
    }

    /// Prepares a buffered send (`MPI_Bsend_init`).
    ///
    /// # Errors
    /// A wrong rank or tag.
    pub fn prepare_bsend(&self, bytes: RawBytes, to: usize, tag: u32) -> Result<PreparedMessage> {
        self.address(to, tag)?;
        let call = MessageCall::BufferedSend { to, tag };
        Ok(PreparedMessage { bytes, call })
    }

    /// Prepares a receive (`MPI_Recv_init`).
    ///
    /// # Errors
    /// A wrong rank or tag.
    pub fn prepare_recv(
        &self,
        bytes: RawBytes,
        source: Source,
        tag: Tag,
    ) -> Result<PreparedMessage> {
        if self.pattern(source, tag).is_none() {
            self.without_pattern(source, tag)?;
        }
        let call = MessageCall::Receive { source, tag };
        Ok(PreparedMessage { bytes, call })
    }
}

impl PreparedMessage {
    /// Starts it once more (`MPI_Start`).
    ///
    /// # Errors
    /// A lost peer, where the call sees it.
    pub fn start<A: Threading>(&self, communicator: &Communicator<A>) -> Result<RawRequest> {
        self.start_from(communicator, 0)
    }

    /// As [`start`](Self::start); a buffered send counts against a buffer, as [`Communicator::bsend`] says.
    ///
    /// # Errors
    /// As there.
    pub fn start_from<A: Threading>(
        &self,
        communicator: &Communicator<A>,
        buffer: usize,
    ) -> Result<RawRequest> {
        let bytes = self.bytes;
        match self.call {
            MessageCall::Send { to, tag, mode } => communicator.isend(bytes, to, tag, mode),
            MessageCall::BufferedSend { to, tag } => {
                communicator.bsend(bytes, to, tag, buffer)?;
                Ok(RawRequest::sent(bytes.len(), to, tag))
            }
            MessageCall::Receive { source, tag } => communicator.irecv(bytes, source, tag),
        }
    }

    /// Runs it once to its end, as the blocking call does.
    ///
    /// # Errors
    /// As [`Communicator::send`] or [`Communicator::recv`].
    pub fn run<A: Threading>(&self, communicator: &Communicator<A>) -> Result<Status> {
        let bytes = self.bytes;
        match self.call {
            MessageCall::Receive { source, tag } => communicator.recv(bytes, source, tag),
            MessageCall::BufferedSend { .. } => communicator.wait(self.start(communicator)?),
            MessageCall::Send { to, tag, mode } => {
                communicator.send(bytes, to, tag, mode)?;
                communicator.wait(RawRequest::sent(bytes.len(), to, tag))
            }
        }
    }
}
