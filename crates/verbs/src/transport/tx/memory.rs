//! Registered memory: regions that a device knows, and what peers know of them.
//!
//! Memory stays registered after its use, if it can be cached. Else short memory that peers only read has a registered
//! copy; so has memory with gaps, and what a device does not register. A get to a copy ends with copying from it, and a
//! put begins with copying to it. What peers read is copied when the region is first exposed, what they write when it is
//! released.

use super::VerbsTx;
use crate::error::VerbsError;
use crate::objects::{self, MemoryRegion, RemoteAddress};
use crate::registration::{BouncePool, CacheCounts, Placed, RegistrationCache, is_forked_child};
use crate::transport::buffers::{Filled, Stored};
use crate::transport::control::Control;
use crate::transport::region_key::RegionKey;

use oxmpi_os::RawBytes;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Bytes, Fault, Key, Memory, Peer, Take, Token};
use std::sync::Arc;

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

/// The memory that the device reaches for a region.
#[derive(Debug)]
enum Registered {
    /// The user's bytes.
    InPlace(Placed),
    /// A copy of them, in a buffer that may be longer.
    Copy(Arc<MemoryRegion>),
}

impl Registered {
    /// Where the bytes are: in which region of the device, from which byte on.
    fn place(&self) -> (&MemoryRegion, usize) {
        match self {
            Self::InPlace((region, at)) => (region, *at),
            Self::Copy(region) => (region, 0),
        }
    }
}

/// Where registrations come from.
#[derive(Debug)]
pub(in crate::transport) struct Registrations {
    /// `None`: nothing stays registered.
    pub(in crate::transport) cache: Option<RegistrationCache>,
    pub(in crate::transport) buffers: BouncePool,
    /// The longest memory that is copied rather than registered for one use.
    pub(in crate::transport) copied: u64,
}

impl Memory for VerbsTx {
    type Bytes = RawBytes;
    type Region = Region;

    /// Memory that the device does not register goes by frames.
    ///
    /// # Errors
    /// [`Fault::Refused`] in a forked child.
    ///
    /// # Cost
    /// A system call if the cache has them; a few, and every page is pinned, if not; none if the memory goes by frames.
    fn register(&mut self, bytes: RawBytes, access: Access, _: Peer) -> Result<Region, Fault> {
        let memory = self.register_memory(bytes, access)?;
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
        let start = note.memory.as_ref().map(|memory| {
            let (region, at) = memory.place();
            region.remote(at)
        });
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
        // What goes by frames is checked here.
        let is_reached = self.registered(id).is_some();
        if !exposed.is_empty() && access.is_some_and(|access| access.contains(Access::WRITE)) {
            let len = self.regions.bytes(id).map_or(0, Bytes::len);
            self.drain_copy(id, 0, len);
        }
        for peer in exposed.into_iter().filter(|_| is_reached) {
            self.announce_release(peer, id);
        }
        if let Some(token) = self.regions.release(region, token) {
            self.complete(token, Ok(()));
        }
    }
}

impl VerbsTx {
    /// Registers bytes, or a copy of them. `None`: they go by frames.
    fn register_memory(
        &mut self,
        bytes: RawBytes,
        access: Access,
    ) -> Result<Option<Registered>, Fault> {
        let len = bytes.len();
        if is_forked_child() {
            return Err(Fault::Refused(
                "this process is a forked child, and the device is its parent's; start another program by exec instead",
            ));
        }
        let for_one_use = access != Access::READ | Access::WRITE;
        if len == 0 || for_one_use && len < self.min_rdma || !for_one_use && bytes.has_gaps() {
            return Ok(None);
        }
        let mut allowed = objects::Access::empty();
        if access.contains(Access::READ) {
            allowed |= objects::Access::REMOTE_READ;
        }
        if access.contains(Access::WRITE) {
            allowed |= objects::Access::REMOTE_WRITE | objects::Access::LOCAL_WRITE;
        }
        if !bytes.has_gaps()
            && let Some(cache) = &mut self.registrations.cache
            && let Some(placed) = cache.acquire(bytes, allowed)
        {
            return Ok(Some(Registered::InPlace(placed)));
        }
        let copied = |tx: &mut Self| {
            let buffer = tx.registrations.buffers.take(len as usize)?;
            Ok::<_, VerbsError>(Registered::Copy(buffer))
        };
        let registered = if bytes.has_gaps() {
            copied(self)
        } else if !for_one_use {
            self.register_in_place(bytes, allowed)
        } else if access == Access::READ && len <= self.registrations.copied {
            copied(self).or_else(|_| self.register_in_place(bytes, allowed))
        } else {
            let in_place = self.register_in_place(bytes, allowed);
            in_place.or_else(|_| copied(self))
        };
        let registered = registered.inspect_err(|why| {
            tracing::debug!(%why, "memory is not registered and goes by frames");
        });
        Ok(registered.ok())
    }

    /// Registers bytes until their region is released. What only stays registered makes room for them.
    fn register_in_place(
        &mut self,
        bytes: RawBytes,
        allowed: objects::Access,
    ) -> Result<Registered, VerbsError> {
        loop {
            let why = match self.domains[0].register_bytes(bytes, allowed) {
                Ok(region) => return Ok(Registered::InPlace((Arc::new(region), 0))),
                Err(why) => why,
            };
            let cache = self.registrations.cache.as_mut();
            if !cache.is_some_and(|cache| cache.relieve(&why)) {
                return Err(why);
            }
        }
    }

    /// How often registrations were found; `None` if none are cached.
    #[must_use]
    pub fn registration_counts(&self) -> Option<CacheCounts> {
        let cache = self.registrations.cache.as_ref();
        cache.map(RegistrationCache::counts)
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

    /// Where the device reaches the bytes of a region: in which of its regions, from which byte on.
    pub(super) fn registered(&self, id: RegionId) -> Option<(&MemoryRegion, usize)> {
        let note = self.regions.note(id)?;
        note.memory.as_ref().map(Registered::place)
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

    /// The registered copy of a region that has one, and the region's bytes.
    fn copy(&self, id: RegionId) -> Option<(&MemoryRegion, &RawBytes)> {
        match &self.regions.note(id)?.memory {
            Some(Registered::Copy(copy)) => Some((&**copy, self.regions.bytes(id)?)),
            _ => None,
        }
    }

    /// Copies bytes of a region to its copy, if it has one.
    pub(super) fn fill_copy(&self, id: RegionId, at: u64, len: u64) {
        if let Some((region, bytes)) = self.copy(id) {
            bytes.drain(
                at,
                len as usize,
                &mut Filled::new(region, at as usize, len as usize),
            );
        }
    }

    /// Copies bytes of a region from its copy, if it has one.
    pub(super) fn drain_copy(&self, id: RegionId, at: u64, len: u64) {
        if let Some((copy, bytes)) = self.copy(id) {
            bytes.fill(at, &mut Stored::new(copy, at as usize, len as usize));
        }
    }

    /// Tells `peer` that the key of a region is void. The region is released when that has arrived, or the peer is lost:
    /// a wrong key breaks the connection.
    fn announce_release(&mut self, peer: u32, id: RegionId) {
        if self.is_lost(peer) {
            return;
        }
        self.regions.enter(id);
        let control = Control::Released { region: id };
        if self.takes_frame(peer, self.queues_to(peer).of_control()) {
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
