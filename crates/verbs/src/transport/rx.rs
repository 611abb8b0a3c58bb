//! [`VerbsRx`]: the receiving half, which polls the completion queue of all connections.

use super::buffers::Buffers;
use super::control::Control;
use super::frame_head::{FrameHead, HEAD};
use super::request_id::RequestId;
use super::tx::VerbsTx;
use crate::error::VerbsError;
use crate::objects::{Completion, CompletionChannel, CompletionQueue};
use oxmpi_wire::{AsTx, Fault, Kind, Peer, Rx, Sink, Sleeper, WaitObjects};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Completions that are taken at a time.
const BATCH: usize = 16;

/// Completions of one poll that are no frames, so that a peer cannot keep this rank from its other work.
const OTHERS: u32 = 64;

/// The receiving half of a rank's connections.
#[derive(Debug)]
pub struct VerbsRx {
    /// Buffers that are posted to each peer's queue pair.
    buffers: Vec<Option<Buffers>>,
    queue: CompletionQueue,
    channel: CompletionChannel,
    /// Where a poll finds completions, so that it need not clear the places each time.
    room: Vec<Completion>,
    /// Completions that were found when this half was armed.
    ahead: VecDeque<Completion>,
    /// The last poll found nothing and left nothing to do.
    quiet: bool,
}

/// What a completion was: an arrival for the sink, or something else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Frame,
    Other,
}

impl VerbsRx {
    pub(super) fn new(queue: CompletionQueue, channel: CompletionChannel, peers: u32) -> Self {
        Self {
            buffers: (0..peers).map(|_| None).collect(),
            queue,
            channel,
            room: vec![Completion::default(); BATCH],
            ahead: VecDeque::new(),
            quiet: false,
        }
    }

    pub(super) fn add(&mut self, peer: u32, buffers: Buffers) {
        self.buffers[peer as usize] = Some(buffers);
    }

    /// Takes completions, at most as many as `room` has places.
    fn take<'a>(&mut self, room: &'a mut [Completion]) -> Result<&'a [Completion], VerbsError> {
        if self.ahead.is_empty() {
            return self.queue.poll(room);
        }
        let count = self.ahead.len().min(room.len());
        for (to, completion) in room.iter_mut().zip(self.ahead.drain(..count)) {
            *to = completion;
        }
        Ok(&room[..count])
    }

    fn handle<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        completion: &Completion,
        tx: &mut T,
        sink: &mut S,
    ) -> Step {
        let (peer, buffer) = match RequestId::from_word(completion.id()) {
            RequestId::Receive { peer, buffer } => (peer, buffer),
            RequestId::Send { peer } => {
                tx.as_tx().sent(peer, completion);
                return Step::Other;
            }
        };
        if tx.as_tx().is_lost(peer) {
            return Step::Other;
        }
        if let Err(why) = completion.result() {
            tx.as_tx().broken(peer, &why);
            return Step::Other;
        }
        match self.arrived(peer, buffer, completion.len(), tx, sink) {
            Ok(step) => step,
            Err(rule) => {
                tx.as_tx().lose(peer, Fault::Protocol(rule));
                Step::Other
            }
        }
    }

    /// Handles a message of `len` bytes in a buffer, and frees that.
    ///
    /// # Errors
    /// The rule that the peer broke.
    fn arrived<T, S>(
        &mut self,
        peer: u32,
        buffer: u32,
        len: usize,
        tx: &mut T,
        sink: &mut S,
    ) -> Result<Step, &'static str>
    where
        T: AsTx<VerbsTx>,
        S: Sink<T>,
    {
        let Some(buffers) = &mut self.buffers[peer as usize] else {
            return Ok(Step::Other);
        };
        let head = FrameHead::parse(&buffers.read(buffer, 0));
        let FrameHead { grant, header } = head.map_err(|_| "a frame whose header is none")?;
        if len != HEAD + header.len as usize {
            return Err("a frame of another length than its header says");
        }
        tx.as_tx().credits(peer).take(grant)?;
        let mut step = Step::Other;
        match (header.kind, header.len as usize) {
            (Kind::Transport, 0) => {
                tx.as_tx().credits(peer).credit_message_arrived();
                buffers.free.push(buffer);
                post(buffers, peer, 1, tx.as_tx());
                return Ok(Step::Other);
            }
            (Kind::Transport, Control::LEN) => {
                let control = Control::parse(&buffers.read(buffer, HEAD));
                tx.as_tx()
                    .control(peer, control.ok_or("an unknown frame of the transport")?)?;
            }
            (Kind::Transport, _) => return Err("a frame of the transport of another length"),
            (_, len) => {
                sink.frame(tx, Peer(peer), &header, &mut buffers.body(buffer, len));
                step = Step::Frame;
            }
        }
        buffers.free.push(buffer);
        let count = tx.as_tx().credits(peer).frame_arrived();
        post(buffers, peer, count, tx.as_tx());
        Ok(step)
    }
}

/// Posts `count` free buffers to the queue pair of `peer`, and sends what has waited for the message before.
fn post(buffers: &mut Buffers, peer: u32, count: u32, tx: &mut VerbsTx) {
    for _ in 0..count {
        let buffer = buffers
            .free
            .pop()
            .expect("as many free buffers as arrivals");
        tx.post_receive(peer, buffer, &[buffers.segment(buffer)]);
    }
    tx.advance(peer);
}

impl<T: AsTx<VerbsTx>> Rx<T> for VerbsRx {
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        let (mut frames, mut others) = (0, 0);
        let mut room = std::mem::take(&mut self.room);
        while frames < budget && others < OTHERS {
            let most = BATCH.min((budget - frames) as usize);
            let found = match self.take(&mut room[..most]) {
                Ok(found) => found,
                Err(why) => {
                    tx.as_tx().device_failed(&why);
                    break;
                }
            };
            if found.is_empty() {
                break;
            }
            for completion in found {
                match self.handle(completion, tx, sink) {
                    Step::Frame => frames += 1,
                    Step::Other => others += 1,
                }
            }
        }
        self.room = room;
        let moved = frames + others + VerbsTx::report(tx, sink);
        self.quiet = moved == 0;
        moved
    }

    /// All connections have one completion queue: other peers' arrivals are handed over, too.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, _from: Peer, sink: &mut S) -> u32 {
        self.poll(tx, 1, sink)
    }
}

impl Sleeper for VerbsRx {
    /// True if the last poll found nothing and nothing has arrived since.
    ///
    /// # Cost
    /// Two system calls and an allocation.
    fn arm(&mut self) -> bool {
        if !self.quiet || !self.ahead.is_empty() {
            return false;
        }
        // Events of completions that were polled since.
        while let Ok(Some(_)) = self.channel.wait(Instant::now()) {}
        let armed = self.queue.arm().is_ok();
        // What was there before gives no event.
        let mut room = [Completion::default(); BATCH];
        let found = self.queue.poll(&mut room).unwrap_or_default();
        self.ahead.extend(found);
        armed && self.ahead.is_empty()
    }
}

impl WaitObjects for VerbsRx {
    type WaitObject<'a> = BorrowedFd<'a>;

    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        watch(self.channel.as_fd());
    }

    fn longest_sleep(&self) -> Duration {
        Duration::MAX
    }
}
