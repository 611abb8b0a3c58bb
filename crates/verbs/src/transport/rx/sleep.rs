//! How a rank sleeps until something arrives.

use super::VerbsRx;
use crate::error::VerbsError;
use crate::objects::EventSource;
use crate::transport::open_device::OpenDevice;
use oxmpi_wire::{Sleeper, WaitObjects};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

impl VerbsRx {
    /// Takes the events of the devices, and asks for the next ones of shared queues.
    fn take_events(&mut self) -> Result<(), VerbsError> {
        for device in [&self.device].into_iter().chain(&self.others) {
            while let Some(event) = device.context.next_event(Instant::now())? {
                tracing::debug!(%event, "an event of the device");
                if let EventSource::SharedReceiveQueue(queue) = event.source
                    && event.is_limit_reached()
                    && let Some(Some(shared)) = self.shared.get_mut(queue as usize)
                {
                    shared.limit_reached();
                }
            }
        }
        let mut shared = self.shared.iter_mut().flatten();
        shared.try_for_each(|shared| shared.arm_limit())
    }
}

impl Sleeper for VerbsRx {
    /// True if the last poll found nothing and nothing has arrived since.
    ///
    /// # Cost
    /// Three system calls and an allocation for each device.
    fn arm(&mut self) -> bool {
        if !self.quiet || !self.found.is_empty() {
            return false;
        }
        if !self.rings.arm() {
            return false;
        }
        // Events of completions that were polled since.
        for device in self.devices() {
            while let Ok(Some(_)) = device.channel.wait(Instant::now()) {}
        }
        if let Err(why) = self.take_events() {
            tracing::debug!(%why, "a device gives no events");
            return false;
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
        Duration::MAX
    }
}
