//! Connecting the queue pairs of a rank by addresses that it exchanges with a peer.

use super::connected_lane::{ConnectedLane, ConnectedPair};
use super::endpoint::{FOR_EVER, Offered, PairConnector, SHARED_RNR_TIMER};
use super::options::VerbsTransportError;
use super::pair_address::PairAddress;
use super::rail::Lane;
use super::rx::VerbsRx;
use super::tx::VerbsTx;
use crate::error::VerbsError;
use crate::objects::{AddressVector, Gid, GlobalRoute, ReceiveAttributes, SendAttributes};
use oxmpi_wire::Peer;

impl PairConnector {
    /// As [`VerbsEndpoint::connect`](super::VerbsEndpoint::connect), between these halves.
    pub(crate) fn connect(
        &mut self,
        peer: Peer,
        lanes: &[Lane],
        tx: &mut VerbsTx,
        rx: &mut VerbsRx,
    ) -> Result<(), VerbsTransportError> {
        let offered = self.take_offered(peer.0).expect("an offer to this peer");
        let mut offered: Vec<Option<Offered>> = offered.into_iter().map(Some).collect();
        let (mut connected, mut why) = (Vec::new(), None);
        for lane in lanes {
            self.check_queues(peer, &lane.there)?;
            let offered = offered[usize::from(lane.rail)].take();
            let offered = offered.expect("a rail without another lane");
            let pairs = self.connect_lane(peer, lane, offered);
            connected.push(ConnectedLane {
                rail: lane.rail,
                reaches_memory: lane.reaches_memory,
                pairs: pairs.map_err(|error| why = Some(error)).ok(),
            });
        }
        if connected.iter().all(|lane| lane.pairs.is_none()) {
            return Err(why.map_or(VerbsTransportError::NoLane { peer }, Into::into));
        }
        if let Some(why) = why {
            tracing::warn!(peer = peer.0, %why, "a rail does not reach a peer; its messages take another one");
        }
        self.add(peer, connected, tx, rx);
        Ok(())
    }

    /// Connects the queue pairs of a lane.
    fn connect_lane(
        &self,
        peer: Peer,
        lane: &Lane,
        mut offered: Offered,
    ) -> Result<Vec<ConnectedPair>, VerbsError> {
        let (address, there) = (&offered.address, &lane.there);
        let rail = &self.rails[usize::from(lane.rail)].rail;
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
        let mut connected = Vec::new();
        let ends = self.queues_of(lane.rail.into()).zip(&there.numbers);
        for (pair, ((queue, _), to)) in offered.take_pairs().into_iter().zip(ends) {
            let mut receive = ReceiveAttributes {
                max_dest_rd_atomic: reads[0],
                ..ReceiveAttributes::new(vector, *to, there.sq_psn, mtu)
            };
            let mut send = SendAttributes {
                timeout: connection.timeout,
                retry_cnt: connection.retry_count,
                max_rd_atomic: reads[1],
                ..SendAttributes::new(sq_psn)
            };
            if queue.is_shared() {
                receive.min_rnr_timer = SHARED_RNR_TIMER;
                send.rnr_retry = FOR_EVER;
            }
            connected.push(pair.ready_to_receive(receive)?.ready_to_send(send)?);
        }
        self.connected_pairs(peer, lane.rail, offered, connected)
    }
}

/// Whether both ports are of one subnet of InfiniBand, where packets need no global header. Others have no LID.
fn is_of_one_subnet(a: &PairAddress, b: &PairAddress) -> bool {
    let prefix = |address: &PairAddress| address.gid.map(|Gid(gid)| u128::from_be_bytes(gid) >> 64);
    a.lid != 0 && b.lid != 0 && prefix(a) == prefix(b)
}
