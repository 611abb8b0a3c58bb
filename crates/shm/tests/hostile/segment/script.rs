//! The bytes of an input, read as numbers.

/// The bytes that are not read yet. After the last one every number is 0.
pub(super) struct Script<'a>(pub(super) &'a [u8]);

impl Script<'_> {
    /// The next byte, if there is one.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn next(&mut self) -> u8 {
        self.byte().unwrap_or(0)
    }

    /// A number below `bound`; 0 where there is none.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let number = usize::from(self.next()) << 8 | usize::from(self.next());
        number.checked_rem(bound).unwrap_or(0)
    }

    /// A word to write over `now`: mostly near a value with a meaning.
    pub(super) fn word(&mut self, now: u64) -> u64 {
        let (form, byte) = (self.next(), self.next());
        let small = u64::from(byte);
        match form % 8 {
            0 => small,
            1 => now ^ 1 << (byte % 64),
            2 => now.wrapping_add(small << 32),
            3 => now.wrapping_add(small),
            4 => small << 32 | u64::from(self.next()),
            5 => u64::MAX << (byte % 64),
            6 => now.wrapping_sub(small),
            _ => u64::from_le_bytes(std::array::from_fn(|_| self.next())),
        }
    }
}
