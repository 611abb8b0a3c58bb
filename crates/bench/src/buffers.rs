//! Message buffers, aligned as all benchmarks need them; successive messages use the same place or walk
//! through a larger buffer.

mod steps;

pub(crate) use steps::Steps;
use zerocopy::FromBytes;

/// The buffer sizes that one repetition needs on a rank, for one message length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BufferSizes {
    /// Bytes that a rank sends from.
    pub out: usize,
    /// Bytes that a rank receives into.
    pub into: usize,
    /// The number of block lengths in a vector collective.
    pub counts: usize,
}

impl BufferSizes {
    /// Room to receive as many bytes as to send.
    pub(crate) const fn both(bytes: usize) -> Self {
        BufferSizes {
            out: bytes,
            into: bytes,
            counts: 0,
        }
    }

    /// The larger of both, buffer by buffer.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        BufferSizes {
            out: self.out.max(other.out),
            into: self.into.max(other.into),
            counts: self.counts.max(other.counts),
        }
    }
}

/// The alignment of message buffers in bytes: a cache line.
pub const ALIGNMENT: usize = 64;

/// The buffers of one sample: bytes to send, room to receive, and block lengths.
///
/// Each repetition takes its [`RepetitionBuffers`] of them. In cache, all repetitions use the same place; off cache, messages
/// walk through a larger buffer.
#[derive(Debug)]
pub struct Buffers<'a> {
    out: Walk<'a>,
    into: Walk<'a>,
    counts: &'a mut [usize],
    repetitions: usize,
}

/// The buffers of one repetition. A kernel uses each slice whole.
#[derive(Debug)]
pub struct RepetitionBuffers<'a> {
    /// The bytes to send.
    pub out: &'a mut [u8],
    /// The room to receive into.
    pub into: &'a mut [u8],
    /// One number for each rank, where the kernel's [`BufferSizes`] asks for them.
    pub counts: &'a mut [usize],
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

/// How `-off_cache` keeps messages out of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffCache {
    /// Size of the last level of cache in bytes.
    pub cache: usize,
    /// Size of a cache line in bytes.
    pub line: usize,
}

impl OffCache {
    /// The bytes through which messages of `length` walk: twice the cache or twice the message, whichever
    /// is larger; 0 for empty messages.
    pub fn space(self, length: usize) -> usize {
        if length == 0 {
            0
        } else {
            self.cache.max(length).saturating_mul(2)
        }
    }

    /// The bytes that messages of `length` take: their own length where they come from the cache.
    #[cfg(feature = "alloc")]
    pub(crate) fn space_of(off_cache: Option<Self>, length: usize) -> usize {
        off_cache.map_or(length, |off_cache| off_cache.space(length))
    }

    /// Bytes from the start of one message to the start of the next; at least two lines lie between them.
    fn stride(self, length: usize) -> usize {
        (length + 2 * self.line).next_multiple_of(ALIGNMENT)
    }
}

impl<'a> Buffers<'a> {
    /// Wraps the caller's memory, with one place for all repetitions: the length of a slice is the message
    /// length. `counts` has as many numbers as the kernel's [`BufferSizes`] says.
    ///
    /// # Errors
    /// [`Unaligned`] when a slice of bytes that is not empty starts elsewhere than at a cache line.
    pub fn new(
        out: &'a mut [u8],
        into: &'a mut [u8],
        counts: &'a mut [usize],
    ) -> Result<Self, Unaligned> {
        let aligned =
            |slice: &[u8]| slice.is_empty() || slice.as_ptr().addr().is_multiple_of(ALIGNMENT);
        if !aligned(out) || !aligned(into) {
            return Err(Unaligned);
        }
        Ok(Self::aligned(out, into, counts))
    }

    /// As [`Buffers::new`], for slices that are known to be aligned.
    pub(crate) fn aligned(out: &'a mut [u8], into: &'a mut [u8], counts: &'a mut [usize]) -> Self {
        Buffers {
            out: Walk::still(out),
            into: Walk::still(into),
            counts,
            repetitions: 0,
        }
    }

    /// Makes messages of the lengths in `buffer_sizes` walk through the memory, and start again at its beginning.
    ///
    /// # Panics
    /// When there is less memory than `buffer_sizes`.
    #[must_use]
    pub fn off_cache(mut self, buffer_sizes: BufferSizes, off_cache: OffCache) -> Self {
        for (walk, length) in [
            (&mut self.out, buffer_sizes.out),
            (&mut self.into, buffer_sizes.into),
        ] {
            assert!(length <= walk.space.len(), "{length} bytes have no room");
            walk.steps = Steps::walking(walk.space.len(), length, off_cache);
        }
        self
    }

    /// The number of repetitions since the buffers were filled, which is the number of the next repetition.
    pub fn repetitions(&self) -> usize {
        self.repetitions
    }

    /// The buffers of the next repetition.
    ///
    /// # Cost
    /// A few instructions: an addition, a comparison and the checks of bounds for each buffer.
    #[inline]
    pub fn advance(&mut self) -> RepetitionBuffers<'_> {
        self.repetitions += 1;
        RepetitionBuffers {
            out: self.out.step(),
            into: self.into.step(),
            counts: self.counts,
        }
    }

    /// The buffers that repetition `repetition` used, with their present content.
    pub fn of(&mut self, repetition: usize) -> RepetitionBuffers<'_> {
        RepetitionBuffers {
            out: self.out.of(repetition),
            into: self.into.of(repetition),
            counts: self.counts,
        }
    }

    /// The buffers of the last repetition; before the first, those of the first.
    pub fn last(&mut self) -> RepetitionBuffers<'_> {
        self.of(self.repetitions.saturating_sub(1))
    }

    /// Copies the content of the first repetition's place to the places of `repetitions` repetitions, and starts again
    /// with the first.
    pub(crate) fn restart(&mut self, repetitions: usize) {
        self.out.restart(repetitions);
        self.into.restart(repetitions);
        self.repetitions = 0;
    }
}

impl<'a> RepetitionBuffers<'a> {
    /// The send and receive buffers as single-precision numbers, without up to three bytes at the end.
    ///
    /// # Cost
    /// A few instructions: no number is touched.
    #[inline]
    pub fn floats(self) -> (&'a mut [f32], &'a mut [f32]) {
        (floats(self.out), floats(self.into))
    }

    /// As [`RepetitionBuffers::floats`], with the block lengths.
    #[inline]
    pub fn counted_floats(self) -> (&'a mut [f32], &'a mut [f32], &'a mut [usize]) {
        (floats(self.out), floats(self.into), self.counts)
    }
}

/// Each place is aligned and the length is cut to a multiple of four, so the cast succeeds.
#[inline]
pub(crate) fn floats(bytes: &mut [u8]) -> &mut [f32] {
    let whole = bytes.len() / 4 * 4;
    <[f32]>::mut_from_bytes(&mut bytes[..whole]).unwrap_or_default()
}

/// The places of messages of one length in a buffer.
#[derive(Debug)]
struct Walk<'a> {
    space: &'a mut [u8],
    steps: Steps,
}

impl<'a> Walk<'a> {
    fn still(space: &'a mut [u8]) -> Self {
        Walk {
            steps: Steps::still(space.len()),
            space,
        }
    }

    #[inline]
    fn step(&mut self) -> &mut [u8] {
        let start = self.steps.advance();
        &mut self.space[start..start + self.steps.length()]
    }

    fn of(&mut self, repetition: usize) -> &mut [u8] {
        let start = self.steps.of(repetition);
        &mut self.space[start..start + self.steps.length()]
    }

    fn restart(&mut self, repetitions: usize) {
        self.steps.copy_first(self.space, repetitions);
        self.steps.restart();
    }
}

#[cfg(test)]
mod tests;
