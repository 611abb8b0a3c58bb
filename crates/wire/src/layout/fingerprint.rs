//! [`Fingerprint`]: a number that stands for a sequence of basic datatypes.

/// The prime 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;

/// The points at which the polynomial is evaluated: two, so that different sequences collide with a
/// probability of about 2^-120.
const POINTS: [u64; 2] = [0x0b4a_7e15_3c9d_82f7, 0x13c6_ef37_2fe9_4f82];

/// A polynomial whose coefficients are the members of a sequence, modulo a prime, at two points (Karp and Rabin,
/// "Efficient randomized pattern-matching algorithms", 1987). Equal sequences have equal fingerprints, however they
/// were put together. The fingerprint is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// The sequence without members.
    pub(super) const EMPTY: Self = Self([0; 2]);

    /// The polynomial's values.
    pub(super) const fn values(self) -> [u64; 2] {
        self.0
    }

    /// A sequence of one member.
    pub(super) const fn of(member: u64) -> Self {
        let value = 1 + member % (PRIME - 1);
        Self([value; 2])
    }

    /// This sequence, then another one that has `len` members.
    pub(super) fn then(self, next: Self, len: u64) -> Self {
        self.zip(next, |point, one, other| {
            add(mul(one, power(point, len)), other)
        })
    }

    /// This sequence of `len` members, `times` times.
    pub(super) fn repeat(self, len: u64, times: u64) -> Self {
        self.zip(Self::EMPTY, |point, one, _| {
            // `unit` is the sequence 2^i times, `shift` the factor by which it moves what is before it.
            let (mut unit, mut shift, mut all, mut times) = (one, power(point, len), 0, times);
            while times > 0 {
                if times % 2 == 1 {
                    all = add(mul(all, shift), unit);
                }
                unit = add(mul(unit, shift), unit);
                shift = mul(shift, shift);
                times /= 2;
            }
            all
        })
    }

    fn zip(self, other: Self, with: impl Fn(u64, u64, u64) -> u64) -> Self {
        Self(core::array::from_fn(|i| {
            with(POINTS[i], self.0[i], other.0[i])
        }))
    }
}

const fn add(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

const fn mul(a: u64, b: u64) -> u64 {
    (a as u128 * b as u128 % PRIME as u128) as u64
}

const fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut square, mut result) = (base % PRIME, 1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = mul(result, square);
        }
        square = mul(square, square);
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    fn sequence(members: &[u64]) -> Fingerprint {
        let join = |all: Fingerprint, &one: &u64| all.then(Fingerprint::of(one), 1);
        members.iter().fold(Fingerprint::EMPTY, join)
    }

    #[test]
    fn it_depends_on_the_sequence_only() {
        let pair = sequence(&[1, 2]);
        assert_eq!(pair.then(sequence(&[3, 1]), 2), sequence(&[1, 2, 3, 1]));
        for times in 0..9 {
            let all: alloc::vec::Vec<u64> = [1, 2].repeat(times);
            assert_eq!(pair.repeat(2, times as u64), sequence(&all), "{times}");
        }
        assert_ne!(pair, sequence(&[2, 1]));
        assert_ne!(sequence(&[0]), sequence(&[0, 0]));
        let huge = sequence(&[7]).repeat(1, 1 << 62);
        assert_eq!(
            huge,
            sequence(&[7]).repeat(1, 1 << 31).repeat(1 << 31, 1 << 31)
        );
    }
}
