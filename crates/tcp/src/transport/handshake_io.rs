//! Reads and writes of handshake messages on a socket, and why a handshake ends early.

use std::io;

use oxmpi_os::tcp::Stream;

use crate::handshake::HandshakeError;

/// Why a handshake ended without a connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("it closed the connection")]
    Closed,
    #[error("its host does not answer any more")]
    HostTimeout,
}

impl ConnectError {
    /// Whether the other side has merely closed.
    pub(super) fn is_close(&self) -> bool {
        match self {
            Self::System(error) => error.kind() == io::ErrorKind::ConnectionReset,
            Self::Closed => true,
            Self::Handshake(_) | Self::HostTimeout => false,
        }
    }

    /// Whether the host answered that no process listens there.
    pub(super) fn is_connection_refused(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::ConnectionRefused)
    }
}

/// Reads into `input`; `None`: nothing has arrived.
pub(super) fn read(stream: &Stream, input: &mut [u8]) -> Result<Option<usize>, ConnectError> {
    match stream.read(input, &mut []) {
        Ok(0) => Err(ConnectError::Closed),
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes all of `output`, for which a new socket always has room.
pub(super) fn write(stream: &Stream, output: &[u8]) -> Result<usize, ConnectError> {
    match stream.write([output, &[], &[]])? {
        count if count == output.len() => Ok(count),
        _ => Err(ConnectError::Closed),
    }
}
