//! Carries out the steps of a plan by messages, copies and reductions.

use oxmpi_coll::exec::{Driver, IntraNodeStart, MessageSize};
use oxmpi_coll::plan::{IntraNodeOp, Part, Side, TAGS};
use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{Mode, Source, Tag};
use oxmpi_wire::{Bytes, Envelope, Peer};

use super::super::collective_members::Members;
use super::super::collective_scratch::PackedMessage;
use super::super::collective_state::{
    Buffers, FastReceive, NodeGroups, PendingAct, PendingMessage, PendingPhase, PhaseStage,
    RunState,
};
use super::super::group::Group;
use super::super::operation::UsedOperation;
use super::super::threading::Threading;
use super::count_sum::CountSum;
use super::packed_buffers::needs_no_gaps;
use super::part_memory::{PartMemory, PartOutside};
use crate::bytes::pairs;
use crate::error::{Error, Result};

/// Carries out the steps of a plan by messages, copies and reductions.
pub(super) struct PlanDriver<'a, A: Threading> {
    pub(super) members: Members<'a, A>,
    /// The ranks that the plan numbers.
    pub(super) ranks: &'a Group,
    pub(super) buffers: &'a Buffers,
    pub(super) operation: UsedOperation<'a>,
    pub(super) state: &'a mut RunState,
}

impl<'a, A: Threading> PlanDriver<'a, A> {
    #[inline]
    fn places(&mut self) -> PartMemory<'a> {
        PartMemory {
            buffers: self.buffers,
            scratch: self.state.memory.scratch.bytes(),
            element: self.state.element,
            block: self.state.block,
        }
    }

    /// The memory that a message of the part is sent from or received into.
    #[inline]
    fn body(&mut self, part: Part) -> Result<(RawBytes, Option<Box<PackedMessage>>)> {
        match self.places().whole(part) {
            Some(bytes) => Ok((bytes, None)),
            None => self
                .packed(part)
                .map(|(bytes, packed)| (bytes, Some(packed))),
        }
    }

    /// Memory for a message of a part that lies in several pieces.
    #[cold]
    fn packed(&mut self, part: Part) -> Result<(RawBytes, Box<PackedMessage>)> {
        let mut packed = self.state.memory.packed.pop().unwrap_or_default();
        packed.part = part;
        let bytes = part.len().saturating_mul(self.state.element);
        let body = packed.room.grow(bytes);
        let body = body.then(|| packed.room.bytes().part(0, bytes, 0, 1));
        let body = body.flatten().ok_or_else(|| {
            (self.members).refused(&format_args!("no memory for a message of {bytes} B"))
        })?;
        Ok((body, packed))
    }

    /// Such memory, filled with the content of the part.
    #[cold]
    fn filled(&mut self, part: Part) -> Result<(RawBytes, Box<PackedMessage>)> {
        let (body, packed) = self.packed(part)?;
        self.transfer(body, part, |body, piece| body.copy_from(&piece))?;
        Ok((body, packed))
    }

    /// Memory that holds the content of the part, without gaps if `needs_no_gaps`: its own, or packed memory.
    fn in_one_range(
        &mut self,
        part: Part,
        needs_no_gaps: bool,
    ) -> Result<(RawBytes, Option<Box<PackedMessage>>)> {
        if part.is_empty() {
            return Ok((RawBytes::empty(), None));
        }
        match self.places().whole(part) {
            Some(bytes) if !(needs_no_gaps && bytes.has_gaps()) => Ok((bytes, None)),
            _ => (self.filled(part)).map(|(bytes, packed)| (bytes, Some(packed))),
        }
    }

    /// Takes a message's packed memory back, and unpacks what was received.
    #[cold]
    fn unpack(&mut self, mut packed: Box<PackedMessage>, received: bool) -> Result<()> {
        let (from, part) = (packed.room.bytes(), packed.part);
        let done = match received {
            true => self.transfer(from, part, |from, into| into.copy_from(&from)),
            false => Ok(()),
        };
        self.state.memory.packed.push(packed);
        done
    }

    /// Takes the packed memory of two operands back, and unpacks the second one, which is the result.
    #[inline]
    fn unpack_operands(
        &mut self,
        from: Option<Box<PackedMessage>>,
        into: Option<Box<PackedMessage>>,
    ) -> Result<()> {
        for (packed, is_result) in [(from, false), (into, true)] {
            if let Some(packed) = packed {
                self.unpack(packed, is_result)?;
            }
        }
        Ok(())
    }

    /// Combines elements that have gaps, in packed memory.
    #[cold]
    fn reduce_packed(&mut self, from: Part, into: Part, side: Side) -> Result<()> {
        let (from, packed_from) = self.in_one_range(from, true)?;
        let (into, packed_into) = self.in_one_range(into, true)?;
        if let Some(operation) = self.operation.get() {
            operation(from, into, side);
        }
        self.unpack_operands(packed_from, packed_into)
    }

    /// Visits corresponding pieces of a range without gaps and of a part.
    fn transfer(
        &mut self,
        bytes: RawBytes,
        part: Part,
        mut each: impl FnMut(RawBytes, RawBytes),
    ) -> Result<()> {
        let places = self.places();
        let mut pairs = pairs(std::iter::once(Ok(bytes)), places.pieces(part));
        let moved = pairs.try_for_each(|pair| pair.map(|[bytes, piece]| each(bytes, piece)));
        moved.map_err(|PartOutside| self.members.short_buffer())
    }

    /// Visits corresponding pieces of two parts of the same length.
    fn both(
        &self,
        places: PartMemory<'_>,
        [from, into]: [Part; 2],
        mut each: impl FnMut(RawBytes, RawBytes) -> Result<()>,
    ) -> Result<()> {
        for pair in pairs(places.pieces(from), places.pieces(into)) {
            match pair {
                Ok([from, into]) => each(from, into)?,
                Err(PartOutside) => return Err(self.members.short_buffer()),
            }
        }
        Ok(())
    }

    /// The peer, and the envelope: its tag is the collective's number and the step's tag, so that messages of
    /// two collectives of one communicator never match.
    #[inline]
    fn address(&self, rank: u32, tag: u32) -> Result<(Peer, Envelope)> {
        let tag = self.state.number.wrapping_mul(TAGS) | tag;
        let context = self.members.context;
        match self.ranks.link(rank as usize) {
            Some(link) => Ok((Peer(link), Envelope { context, tag })),
            None => Err(self.members.no_rank(rank as usize)),
        }
    }
}

impl<A: Threading> PlanDriver<'_, A> {
    #[inline]
    fn is_message_done(&mut self, message: &mut PendingMessage) -> Result<bool> {
        let access = self.members.access;
        let outcome = match (message.request, &mut self.state.fast_receive) {
            (Some(request), _) => access.with(|endpoint| endpoint.test(request)),
            (None, Some(fast_receive)) => {
                access.with(|endpoint| fast_receive.poll(endpoint.polls, endpoint))
            }
            (None, None) => unreachable!("the ticket of the fast receive ends with it"),
        };
        let Some(outcome) = outcome else {
            return Ok(false);
        };
        if message.request.is_none() {
            self.state.fast_receive = None;
        }
        self.members.ended(outcome, message.bytes)?;
        match message.packed.take() {
            Some(packed) => self.unpack(packed, true).map(|()| true),
            None => Ok(true),
        }
    }

    /// Goes on with the phase of the run. Whether it is done.
    fn is_phase_done(&mut self) -> Result<bool> {
        let RunState { phase, groups, .. } = &mut *self.state;
        let Some(pending) = phase else {
            return Ok(true);
        };
        if !self
            .members
            .advance_phase(&mut pending.stage, groups, &mut self.operation)?
        {
            return Ok(false);
        }
        let [from, into] = std::mem::take(&mut pending.packed);
        *phase = None;
        self.unpack_operands(from, into).map(|()| true)
    }
}

impl<A: Threading> Driver for PlanDriver<'_, A> {
    type Request = PendingAct;
    type Error = Error;

    fn send(&mut self, to: u32, tag: u32, from: Part) -> Result<Option<PendingAct>> {
        let (body, mut packed) = match self.places().whole(from) {
            Some(body) => (body, None),
            None => (self.filled(from)).map(|(body, packed)| (body, Some(packed)))?,
        };
        let (peer, envelope) = self.address(to, tag)?;
        let request = (self.members.access)
            .with(|endpoint| endpoint.send_now(peer, envelope, Mode::Standard, body));
        if request.is_none()
            && let Some(packed) = packed.take()
        {
            self.unpack(packed, false)?;
        }
        let bytes = body.len();
        if let Some(packed) = &mut packed {
            packed.part = Part::EMPTY;
        }
        Ok(request.map(|request| {
            PendingAct::Message(PendingMessage {
                request: Some(request),
                bytes,
                packed,
            })
        }))
    }

    fn recv(&mut self, from: u32, tag: u32, into: Part) -> Result<Option<PendingAct>> {
        let (body, packed) = self.body(into)?;
        let (peer, envelope) = self.address(from, tag)?;
        let bytes = body.len();
        let mut next = FastReceive {
            peer,
            envelope,
            body,
            posted: None,
        };
        let access = self.members.access;
        if self.state.alone && self.state.fast_receive.is_none() {
            if let Some(outcome) = access.with(|endpoint| next.poll(1, endpoint)) {
                self.members.ended(outcome, bytes)?;
                return match packed {
                    Some(packed) => self.unpack(packed, true).map(|()| None),
                    None => Ok(None),
                };
            }
            self.state.fast_receive = Some(next);
            self.state.unpolled = true;
            return Ok(Some(PendingAct::Message(PendingMessage {
                request: None,
                bytes,
                packed,
            })));
        }
        let earlier = self.state.fast_receive.as_mut();
        let request = access.with(|endpoint| {
            if let Some(earlier) = earlier {
                earlier.post(endpoint);
            }
            next.post(endpoint)
        });
        Ok(Some(PendingAct::Message(PendingMessage {
            request: Some(request),
            bytes,
            packed,
        })))
    }

    fn copy(&mut self, from: Part, into: Part) -> Result<()> {
        let places = self.places();
        if let (Some(from), Some(into)) = (places.whole(from), places.whole(into)) {
            into.copy_from(&from);
            return Ok(());
        }
        self.both(places, [from, into], |from, into| {
            into.copy_from(&from);
            Ok(())
        })
    }

    fn reduce(&mut self, from: Part, into: Part, side: Side) -> Result<()> {
        let places = self.places();
        let Some(operation) = self.operation.get() else {
            return Err((self.members).refused(&"its plan reduces without an operation"));
        };
        let (members, element) = (self.members, self.state.element.max(1));
        let mut is_split = false;
        let done = self.both(places, [from, into], |from, into| {
            is_split = !from.len().is_multiple_of(element);
            if is_split {
                return Err(members.refused(&"an element of a reduction has gaps"));
            }
            operation(from, into, side);
            Ok(())
        });
        match is_split {
            // The first piece begins with an element, so nothing is combined yet.
            true => self.reduce_packed(from, into, side),
            false => done,
        }
    }

    fn size(&mut self, from: u32, tag: u32) -> Result<MessageSize> {
        let (peer, Envelope { context, tag }) = self.address(from, tag)?;
        let fast_receive = self.state.fast_receive.as_mut();
        let announced = self.members.access.with(|endpoint| {
            // The next message may be for a receive before this one.
            if let Some(fast_receive) = fast_receive {
                fast_receive.post(endpoint);
            }
            endpoint.probe(Source::Peer(peer), context, Tag::Exact(tag))
        });
        match announced {
            None => Ok(MessageSize::Pending),
            Some(Ok(status)) => Ok(MessageSize::Elements(
                status.len / self.state.element.max(1),
            )),
            Some(Err(failure)) => Err(self.members.failed(failure)),
        }
    }

    fn sum(&mut self, from: Part) -> Result<Option<u64>> {
        let mut numbers = CountSum::up_to(from.limit);
        let places = self.places();
        // The limit applies to the numbers, not to where they are.
        for piece in places.pieces(Part {
            limit: u64::MAX,
            ..from
        }) {
            match piece {
                Ok(piece) => piece.drain(0, piece.len() as usize, &mut numbers),
                Err(PartOutside) => return Err(self.members.short_buffer()),
            }
        }
        match numbers.sum() {
            Some(sum) => Ok(Some(sum)),
            None => Err((self.members).refused(&"the lengths of its blocks are beyond 64 bits")),
        }
    }

    fn intra_node(&mut self, act: &IntraNodeOp) -> Result<IntraNodeStart<PendingAct>> {
        let (members, element) = (self.members, self.state.element);
        let needs_no_gaps = needs_no_gaps(act.collective, act.count.saturating_mul(element));
        let (from, packed_from) = self.in_one_range(act.from, needs_no_gaps)?;
        let (into, packed_into) = self.in_one_range(act.into, needs_no_gaps)?;
        let given = (element, self.state.commutes);
        if let NodeGroups::Waited = self.state.groups {
            members.run_intra_node(act, given, [from, into], self.operation.get())?;
            self.unpack_operands(packed_from, packed_into)?;
            return Ok(IntraNodeStart::Done);
        }
        let phase = members.phase_call(act, given, [from, into])?;
        self.state.phase = Some(PendingPhase {
            stage: PhaseStage::Queued(phase),
            packed: [packed_from, packed_into],
        });
        Ok(match self.is_phase_done()? {
            true => IntraNodeStart::Done,
            false => IntraNodeStart::Pending(PendingAct::Phase),
        })
    }

    fn grow(&mut self, elements: u64) -> Result<bool> {
        let bytes = elements.checked_mul(self.state.element);
        match bytes.map(|bytes| self.state.memory.scratch.grow(bytes)) {
            Some(true) => Ok(true),
            _ => Err((self.members).refused(&format_args!(
                "no memory for {elements} elements of scratch"
            ))),
        }
    }

    fn done(&mut self, ticket: &mut PendingAct) -> Result<bool> {
        match ticket {
            PendingAct::Message(message) => self.is_message_done(message),
            PendingAct::Phase => self.is_phase_done(),
        }
    }
}
