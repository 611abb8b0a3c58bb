//! The outgoing half of a connection: frames that wait, bulk that leaves, and the socket they go to.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use oxmpi_os::tcp::Stream;
use oxmpi_wire::regions::Name;
use oxmpi_wire::{Bytes, Fault, Header, Put, Slot};

use super::bulk_trials::{BulkProtocol, BulkTrials};
use super::passing::Passing;
use super::runs::{Expected, Runs};
use super::transfer::Regions;
use crate::frame::{Control, Id, Outbox, framed};

/// Bytes of this rank on their way to a peer, chunk by chunk.
#[derive(Debug)]
pub(super) struct Leaving {
    pub(super) id: Id,
    pub(super) region: Name,
    /// Where in the region the next byte is.
    pub(super) at: u64,
    /// Bytes that have not left yet.
    pub(super) left: u64,
    /// Bytes that have left.
    pub(super) gone: u64,
    pub(super) why: Why,
}

/// Why bytes leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The peer asked for them.
    Asked,
    /// The peer is about to ask for them.
    Run,
    /// They are put: where the first byte goes.
    Put(Name, u64),
}

/// Writes in a row at most, so that a long transfer to who reads fast does not hold up what else there
/// is to do.
const WRITES: u32 = 8;

/// What is sent to one peer.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// `None`: there is no connection yet, or no more.
    pub(super) stream: Option<Arc<Stream>>,
    pub(super) outbox: Outbox,
    /// In turn: the first one's chunk is in the outbox.
    pub(super) leaving: VecDeque<Leaving>,
    /// Answers for which there was no room.
    pub(super) answers: VecDeque<Control>,
    /// Gets under way from the peer.
    pub(super) gets: u32,
    /// What is sent unasked.
    pub(super) runs: Runs,
    /// What comes unasked.
    pub(super) expected: Expected,
    /// How bytes go fastest.
    pub(super) bulk_trials: BulkTrials,
    /// Transfers whose end is not known yet.
    pub(super) transfers: u32,
    /// When the last one was over.
    pub(super) over: Option<Instant>,
    /// As far as is known, a write would not block.
    pub(super) writable: bool,
    /// The peer takes nothing more. What it sent before it closed is still to be read: perhaps its farewell.
    pub(super) shut: bool,
    /// It is in the list of those to flush.
    pub(super) listed: bool,
    /// Somebody was told [`Busy`](oxmpi_wire::Busy).
    pub(super) refused: bool,
    pub(super) lost: Option<Fault>,
}

impl Outgoing {
    pub(super) fn new(outbox: usize) -> Self {
        Self {
            stream: None,
            outbox: Outbox::new(outbox),
            leaving: VecDeque::new(),
            answers: VecDeque::new(),
            gets: 0,
            runs: Runs::default(),
            expected: Expected::default(),
            bulk_trials: BulkTrials::default(),
            transfers: 0,
            over: None,
            writable: false,
            shut: false,
            listed: false,
            refused: false,
            lost: None,
        }
    }

    /// Puts a frame of the transport's own; false: no room.
    pub(super) fn control(&mut self, control: &Control) -> bool {
        let Some(mut draft) = self.outbox.begin(&control.header()) else {
            return false;
        };
        draft.put(&control.bytes());
        draft.send();
        true
    }

    /// Whether there is something to write, or to write later.
    pub(super) fn is_idle(&self) -> bool {
        self.outbox.is_empty() && self.leaving.is_empty() && self.answers.is_empty()
    }

    /// Whether nothing is left to write to this peer, or in vain.
    pub(super) fn is_done(&self) -> bool {
        self.lost.is_some() || self.shut || self.is_idle()
    }

    /// Whether a pump would write.
    pub(super) fn has_more(&self) -> bool {
        self.writable && self.stream.is_some() && !self.is_idle()
    }

    /// Writes what waits for `peer`, as much as the kernel takes but by a few calls only, in chunks of `chunk`
    /// bytes and copied ones of `copied`, and by page as `passing` allows. `ended` hears of each region whose bytes have all left. Returns the number of writes.
    ///
    /// # Errors
    /// Why the connection is broken.
    pub(super) fn pump<B: Bytes>(
        &mut self,
        peer: u32,
        regions: &Regions<B>,
        passing: &mut Passing,
        (chunk, copied): (u32, u32),
        mut ended: impl FnMut(Name),
    ) -> io::Result<u32> {
        let mut writes = 0;
        loop {
            while let Some(answer) = self.answers.pop_front() {
                if !self.control(&answer) {
                    self.answers.push_front(answer);
                    break;
                }
            }
            self.next_chunk(regions, chunk, copied, &mut ended);
            let Some(stream) = self.stream.as_ref().filter(|_| self.writable) else {
                return Ok(writes);
            };
            if self.outbox.is_empty() || writes == WRITES {
                return Ok(writes);
            }
            let bulk = self.leaving.front().filter(|_| self.outbox.has_bulk());
            let (asked, wrote) = write(peer, stream, &self.outbox, bulk, regions, passing);
            match wrote {
                Ok(count) => {
                    writes += 1;
                    self.writable = count == asked;
                    let bulk = self.outbox.wrote(count as u64);
                    self.left(bulk, &mut ended);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a frame that is written now comes behind all others.
    pub(super) fn is_open(&self) -> bool {
        self.writable && self.stream.is_some() && self.outbox.is_empty() && self.answers.is_empty()
    }

    /// Whether bulk would leave at once, behind a frame of `len` bytes.
    pub(super) fn is_open_for_bulk(&mut self, len: usize) -> bool {
        let open = self.writable && self.stream.is_some() && self.lost.is_none();
        open && self.leaving.is_empty() && self.outbox.has_room(len)
    }

    /// Writes a frame from where its body lies, in one piece, and not near its beginning: see
    /// [`Control::LEN`]. What the kernel does not take waits in the
    /// outbox; false if there is such.
    ///
    /// # Errors
    /// Why the connection is broken.
    pub(super) fn write_through<C: Bytes>(&mut self, frame: &Header, body: &C) -> io::Result<bool> {
        let Some(stream) = &self.stream else {
            return Ok(true);
        };
        let pad = Control::Pad;
        let mut head = [0; framed(Control::LEN) + Header::LEN];
        let parts = [&pad.header().bytes()[..], &pad.bytes(), &frame.bytes()];
        let mut rest = &mut head[..];
        for part in parts {
            let (place, behind) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = behind;
        }
        let mut through = Through {
            stream,
            outbox: &mut self.outbox,
            head: &head,
            wrote: Ok(()),
        };
        body.drain(0, frame.len as usize, &mut through);
        through.wrote?;
        self.writable = self.outbox.is_empty();
        Ok(self.writable)
    }

    /// Announces the next chunk of bulk, if none is under way.
    fn next_chunk<B: Bytes>(
        &mut self,
        regions: &Regions<B>,
        chunk: u32,
        copied: u32,
        ended: &mut impl FnMut(Name),
    ) {
        if self.outbox.has_bulk() {
            return;
        }
        let Some(leaving) = self.leaving.front() else {
            return;
        };
        let Some(bytes) = regions.bytes(leaving.region) else {
            return;
        };
        // What has gaps is written piece by piece into the outbox, else each piece would be a call.
        let straight = bytes.place().is_some();
        let most = if straight { chunk } else { copied };
        let len = leaving.left.min(most.into()) as u32;
        let control = leaving.chunk(len);
        if straight {
            self.outbox.announce(&control.header(), &control.bytes());
            return;
        }
        if let Some(mut draft) = self.outbox.begin(&control.header()) {
            draft.put(&control.bytes());
            bytes.drain(leaving.at, len as usize, &mut draft);
            draft.send();
            self.left(len.into(), ended);
        }
    }

    /// `count` more bytes of the first bulk have left.
    fn left(&mut self, count: u64, ended: &mut impl FnMut(Name)) {
        let Some(leaving) = self.leaving.front_mut().filter(|_| count > 0) else {
            return;
        };
        leaving.at += count;
        leaving.gone += count;
        leaving.left -= count;
        let region = leaving.region;
        if leaving.left == 0 {
            self.leaving.pop_front();
            ended(region);
        } else if !self.outbox.has_bulk() {
            // The next one's turn: a long transfer does not hold up a short one.
            self.leaving.rotate_left(1);
        }
    }

    /// The put `id` is given up: nothing of it leaves but what was announced. The region, if nothing
    /// more leaves.
    pub(super) fn cut(&mut self, id: Id) -> Option<Name> {
        let at = self.leaving.iter().position(|l| l.id == id && l.is_put())?;
        if at == 0 && self.outbox.has_bulk() {
            self.leaving[0].left = self.outbox.bulk();
            return None;
        }
        self.leaving.remove(at).map(|leaving| leaving.region)
    }
}

impl Leaving {
    pub(super) const fn is_put(&self) -> bool {
        matches!(self.why, Why::Put(..))
    }

    /// What announces the next `len` bytes.
    const fn chunk(&self, len: u32) -> Control {
        let id = self.id;
        match self.why {
            Why::Asked => Control::Data {
                id,
                at: self.gone,
                len,
            },
            Why::Run => Control::Ahead {
                number: id.0,
                at: self.gone,
                len,
            },
            Why::Put(to, at) => Control::Put {
                id,
                to,
                at: at + self.gone,
                len,
                last: self.left == len as u64,
            },
        }
    }
}

/// A socket as a place for the one run of a frame's body, with an outbox for what it does not take.
struct Through<'a> {
    stream: &'a Stream,
    outbox: &'a mut Outbox,
    head: &'a [u8],
    wrote: io::Result<()>,
}

impl Put for Through<'_> {
    fn room(&self) -> usize {
        usize::MAX
    }

    fn put(&mut self, bytes: &[u8]) {
        let count = match self.stream.write([self.head, bytes, &[]]) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => {
                self.wrote = Err(error);
                return;
            }
        };
        let head = count.min(self.head.len());
        self.outbox
            .keep([&self.head[head..], &bytes[count - head..]]);
    }
}

/// Writes the outbox and the bulk between. Returns how much it tried, and how it went.
fn write<B: Bytes>(
    peer: u32,
    stream: &Stream,
    outbox: &Outbox,
    bulk: Option<&Leaving>,
    regions: &Regions<B>,
    passing: &mut Passing,
) -> (usize, io::Result<usize>) {
    let head = outbox.head();
    let bytes = bulk.and_then(|leaving| regions.bytes(leaving.region));
    let Some((leaving, bytes)) = bulk.zip(bytes) else {
        return (head.len(), stream.write([head, &[], &[]]));
    };
    let transfer = regions.note(leaving.region).copied().flatten();
    let protocol = transfer.map_or(BulkProtocol::Copy, |transfer| transfer.protocol);
    let mut socket = Socket {
        peer,
        stream,
        outbox,
        passing,
        of: (protocol, leaving.at),
        tried: None,
    };
    bytes.drain(leaving.at, socket.room(), &mut socket);
    let nothing = (1, Err(io::ErrorKind::WouldBlock.into()));
    socket.tried.unwrap_or(nothing)
}

/// A socket as a place for the user's bytes: the first run that is put goes to the kernel, with what
/// stands before it.
struct Socket<'a> {
    peer: u32,
    stream: &'a Stream,
    outbox: &'a Outbox,
    passing: &'a mut Passing,
    of: (BulkProtocol, u64),
    tried: Option<(usize, io::Result<usize>)>,
}

impl Put for Socket<'_> {
    fn room(&self) -> usize {
        self.outbox.bulk() as usize
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.tried.is_some() {
            return; // behind a gap: the next write takes it
        }
        let (head, tail) = (self.outbox.head(), self.outbox.tail());
        let (turn, way) = self.passing.take(self.peer, self.of, bytes);
        if let Some(way) = way {
            let wrote = way.give(head, self.stream);
            // Fewer than were asked for may also be all that was held: only the next write says more.
            self.tried = Some((*wrote.as_ref().unwrap_or(&0), wrote));
            return;
        }
        let bytes = &bytes[..turn];
        let all = bytes.len() as u64 == self.outbox.bulk();
        let tail = if all { tail } else { &[] };
        let asked = head.len() + bytes.len() + tail.len();
        self.tried = Some((asked, self.stream.write([head, bytes, tail])));
    }
}
