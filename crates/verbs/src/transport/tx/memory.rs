//! Registered memory: regions that a device knows, and what peers know of them.
//!
//! Memory with gaps has a registered copy without any: a get to it ends with a copy, and a put from it begins with
//! one. What peers read is copied when the region is first exposed, what they write when it is released.

use super::VerbsTx;
use crate::objects::{self, MemoryRegion, RemoteAddress};
use crate::transport::buffers::{Filled, Stored};
use crate::transport::control::Control;
use crate::transport::region_key::RegionKey;

use oxmpi_os::RawBytes;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Bytes, Fault, Key, Memory, Peer, Take, Token};

/// What the transport knows of a region.
#[derive(Debug)]
pub(super) struct Note {
    /// `None` if no device reaches the bytes.
    memory: Option<Registered>,
    access: Access,
    /// Peers that have its key.
    exposed: Vec<u32>,
}

impl Default for Note {
    fn default() -> Self {
        Self {
            memory: None,
            access: Access::empty(),
            exposed: Vec::new(),
        }
    }
}

#[derive(Debug)]
enum Registered {
    /// The user's bytes.
    InPlace(MemoryRegion),
    /// A copy of them.
    Copy(MemoryRegion),
}

impl Registered {
    const fn region(&self) -> &MemoryRegion {
        let (Self::InPlace(region) | Self::Copy(region)) = self;
        region
    }
}

impl Memory for VerbsTx {
    type Bytes = RawBytes;
    type Region = Region;

    /// Never fails: memory that the device does not register goes by frames.
    ///
    /// # Cost
    /// A system call, and every page is pinned, unless the memory goes by frames.
    fn register(&mut self, bytes: RawBytes, access: Access, _: Peer) -> Result<Region, Fault> {
        let memory = self.register_memory(bytes, access);
        let region = self.regions.add(bytes, access);
        let note = self.regions.note_mut(region.id()).expect("it was added");
        (note.memory, note.access) = (memory, access);
        Ok(region)
    }

    fn expose(&mut self, region: &Region, to: Peer) -> Key {
        let id = region.id();
        let len = self.regions.bytes(id).map_or(0, Bytes::len);
        if self.exposed(id).is_empty() {
            self.fill_copy(id, 0, len);
        }
        let exposed = self.exposed(id);
        if !exposed.contains(&to.0) {
            exposed.push(to.0);
        }
        let note = self.regions.note(id).expect("a region of this transport");
        let nowhere = RemoteAddress {
            address: 0,
            rkey: 0,
        };
        let start = note.memory.as_ref().map(|memory| memory.region().remote(0));
        let key = RegionKey {
            id,
            start: start.unwrap_or(nowhere),
            len,
            access: note.access,
            by_frames: note.memory.is_none(),
        };
        key.key()
    }

    fn release(&mut self, region: Region, token: Token) {
        let id = region.id();
        let exposed = std::mem::take(self.exposed(id));
        let access = self.regions.note(id).map(|note| note.access);
        if !exposed.is_empty() && access.is_some_and(|access| access.contains(Access::WRITE)) {
            let len = self.regions.bytes(id).map_or(0, Bytes::len);
            self.drain_copy(id, 0, len);
        }
        for peer in exposed {
            self.announce_release(peer, id);
        }
        if let Some(token) = self.regions.release(region, token) {
            self.complete(token, Ok(()));
        }
    }
}

impl VerbsTx {
    /// Registers bytes, or a copy of them. `None`: they go by frames.
    fn register_memory(&self, bytes: RawBytes, access: Access) -> Option<Registered> {
        let len = bytes.len();
        let for_one_use = access != Access::READ | Access::WRITE;
        if len == 0 || for_one_use && len < self.min_rdma || !for_one_use && bytes.has_gaps() {
            return None;
        }
        let mut allowed = objects::Access::empty();
        if access.contains(Access::READ) {
            allowed |= objects::Access::REMOTE_READ;
        }
        if access.contains(Access::WRITE) {
            allowed |= objects::Access::REMOTE_WRITE | objects::Access::LOCAL_WRITE;
        }
        let registered = match bytes.has_gaps() {
            false => {
                let region = self.domain.register_bytes(bytes, allowed);
                region.map(Registered::InPlace)
            }
            true => {
                let copy = self.domain.register(len as usize, allowed);
                copy.map(Registered::Copy)
            }
        };
        let registered = registered.inspect_err(|why| {
            tracing::debug!(%why, "memory is not registered and goes by frames");
        });
        registered.ok()
    }

    /// Writes bytes that came by frames to a region and, so that it is not behind, to its copy.
    pub(super) fn store(&self, id: RegionId, at: u64, body: &mut impl Take) {
        let len = body.left();
        if let Some((copy, _)) = self.copy(id) {
            let mut bytes = vec![0; len];
            body.take(&mut bytes);
            copy.write(at as usize, &bytes);
            self.drain_copy(id, at, len as u64);
        } else if let Some(bytes) = self.regions.bytes(id) {
            bytes.fill(at, body);
        }
    }

    /// The peers that have the key of a region.
    fn exposed(&mut self, id: RegionId) -> &mut Vec<u32> {
        let note = self.regions.note_mut(id);
        &mut note.expect("a region of this transport").exposed
    }

    /// The memory that the device reaches for a region.
    pub(super) fn registered(&self, id: RegionId) -> Option<&MemoryRegion> {
        self.regions
            .note(id)?
            .memory
            .as_ref()
            .map(Registered::region)
    }

    /// Checks that a get may write to a region of this rank.
    ///
    /// # Errors
    /// [`Fault::Invalid`]: devices write only to memory that peers may write.
    pub(super) fn check_writable(&self, id: RegionId) -> Result<(), Fault> {
        let note = self.regions.note(id);
        match note.is_some_and(|note| note.access.contains(Access::WRITE)) {
            true => Ok(()),
            false => Err(Fault::Invalid("a get writes to a region for writing")),
        }
    }

    /// The registered copy of a region with gaps, and the region's bytes.
    fn copy(&self, id: RegionId) -> Option<(&MemoryRegion, &RawBytes)> {
        match &self.regions.note(id)?.memory {
            Some(Registered::Copy(copy)) => self.regions.bytes(id).map(|bytes| (copy, bytes)),
            _ => None,
        }
    }

    /// Copies bytes of a region with gaps to its copy.
    pub(super) fn fill_copy(&self, id: RegionId, at: u64, len: u64) {
        if let Some((region, bytes)) = self.copy(id) {
            bytes.drain(
                at,
                len as usize,
                &mut Filled::new(region, at as usize, len as usize),
            );
        }
    }

    /// Copies bytes of a region with gaps from its copy.
    pub(super) fn drain_copy(&self, id: RegionId, at: u64, len: u64) {
        if let Some((copy, bytes)) = self.copy(id) {
            bytes.fill(at, &mut Stored::new(copy, at as usize, len as usize));
        }
    }

    /// Tells `peer` that the key of a region is void. Where that can be sent at once, the region is released when it
    /// has arrived: a wrong key breaks the connection.
    fn announce_release(&mut self, peer: u32, id: RegionId) {
        if self.is_lost(peer) {
            return;
        }
        let control = Control::Released { region: id };
        if self.takes_frame(peer, self.queues.of_control()) {
            self.regions.enter(id);
            self.send_control(peer, &control);
        } else {
            self.link(peer).waiting.push_back(control);
        }
    }

    /// Ends one use of `region`.
    pub(super) fn leave(&mut self, region: RegionId) {
        if let Some(token) = self.regions.leave(region) {
            self.complete(token, Ok(()));
        }
    }
}
