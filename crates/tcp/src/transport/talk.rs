//! The words of a greeting, to and from a stream.

use std::io;

use oxmpi_os::tcp::Stream;

use crate::door::Turned;

/// Why a conversation ended before it was done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ended {
    #[error(transparent)]
    Turned(#[from] Turned),
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("it closed the connection")]
    Closed,
    #[error("its host does not answer any more")]
    Silent,
}

impl Ended {
    /// Whether the other side has merely gone.
    pub(super) fn is_end(&self) -> bool {
        match self {
            Self::System(error) => error.kind() == io::ErrorKind::ConnectionReset,
            Self::Closed => true,
            Self::Turned(_) | Self::Silent => false,
        }
    }

    /// Whether the host answered that nobody listens there.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::ConnectionRefused)
    }
}

/// Reads into `input`; `None`: nothing has come.
pub(super) fn read(stream: &Stream, input: &mut [u8]) -> Result<Option<usize>, Ended> {
    match stream.read(input, &mut []) {
        Ok(0) => Err(Ended::Closed),
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes all of `output`, which a new socket always takes.
pub(super) fn say(stream: &Stream, output: &[u8]) -> Result<usize, Ended> {
    match stream.write([output, &[], &[]])? {
        count if count == output.len() => Ok(count),
        _ => Err(Ended::Closed),
    }
}
