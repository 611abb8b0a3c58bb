//! What a target is asked for by messages, where this rank does not reach its memory.

use oxmpi_os::RawBytes;
use oxmpi_wire::Peer;
use oxmpi_wire::window::WindowMessage;

use super::super::request::{OpenRequest, RawRequest};
use super::super::threading::Threading;
use super::super::window_state::{
    Accumulation, Answered, AwaitedBy, MOST_ACCUMULATED, MOST_ASKED, cost,
};
use super::Window;
use super::transfer::Checked;
use crate::error::{Error, FaultReason, Result};

/// Bytes of a buffer: a packed offset, and how many.
pub(super) type Packed<'a> = (&'a RawBytes, u64, u64);

impl<A: Threading> Window<A> {
    /// Sends a message once there is room, after the lock that it needs if that was not asked for yet.
    pub(super) fn ask(
        &self,
        peer: Peer,
        message: WindowMessage,
        (bytes, at, len): (&RawBytes, u64, usize),
    ) -> Result<()> {
        let context = self.comm.context();
        let sent = self.comm.access().until(|endpoint| {
            if let Some(fault) = endpoint.loss(peer) {
                return Some(Err(fault));
            }
            endpoint.ask_lock(peer, context).ok()?;
            (endpoint.send_to_window(peer, context, message, (bytes, at, len))).ok()?;
            if let Some(state) = endpoint.window(context) {
                state.answers.sent(number_of(message));
            }
            Some(Ok(()))
        })?;
        sent.map_err(|fault| self.lost(peer, fault))
    }

    /// Sends a request that is awaited: `message` makes it of its number.
    pub(super) fn ask_and_wait(
        &self,
        peer: Peer,
        message: impl FnOnce(u64) -> WindowMessage,
    ) -> Result<()> {
        let number = self.with_state(|state| state.answers.awaited(peer))?;
        let asked = self.ask(peer, message(number), (&RawBytes::empty(), 0, 0));
        if asked.is_err() {
            self.with_state(|state| state.answers.forget(number))?;
        }
        asked?;
        self.wait_for_answer(peer, number)
    }

    /// Waits for the answer of this number.
    fn wait_for_answer(&self, peer: Peer, number: u64) -> Result<()> {
        let context = self.comm.context();
        let ended = self.comm.access().until(|endpoint| {
            let state = endpoint.window(context)?;
            if let Some(answered) = state.answers.end(number) {
                return Some(Ok(answered));
            }
            let fault = endpoint.loss(peer)?;
            if let Some(state) = endpoint.window(context) {
                state.answers.forget(number);
            }
            Some(Err(fault))
        })?;
        match ended {
            Ok(answered) => self.answered(peer, answered),
            Err(fault) => Err(self.lost(peer, fault)),
        }
    }

    fn answered(&self, peer: Peer, answered: Answered) -> Result<()> {
        match answered {
            Answered::Done => Ok(()),
            Answered::Refused(rank) => Err(self.holder_lost(rank)),
            Answered::Conflict(conflict) => Err(self.conflict(self.rank_of(peer), conflict)),
            Answered::Outside(at) => Err(self.outside(self.rank_of(peer), at)),
        }
    }

    /// The rank at a link.
    fn rank_of(&self, peer: Peer) -> usize {
        let ranks = 0..self.comm.group().size() as usize;
        ranks
            .clone()
            .find(|&rank| self.comm.link(rank) == Some(peer))
            .unwrap_or(ranks.end)
    }

    /// The error of a lock that a lost rank may have.
    #[cold]
    fn holder_lost(&self, rank: u64) -> Error {
        let link = (u32::try_from(rank).ok())
            .and_then(|rank| self.comm.access().with(|endpoint| endpoint.link(rank)));
        let fault = oxmpi_wire::Fault::PeerDead;
        match link {
            Some(link) => self.lost(Peer(link), fault),
            None => Error::Transport {
                rank: self.rank(),
                fault: FaultReason(fault),
            },
        }
    }

    /// Sends an access, which a flush waits for. Where the peer has much to do already, it waits until that is done.
    fn ask_access(
        &self,
        peer: Peer,
        message: WindowMessage,
        bytes: (&RawBytes, u64, usize),
    ) -> Result<()> {
        // The target keeps the operands until they are combined, and then what was there before.
        let kept = match message {
            WindowMessage::Accumulate {
                answer: 1.., len, ..
            } => len.max(bytes.2 as u64),
            _ => bytes.2 as u64,
        };
        let cost = cost(kept);
        let left = self.with_state(|state| state.asked.left(peer))?;
        if left > 0 && left + cost > MOST_ASKED {
            self.flush_far(peer)?;
        }
        self.ask(peer, message, bytes)?;
        // Afterwards: a flush of another thread that does not wait for it leaves it to be flushed.
        self.with_state(|state| state.asked.add(peer, cost))
    }

    /// As [`Self::ask_access`], of one that is answered by this number: it is forgotten where nobody is asked.
    fn ask_answered(
        &self,
        peer: Peer,
        answer: u64,
        message: WindowMessage,
        bytes: (&RawBytes, u64, usize),
    ) -> Result<()> {
        let asked = self.ask_access(peer, message, bytes);
        if asked.is_err() {
            self.with_state(|state| state.answers.forget(answer))?;
        }
        asked
    }

    /// Most bytes of a message to a peer.
    fn piece(&self, peer: Peer) -> u64 {
        (self.comm.access()).with(|endpoint| endpoint.window_piece(peer)) as u64
    }

    pub(super) fn put_far(
        &self,
        peer: Peer,
        at: u64,
        (from, first, len): Packed<'_>,
    ) -> Result<()> {
        let piece = self.piece(peer);
        for (done, now) in pieces(len, piece) {
            let message = WindowMessage::Put { at: at + done };
            self.ask_access(peer, message, (from, first + done, now as usize))?;
        }
        Ok(())
    }

    /// A request for the bytes of an access that asks its target for them, and has some; `None` where it has ended when its
    /// call returns.
    pub(super) fn request_far(&self, target: &Checked) -> Result<Option<OpenRequest>> {
        let &Checked { peer, len, .. } = target;
        if self.near(peer).is_some() || len == 0 {
            return Ok(None);
        }
        let context = self.comm.context();
        self.comm.access().with(|endpoint| {
            endpoint.check()?;
            let request = endpoint.start_generalized();
            let state = endpoint.window(context).ok_or(Error::Finalized)?;
            state.answers.note_request(request, peer, len);
            // Whether its target is lost is looked at from now on.
            endpoint.windows.busy = true;
            Ok(Some(request))
        })
    }

    /// The program's handle of a request, if the target was asked for all of its bytes.
    pub(super) fn requested(
        &self,
        request: Option<OpenRequest>,
        asked: Result<()>,
    ) -> Result<Option<RawRequest>> {
        let raw = request.map(RawRequest::of);
        if let (Some(request), Some(raw), Err(_)) = (request, raw, &asked) {
            // Nobody waits for it, and not all of its bytes will come.
            self.with_state(|state| state.answers.end_request(request))?;
            self.comm.detach(raw, Box::new(()));
        }
        asked.map(|()| raw)
    }

    pub(super) fn get_far(
        &self,
        peer: Peer,
        at: u64,
        (to, first, len): Packed<'_>,
        awaited_by: AwaitedBy,
    ) -> Result<()> {
        let packed = (*to, first, len);
        let answer = self.with_state(|state| state.answers.bytes(peer, packed, awaited_by))?;
        let message = WindowMessage::Get { answer, at, len };
        self.ask_answered(peer, answer, message, (&RawBytes::empty(), 0, 0))
    }

    /// Combines `len` bytes of the target from `at` on. The operands are packed from `first` on, and what was there before
    /// is written there in `before`, if that is asked for.
    pub(super) fn accumulate_far(
        &self,
        peer: Peer,
        operation: &Accumulation,
        (at, len): (u64, u64),
        (operands, before, first): (&RawBytes, Option<&RawBytes>, u64),
        awaited_by: AwaitedBy,
    ) -> Result<()> {
        let room = self.piece(peer);
        let element = operation
            .padded_size()
            .unwrap_or(operation.kind.size() as u64);
        let most = room.min(MOST_ACCUMULATED) / operation.operands(1).max(1);
        for (done, now) in pieces(len, most / element * element) {
            let answer = match before {
                Some(before) => self.with_state(|state| {
                    let packed = (*before, first + done, operation.packed(now));
                    (state.answers).bytes(peer, packed, awaited_by)
                })?,
                None => 0,
            };
            let message = WindowMessage::Accumulate {
                answer,
                at: at + done,
                len: now,
                operation: operation.number(),
            };
            let count = operation.operands(operation.packed(now));
            let from = if count == 0 { 0 } else { first + done };
            self.ask_answered(peer, answer, message, (operands, from, count as usize))?;
            if awaited_by == AwaitedBy::Call && answer != 0 {
                self.wait_for_answer(peer, answer)?;
            }
        }
        Ok(())
    }

    /// Waits until what a peer was asked for is done there.
    pub(super) fn flush_far(&self, peer: Peer) -> Result<()> {
        if self.with_state(|state| state.asked.left(peer))? == 0 {
            return self.all_done(peer);
        }
        let flushed = self.end_asked(peer, |answer| WindowMessage::Flush { answer });
        flushed.and(self.all_done(peer))
    }

    /// Asks a peer by a message of this number to say that it has done what it was asked, and waits for that.
    pub(super) fn end_asked(
        &self,
        peer: Peer,
        message: impl FnOnce(u64) -> WindowMessage,
    ) -> Result<()> {
        let until = self.with_state(|state| state.asked.until_now(peer))?;
        let ended = self.ask_and_wait(peer, message);
        self.with_state(|state| state.asked.done(peer, until))?;
        ended
    }

    /// The error of an access that a peer has not done, if this rank waited for bytes of it.
    pub(super) fn all_done(&self, peer: Peer) -> Result<()> {
        match self.with_state(|state| state.answers.take_not_done(peer))? {
            None => Ok(()),
            Some(why) => self.answered(peer, why),
        }
    }

    /// As [`Self::all_done`], of all peers.
    pub(super) fn all_done_by_all(&self) -> Result<()> {
        let links: Vec<u32> = self.with_state(|state| state.answers.not_done().collect())?;
        let done = links.into_iter().map(|link| self.all_done(Peer(link)));
        done.fold(Ok(()), Result::and)
    }

    /// As [`Self::flush_far`], of all peers.
    pub(super) fn flush_asked(&self) -> Result<()> {
        let peers: Vec<Peer> = self.with_state(|state| state.asked.peers().collect())?;
        // One that is lost does not keep the others from what they were asked.
        let flushed = peers.into_iter().map(|peer| self.flush_far(peer));
        flushed.fold(Ok(()), Result::and)
    }
}

/// The number of what answers a request; 0: nothing does.
const fn number_of(request: WindowMessage) -> u64 {
    match request {
        WindowMessage::Get { answer, .. }
        | WindowMessage::Accumulate { answer, .. }
        | WindowMessage::Flush { answer }
        | WindowMessage::Unlock { answer, .. } => answer,
        _ => 0,
    }
}

/// Offsets and lengths of the pieces of `len` bytes, of at most `most` each.
fn pieces(len: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    let count = len.div_ceil(most.max(1));
    (0..count).map(move |i| (i * most, most.min(len - i * most)))
}
