//! Sums up the counts in a message.

use oxmpi_wire::Put;

/// Sums up numbers of 8 bytes, low byte first, as their bytes arrive in any pieces.
#[derive(Debug)]
pub(super) struct CountSum {
    /// Larger numbers are left out.
    limit: u64,
    /// `None`: the sum exceeds 64 bits.
    sum: Option<u64>,
    /// The first bytes of the next number.
    next: [u8; 8],
    filled: usize,
}

impl CountSum {
    /// Sums up the numbers that are at most `limit`.
    pub(super) const fn up_to(limit: u64) -> Self {
        Self {
            limit,
            sum: Some(0),
            next: [0; 8],
            filled: 0,
        }
    }

    /// The sum; `None` when it exceeds 64 bits.
    pub(super) const fn sum(&self) -> Option<u64> {
        self.sum
    }
}

impl Put for CountSum {
    fn room(&self) -> usize {
        usize::MAX
    }

    fn put(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let len = bytes.len().min(self.next.len() - self.filled);
            let (head, rest) = bytes.split_at(len);
            self.next[self.filled..self.filled + len].copy_from_slice(head);
            self.filled += len;
            bytes = rest;
            if self.filled == self.next.len() {
                self.filled = 0;
                let number = u64::from_le_bytes(self.next);
                if number <= self.limit {
                    self.sum = self.sum.and_then(|sum| sum.checked_add(number));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_wire::Put;

    use super::CountSum;

    #[test]
    fn numbers_come_in_any_pieces() {
        let bytes: Vec<u8> = [3u64, 1 << 40, 500, u64::MAX]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        for cut in 0..bytes.len() {
            let mut numbers = CountSum::up_to(1 << 40);
            numbers.put(&bytes[..cut]);
            numbers.put(&bytes[cut..]);
            assert_eq!(numbers.sum(), Some(3 + (1 << 40) + 500));
        }
    }

    #[test]
    fn a_sum_beyond_64_bits_is_none() {
        let mut numbers = CountSum::up_to(u64::MAX);
        numbers.put(&u64::MAX.to_le_bytes());
        assert_eq!(numbers.sum(), Some(u64::MAX));
        numbers.put(&1u64.to_le_bytes());
        assert_eq!(numbers.sum(), None);
    }
}
