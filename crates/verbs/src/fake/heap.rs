//! Memory of this process for transfers of tests.

use std::ops::Range;

use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::TestMemory;
use oxmpi_wire::Layout;

use super::PAGE;

/// Memory of the process, by its owner. It starts at the same place of a page in each run, since the pieces in which memory
/// goes that is registered by pages depend on that.
pub(crate) struct HeapMemory {
    all: Box<[u8]>,
    used: Range<usize>,
}

/// The place of the first byte in its page, which is not the page's first one.
const START: usize = 800;

impl TestMemory for HeapMemory {
    type Bytes = RawBytes;

    fn new(bytes: Vec<u8>) -> Self {
        let mut all = vec![0; bytes.len() + 2 * PAGE].into_boxed_slice();
        let start = all.as_ptr().align_offset(PAGE) + START;
        let used = start..start + bytes.len();
        all[used.clone()].copy_from_slice(&bytes);
        Self { all, used }
    }

    fn bytes(&self) -> RawBytes {
        // SAFETY: the suite keeps the memory until the transport has given it back, and reads it only then. The box
        // owns it alone.
        unsafe { RawBytes::new(self.first(), self.used.len()) }
    }

    fn to_vec(&self) -> Vec<u8> {
        self.all[self.used.clone()].to_vec()
    }
}

impl HeapMemory {
    fn first(&self) -> *mut u8 {
        self.all[self.used.clone()].as_ptr().cast_mut()
    }

    /// The bytes of `layout`, whose offsets count from the first one.
    pub(crate) fn strided(&self, layout: Layout) -> RawBytes {
        let span = layout.span();
        assert!(
            span.start >= 0 && span.end <= self.used.len() as i64,
            "bytes of the memory"
        );
        // SAFETY: the bytes are in the box; for the rest, as in `bytes`.
        unsafe { RawBytes::with_layout(self.first(), layout) }
    }
}
