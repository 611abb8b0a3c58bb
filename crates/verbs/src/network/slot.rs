//! [`VerbsNetworkSlot`]: a frame of the network under construction.

use crate::transport::VerbsSlot;
use oxmpi_wire::{Put, Slot};

/// A frame under construction.
#[derive(Debug)]
pub enum VerbsNetworkSlot<'a, S> {
    /// In a registered buffer.
    Verbs(VerbsSlot<'a>),
    /// Of the control network.
    Control(S),
}

impl<S: Slot> Put for VerbsNetworkSlot<'_, S> {
    #[inline]
    fn room(&self) -> usize {
        match self {
            Self::Verbs(slot) => slot.room(),
            Self::Control(slot) => slot.room(),
        }
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        match self {
            Self::Verbs(slot) => slot.put(bytes),
            Self::Control(slot) => slot.put(bytes),
        }
    }
}

impl<S: Slot> Slot for VerbsNetworkSlot<'_, S> {
    #[inline]
    fn send(self) {
        match self {
            Self::Verbs(slot) => slot.send(),
            Self::Control(slot) => slot.send(),
        }
    }
}
