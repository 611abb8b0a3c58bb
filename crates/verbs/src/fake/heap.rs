//! Memory of this process for transfers of tests.

use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::TestMemory;
use oxmpi_wire::Layout;

/// Memory of the process, by its owner.
pub(crate) struct HeapMemory(Box<[u8]>);

impl TestMemory for HeapMemory {
    type Bytes = RawBytes;

    fn new(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    fn bytes(&self) -> RawBytes {
        // SAFETY: the suite keeps the memory until the transport has given it back, and reads it only then. The box
        // owns it alone.
        unsafe { RawBytes::new(self.0.as_ptr().cast_mut(), self.0.len()) }
    }

    fn to_vec(&self) -> Vec<u8> {
        self.0.to_vec()
    }
}

impl HeapMemory {
    /// The bytes of `layout`, whose offsets count from the first one.
    pub(crate) fn strided(&self, layout: Layout) -> RawBytes {
        let span = layout.span();
        assert!(
            span.start >= 0 && span.end <= self.0.len() as i64,
            "bytes of the memory"
        );
        // SAFETY: the bytes are in the box; for the rest, as in `bytes`.
        unsafe { RawBytes::with_layout(self.0.as_ptr().cast_mut(), layout) }
    }
}
