//! What one end offers the others: mailboxes and buffers.

use std::collections::{BTreeMap, VecDeque};

use oxmpi_wire::Header;
use oxmpi_wire::paths::network::{
    BUFFER_LEN, MAILBOX_SLOTS, MailboxSharing, NetworkPlan, POOL_SLOTS,
};

use super::EndCounters;

/// A frame that waits in a slot.
#[derive(Debug)]
struct QueuedFrame {
    from: u32,
    /// The slot's place in the memory of mailboxes: block and offset.
    slot_at: (usize, usize),
    len: usize,
    /// Buffers that hold the body, if it is longer than a slot.
    buffers: Vec<usize>,
}

/// The slots of one peer, or of all.
#[derive(Debug, Default)]
struct Mailbox {
    free: Vec<(usize, usize)>,
    frames: VecDeque<QueuedFrame>,
}

/// One end.
#[derive(Debug)]
pub(super) struct MailboxEnd {
    blocks: Vec<Box<[u8]>>,
    /// Mailboxes of the last block that nobody has.
    spare: Vec<Mailbox>,
    /// By peer; one at 0 for all where they share it.
    mailboxes: BTreeMap<u32, Mailbox>,
    shared: bool,
    /// Whose mailbox is looked at next.
    next: u32,
    buffers: Vec<Box<[u8]>>,
    free_buffers: Vec<usize>,
    pub(super) counters: EndCounters,
}

impl MailboxEnd {
    pub(super) fn new(plan: &NetworkPlan) -> Self {
        let buffers = plan.settings.buffers as usize;
        let mut end = Self {
            blocks: Vec::new(),
            spare: Vec::new(),
            mailboxes: BTreeMap::new(),
            shared: plan.settings.sharing == MailboxSharing::Shared,
            next: 0,
            buffers: vec![vec![0; BUFFER_LEN as usize].into(); buffers],
            free_buffers: (0..buffers).collect(),
            counters: EndCounters::default(),
        };
        if end.shared {
            let pool = end.block(plan, 1, POOL_SLOTS).pop();
            end.mailboxes.extend(pool.map(|pool| (0, pool)));
        }
        end
    }

    pub(super) fn counters(&self) -> EndCounters {
        let sum = |parts: &[Box<[u8]>]| parts.iter().map(|part| part.len() as u64).sum();
        EndCounters {
            mailboxes: sum(&self.blocks),
            buffers: sum(&self.buffers),
            ..self.counters
        }
    }

    /// Allocates a block of `count` mailboxes.
    fn block(&mut self, plan: &NetworkPlan, count: u32, slots: u32) -> Vec<Mailbox> {
        let slot = plan.slot() as usize;
        let (count, slots) = (count as usize, slots as usize);
        let block = self.blocks.len();
        self.blocks.push(vec![0; count * slots * slot].into());
        let mailbox = |number: usize| Mailbox {
            free: (0..slots)
                .map(|at| (block, (number * slots + at) * slot))
                .collect(),
            frames: VecDeque::new(),
        };
        (0..count).map(mailbox).collect()
    }

    /// Gives `peer` its mailbox, unless it has one.
    pub(super) fn connect(&mut self, plan: &NetworkPlan, peer: u32) {
        if self.shared || self.mailboxes.contains_key(&peer) {
            return;
        }
        if self.spare.is_empty() {
            self.spare = self.block(plan, plan.block, MAILBOX_SLOTS);
        }
        let mailbox = self.spare.pop().expect("a block has mailboxes");
        self.mailboxes.insert(peer, mailbox);
    }

    const fn key(&self, peer: u32) -> u32 {
        if self.shared { 0 } else { peer }
    }

    /// Whether `from` may put a letter with so many buffers here.
    pub(super) fn has_room(&self, from: u32, buffers: u32) -> bool {
        let mailbox = &self.mailboxes[&self.key(from)];
        !mailbox.free.is_empty() && self.has_buffers(buffers)
    }

    /// Whether so many buffers are free.
    pub(super) fn has_buffers(&self, buffers: u32) -> bool {
        self.free_buffers.len() >= buffers as usize
    }

    /// Counts `len` bytes that this end moves.
    pub(super) const fn count(&mut self, len: u64, by_engine: bool) {
        if by_engine {
            self.counters.by_engine += len;
        } else {
            self.counters.by_processor += len;
        }
    }

    /// Takes so many buffers for a while, for a copy on the sending side.
    pub(super) fn borrow(&mut self, buffers: u32) -> Option<Vec<usize>> {
        let left = self.free_buffers.len().checked_sub(buffers as usize)?;
        Some(self.free_buffers.split_off(left))
    }

    /// Copies `bytes` into `buffers` of this end.
    fn fill(&mut self, buffers: &[usize], bytes: &[u8]) {
        for (&buffer, part) in buffers.iter().zip(bytes.chunks(BUFFER_LEN as usize)) {
            self.buffers[buffer][..part.len()].copy_from_slice(part);
        }
    }

    /// What is in `buffers` of this end: `len` bytes.
    fn read(&self, buffers: &[usize], len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len);
        for &buffer in buffers {
            let part = (len - bytes.len()).min(BUFFER_LEN as usize);
            bytes.extend_from_slice(&self.buffers[buffer][..part]);
        }
        bytes
    }

    /// Copies `bytes` in and out of `buffers`, which are free again afterwards.
    pub(super) fn stage(&mut self, buffers: Vec<usize>, bytes: &[u8]) -> Vec<u8> {
        self.fill(&buffers, bytes);
        let staged = self.read(&buffers, bytes.len());
        self.free_buffers.extend(buffers);
        staged
    }

    /// A letter comes from `from`, for which [`MailboxEnd::has_room`] said yes.
    pub(super) fn deliver(&mut self, from: u32, head: &Header, body: &[u8], buffers: u32) {
        let buffers = self.borrow(buffers).expect("asked before");
        self.fill(&buffers, body);
        let key = self.key(from);
        let mailbox = self.mailboxes.get_mut(&key).expect("connected");
        let slot_at = mailbox.free.pop().expect("asked before");
        let slot = &mut self.blocks[slot_at.0][slot_at.1..];
        slot[..Header::LEN].copy_from_slice(&head.bytes());
        if buffers.is_empty() {
            slot[Header::LEN..Header::LEN + body.len()].copy_from_slice(body);
        }
        mailbox.frames.push_back(QueuedFrame {
            from,
            slot_at,
            len: body.len(),
            buffers,
        });
    }

    /// The next letter: of `from`, or of anyone in turn.
    pub(super) fn take(&mut self, from: Option<u32>) -> Option<(u32, Header, Vec<u8>)> {
        let key = match from {
            Some(from) => self.key(from),
            None => {
                let full = |(_, mailbox): &(&u32, &Mailbox)| !mailbox.frames.is_empty();
                let later = self.mailboxes.range(self.next..).find(full);
                let key = *later.or_else(|| self.mailboxes.iter().find(full))?.0;
                self.next = key + 1;
                key
            }
        };
        let mailbox = self.mailboxes.get_mut(&key)?;
        let wanted = |frame: &QueuedFrame| from.is_none_or(|from| frame.from == from);
        let at = mailbox.frames.iter().position(wanted)?;
        let frame = mailbox.frames.remove(at)?;
        mailbox.free.push(frame.slot_at);
        let slot = &self.blocks[frame.slot_at.0][frame.slot_at.1..];
        let head = Header::parse(slot).expect("written by an end");
        let body = if frame.buffers.is_empty() {
            slot[Header::LEN..Header::LEN + frame.len].to_vec()
        } else {
            self.read(&frame.buffers, frame.len)
        };
        self.free_buffers.extend(frame.buffers);
        Some((frame.from, head, body))
    }

    /// Whether nothing waits here.
    pub(super) fn is_empty(&self) -> bool {
        self.mailboxes
            .values()
            .all(|mailbox| mailbox.frames.is_empty())
    }
}
