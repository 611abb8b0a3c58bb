//! [`ListeningEndpoint`]: the listening socket of a rank, with the rank's address and key.

use oxmpi_os::tcp::Listener;

use super::options::TcpOptions;
use crate::address::BusinessCard;
use crate::handshake::JobKey;

/// What a rank needs to accept peers and to connect to them.
#[derive(Debug)]
pub(super) struct ListeningEndpoint {
    pub(super) listener: Listener,
    pub(super) card: BusinessCard,
    pub(super) key: JobKey,
    pub(super) options: TcpOptions,
}
