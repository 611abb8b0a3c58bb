//! Elements that other processes load and store, too: [`SharedView`].

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use oxmpi_os::copy::{copy_from_shared, copy_to_shared};
use zerocopy::IntoBytes;

use crate::data::Data;

/// Loads a word into bytes. The place is that of an element of its size.
macro_rules! load_word {
    ($word:ty, $place:expr, $bytes:expr) => {{
        // SAFETY: `SharedView::new` was given mapped elements, and saw that they are aligned; this is one of them.
        let word = unsafe { <$word>::from_ptr($place.cast()) };
        $bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
    }};
}

/// Stores a word. The place is that of an element of its size.
macro_rules! store_word {
    ($word:ty, $place:expr, $value:expr) => {{
        // SAFETY: as in `load_word`.
        let word = unsafe { <$word>::from_ptr($place.cast()) };
        word.store($value, Ordering::Relaxed);
    }};
}

/// Elements of a [`SharedWindow`](super::SharedWindow), or of this rank's memory in an [epoch](super::Epoch::local), which
/// other ranks may load and store at any time.
///
/// [`load`](Self::load) and [`store`](Self::store) of an element of 1, 2, 4 or 8 bytes are one access of the processor, so
/// that an element is never half of one value and half of another. Longer ones, and those that [`read`](Self::read) and
/// [`write`](Self::write) copy, may be: a fence or a lock orders them. An index beyond the view is a panic, as for slices.
/// Threads may share a view.
///
/// In a forked child the memory is not mapped: a view that was made before the fork ends the child.
pub struct SharedView<'w, T: Data> {
    start: *mut T,
    count: usize,
    window: PhantomData<&'w [T]>,
}

// SAFETY: its elements are loaded and stored by atomic instructions and opaque copies only, from any thread.
unsafe impl<T: Data> Send for SharedView<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Data> Sync for SharedView<'_, T> {}

impl<T: Data> Clone for SharedView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Data> Copy for SharedView<'_, T> {}

impl<'w, T: Data> SharedView<'w, T> {
    /// The `count` elements from `start` on; `None` where they are not aligned to be accessed whole.
    ///
    /// # Safety
    /// So many elements are mapped at `start` for `'w`, and are accessed by atomic instructions and opaque copies only.
    pub(super) unsafe fn new(start: *mut T, count: usize) -> Option<Self> {
        let word = size_of::<T>();
        let is_aligned = !matches!(word, 2 | 4 | 8) || start.addr().is_multiple_of(word);
        is_aligned.then_some(Self {
            start,
            count,
            window: PhantomData,
        })
    }

    /// The elements of both, if those of `next` begin where these end.
    pub(super) fn followed_by(&self, next: &Self) -> Option<Self> {
        if next.is_empty() {
            return Some(*self);
        }
        let start = if self.is_empty() {
            next.start
        } else {
            self.start
        };
        let end = start.wrapping_add(self.count);
        (end == next.start).then_some(Self {
            start,
            count: self.count + next.count,
            window: PhantomData,
        })
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place of the `count` elements from `at` on.
    #[inline]
    fn place(&self, at: usize, count: usize) -> *mut T {
        let is_inside = at <= self.count && count <= self.count - at;
        assert!(
            is_inside,
            "elements {at}..{at}+{count} of a view of {}",
            self.count
        );
        self.start.wrapping_add(at)
    }

    /// The element at this index.
    ///
    /// # Panics
    /// Beyond the view.
    #[inline]
    #[must_use]
    pub fn load(&self, at: usize) -> T {
        let place = self.place(at, 1);
        let mut value = T::new_zeroed();
        let bytes = value.as_mut_bytes();
        match bytes.len() {
            1 => load_word!(AtomicU8, place, bytes),
            2 => load_word!(AtomicU16, place, bytes),
            4 => load_word!(AtomicU32, place, bytes),
            8 => load_word!(AtomicU64, place, bytes),
            // SAFETY: within the mapped elements; a local value is no shared memory.
            _ => unsafe { copy_from_shared(place.cast(), bytes) },
        }
        value
    }

    /// Stores the element at this index.
    ///
    /// # Panics
    /// Beyond the view.
    #[inline]
    pub fn store(&self, at: usize, value: T) {
        let place = self.place(at, 1);
        match *value.as_bytes() {
            [byte] => store_word!(AtomicU8, place, byte),
            [a, b] => store_word!(AtomicU16, place, u16::from_ne_bytes([a, b])),
            [a, b, c, d] => store_word!(AtomicU32, place, u32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => {
                let word = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
                store_word!(AtomicU64, place, word);
            }
            // SAFETY: within the mapped elements; a local value is no shared memory.
            ref bytes => unsafe { copy_to_shared(bytes, place.cast()) },
        }
    }

    /// Copies the elements from index `at` on into `into`.
    ///
    /// # Panics
    /// Beyond the view.
    pub fn read(&self, at: usize, into: &mut [T]) {
        let place = self.place(at, into.len());
        // SAFETY: within the mapped elements; others have no slice of them, so they do not overlap `into`.
        unsafe { copy_from_shared(place.cast(), into.as_mut_bytes()) };
    }

    /// Copies `from` to the elements from index `at` on.
    ///
    /// # Panics
    /// Beyond the view.
    pub fn write(&self, at: usize, from: &[T]) {
        let place = self.place(at, from.len());
        // SAFETY: as in `read`.
        unsafe { copy_to_shared(from.as_bytes(), place.cast()) };
    }

    /// A copy of all elements.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        let mut values = vec![T::new_zeroed(); self.count];
        self.read(0, &mut values);
        values
    }
}

impl<T: Data> fmt::Debug for SharedView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedView")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of every size that is accessed whole, and of one that is not.
    fn stored_is_loaded<T: Data + PartialEq + fmt::Debug>(values: [T; 3]) {
        let mut memory = [0u64; 12];
        // SAFETY: the array outlives the view, and only the view accesses it meanwhile.
        let view = unsafe { SharedView::<T>::new(memory.as_mut_ptr().cast(), 3) };
        let view = view.expect("it is aligned");
        for (at, value) in values.into_iter().enumerate() {
            view.store(at, value);
        }
        assert_eq!([0, 1, 2].map(|at| view.load(at)), values);
        assert_eq!(view.to_vec(), values);
        view.write(1, &[values[0], values[0]]);
        let mut read = [values[2]; 2];
        view.read(0, &mut read);
        assert_eq!((read, view.load(2)), ([values[0]; 2], values[0]));
    }

    #[test]
    fn elements_of_any_size_are_stored_and_loaded() {
        stored_is_loaded([1u8, 2, 255]);
        stored_is_loaded([1i16, -2, 300]);
        stored_is_loaded([1.5f32, -2.0, 7.0]);
        stored_is_loaded([[1u32, 2], [3, 4], [u32::MAX, 0]]);
        stored_is_loaded([[1u8; 3], [2; 3], [3; 3]]);
        stored_is_loaded([[1u64, 2], [3, 4], [5, 6]]);
        stored_is_loaded([[0u8; 0]; 3]);
    }

    #[test]
    fn elements_that_are_not_aligned_are_no_view() {
        let mut memory = [0u64; 2];
        let at = memory.as_mut_ptr().cast::<u8>().wrapping_add(4);
        // SAFETY: within the array, which only the view accesses.
        let words = unsafe { SharedView::<u64>::new(at.cast(), 1) };
        assert!(words.is_none());
        // SAFETY: as above.
        let halves = unsafe { SharedView::<u32>::new(at.cast(), 2) };
        assert_eq!(halves.map(|view| view.len()), Some(2));
    }

    #[test]
    fn views_that_touch_are_one() {
        let mut memory = [1u32, 2, 3, 4];
        let start = memory.as_mut_ptr();
        let part = |at: usize, count| {
            // SAFETY: within the array, which only the views access.
            unsafe { SharedView::<u32>::new(start.wrapping_add(at), count) }
        };
        let [none, first, second, last] =
            [(3, 0), (0, 1), (1, 2), (3, 1)].map(|(at, n)| part(at, n).unwrap());
        assert!(first.followed_by(&last).is_none());
        let all = none
            .followed_by(&first)
            .and_then(|all| all.followed_by(&none));
        let all = all.and_then(|all| all.followed_by(&second)?.followed_by(&last));
        assert_eq!(all.expect("they touch").to_vec(), [1, 2, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "elements 2..2+2 of a view of 3")]
    fn an_access_beyond_is_a_panic() {
        let mut memory = [0u8; 4];
        // SAFETY: within the array.
        let view = unsafe { SharedView::<u8>::new(memory.as_mut_ptr(), 3) };
        view.expect("aligned").write(2, &[1, 2]);
    }
}
