//! Asynchronous events, and what fails without a completion.

use super::{Device, Pair};
use crate::ffi::{
    IBV_EVENT_DEVICE_FATAL, IBV_EVENT_QP_FATAL, IBV_EVENT_QP_LAST_WQE_REACHED,
    IBV_EVENT_SRQ_LIMIT_REACHED, IBV_QPS_RTR,
};
use std::os::unix::net::UnixDatagram;

/// An event: its type, and the number of its port or queue pair, or the address of its queue.
pub(in crate::fake) type Event = (u32, u64);

/// Bytes of an event.
pub(in crate::fake) const EVENT_LEN: usize = 12;

impl Device {
    pub(in crate::fake) fn set_events(&mut self, context: usize, device: u8, to: UnixDatagram) {
        self.events.insert(context, (device, to));
    }

    pub(super) fn announce(&self, context: usize, kind: u32, of: u64) {
        let Some((_, events)) = self.events.get(&context) else {
            return;
        };
        let mut bytes = [0; EVENT_LEN];
        bytes[..4].copy_from_slice(&kind.to_ne_bytes());
        bytes[4..].copy_from_slice(&of.to_ne_bytes());
        // The test may have closed the context.
        let _ = events.send(&bytes);
    }

    /// The address of the C object of an event; `None` if that was destroyed.
    pub(in crate::fake) fn object_of(&self, (kind, of): Event) -> Option<usize> {
        match kind {
            IBV_EVENT_SRQ_LIMIT_REACHED => {
                let address = of as usize;
                self.shared.contains_key(&address).then_some(address)
            }
            IBV_EVENT_QP_FATAL | IBV_EVENT_QP_LAST_WQE_REACHED => {
                let pair = self.pairs.get(&(of as u32))?;
                Some(pair.objects[0])
            }
            _ => Some(of as usize),
        }
    }

    /// Notes the addresses of the C object of a queue pair, and of its context.
    pub(in crate::fake) fn set_objects(&mut self, number: u32, objects: [usize; 2]) {
        if let Some(pair) = self.pairs.get_mut(&number) {
            pair.objects = objects;
        }
    }

    /// Announces an event of a device or its port, to all that have opened its device.
    pub(in crate::fake) fn announce_port(&self, device: u8, port: u8, kind: u32) {
        for (context, (of, _)) in &self.events {
            if *of == device {
                self.announce(*context, kind, port.into());
            }
        }
    }

    /// A queue pair that has taken receives from a shared queue has given them back.
    pub(super) fn announce_last_receive(&self, number: u32) {
        let pair = &self.pairs[&number];
        if pair.shared != 0 {
            self.announce(
                pair.objects[1],
                IBV_EVENT_QP_LAST_WQE_REACHED,
                number.into(),
            );
        }
    }

    /// Lets a queue pair fail without a completion: those that nobody has found are lost, too.
    fn mute(&mut self, number: u32) {
        let Some(pair) = self.pairs.get_mut(&number) else {
            return;
        };
        (pair.is_mute, pair.is_broken) = (true, true);
        pair.waiting.clear();
        pair.posted.clear();
        let (queue, peer, context) = (pair.sends, pair.peer, pair.objects[1]);
        // What has arrived was announced before.
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.forget_sends(number);
        }
        self.announce(context, IBV_EVENT_QP_FATAL, number.into());
        self.advance(peer);
    }

    /// Lets the queue pairs of a port fail.
    pub(in crate::fake) fn mute_port(&mut self, device: u8, port: u8) {
        let of_port = self
            .pairs
            .iter()
            .filter(|(_, pair)| pair.port == (device, port));
        let numbers: Vec<u32> = of_port.map(|(number, _)| *number).collect();
        for number in numbers {
            self.mute(number);
        }
    }

    /// Lets the first initiator or target that is connected fail.
    pub(in crate::fake) fn mute_extended(&mut self, is_target: bool) {
        let is_it =
            |pair: &Pair| pair.state >= IBV_QPS_RTR && pair.target_of.is_some() == is_target;
        let found = self.pairs.iter().find(|(_, pair)| is_it(pair));
        if let Some((&number, _)) = found {
            self.mute(number);
        }
    }

    /// Lets a device fail: nothing of it completes any more, and it reaches nobody.
    pub(in crate::fake) fn fail_device(&mut self, device: u8) {
        let of_device = self.pairs.iter().filter(|(_, pair)| pair.port.0 == device);
        let numbers: Vec<u32> = of_device.map(|(number, _)| *number).collect();
        self.announce_port(device, 0, IBV_EVENT_DEVICE_FATAL);
        for number in numbers {
            // There is no event of each queue pair.
            self.set_objects(number, [0, 0]);
            self.mute(number);
        }
    }
}
