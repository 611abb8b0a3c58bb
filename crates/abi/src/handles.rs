//! Handles: pointers that are numbers, and the tables of what they name.
//!
//! Predefined handles have values below 4,096 (MPI 5.0, appendix A.2). Those of objects that a program makes have the
//! index of the object and the kind of handle in their lower half, and the generation of the index in their upper half:
//! so a handle whose object was freed, or one of another kind, names nothing.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ops::Deref;

use oxmpi_wire::slab::{self, Slab};

use crate::shared::Shared;

/// The first value that is no predefined handle.
pub(crate) const FIRST_MADE: usize = 4096;

/// Bits of a handle's lower half that count the objects of its kind.
const INDEX_BITS: u32 = 27;

/// A handle of the ABI.
pub(crate) trait Handle: Copy {
    /// The number of its kind.
    const KIND: u32;
    /// The lower half of the handle of the object with index 0.
    const FIRST: u32 = (Self::KIND << INDEX_BITS) + FIRST_MADE as u32;

    fn from_address(address: usize) -> Self;
    fn address(self) -> usize;

    /// Whether the standard defines the handle.
    #[inline(always)]
    fn is_predefined(self) -> bool {
        self.address() < FIRST_MADE
    }
}

/// The handle as an integer (`MPI_Comm_toint` and its kind). Predefined ones keep their value.
pub(crate) fn to_int<H: Handle>(handle: H) -> c_int {
    handle.address() as c_int
}

/// The handle of an integer, of a kind of which a program makes none.
pub(crate) fn from_int<H: Handle>(int: c_int) -> H {
    H::from_address(int as u32 as usize)
}

/// The objects of one kind that the program has made. `V` points to an object, whose address never changes.
pub(crate) struct Table<H, V> {
    slab: Shared<Slab<V>>,
    handle: PhantomData<fn(H)>,
}

impl<H: Handle, V> Table<H, V> {
    /// An empty table, for calls at the thread level of the process.
    pub(crate) const fn new() -> Self {
        Self {
            slab: Shared::new(Slab::new()),
            handle: PhantomData,
        }
    }

    /// An empty table, for calls that any thread may make at any time (MPI 5.0, table 11.1).
    pub(crate) const fn always_locked() -> Self {
        Self {
            slab: Shared::always_locked(Slab::new()),
            handle: PhantomData,
        }
    }

    /// Runs `work` on all objects of the table. It calls no code of the program, nor this table.
    #[inline]
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Slab<V>) -> R) -> R {
        self.slab.with(work)
    }

    /// A handle of a new object.
    pub(crate) fn insert(&self, value: V) -> H {
        self.with(|slab| made(slab.insert(value)))
    }

    /// Takes the object out; its handle names nothing from now on.
    pub(crate) fn remove(&self, handle: H) -> Option<V> {
        self.with(|slab| {
            let index = slab.find(slab_handle(handle))?;
            Some(slab.remove(index))
        })
    }

    /// The handles of all objects.
    pub(crate) fn handles(&self) -> Vec<H> {
        self.with(|slab| {
            let full = slab.indices().filter(|&index| slab.is_full(index));
            full.map(|index| made(slab.handle(index))).collect()
        })
    }

    /// The handle of an integer that [`to_int`] gave.
    pub(crate) fn handle_of(&self, int: c_int) -> H {
        let index = (int as u32).wrapping_sub(H::FIRST);
        self.with(|slab| match slab.get(index) {
            Some(_) => made(slab.handle(index)),
            None => from_int(int),
        })
    }
}

impl<H: Handle, V: Deref> Table<H, V> {
    /// The object of a handle, if there is one. It lives until the program frees it; a program that frees an object
    /// while another of its calls uses it is wrong (MPI 5.0, section 11.6.1).
    #[inline]
    pub(crate) fn find<'a>(&self, handle: H) -> Option<&'a V::Target> {
        Self::object(self.with(|slab| Self::address(slab, handle)))
    }

    /// As [`find`](Self::find), without a call: `None` too where the table is to be locked.
    #[inline(always)]
    pub(crate) fn find_unlocked<'a>(&self, handle: H) -> Option<&'a V::Target> {
        Self::object((self.slab).with_unlocked(|slab| Self::address(slab, handle)))
    }

    #[inline(always)]
    fn address(slab: &Slab<V>, handle: H) -> Option<*const V::Target> {
        let index = slab.find(slab_handle(handle))?;
        Some(std::ptr::from_ref(&*slab[index]))
    }

    #[inline(always)]
    fn object<'a>(object: Option<*const V::Target>) -> Option<&'a V::Target> {
        // SAFETY: `V` keeps the address of its object, which lives as the documentation says.
        object.map(|object| unsafe { &*object })
    }
}

/// The handle of an object of the table.
#[inline(always)]
pub(crate) fn made<H: Handle>(handle: slab::Handle) -> H {
    let low = u64::from(H::FIRST.wrapping_add(handle.index));
    H::from_address((u64::from(handle.generation) << 32 | low) as usize)
}

/// The place of a handle in its table, if it is of the table's kind; the index is beyond all tables else.
#[inline(always)]
pub(crate) fn slab_handle<H: Handle>(handle: H) -> slab::Handle {
    slab::Handle {
        index: (handle.address() as u32).wrapping_sub(H::FIRST),
        generation: (handle.address() >> 32) as u32,
    }
}
