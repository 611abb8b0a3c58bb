//! [`AccessQueue`]: by which rail memory of a peer is reached next.

use super::VerbsTx;
use super::port_pairs::Devices;
use crate::registration::DeviceRegions;
use crate::transport::remote_memory::RemoteMemory;

/// Writes in flight by each of several port pairs. The port pair whose writes end first gets the next one, so each carries as much of a
/// message as its bandwidth allows.
const STRIPES: u32 = 4;

/// Which queue takes the next access.
pub(super) enum AccessQueue {
    /// This one, on a rail of these devices.
    Free(u8, Devices),
    /// One that has no room now.
    Busy,
    /// No open rail fits.
    None,
}

/// Whether these devices have registered the memory of both sides.
pub(super) fn reach([own, other]: Devices, here: &DeviceRegions, there: &RemoteMemory) -> bool {
    here.of(own).is_some() && there.by(other).is_some()
}

impl VerbsTx {
    /// The queue by whose queue pair memory of `peer` is reached next: on a rail whose devices fit. Writes are dealt to all such
    /// rails, reads take the first.
    pub(super) fn access_queue(
        &self,
        peer: u32,
        is_write: bool,
        fits: impl Fn(Devices) -> bool,
    ) -> AccessQueue {
        let Some(link) = &self.links[peer as usize] else {
            return AccessQueue::None;
        };
        let queue = |rail| self.queues.of_accesses() + rail * self.queues.count();
        let load = |rail: &(u8, Devices)| link.pairs[queue(rail.0) as usize].accesses();
        let rails = || (link.port_pairs.rails_of_accesses()).filter(|(_, devices)| fits(*devices));
        let next = match is_write {
            true => rails().min_by_key(load),
            false => rails().next(),
        };
        let Some((rail, devices)) = next else {
            return AccessQueue::None;
        };
        let is_striped = is_write && rails().count() > 1;
        let is_free = link.pairs[queue(rail) as usize].takes_access();
        match is_free && !(is_striped && load(&(rail, devices)) >= STRIPES) {
            true => AccessQueue::Free(queue(rail), devices),
            false => AccessQueue::Busy,
        }
    }
}
