//! The smaller and the larger of two floats, with the same bits in whichever order they come: ranks
//! that combine in different orders must agree.

/// A NaN loses against a number, -0 is below 0, and of two NaNs the bits of both are set. Written
/// without branches, so that loops over it become vector instructions.
macro_rules! float {
    ($t:ident, $bits:ident) => {
        pub(super) mod $t {
            const SIGN: $bits = 1 << ($bits::BITS - 1);

            #[inline(always)]
            pub(in crate::op) fn min(a: $t, b: $t) -> $t {
                let (a_wins, b_wins) = ((a < b) | b.is_nan(), (b < a) | a.is_nan());
                // Where neither wins they are equal, and have the same bits but for the sign of
                // zero; where both win they are NaNs.
                let of_a = if a_wins | !b_wins { a.to_bits() } else { 0 };
                let of_b = if b_wins | !a_wins { b.to_bits() } else { 0 };
                $t::from_bits(of_a | of_b)
            }

            #[inline(always)]
            pub(in crate::op) fn max(a: $t, b: $t) -> $t {
                let turned = |x: $t| $t::from_bits(x.to_bits() ^ SIGN);
                turned(min(turned(a), turned(b)))
            }
        }
    };
}

float!(f32, u32);
float!(f64, u64);
