//! Message buffers, aligned as every benchmark aligns them.

use zerocopy::FromBytes;

/// What message buffers are aligned to, in bytes: a cache line.
pub const ALIGNMENT: usize = 64;

/// A pair of buffers for one sample: what this rank sends, and where it receives.
#[derive(Debug)]
pub struct Buffers<'a> {
    out: &'a mut [u8],
    into: &'a mut [u8],
}

/// A buffer does not start at a multiple of [`ALIGNMENT`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unaligned;

impl core::fmt::Display for Unaligned {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "message buffers must start at a multiple of {ALIGNMENT} bytes"
        )
    }
}

impl core::error::Error for Unaligned {}

impl<'a> Buffers<'a> {
    /// Takes the caller's memory. Kernels use each slice whole: its length is the message's length.
    ///
    /// # Errors
    /// [`Unaligned`] when a slice that is not empty starts elsewhere than at a cache line.
    pub fn new(out: &'a mut [u8], into: &'a mut [u8]) -> Result<Self, Unaligned> {
        let aligned =
            |slice: &[u8]| slice.is_empty() || slice.as_ptr().addr().is_multiple_of(ALIGNMENT);
        if aligned(out) && aligned(into) {
            Ok(Buffers { out, into })
        } else {
            Err(Unaligned)
        }
    }

    /// The bytes to send, and the room to receive into.
    pub fn bytes(&mut self) -> (&mut [u8], &mut [u8]) {
        (self.out, self.into)
    }

    /// The same as single-precision numbers; up to three bytes at the end are left out.
    ///
    /// # Cost
    /// A few instructions: no number is touched.
    pub fn floats(&mut self) -> (&mut [f32], &mut [f32]) {
        (floats(self.out), floats(self.into))
    }
}

/// `new` has checked the alignment and the length is a multiple of four, so the cast holds; were it
/// refused, the empty slice would fail the kernel's proof of data.
fn floats(bytes: &mut [u8]) -> &mut [f32] {
    let whole = bytes.len() / 4 * 4;
    <[f32]>::mut_from_bytes(&mut bytes[..whole]).unwrap_or_default()
}

#[cfg(feature = "alloc")]
pub use owned::Memory;

#[cfg(feature = "alloc")]
mod owned {
    use super::Buffers;
    use alloc::{vec, vec::Vec};
    use zerocopy::{FromBytes, Immutable, IntoBytes};

    /// 4 KiB at a multiple of 4 KiB.
    #[derive(Clone, FromBytes, IntoBytes, Immutable)]
    #[repr(C, align(4096))]
    struct Page([u8; 4096]);

    /// Memory for the largest message of a run, allocated once; both buffers start at a page.
    pub struct Memory {
        out: Vec<Page>,
        into: Vec<Page>,
    }

    impl core::fmt::Debug for Memory {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            write!(
                f,
                "Memory {{ out: {} pages, into: {} pages }}",
                self.out.len(),
                self.into.len()
            )
        }
    }

    impl Memory {
        /// Room for messages of up to `out` bytes sent and `into` bytes received.
        pub fn new(out: usize, into: usize) -> Self {
            let pages = |bytes: usize| vec![Page([0; 4096]); bytes.div_ceil(4096)];
            Memory {
                out: pages(out),
                into: pages(into),
            }
        }

        /// The first `out` and `into` bytes of the two buffers, at most what there is.
        pub fn buffers(&mut self, out: usize, into: usize) -> Buffers<'_> {
            let sent = self.out.as_mut_bytes();
            let received = self.into.as_mut_bytes();
            let (out, into) = (out.min(sent.len()), into.min(received.len()));
            Buffers {
                out: &mut sent[..out],
                into: &mut received[..into],
            }
        }
    }
}
