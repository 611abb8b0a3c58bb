//! How a rank sleeps until something arrives.

use super::VerbsRx;
use crate::transport::open_device::OpenDevice;
use oxmpi_wire::{Sleeper, WaitObjects};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

impl Sleeper for VerbsRx {
    /// True if the last poll found nothing and nothing has arrived since.
    ///
    /// # Cost
    /// Three system calls and an allocation for each device.
    fn arm(&mut self) -> bool {
        if !self.quiet || !self.found.is_empty() || !self.ready.is_empty() {
            return false;
        }
        if let Err(why) = self.take_events() {
            tracing::debug!(%why, "a device gives no events");
            return false;
        }
        if self.events.is_due() {
            // The next poll acts on them.
            return false;
        }
        if !self.rings.arm() {
            return false;
        }
        // Events of completions that were polled since.
        for device in self.devices() {
            while let Ok(Some(_)) = device.channel.wait(Instant::now()) {}
        }
        let mut armed = true;
        let devices = [&self.device].into_iter().chain(&self.others);
        for OpenDevice { queue, .. } in devices {
            armed &= queue.arm().is_ok();
            // What was there before gives no event.
            armed &= self.found.take(queue).is_ok();
        }
        armed && self.found.is_empty()
    }
}

impl WaitObjects for VerbsRx {
    type WaitObject<'a> = BorrowedFd<'a>;

    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        for device in self.devices() {
            watch(device.channel.as_fd());
            watch(device.context.as_fd());
        }
    }

    fn longest_sleep(&self) -> Duration {
        self.events.longest_sleep()
    }
}
