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
use oxmpi_wire::{Access, Bytes, Fault, Key, Memory, Peer, Token};
use std::sync::Arc;

/// What the transport knows of a region.
#[derive(Debug)]
pub(super) struct Note {
    /// `None` if there are no bytes.
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

    /// # Errors
    /// [`Fault::Refused`] when neither the bytes nor a copy can be registered, or peers would both read and write memory
    /// with gaps.
    ///
    /// # Cost
    /// A system call if the cache has them; a few, and every page is pinned, if not.
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
        if len == 0 {
            return Ok(None);
        }
        let mut allowed = objects::Access::empty();
        if access.contains(Access::READ) {
            allowed |= objects::Access::REMOTE_READ;
        }
        if access.contains(Access::WRITE) {
            allowed |= objects::Access::REMOTE_WRITE | objects::Access::LOCAL_WRITE;
        }
        let is_both = access == Access::READ | Access::WRITE;
        if bytes.has_gaps() && is_both {
            return Err(Fault::Refused("peers both read and write memory with gaps"));
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
        } else if is_both {
            self.register_in_place(bytes, allowed)
        } else if access == Access::READ && len <= self.registrations.copied {
            copied(self).or_else(|_| self.register_in_place(bytes, allowed))
        } else {
            let in_place = self.register_in_place(bytes, allowed);
            in_place.or_else(|_| copied(self))
        };
        let registered = registered.map_err(|why| {
            tracing::debug!(%why, "memory is not registered");
            Fault::Refused("the device registers no more memory")
        })?;
        Ok(Some(registered))
    }

    /// Registers bytes until their region is released. What only stays registered makes room for them.
    fn register_in_place(
        &mut self,
        bytes: RawBytes,
        allowed: objects::Access,
    ) -> Result<Registered, VerbsError> {
        loop {
            let why = match self.domain.register_bytes(bytes, allowed) {
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

    /// Tells `peer` that the key of a region is void. Where that can be sent at once, the region is released when it
    /// has arrived: a wrong key breaks the connection.
    fn announce_release(&mut self, peer: u32, id: RegionId) {
        let Some(link) = self.links[peer as usize]
            .as_mut()
            .filter(|link| link.lost.is_none())
        else {
            return;
        };
        let control = Control::Released { region: id };
        if link.takes_frame() {
            self.regions.enter(id);
            self.send_control(peer, &control);
        } else {
            link.waiting.push_back(control);
        }
    }

    /// Ends one use of `region`.
    pub(super) fn leave(&mut self, region: RegionId) {
        if let Some(token) = self.regions.leave(region) {
            self.complete(token, Ok(()));
        }
    }
}
