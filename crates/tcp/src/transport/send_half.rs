//! [`SendHalf`]: the sending half of one connection, with the frames and the bulk that wait for the socket.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use oxmpi_os::tcp::Stream;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Bytes, Fault, Header, Put, Slot};

use super::bulk_trials::{BulkTrials, KernelCopy};
use super::speculative_push::{PushReceiver, PushSender};
use super::transfer::Regions;
use super::zero_copy::ZeroCopy;
use crate::frame::{Control, OperationId, SendBuffer, frame_len};

/// Bytes of a region on their way to a peer, chunk by chunk.
#[derive(Debug)]
pub(super) struct OutboundBulk {
    pub(super) id: OperationId,
    pub(super) region: RegionId,
    /// Offset of the next byte in the region.
    pub(super) at: u64,
    /// Bytes that the kernel does not have yet.
    pub(super) left: u64,
    /// Bytes that the kernel has.
    pub(super) sent: u64,
    pub(super) reason: BulkReason,
}

/// Why a rank sends bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BulkReason {
    /// The peer gets the bytes.
    Get,
    /// This rank pushes the bytes: the peer is about to get them.
    Push,
    /// This rank puts the bytes, from this byte of this region of the peer on.
    Put(RegionId, u64),
}

/// Most consecutive writes, so that a long transfer does not keep the rank from its other work.
const MAX_WRITES: u32 = 8;

/// The sending half of the connection to one peer.
#[derive(Debug)]
pub(super) struct SendHalf {
    /// `None` before the connection is made and after the peer is lost.
    pub(super) stream: Option<Arc<Stream>>,
    pub(super) buffer: SendBuffer,
    /// Served round robin: the buffer announces a chunk of the first one.
    pub(super) outbound: VecDeque<OutboundBulk>,
    /// Control frames for which the buffer had no room.
    pub(super) replies: VecDeque<Control>,
    /// Gets of this rank from the peer that are under way.
    pub(super) gets: u32,
    pub(super) push_sender: PushSender,
    pub(super) push_receiver: PushReceiver,
    /// The measured times of the bulk protocols.
    pub(super) bulk_trials: BulkTrials,
    /// Transfers that have not ended.
    pub(super) transfers: u32,
    pub(super) last_transfer_end: Option<Instant>,
    /// A write would not block, as far as is known.
    pub(super) writable: bool,
    /// The peer has closed its side. Its last frames are still to be read, perhaps a [`Control::Leave`].
    pub(super) shut: bool,
    /// The peer is in the list of peers to flush.
    pub(super) scheduled: bool,
    /// A call has returned [`Busy`](oxmpi_wire::Busy), and the sink has got no room since.
    pub(super) awaits_room: bool,
    pub(super) lost: Option<Fault>,
}

impl SendHalf {
    pub(super) fn new(buffer_len: usize) -> Self {
        Self {
            stream: None,
            buffer: SendBuffer::new(buffer_len),
            outbound: VecDeque::new(),
            replies: VecDeque::new(),
            gets: 0,
            push_sender: PushSender::default(),
            push_receiver: PushReceiver::default(),
            bulk_trials: BulkTrials::default(),
            transfers: 0,
            last_transfer_end: None,
            writable: false,
            shut: false,
            scheduled: false,
            awaits_room: false,
            lost: None,
        }
    }

    /// Puts a control frame into the buffer; false if there is no room.
    pub(super) fn control(&mut self, control: &Control) -> bool {
        let Some(mut slot) = self.buffer.begin(&control.header()) else {
            return false;
        };
        slot.put(&control.bytes());
        slot.send();
        true
    }

    /// Whether nothing waits to be written.
    pub(super) fn is_idle(&self) -> bool {
        self.buffer.is_empty() && self.outbound.is_empty() && self.replies.is_empty()
    }

    /// Whether no bytes wait that could still reach the peer.
    pub(super) fn is_done(&self) -> bool {
        self.lost.is_some() || self.shut || self.is_idle()
    }

    /// Whether a pump would write.
    pub(super) fn has_more(&self) -> bool {
        self.writable && self.stream.is_some() && !self.is_idle()
    }

    /// Writes waiting bytes for `peer`, as many as the kernel accepts in [`MAX_WRITES`] calls. Bulk goes in
    /// chunks of `chunk` bytes, or of `copied` bytes where its memory has gaps, and by page as `zero_copy`
    /// allows. `ended` gets each region whose last byte is written. Returns the number of writes.
    ///
    /// # Errors
    /// Why the connection failed.
    pub(super) fn pump<B: Bytes>(
        &mut self,
        peer: u32,
        regions: &Regions<B>,
        zero_copy: &mut ZeroCopy,
        (chunk, copied): (u32, u32),
        mut ended: impl FnMut(RegionId),
    ) -> io::Result<u32> {
        let mut writes = 0;
        loop {
            while let Some(reply) = self.replies.pop_front() {
                if !self.control(&reply) {
                    self.replies.push_front(reply);
                    break;
                }
            }
            self.next_chunk(regions, chunk, copied, &mut ended);
            let Some(stream) = self.stream.as_ref().filter(|_| self.writable) else {
                return Ok(writes);
            };
            if self.buffer.is_empty() || writes == MAX_WRITES {
                return Ok(writes);
            }
            let bulk = self.outbound.front().filter(|_| self.buffer.has_bulk());
            let (offered, result) = write(peer, stream, &self.buffer, bulk, regions, zero_copy);
            match result {
                Ok(count) => {
                    writes += 1;
                    self.writable = count == offered;
                    let bulk = self.buffer.sent(count as u64);
                    self.bulk_sent(bulk, &mut ended);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a frame can be written now, with nothing waiting before it.
    pub(super) fn is_open(&self) -> bool {
        self.writable && self.stream.is_some() && self.buffer.is_empty() && self.replies.is_empty()
    }

    /// Whether bulk can be written now, behind a frame with a body of `len` bytes.
    pub(super) fn is_open_for_bulk(&mut self, len: usize) -> bool {
        let open = self.writable && self.stream.is_some() && self.lost.is_none();
        open && self.outbound.is_empty() && self.buffer.has_room(len)
    }

    /// Writes a frame from its body's memory with one call, behind a pad (why: see [`Control::LEN`]). The
    /// buffer keeps the bytes that the kernel does not accept; false if there are any.
    ///
    /// # Errors
    /// Why the connection failed.
    pub(super) fn write_through<C: Bytes>(&mut self, frame: &Header, body: &C) -> io::Result<bool> {
        let Some(stream) = &self.stream else {
            return Ok(true);
        };
        let pad = Control::Pad;
        let mut head = [0; frame_len(Control::LEN) + Header::LEN];
        let parts = [&pad.header().bytes()[..], &pad.bytes(), &frame.bytes()];
        let mut rest = &mut head[..];
        for part in parts {
            let (place, behind) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = behind;
        }
        let mut target = WriteThrough {
            stream,
            buffer: &mut self.buffer,
            head: &head,
            result: Ok(()),
        };
        body.drain(0, frame.len as usize, &mut target);
        target.result?;
        self.writable = self.buffer.is_empty();
        Ok(self.writable)
    }

    /// Puts the announcement of the next chunk into the buffer, if no chunk is under way.
    fn next_chunk<B: Bytes>(
        &mut self,
        regions: &Regions<B>,
        chunk: u32,
        copied: u32,
        ended: &mut impl FnMut(RegionId),
    ) {
        if self.buffer.has_bulk() {
            return;
        }
        let Some(bulk) = self.outbound.front() else {
            return;
        };
        let Some(bytes) = regions.bytes(bulk.region) else {
            return;
        };
        // Memory with gaps is copied into the buffer: else each of its pieces would be a system call.
        let contiguous = bytes.address().is_some();
        let max = if contiguous { chunk } else { copied };
        let len = bulk.left.min(max.into()) as u32;
        let control = bulk.announcement(len);
        if contiguous {
            self.buffer.announce(&control.header(), &control.bytes());
            return;
        }
        if let Some(mut slot) = self.buffer.begin(&control.header()) {
            slot.put(&control.bytes());
            bytes.drain(bulk.at, len as usize, &mut slot);
            slot.send();
            self.bulk_sent(len.into(), ended);
        }
    }

    /// Counts `count` more written bytes of the first bulk.
    fn bulk_sent(&mut self, count: u64, ended: &mut impl FnMut(RegionId)) {
        let Some(bulk) = self.outbound.front_mut().filter(|_| count > 0) else {
            return;
        };
        bulk.at += count;
        bulk.sent += count;
        bulk.left -= count;
        let region = bulk.region;
        if bulk.left == 0 {
            self.outbound.pop_front();
            ended(region);
        } else if !self.buffer.has_bulk() {
            // Round robin, so that a short transfer does not wait for a long one.
            self.outbound.rotate_left(1);
        }
    }

    /// Cancels the put `id` except for an announced chunk. Returns the region, if there is no announced
    /// chunk.
    pub(super) fn cancel_put(&mut self, id: OperationId) -> Option<RegionId> {
        let at = self
            .outbound
            .iter()
            .position(|b| b.id == id && b.is_put())?;
        if at == 0 && self.buffer.has_bulk() {
            self.outbound[0].left = self.buffer.bulk();
            return None;
        }
        self.outbound.remove(at).map(|bulk| bulk.region)
    }
}

impl OutboundBulk {
    pub(super) const fn is_put(&self) -> bool {
        matches!(self.reason, BulkReason::Put(..))
    }

    /// The frame that announces the next `len` bytes.
    const fn announcement(&self, len: u32) -> Control {
        let id = self.id;
        match self.reason {
            BulkReason::Get => Control::Data {
                id,
                at: self.sent,
                len,
            },
            BulkReason::Push => Control::Push {
                number: id.0,
                at: self.sent,
                len,
            },
            BulkReason::Put(to, at) => Control::Put {
                id,
                to,
                // A wrong offset is the owner's to refuse.
                at: at.wrapping_add(self.sent),
                len,
                last: self.left == len as u64,
            },
        }
    }
}

/// A socket as the target of one contiguous body; `buffer` keeps the bytes that the kernel does not accept.
struct WriteThrough<'a> {
    stream: &'a Stream,
    buffer: &'a mut SendBuffer,
    head: &'a [u8],
    result: io::Result<()>,
}

impl Put for WriteThrough<'_> {
    fn room(&self) -> usize {
        usize::MAX
    }

    fn put(&mut self, bytes: &[u8]) {
        let count = match self.stream.write([self.head, bytes, &[]]) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => {
                self.result = Err(error);
                return;
            }
        };
        let head = count.min(self.head.len());
        self.buffer
            .keep([&self.head[head..], &bytes[count - head..]]);
    }
}

/// Writes the buffer and the bulk in its middle. Returns the number of bytes offered, and the result.
fn write<B: Bytes>(
    peer: u32,
    stream: &Stream,
    buffer: &SendBuffer,
    bulk: Option<&OutboundBulk>,
    regions: &Regions<B>,
    zero_copy: &mut ZeroCopy,
) -> (usize, io::Result<usize>) {
    let head = buffer.head();
    let bytes = bulk.and_then(|bulk| regions.bytes(bulk.region));
    let Some((bulk, bytes)) = bulk.zip(bytes) else {
        return (head.len(), stream.write([head, &[], &[]]));
    };
    let transfer = regions.note(bulk.region).copied().flatten();
    let protocol = transfer.map_or(KernelCopy::Copy, |transfer| transfer.protocol);
    let mut target = SocketTarget {
        peer,
        stream,
        buffer,
        zero_copy,
        of: (protocol, bulk.at),
        result: None,
    };
    bytes.drain(bulk.at, target.room(), &mut target);
    let nothing = (1, Err(io::ErrorKind::WouldBlock.into()));
    target.result.unwrap_or(nothing)
}

/// A socket as the target of the user's bytes: one write takes the buffer's bytes before the bulk, and
/// the first contiguous bytes of the bulk.
struct SocketTarget<'a> {
    peer: u32,
    stream: &'a Stream,
    buffer: &'a SendBuffer,
    zero_copy: &'a mut ZeroCopy,
    of: (KernelCopy, u64),
    result: Option<(usize, io::Result<usize>)>,
}

impl Put for SocketTarget<'_> {
    fn room(&self) -> usize {
        self.buffer.bulk() as usize
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.result.is_some() {
            return; // behind a gap: the next write takes it
        }
        let (head, tail) = (self.buffer.head(), self.buffer.tail());
        let (len, pages) = self.zero_copy.take(self.peer, self.of, bytes);
        if let Some(pages) = pages {
            let result = pages.write(head, self.stream);
            // The pipe may have held no more than a short count: only the next write shows whether it blocks.
            self.result = Some((*result.as_ref().unwrap_or(&0), result));
            return;
        }
        let bytes = &bytes[..len];
        let all = bytes.len() as u64 == self.buffer.bulk();
        let tail = if all { tail } else { &[] };
        let offered = head.len() + bytes.len() + tail.len();
        self.result = Some((offered, self.stream.write([head, bytes, tail])));
    }
}
