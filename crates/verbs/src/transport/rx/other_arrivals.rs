//! Messages of peers that are not the next frame for the sink.

use super::{Arrival, OTHER_LENGTH, Step, VerbsRx, count_frames, deliver};
use crate::transport::frame_head::{FrameHead, HEAD};
use crate::transport::order::{Held, Place};
use crate::transport::tx::{VerbsTx, is_left_notice};
use oxmpi_wire::{AsTx, Kind, Sink, Take};

impl VerbsRx {
    /// Handles any message. Frees its buffer if that is the peer's own.
    ///
    /// # Errors
    /// The rule that the peer broke.
    #[inline(never)]
    pub(super) fn arrived_otherwise<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        arrival: Arrival,
        tx: &mut T,
        sink: &mut S,
    ) -> Result<Step, &'static str> {
        let Arrival {
            peer,
            queue,
            buffer,
            len,
        } = arrival;
        let Some(incoming) = &mut self.peers[peer as usize] else {
            return Ok(Step::Other);
        };
        let shared = self.shared[queue as usize].as_ref();
        let buffers = incoming.buffers(queue, shared);
        let head = FrameHead::parse(&buffers.read(buffer, 0));
        let head = head.map_err(|_| "a frame whose header is none")?;
        if len != HEAD + head.header.len as usize {
            return Err(OTHER_LENGTH);
        }
        tx.as_tx().link(peer).take_credits(queue, head.grant)?;
        let place = match head.header.kind {
            Kind::Transport if head.header.len == 0 => {
                return self.credit_message_arrived(arrival, tx.as_tx());
            }
            Kind::Transport if is_left_notice(&head.header) => Place::Before,
            _ => incoming.order.place(head.sequence)?,
        };
        let buffers = incoming.buffers(queue, shared);
        let mut body = buffers.body(buffer, head.header.len as usize);
        let step = match place {
            Place::Next => deliver(peer, &head.header, &mut body, tx, sink)?,
            Place::Early => {
                let held = Held::take(head.header, &mut body);
                incoming.order.hold(head.sequence, held);
                Step::Other
            }
            Place::Before if is_left_notice(&head.header) => {
                let [left] = body.take_exact();
                tx.as_tx().peer_left(peer, left)?;
                Step::Other
            }
            Place::Before => Step::Other,
        };
        let of_queue = &mut incoming.queues[queue as usize];
        if let Some(own) = &mut of_queue.own {
            own.free.push(buffer);
        }
        of_queue.uncounted.add();
        count_frames((peer, queue), of_queue, tx.as_tx())?;
        let offers_ring = incoming.count_to_ring();
        if incoming.order.has_next() || offers_ring {
            self.look_after(arrival, offers_ring, tx.as_tx());
        }
        Ok(step)
    }

    /// Counts a credit message, and posts its buffer again if that is the peer's own.
    ///
    /// # Errors
    /// The rule that the peer broke.
    fn credit_message_arrived(
        &mut self,
        arrival: Arrival,
        tx: &mut VerbsTx,
    ) -> Result<Step, &'static str> {
        let Arrival {
            peer,
            queue,
            buffer,
            ..
        } = arrival;
        tx.link(peer).pair(queue).credits.credit_message_arrived()?;
        let incoming = self.peers[peer as usize].as_mut();
        let own = incoming.and_then(|incoming| incoming.queues[queue as usize].own.as_mut());
        if let Some(own) = own {
            own.free.push(buffer);
            tx.post_receives(peer, queue, (own, 1));
        }
        tx.advance(peer);
        Ok(Step::Other)
    }
}
