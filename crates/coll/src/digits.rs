//! Exchanges by digits of distances to a radix, as dissemination and Bruck's algorithms do them.
//!
//! Phase `j` handles the digit of weight `radix^j`. It has one exchange for each non-zero value of the
//! digit, with the ranks at that value times the weight; exchanges of one phase do not depend on each
//! other. Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for
//! all-to-all communications in multiport message-passing systems", 1997.

use crate::tree::levels_of;

/// The exchanges among `size` ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    size: u32,
    radix: u32,
}

/// One exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DigitExchange {
    /// The number of the first exchange of the same phase.
    pub(crate) phase: u32,
    /// The digit's weight; below the number of ranks.
    pub(crate) weight: u32,
    /// The digit's value, at least 1.
    pub(crate) digit: u32,
}

impl DigitExchange {
    /// How far the peers are away; below the number of ranks.
    pub(crate) const fn distance(&self) -> u32 {
        self.weight * self.digit
    }
}

impl Digits {
    /// A radix below 2 counts as 2.
    pub(crate) const fn new(size: u32, radix: u32) -> Self {
        Digits {
            size,
            radix: if radix < 2 { 2 } else { radix },
        }
    }

    pub(crate) const fn radix(&self) -> u32 {
        self.radix
    }

    /// The number of phases, `ceil(log size)` to the radix.
    pub(crate) const fn phases(&self) -> u32 {
        levels_of(self.size, self.radix)
    }

    /// The weight of phase `j`, which exists.
    pub(crate) const fn weight(&self, j: u32) -> u32 {
        self.radix.pow(j)
    }

    /// The number of exchanges; with one message at a time, each is a round.
    pub(crate) const fn exchanges(&self) -> u32 {
        match self.phases() {
            0 => 0,
            phases => (phases - 1) * (self.radix - 1) + self.values(phases - 1),
        }
    }

    /// The number of exchanges in phase `j`: in the last one not every value need occur.
    pub(crate) const fn values(&self, j: u32) -> u32 {
        let highest = (self.size - 1) / self.weight(j);
        if highest < self.radix {
            highest
        } else {
            self.radix - 1
        }
    }

    /// Exchange `i`, below [`Digits::exchanges`].
    pub(crate) const fn exchange(&self, i: u32) -> DigitExchange {
        let per_phase = self.radix - 1;
        DigitExchange {
            phase: i - i % per_phase,
            weight: self.weight(i / per_phase),
            digit: i % per_phase + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Digits;

    #[test]
    fn every_distance_is_a_sum_of_exchanges_of_different_phases() {
        for size in 1..200 {
            for radix in 2..9 {
                let digits = Digits::new(size, radix);
                let mut reached = std::vec![0];
                for exchange in (0..digits.exchanges()).map(|i| digits.exchange(i)) {
                    assert!(exchange.distance() < size);
                    let further = reached
                        .iter()
                        .filter(|&&d| d < exchange.weight)
                        .map(|d| d + exchange.distance());
                    let further: std::vec::Vec<u32> = further.collect();
                    reached.extend(further);
                }
                reached.retain(|&distance| distance < size);
                reached.sort_unstable();
                assert!(reached.into_iter().eq(0..size), "{size} ranks to {radix}");
            }
        }
    }

    #[test]
    fn the_largest_group_does_not_overflow() {
        let digits = Digits::new(u32::MAX, 3);
        assert!(digits.exchange(digits.exchanges() - 1).distance() < u32::MAX);
    }
}
