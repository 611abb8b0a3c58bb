//! Loops over two slices, of which one gets the results, compiled for the processor's vectors.

/// The [`Fold`](super::Fold) that combines two elements by a function, compiled for AVX2 where the processor
/// has it, which is checked once, here.
macro_rules! each {
    ($t:ty, $combine:expr) => {{
        #[inline(always)]
        fn each(into: &mut [$t], from: &[$t]) {
            let combine: fn($t, $t) -> $t = $combine;
            for (into, &from) in into.iter_mut().zip(from) {
                *into = combine(*into, from);
            }
        }
        crate::operation::loops::widest!($t, each)
    }};
}

/// The loop `each`, compiled for the widest vectors that it gains from.
#[cfg(target_arch = "x86_64")]
macro_rules! widest {
    ($t:ty, $each:ident) => {{
        #[target_feature(enable = "avx2")]
        fn wide(into: &mut [$t], from: &[$t]) {
            $each(into, from);
        }
        let fold: Fold<$t> = if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was just seen.
            |into, from| unsafe { wide(into, from) }
        } else {
            $each
        };
        fold
    }};
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! widest {
    ($t:ty, $each:ident) => {{
        let fold: Fold<$t> = $each;
        fold
    }};
}

pub(super) use {each, widest};
