//! Connecting the queue pairs of a rank by addresses that it exchanges with a peer.

use super::connected_port_pair::{ConnectedPair, ConnectedPortPair};
use super::endpoint::{FOR_EVER, Offered, PairConnector, SHARED_RNR_TIMER};
use super::initiators::Target;
use super::options::VerbsTransportError;
use super::pair_address::PairAddress;
use super::rail::PortPair;
use super::rx::VerbsRx;
use super::tx::VerbsTx;
use crate::objects::{AddressVector, Gid, GlobalRoute, ReceiveAttributes, SendAttributes};
use oxmpi_wire::Peer;

impl PairConnector {
    /// As [`VerbsEndpoint::connect`](super::VerbsEndpoint::connect), between these halves.
    pub(crate) fn connect(
        &mut self,
        peer: Peer,
        port_pairs: &[PortPair],
        tx: &mut VerbsTx,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        // A peer that was offered a connection by rdmacm, and asks for the other kind, finds none.
        let offered = self.take_offered(peer.0);
        let offered = offered.ok_or(VerbsTransportError::BadRequest)?;
        let mut offered: Vec<Option<Offered>> = offered.into_iter().map(Some).collect();
        let (mut connected, mut why) = (Vec::new(), None);
        for port_pair in port_pairs {
            self.check_queues(peer, &port_pair.there)?;
            let offered = offered[usize::from(port_pair.rail)].take();
            let offered = offered.expect("a rail without another port pair");
            let ends = self.connect_port_pair(peer, port_pair, offered);
            let ends = ends.map_err(|error| why = Some(error)).ok();
            let (pairs, target) =
                ends.map_or((None, None), |(pairs, target)| (Some(pairs), target));
            connected.push(ConnectedPortPair {
                rail: port_pair.rail,
                device: port_pair.device,
                pairs,
                target,
            });
        }
        if connected.iter().all(|port_pair| port_pair.pairs.is_none()) {
            return Err(why.unwrap_or(VerbsTransportError::NoPortPair { peer }));
        }
        if let Some(why) = why {
            tracing::warn!(peer = peer.0, %why, "a rail does not reach a peer; its messages take another one");
        }
        self.add(peer, connected, tx, rx);
        Ok(())
    }

    /// Connects the queue pairs of a port pair. Returns those by which this rank sends, and where it receives for `X` queues.
    fn connect_port_pair(
        &mut self,
        peer: Peer,
        port_pair: &PortPair,
        mut offered: Offered,
    ) -> Result<(Vec<ConnectedPair>, Option<Target>), VerbsTransportError> {
        let (address, there) = (&offered.address, &port_pair.there);
        let rail = &self.rails[usize::from(port_pair.rail)].rail;
        let connection = self.options().connection;
        let vector = AddressVector {
            port: rail.port,
            lid: there.lid,
            service_level: connection.service_level,
            route: (there.gid)
                .filter(|_| !is_of_one_subnet(address, there))
                .map(|gid| GlobalRoute::new(gid, rail.gid_index)),
        };
        let (mtu, sq_psn) = (address.mtu.min(there.mtu), address.sq_psn);
        let reads = [address.reads, address.reads.min(there.reads)];
        let receive = ReceiveAttributes {
            max_dest_rd_atomic: reads[0],
            ..ReceiveAttributes::new(vector, 0, there.sq_psn, mtu)
        };
        let send = SendAttributes {
            timeout: connection.timeout,
            retry_cnt: connection.retry_count,
            max_rd_atomic: reads[1],
            ..SendAttributes::new(sq_psn)
        };
        if self.is_extended() {
            let ends = self.connect_extended(port_pair, &mut offered, &receive, &send)?;
            let number = Some(ends.target.number());
            let pairs = self.connected_pairs(peer, port_pair.rail, offered, ends.pairs, number)?;
            return Ok((pairs, Some(ends.target)));
        }
        let mut connected = Vec::new();
        let ends = self.queues_of(port_pair.rail.into()).zip(&there.numbers);
        for (pair, ((queue, _), to)) in offered.take_pairs().into_iter().zip(ends) {
            let (mut receive, mut send) = (receive, send);
            receive.dest_qp_num = *to;
            if queue.is_shared() {
                receive.min_rnr_timer = SHARED_RNR_TIMER;
                send.rnr_retry = FOR_EVER;
            }
            connected.push(pair.ready_to_receive(receive)?.ready_to_send(send)?);
        }
        Ok((
            self.connected_pairs(peer, port_pair.rail, offered, connected, None)?,
            None,
        ))
    }
}

/// Whether both ports are of one subnet of InfiniBand, where packets need no global header. Others have no LID.
fn is_of_one_subnet(a: &PairAddress, b: &PairAddress) -> bool {
    let prefix = |address: &PairAddress| address.gid.map(|Gid(gid)| u128::from_be_bytes(gid) >> 64);
    a.lid != 0 && b.lid != 0 && prefix(a) == prefix(b)
}
