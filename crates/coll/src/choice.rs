//! Which algorithm serves a call: a pure function of the call and the tuning, the same on every rank.

use crate::catalog::{Algorithm, Call, Collective, Unsuited};

/// The numbers that choice and plans depend on. All ranks of a group must use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Allreduce goes around a ring from this many bytes on. Default 64 KiB.
    pub ring_from_bytes: u64,
    /// Allreduce goes around a ring only where each rank's chunk has at least this many bytes, so that its
    /// `2 (p - 1)` rounds pay. Default 4 KiB.
    pub ring_chunk_bytes: u64,
    /// Messages of the ring carry at most this many bytes, up to 64 messages for a chunk. Default 1 MiB.
    pub ring_segment_bytes: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            ring_from_bytes: 64 << 10,
            ring_chunk_bytes: 4 << 10,
            ring_segment_bytes: 1 << 20,
        }
    }
}

/// The algorithm for the call.
///
/// `forced` is what the user asks for; it is taken where it suits the call (an operation that does not commute cannot
/// go around a ring). Otherwise the choice is monotone in size: with everything else equal, a larger vector never goes
/// back to an algorithm that a smaller one has left.
///
/// # Errors
///
/// When the call itself is wrong: its rank or root is not in the group.
pub fn choose(
    call: &Call,
    forced: Option<Algorithm>,
    tuning: &Tuning,
) -> Result<Algorithm, Unsuited> {
    if let Some(forced) = forced.filter(|forced| forced.suits(call).is_ok()) {
        return Ok(forced);
    }
    let algorithm = match call.collective {
        Collective::Barrier => Algorithm::BarrierDissemination,
        Collective::Bcast => Algorithm::BcastBinomial,
        Collective::Reduce => Algorithm::ReduceBinomial,
        Collective::Allreduce if ring_pays(call, tuning) => Algorithm::AllreduceRing,
        Collective::Allreduce => Algorithm::AllreduceRecursiveDoubling,
    };
    algorithm.suits(call).map(|()| algorithm)
}

/// Whether the ring may serve the allreduce, and its small volume outweighs its many rounds.
fn ring_pays(call: &Call, tuning: &Tuning) -> bool {
    let chunks = u64::from(call.size).saturating_mul(tuning.ring_chunk_bytes);
    Algorithm::AllreduceRing.suits(call).is_ok()
        && call.bytes() >= tuning.ring_from_bytes.max(chunks)
}
