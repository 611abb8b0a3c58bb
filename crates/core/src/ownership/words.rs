//! Messages of one word without a call: the part of a send and of a receive that a face inlines into its functions.
//!
//! A function that calls another one saves registers at its start, also where it hardly ever gets to the call. So these
//! refuse a message whatever asks for a call, and the face ends its function with a call that takes any message.

use oxmpi_wire::{Envelope, Peer};

use super::super::communicator::Communicator;
use super::ProcessEndpoint;
use super::unlocked::Unlocked;
use crate::envelope::Tag;
use crate::error::MAX_TAG;

impl Communicator<ProcessEndpoint> {
    /// Whether threads share the endpoint, so that calls take a lock (`MPI_THREAD_MULTIPLE`).
    #[inline(always)]
    pub const fn takes_lock(&self) -> bool {
        matches!(self.access(), ProcessEndpoint::Multiple(_))
    }

    /// Sends a message of one word in standard mode, if that takes no call, nor the lock of threads. False too where the
    /// arguments are wrong.
    #[inline(always)]
    pub fn send_word(&self, word: u64, to: usize, tag: u32) -> bool {
        let Some((link, envelope)) = self.equal_address(to, tag) else {
            return false;
        };
        let ProcessEndpoint::Serialized(owner) = self.access() else {
            return false;
        };
        // SAFETY: the engine and the transport put a word into a ring; no code of the user runs.
        let endpoint = unsafe { owner.cell().usable() };
        endpoint.is_some_and(|endpoint| endpoint.send_word(link, envelope, word))
    }

    /// As [`send_word`](Self::send_word), by a lock that nobody holds.
    #[inline(always)]
    pub fn send_word_locked(&self, word: u64, to: usize, tag: u32) -> bool {
        let Some((link, envelope)) = self.equal_address(to, tag) else {
            return false;
        };
        let ProcessEndpoint::Multiple(owner) = self.access() else {
            return false;
        };
        let endpoint = owner.try_lock().filter(|endpoint| endpoint.is_usable());
        endpoint.is_some_and(|mut endpoint| endpoint.send_word(link, envelope, word))
    }

    /// Takes a message of one word from a rank, if it has arrived, is the next to be received, and that takes no call, nor the
    /// lock of threads; returns the word and the tag. `None` too where the arguments are wrong.
    #[inline(always)]
    pub fn recv_word(&self, source: usize, tag: Tag) -> Option<(u64, u32)> {
        let ProcessEndpoint::Serialized(owner) = self.access() else {
            return None;
        };
        let source = Peer(self.group().equal_link(source)?);
        // SAFETY: the engine and the transport take a word from a ring; no code of the user runs.
        let endpoint = unsafe { owner.cell().usable() }?;
        endpoint.take_word(source, |envelope| self.is_wanted(envelope, tag))
    }

    /// As [`recv_word`](Self::recv_word), by a lock that nobody holds.
    #[inline(always)]
    pub fn recv_word_locked(&self, source: usize, tag: Tag) -> Option<(u64, u32)> {
        let ProcessEndpoint::Multiple(owner) = self.access() else {
            return None;
        };
        let source = Peer(self.group().equal_link(source)?);
        let mut endpoint = owner.try_lock().filter(|endpoint| endpoint.is_usable())?;
        endpoint.take_word(source, |envelope| self.is_wanted(envelope, tag))
    }

    /// The link to rank `to` and the envelope of a message to it, where ranks equal their links.
    #[inline(always)]
    fn equal_address(&self, to: usize, tag: u32) -> Option<(Peer, Envelope)> {
        let link = self.group().equal_link(to)?;
        (tag <= MAX_TAG).then(|| (Peer(link), self.envelope(tag)))
    }

    /// Whether a receive with this tag takes a message with this envelope.
    #[inline(always)]
    fn is_wanted(&self, envelope: Envelope, tag: Tag) -> bool {
        let has_tag = match tag {
            Tag::Is(tag) => tag == envelope.tag,
            Tag::Any => true,
        };
        envelope.context == self.context() && has_tag
    }
}
