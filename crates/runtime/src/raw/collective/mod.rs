//! Collectives: binds the executor of `oxmpi-coll` to a communicator.

#[allow(dead_code, reason = "the calls with blocks are made by the faces")]
mod buffers;

use std::ops::Range;

use oxmpi_coll::catalog::Call;
use oxmpi_coll::choice::choose;
use oxmpi_coll::exec::{Driver, Execution, Failure, Progress};
use oxmpi_coll::plan::{Buf, Part, Plan, Side, TAGS, pairs};
use oxmpi_os::RawBytes;
use oxmpi_wire::engine::{self, Mode, Outcome};
use oxmpi_wire::{Bytes, Envelope, Peer};

#[allow(unused_imports, reason = "the calls with blocks are made by the faces")]
pub(crate) use self::buffers::{Area, Blocks, Buffers, Neighbors, Operation};
use super::access::Access;
use super::communicator::{Communicator, OpenRequest};
use super::lane::Lane;
use super::scratch::Scratch;
use crate::error::{Error, Result};

impl<A: Access> Communicator<A> {
    /// Runs one collective to its end. Every rank makes the same `call`, but for what is its own.
    ///
    /// The operation is called while no lane is held, so it may do what it likes.
    ///
    /// # Errors
    /// The first failure of a message; then no buffer is in use any more, and the other ranks learn
    /// of it only where they wait for this one. After a failure or a panic of the operation the
    /// ranks are out of step, and every later collective of the communicator is refused here.
    pub(crate) fn collective(
        &self,
        call: Call,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let tuning = self.access().with(|lane| {
            lane.check()?;
            Ok(lane.policy().tuning)
        })?;
        if self.is_broken() {
            return Err(self.refused(
                &"an earlier one failed or panicked on this rank, so the ranks of this communicator \
                  are out of step",
            ));
        }
        let plan = choose(&call, &tuning)
            .and_then(|choice| choice.plan(&call))
            .map_err(|why| self.refused(&why))?;
        let execution = Execution::new(plan);
        let bytes = execution.scratch(buffers.given()) * call.element_bytes;
        let scratch = self
            .access()
            .with(|lane| lane.lend_scratch(bytes))
            .ok_or_else(|| self.refused(&format_args!("no memory for {bytes} B of scratch")))?;
        let mut run = Run {
            execution,
            binding: Binding {
                communicator: self,
                buffers,
                operation,
                scratch,
                element: call.element_bytes,
                number: self.next_collective(),
                awaited: None,
                fresh: false,
            },
            done: false,
        };
        run.finish()
    }

    #[cold]
    pub(super) fn refused(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Collective {
            rank: self.group().rank() as usize,
            why: why.to_string(),
        }
    }
}

/// One collective under way. Dropping it takes back what is still open, so that no buffer is in use
/// afterwards, also when the operation panics.
struct Run<'a, P: Plan, A: Access> {
    execution: Execution<P, Ticket>,
    binding: Binding<'a, A>,
    done: bool,
}

impl<P: Plan, A: Access> Run<'_, P, A> {
    fn finish(&mut self) -> Result<()> {
        let mut waiter = self.binding.communicator.access().waiter();
        loop {
            match self
                .execution
                .advance(self.binding.buffers.given(), &mut self.binding)
            {
                Ok(Progress::Done) => {
                    self.done = true;
                    return Ok(());
                }
                // An awaited message is looked for first: a turn would take it the longer way.
                Ok(Progress::Pending) if std::mem::take(&mut self.binding.fresh) => {}
                Ok(Progress::Pending) => self.binding.communicator.access().turn(&mut waiter)?,
                Err(Failure::Driver(error)) => return Err(error),
                Err(broken) => {
                    return Err(self.binding.communicator.refused(&broken));
                }
            }
        }
    }
}

impl<P: Plan, A: Access> Drop for Run<'_, P, A> {
    fn drop(&mut self) {
        let communicator = self.binding.communicator;
        if !self.done {
            communicator.set_broken();
        }
        while let Some(ticket) = self.execution.abandon() {
            let posted = match ticket.request {
                Some(request) => Some(request),
                None => self.binding.awaited.take().and_then(|a| a.posted),
            };
            if let Some(request) = posted {
                // Its failure is the collective's, which is told already.
                let _ = communicator.take_back(request);
            }
        }
        let scratch = std::mem::take(&mut self.binding.scratch);
        communicator
            .access()
            .with(|lane| lane.return_scratch(scratch));
    }
}

/// A message under way, and the bytes it must have.
struct Ticket {
    /// `None`: the awaited one.
    request: Option<OpenRequest>,
    bytes: u64,
    /// Where its bytes are meanwhile, if not in their place.
    detour: Option<Box<Detour>>,
}

/// Room for a message of a part that goes around the end of its buffer, and so is no layout.
struct Detour {
    room: Scratch,
    /// Where the bytes are to go in the end; those that are sent go nowhere else.
    part: Part,
}

/// A receive that looks on the direct road as long as it can. There is one at a time: the next one
/// posts it before itself, so that receives keep their order.
struct Awaited {
    peer: Peer,
    envelope: Envelope,
    body: RawBytes,
    posted: Option<OpenRequest>,
}

impl Awaited {
    fn post(&mut self, lane: &mut Lane) -> OpenRequest {
        *self.posted.get_or_insert_with(|| {
            let tag = engine::Tag::Exact(self.envelope.tag);
            let source = engine::Source::Peer(self.peer);
            lane.irecv(source, self.envelope.context, tag, self.body)
        })
    }

    /// Looks on the direct road, so many times, or for the posted receive's end.
    fn look(&mut self, looks: u32, lane: &mut Lane) -> Option<Outcome> {
        let source = engine::Source::Peer(self.peer);
        if self.posted.is_none() {
            let tag = engine::Tag::Exact(self.envelope.tag);
            let status = lane.recv_short(looks, source, self.envelope.context, tag, &self.body);
            if status.is_some() || lane.is_direct(source) {
                return status.map(Ok);
            }
        }
        let request = self.post(lane);
        lane.test(request)
    }
}

/// What the acts of a plan mean in this communicator.
struct Binding<'a, A: Access> {
    communicator: &'a Communicator<A>,
    buffers: &'a Buffers,
    operation: Option<Operation<'a>>,
    scratch: Scratch,
    /// Bytes of one element.
    element: u64,
    /// The collective's number.
    number: u32,
    awaited: Option<Awaited>,
    /// It was not asked for yet.
    fresh: bool,
}

impl<A: Access> Binding<'_, A> {
    /// The bytes of a part.
    fn bytes(&mut self, part: Part) -> Result<RawBytes> {
        let buffer = match (part.buf, &self.buffers.input, &self.buffers.output) {
            (Buf::In, &Area::Whole(bytes), _) | (Buf::Out, _, &Area::Whole(bytes)) => bytes,
            (Buf::Scratch, ..) => self.scratch.bytes(),
            _ => RawBytes::empty(),
        };
        let element = self.element;
        part.first
            .checked_mul(element)
            .filter(|_| is_layout(part))
            .zip(part.count.checked_mul(element))
            .zip(part.stride.checked_mul(element as i64))
            .and_then(|((at, block), stride)| buffer.part(at, block, stride, part.times))
            .ok_or_else(|| {
                self.communicator
                    .refused(&format_args!("its plan leaves the buffer: {part:?}"))
            })
    }

    /// What a message of the part is sent from or received into.
    fn body(&mut self, part: Part) -> Result<(RawBytes, Option<Box<Detour>>)> {
        if is_layout(part) {
            return Ok((self.bytes(part)?, None));
        }
        let mut room = Scratch::default();
        let bytes = part.len().saturating_mul(self.element);
        let body = room
            .grow(bytes)
            .then(|| room.bytes().part(0, bytes, 0, 1))
            .flatten();
        let body = body.ok_or_else(|| {
            self.communicator
                .refused(&format_args!("no memory for a message of {bytes} B"))
        })?;
        Ok((body, Some(Box::new(Detour { room, part }))))
    }

    /// Copies between the place of a detour's part and its room.
    fn pass(&mut self, detour: &mut Detour, to_room: bool) -> Result<()> {
        let (room, mut at) = (detour.room.bytes(), 0);
        for range in detour.part.blocks() {
            let place = self.bytes(block(detour.part.buf, range))?;
            let piece = room
                .part(at, place.len(), 0, 1)
                .unwrap_or(RawBytes::empty());
            match to_room {
                true => piece.copy_from(&place),
                false => place.copy_from(&piece),
            }
            at += place.len();
        }
        Ok(())
    }

    /// Brings what came to its place.
    fn arrive(&mut self, detour: Option<Box<Detour>>) -> Result<()> {
        match detour {
            Some(mut detour) => self.pass(&mut detour, false),
            None => Ok(()),
        }
    }

    /// The peer, and the envelope with the collective's number and the act's tag: two collectives
    /// of one communicator never mix.
    fn address(&self, rank: u32, tag: u32) -> Result<(Peer, Envelope)> {
        let peer = self
            .communicator
            .link(rank as usize)
            .ok_or_else(|| self.communicator.rank_error(rank as usize))?;
        let envelope = Envelope {
            context: self.communicator.collective_context(),
            tag: self.number.wrapping_mul(TAGS) | tag,
        };
        Ok((peer, envelope))
    }

    /// Judges a message that has ended.
    fn ended(&self, outcome: Outcome, bytes: u64) -> Result<()> {
        match outcome {
            Ok(status) if status.len == bytes => Ok(()),
            Ok(status) => Err(self.communicator.refused(&format_args!(
                "a message of {} B came where {bytes} B were expected: the ranks do not agree on \
                 the count",
                status.len
            ))),
            Err(failure) => Err(self.communicator.failed(failure)),
        }
    }
}

/// Whether the elements of a part lie in one piece of memory, or at equal distances: one that goes
/// around does so where it does not reach the end.
fn is_layout(part: Part) -> bool {
    let reach = part.first.checked_add(part.count);
    part.wrap == 0 || part.times == 1 && reach.is_some_and(|reach| reach <= part.wrap)
}

/// One block of a part, as a part.
const fn block(buf: Buf, range: Range<u64>) -> Part {
    Part::new(buf, range.start, range.end - range.start)
}

impl<A: Access> Driver for Binding<'_, A> {
    type Ticket = Ticket;
    type Error = Error;

    fn send(&mut self, to: u32, tag: u32, from: Part) -> Result<Option<Ticket>> {
        let (body, mut detour) = self.body(from)?;
        if let Some(detour) = &mut detour {
            self.pass(detour, true)?;
            detour.part = Part::EMPTY;
        }
        let (peer, envelope) = self.address(to, tag)?;
        let request = self
            .communicator
            .access()
            .with(|lane| lane.send_now(peer, envelope, Mode::Standard, body));
        let bytes = body.len();
        Ok(request.map(|request| Ticket {
            request: Some(request),
            bytes,
            detour,
        }))
    }

    fn recv(&mut self, from: u32, tag: u32, into: Part) -> Result<Option<Ticket>> {
        let (body, detour) = self.body(into)?;
        let (peer, envelope) = self.address(from, tag)?;
        let bytes = body.len();
        let mut next = Awaited {
            peer,
            envelope,
            body,
            posted: None,
        };
        let access = self.communicator.access();
        let Some(earlier) = &mut self.awaited else {
            if let Some(outcome) = access.with(|lane| next.look(1, lane)) {
                self.ended(outcome, bytes)?;
                self.arrive(detour)?;
                return Ok(None);
            }
            self.awaited = Some(next);
            self.fresh = true;
            return Ok(Some(Ticket {
                request: None,
                bytes,
                detour,
            }));
        };
        let request = access.with(|lane| {
            earlier.post(lane);
            next.post(lane)
        });
        Ok(Some(Ticket {
            request: Some(request),
            bytes,
            detour,
        }))
    }

    fn copy(&mut self, from: Part, into: Part) -> Result<()> {
        if is_layout(from) && is_layout(into) {
            let (from, into) = (self.bytes(from)?, self.bytes(into)?);
            into.copy_from(&from);
            return Ok(());
        }
        for [from_block, into_block] in pairs(from, into) {
            let from = self.bytes(block(from.buf, from_block))?;
            let into = self.bytes(block(into.buf, into_block))?;
            into.copy_from(&from);
        }
        Ok(())
    }

    fn reduce(&mut self, from: Part, into: Part, side: Side) -> Result<()> {
        let Some(operation) = self.operation else {
            return Err(self
                .communicator
                .refused(&"its plan reduces without an operation"));
        };
        for [from_block, into_block] in pairs(from, into) {
            let from = self.bytes(block(from.buf, from_block))?;
            let into = self.bytes(block(into.buf, into_block))?;
            operation(from, into, side);
        }
        Ok(())
    }

    fn done(&mut self, ticket: &mut Ticket) -> Result<bool> {
        let access = self.communicator.access();
        let outcome = match (ticket.request, &mut self.awaited) {
            (Some(request), _) => access.with(|lane| lane.test(request)),
            (None, Some(awaited)) => access.with(|lane| awaited.look(lane.looks, lane)),
            (None, None) => unreachable!("the awaited receive's ticket ends with it"),
        };
        let Some(outcome) = outcome else {
            return Ok(false);
        };
        if ticket.request.is_none() {
            self.awaited = None;
        }
        self.ended(outcome, ticket.bytes)?;
        self.arrive(ticket.detour.take())?;
        Ok(true)
    }
}
