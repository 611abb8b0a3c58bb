//! [`UserCall`]: a function of the program on the elements of a datatype.

use std::sync::Arc;

use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
use oxmpi_wire::layout;

use super::object::UserFunction;
use crate::datatype::{Description, HeldHandle};
use crate::types::{Count, Datatype, c_int, c_void};

/// `MPI_User_function`, and `MPI_User_function_c`.
type Function<N> = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut N, *mut Datatype);

/// Bytes of elements that are copied at once, where the function needs elements in other memory.
const PIECE: u64 = 1 << 16;

/// A function of the program on the elements of a datatype.
pub(crate) struct UserCall {
    function: Arc<UserFunction>,
    /// The handle that the program gave, which the function gets.
    datatype: HeldHandle,
    description: Arc<Description>,
}

/// Memory for elements as the program has them, with its gaps.
struct Elements {
    /// Words of the alignment that any element may ask for.
    words: Vec<u128>,
    /// Offset of the lowest byte.
    low: i64,
}

impl Elements {
    /// Memory for `count` instances.
    fn new(layout: &layout::Datatype, count: u64) -> Self {
        let all = layout.contiguous(count).unwrap_or(layout::Datatype::EMPTY);
        let (low, len) = (all.true_lower_bound(), all.true_extent());
        let words = (len as usize).div_ceil(size_of::<u128>());
        Self {
            words: vec![0; words],
            low,
        }
    }

    /// The address that displacements count from.
    fn start(&mut self) -> *mut u8 {
        let start = self.words.as_mut_ptr().cast::<u8>();
        start.wrapping_offset(-self.low as isize)
    }

    /// The elements.
    fn bytes(&mut self, layout: &layout::Datatype, count: u64) -> RawBytes {
        let start = self.start();
        // SAFETY: the vector has room for so many; the callers use the bytes while neither is moved, and the memory
        // through them alone.
        unsafe { RawBytes::with_datatype(start, layout, count) }
    }
}

impl UserCall {
    pub(super) fn new(
        function: Arc<UserFunction>,
        datatype: Datatype,
        description: Arc<Description>,
    ) -> Self {
        Self {
            function,
            datatype: HeldHandle::new(datatype),
            description,
        }
    }

    /// Combines the packed elements of `from` into those of `into`; `from` is the operand on `side`.
    ///
    /// # Safety
    /// As [`oxmpi_core::elements`] asks, of elements of the datatype; the function keeps what the standard asks of it.
    pub(super) unsafe fn combine(&self, from: RawBytes, into: RawBytes, side: Side) {
        let layout = &self.description.layout;
        let Some(count) = into.len().checked_div(layout.size()) else {
            return;
        };
        // The function's result is its second argument, which is the right operand.
        let is_left = side == Side::Left || self.function.is_commutative;
        if let Some(at) = layout.contiguous_at(2).filter(|_| is_left) {
            let start = |bytes: RawBytes| bytes.start().wrapping_offset(-at as isize);
            // SAFETY: the caller's promise; elements lie side by side here as in the program's memory.
            return unsafe { self.call(start(from), start(into), count) };
        }
        let piece = (PIECE / layout.extent().unsigned_abs().max(layout.size()).max(1))
            .clamp(1, count.max(1));
        let mut memory = [Elements::new(layout, piece), Elements::new(layout, piece)];
        let mut at = 0;
        while at < count {
            let n = piece.min(count - at);
            let range = |bytes: RawBytes| {
                let range = bytes.range(at * layout.size(), n * layout.size());
                range.expect("a plan combines operands of the same length")
            };
            let (from, into) = (range(from), range(into));
            let (left, right) = if is_left { (from, into) } else { (into, from) };
            let [given, result] = &mut memory;
            given.bytes(layout, n).copy_from(&left);
            result.bytes(layout, n).copy_from(&right);
            // SAFETY: both have so many elements, and the function is the program's.
            unsafe { self.call(given.start(), result.start(), n) };
            into.copy_from(&result.bytes(layout, n));
            at += n;
        }
    }

    /// Calls the function, as often as its type of lengths asks for.
    ///
    /// # Safety
    /// Both have so many elements.
    unsafe fn call(&self, from: *mut u8, into: *mut u8, count: u64) {
        let most = match self.function.is_large {
            true => Count::MAX as u64,
            false => c_int::MAX as u64,
        };
        let mut at = 0;
        while at < count {
            let n = most.min(count - at);
            let offset = (self.description.layout.extent() as isize).wrapping_mul(at as isize);
            let (from, into) = (from.wrapping_offset(offset), into.wrapping_offset(offset));
            match self.function.is_large {
                // SAFETY: the caller's promise; the function has this type.
                true => unsafe { self.call_as::<Count>(from, into, n as Count) },
                // SAFETY: as above.
                false => unsafe { self.call_as::<c_int>(from, into, n as c_int) },
            }
            at += n;
        }
    }

    /// # Safety
    /// Both have so many elements, and the function has such lengths.
    unsafe fn call_as<N>(&self, from: *mut u8, into: *mut u8, mut count: N) {
        let address = std::ptr::with_exposed_provenance::<c_void>(self.function.address);
        // SAFETY: the program gave the address as that of such a function, which is not null.
        let function = unsafe { std::mem::transmute::<*const c_void, Function<N>>(address) };
        let mut datatype = self.datatype.get();
        // SAFETY: the caller's promise.
        unsafe { function(from.cast(), into.cast(), &raw mut count, &raw mut datatype) };
    }
}
