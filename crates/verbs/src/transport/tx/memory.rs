//! Registered memory: regions that a device knows, and what peers know of them.
//!
//! Memory stays registered after its use, if it can be cached. Else short memory that peers only read has a registered
//! copy; so has memory with gaps, and what a device does not register. A get to a copy ends with copying from it, and a
//! put begins with copying to it. What peers read is copied when the region is first exposed, what they write when it is
//! released. Long memory that does not stay registered is not registered as a whole, but in pieces while they move.

use super::VerbsTx;
use crate::error::VerbsError;
use crate::objects::{self, MemoryRegion, ProtectionDomain};
use crate::registration::{
    BouncePool, CacheCounts, DeviceRegions, Keeper, KeptMemory, LeavePinned, Placed,
    RegistrationCache, RegistrationCaps, is_forked_child,
};
use crate::transport::buffers::{Filled, Stored};
use crate::transport::control::Control;
use crate::transport::pipeline_sizes::PipelineSizes;
use crate::transport::region_key::{Reach, RegionKey};
use crate::transport::remote_memory::RemoteMemory;

use oxmpi_os::RawBytes;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Bytes, Fault, Key, Memory, Peer, Take, Token};
use std::sync::Arc;

/// What a device may do with memory to which peers have this access.
fn allowed(access: Access) -> objects::Access {
    let mut allowed = objects::Access::empty();
    if access.contains(Access::READ) {
        allowed |= objects::Access::REMOTE_READ;
    }
    if access.contains(Access::WRITE) {
        allowed |= objects::Access::REMOTE_WRITE | objects::Access::LOCAL_WRITE;
    }
    allowed
}

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

/// The memory that devices reach for a region.
#[derive(Debug)]
enum Registered {
    /// The user's bytes.
    InPlace(Placed),
    /// A copy of them, in a buffer that may be longer.
    Copy(Arc<DeviceRegions>),
    /// The user's bytes, each while it moves.
    InPieces,
}

impl Registered {
    /// Where all bytes are: in which regions of the devices, from which byte on.
    const fn place(&self) -> Option<(&Arc<DeviceRegions>, usize)> {
        match self {
            Self::InPlace((regions, at)) => Some((regions, *at)),
            Self::Copy(regions) => Some((regions, 0)),
            Self::InPieces => None,
        }
    }
}

/// Where registrations come from.
#[derive(Debug)]
pub(in crate::transport) struct Registrations {
    /// Of the devices that register memory, by their places.
    pub(in crate::transport) domains: Vec<ProtectionDomain>,
    /// `None`: nothing stays registered.
    pub(in crate::transport) cache: Option<RegistrationCache>,
    /// What stays registered of memory whose owner tells what of it has gone.
    pub(in crate::transport) kept: Option<RegistrationCache>,
    pub(in crate::transport) buffers: BouncePool,
    pub(in crate::transport) leave_pinned: LeavePinned,
    pub(in crate::transport) pipeline: PipelineSizes,
    /// The longest memory that is copied rather than registered for one use.
    pub(in crate::transport) copied: u64,
}

impl Registrations {
    /// The registration of `bytes`, which have no gaps, that was found or stays. `None`: they do not stay registered.
    fn acquire(&mut self, bytes: RawBytes, allowed: objects::Access) -> Option<Placed> {
        let cache = match &mut self.kept {
            Some(kept) if kept.is_of_owner(&bytes) => kept,
            _ => self.cache.as_mut()?,
        };
        cache.acquire(bytes, allowed)
    }
}

impl Memory for VerbsTx {
    type Bytes = RawBytes;
    type Region = Region;

    /// Memory that no device registers goes by frames.
    ///
    /// # Errors
    /// [`Fault::Refused`] in a forked child.
    ///
    /// # Cost
    /// A system call if the cache has them; a few, and every page is pinned for each device, if not; none if the memory goes by
    /// frames.
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
        let placed = self.registered(id);
        let start = placed.map_or(RemoteMemory::NOWHERE, |(regions, at)| {
            RemoteMemory::of(regions, at)
        });
        let note = self.regions.note(id).expect("a region of this transport");
        let key = RegionKey {
            id,
            start,
            len,
            access: note.access,
            by: self.reach_of(id),
        };
        key.key()
    }

    fn release(&mut self, region: Region, token: Token) {
        let id = region.id();
        let exposed = std::mem::take(self.exposed(id));
        let access = self.regions.note(id).map(|note| note.access);
        // What goes by frames or in pieces is checked here.
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
        let allowed = allowed(access);
        let in_parts = for_one_use && self.registrations.leave_pinned == LeavePinned::Pipeline;
        if !bytes.has_gaps()
            && !in_parts
            && let Some(placed) = self.registrations.acquire(bytes, allowed)
        {
            return Ok(Some(Registered::InPlace(placed)));
        }
        let registered = if bytes.has_gaps()
            || for_one_use && access == Access::READ && len <= self.registrations.copied
        {
            let buffer = self.registrations.buffers.take(len as usize);
            buffer.map(Registered::Copy)
        } else if for_one_use {
            let pieces = self.registrations.pipeline.pieces(len);
            return Ok((!pieces.is_empty()).then_some(Registered::InPieces));
        } else {
            self.register_bytes(bytes, allowed).map(Registered::InPlace)
        };
        let registered = registered.inspect_err(|why| {
            tracing::debug!(%why, "memory is not registered and goes by frames");
        });
        Ok(registered.ok())
    }

    /// Registers bytes until they are used no more. What only stays registered makes room for them, unless a device has it.
    fn register_bytes(
        &mut self,
        bytes: RawBytes,
        allowed: objects::Access,
    ) -> Result<Placed, VerbsError> {
        let Registrations {
            domains,
            cache,
            kept,
            ..
        } = &mut self.registrations;
        let mut relieve = |why: &VerbsError| {
            let mut caches = [cache.as_mut(), kept.as_mut()].into_iter().flatten();
            caches.any(|cache| cache.relieve(why))
        };
        let regions = DeviceRegions::new(domains, |domain, other| {
            loop {
                match domain.register_bytes(bytes, allowed) {
                    Err(why) if other.is_none() && relieve(&why) => {}
                    registered => return registered,
                }
            }
        })?;
        Ok((Arc::new(regions), 0))
    }

    /// The registration of a range of a region: of all of it, or for this range only. `None`: no device registers
    /// it.
    pub(super) fn place_range(&mut self, id: RegionId, at: u64, len: u64) -> Option<Placed> {
        let note = self.regions.note(id)?;
        let allowed = allowed(note.access);
        if let Some((regions, first)) = note.memory.as_ref()?.place() {
            return Some((Arc::clone(regions), first + at as usize));
        }
        let range = self.regions.bytes(id)?.range(at, len)?;
        if let Some(placed) = self.registrations.acquire(range, allowed) {
            return Some(placed);
        }
        let placed = self.register_bytes(range, allowed);
        let placed = placed.inspect_err(|why| {
            tracing::debug!(%why, "a piece of a message is not registered and goes by frames");
        });
        placed.ok()
    }

    /// From now on what is registered of `memory` stays so, whether or not anything else does.
    pub fn keep_registered(&mut self, memory: KeptMemory) {
        let domains = self.registrations.domains.clone();
        let keeper = Keeper::Owner(memory, 0);
        let cache = RegistrationCache::new(domains, keeper, RegistrationCaps::default());
        self.registrations.kept = Some(cache);
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

    /// Where devices reach the bytes of a region: in which of their regions, from which byte on.
    pub(super) fn registered(&self, id: RegionId) -> Option<(&DeviceRegions, usize)> {
        let note = self.regions.note(id)?;
        let (regions, at) = note.memory.as_ref()?.place()?;
        Some((regions, at))
    }

    /// Whether a device may reach bytes of a region: it has registered them, or they are registered when they move.
    pub(super) fn reaches(&self, id: RegionId, device: usize) -> bool {
        match self.registered(id) {
            Some((regions, _)) => regions.of(device).is_some(),
            None => self.reach_of(id) == Reach::Pieces,
        }
    }

    /// How peers reach a region of this rank.
    pub(super) fn reach_of(&self, id: RegionId) -> Reach {
        let note = self.regions.note(id);
        match note.and_then(|note| note.memory.as_ref()) {
            None => Reach::Frames,
            Some(Registered::InPieces) => Reach::Pieces,
            Some(_) => Reach::Whole,
        }
    }

    /// The access that peers have to a region that goes in pieces.
    pub(super) fn access_in_pieces(&self, id: RegionId) -> Option<Access> {
        let note = self.regions.note(id)?;
        (self.reach_of(id) == Reach::Pieces).then_some(note.access)
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
            Some(Registered::Copy(copy)) => Some((copy.any(), self.regions.bytes(id)?)),
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
