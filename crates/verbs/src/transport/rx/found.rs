//! [`Found`]: completions that were taken from the devices, and are handled one by one.

use crate::error::VerbsError;
use crate::objects::{Completion, CompletionQueue};
use std::ops::Range;

/// Completions that are taken at a time.
const BATCH: usize = 16;

/// Completions that wait to be handled.
#[derive(Debug)]
pub(super) struct Found {
    /// Room for those of each device.
    room: Vec<Completion>,
    /// The places of those that wait.
    waiting: Range<usize>,
}

impl Found {
    pub(super) fn new(devices: usize) -> Self {
        Self {
            room: vec![Completion::default(); BATCH * devices],
            waiting: 0..0,
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The place of the first one, which waits no more.
    #[inline]
    pub(super) fn next(&mut self) -> Option<usize> {
        self.waiting.next()
    }

    /// The completion at a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> &Completion {
        &self.room[place]
    }

    /// Takes what a queue has, behind those of other devices, if any wait.
    ///
    /// # Errors
    /// When the device fails.
    #[inline(always)]
    pub(super) fn take(&mut self, queue: &CompletionQueue) -> Result<(), VerbsError> {
        if self.waiting.is_empty() {
            self.waiting = 0..0;
        }
        let room = &mut self.room[self.waiting.end..][..BATCH];
        self.waiting.end += queue.poll(room)?.len();
        Ok(())
    }
}
