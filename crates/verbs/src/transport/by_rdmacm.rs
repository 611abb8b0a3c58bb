//! Connecting the queue pairs of a rank by rdmacm: those of one rail to each peer.

use super::connected_port_pair::ConnectedPortPair;
use super::endpoint::{FOR_EVER, Offered, PairConnector, SHARED_RNR_TIMER};
use super::request_id::RequestId;
use super::rx::VerbsRx;
use super::tx::VerbsTx;
use crate::error::PostError;
use crate::objects::{
    CmIdentifier, CmParameters, Init, Payload, QueuePair, ReadyToSend, ReceiveAttributes,
    RemoteAddress, SendAttributes, SendFlags,
};
use crate::transport::VerbsTransportError;
use oxmpi_wire::Peer;

impl PairConnector {
    /// The queue pairs that are offered to `peer` on one rail, which become the caller's.
    pub(crate) fn take_only_offered(&mut self, peer: u32) -> Option<Offered> {
        self.take_offered(peer)?.pop()
    }

    /// Lets both halves use the queue pairs of `offered`, which are `connected`: to a rail of the peer's device of this place.
    ///
    /// # Errors
    /// When this process may lock no more memory for what is sent.
    pub(crate) fn add_only(
        &mut self,
        peer: Peer,
        (offered, device): (Offered, u8),
        connected: Vec<QueuePair<ReadyToSend>>,
        tx: &mut VerbsTx,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        let rail = offered.rail;
        let port_pair = ConnectedPortPair {
            rail,
            device,
            pairs: Some(self.connected_pairs(peer, rail, offered, connected, None)?),
            target: None,
        };
        self.add(peer, vec![port_pair], tx, rx);
        Ok(())
    }

    /// What this side says of the queue pair for receive queue `number`.
    pub(crate) fn parameters<'a>(
        &self,
        number: u8,
        pair: &QueuePair<Init>,
        private_data: &'a [u8],
    ) -> CmParameters<'a> {
        let is_shared = self.is_shared(number);
        CmParameters {
            queue_pair: pair.number(),
            is_shared,
            private_data,
            retry_count: self.options().connection.retry_count,
            rnr_retry_count: match is_shared {
                true => FOR_EVER,
                false => SendAttributes::RNR_RETRY,
            },
        }
    }

    /// Accepts a request for the queue pair.
    ///
    /// # Errors
    /// When the peer is gone, or the device refuses.
    pub(crate) fn accept(
        &self,
        number: u8,
        pair: QueuePair<Init>,
        identifier: &mut CmIdentifier,
    ) -> Result<QueuePair<ReadyToSend>, VerbsTransportError> {
        let parameters = self.parameters(number, &pair, &[]);
        if self.is_iwarp() {
            identifier.accept(parameters)?;
            return Ok(pair.connected_by(identifier));
        }
        let pair = self.set_up(number, pair, identifier)?;
        identifier.accept(parameters)?;
        Ok(pair)
    }

    /// Completes the connection of the queue pair, which the peer has accepted.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub(crate) fn complete(
        &self,
        queue: u8,
        pair: QueuePair<Init>,
        identifier: &mut CmIdentifier,
    ) -> Result<QueuePair<ReadyToSend>, VerbsTransportError> {
        if self.is_iwarp() {
            let pair = pair.connected_by(identifier);
            send_first(&pair, RequestId::Opening { queue })?;
            return Ok(pair);
        }
        let pair = self.set_up(queue, pair, identifier)?;
        identifier.establish()?;
        Ok(pair)
    }

    /// The level that is said, if any, decides over that of the route.
    fn set_up(
        &self,
        number: u8,
        pair: QueuePair<Init>,
        identifier: &CmIdentifier,
    ) -> Result<QueuePair<ReadyToSend>, VerbsTransportError> {
        let connection = self.options().connection;
        let min_rnr_timer = match self.is_shared(number) {
            true => SHARED_RNR_TIMER,
            false => ReceiveAttributes::RNR_TIMER,
        };
        let level = (!connection.by_path_record).then_some(connection.service_level);
        let level = level.filter(|level| *level != 0);
        let pair = pair.ready_to_receive_by(identifier, level, min_rnr_timer)?;
        Ok(pair.ready_to_send_by(identifier, connection.timeout, connection.retry_count)?)
    }
}

/// Sends the first message of a connection, as iWARP asks of the side that has connected: a write of nothing, of which the
/// peer's program notices nothing.
///
/// Source: RFC 5044, 7.1.2, "the Initiator must send the first FPDU".
fn send_first(pair: &QueuePair<ReadyToSend>, id: RequestId) -> Result<(), PostError> {
    let nowhere = RemoteAddress {
        address: 0,
        rkey: 0,
    };
    pair.post_write(
        id.word(),
        Payload::Segments(&[]),
        nowhere,
        None,
        SendFlags::empty(),
    )
}
