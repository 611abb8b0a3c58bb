//! Which algorithm serves a call: a pure function of the call and the tuning, the same on every
//! rank.

use crate::catalog::{Algorithm, AnyPlan, Call, Collective, Parameters, Unsuited};

/// What choice and plans depend on besides the call. All ranks of a group must use the same.
///
/// The default values are those of the rows in [`SETTINGS`](crate::settings::SETTINGS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// What the user asks for.
    pub forced: Forced,
    /// Allreduce goes around a ring from this many bytes on.
    pub ring_from_bytes: u64,
    /// Allreduce goes around a ring only where each rank's chunk has at least this many bytes, so
    /// that its `2 (p - 1)` rounds pay.
    pub ring_chunk_bytes: u64,
    /// Messages of the ring carry at most this many bytes, up to 64 messages for a chunk.
    pub ring_segment_bytes: u64,
    /// Gatherv sends blocks of at most this many bytes through its tree.
    pub gatherv_short_bytes: u64,
    /// Scatterv sends blocks of at most this many bytes through its tree.
    pub scatterv_short_bytes: u64,
}

impl Tuning {
    /// The parameters that the tuning gives an algorithm; 0 stands for the default.
    fn parameters(&self, algorithm: Algorithm) -> Parameters {
        match algorithm {
            Algorithm::AllreduceRing => Parameters {
                segment: self.ring_segment_bytes.max(1),
                ..Parameters::NONE
            },
            Algorithm::GathervKnomial => Parameters {
                cutoff: self.gatherv_short_bytes.max(1),
                ..Parameters::NONE
            },
            Algorithm::ScattervKnomial => Parameters {
                cutoff: self.scatterv_short_bytes.max(1),
                ..Parameters::NONE
            },
            _ => Parameters::NONE,
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            forced: Forced::default(),
            ring_from_bytes: 64 << 10,
            ring_chunk_bytes: 4 << 10,
            ring_segment_bytes: 1 << 20,
            gatherv_short_bytes: 16 << 10,
            scatterv_short_bytes: 16 << 10,
        }
    }
}

/// The algorithms that the user asks for, at most one for each collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forced([Option<Algorithm>; Collective::ALL.len()]);

impl Forced {
    /// The algorithm that is asked for.
    pub const fn get(&self, collective: Collective) -> Option<Algorithm> {
        self.0[collective as usize]
    }

    /// Asks for the algorithm, in place of another one for the same collective.
    pub const fn set(&mut self, algorithm: Algorithm) {
        self.0[algorithm.collective() as usize] = Some(algorithm);
    }

    /// Leaves the collective to the choice again.
    pub const fn unset(&mut self, collective: Collective) {
        self.0[collective as usize] = None;
    }
}

/// An algorithm and its parameters: with the call, all that a plan depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its parameters; 0 stands for the default.
    pub parameters: Parameters,
}

impl Choice {
    /// One rank's plan for the call.
    ///
    /// # Errors
    ///
    /// When the algorithm does not suit the call.
    pub fn plan(&self, call: &Call) -> Result<AnyPlan, Unsuited> {
        self.algorithm.plan(call, &self.parameters)
    }
}

/// The algorithm for the call.
///
/// What the user [asks for](Tuning::forced) is taken where it suits the call: an operation that
/// does not commute cannot go around a ring. Otherwise the choice is monotone in size: with
/// everything else equal, a larger vector never goes back to an algorithm that a smaller one has
/// left.
///
/// # Errors
///
/// When the call itself is wrong: its rank or root is not in the group.
pub fn choose(call: &Call, tuning: &Tuning) -> Result<Choice, Unsuited> {
    let forced = tuning.forced.get(call.collective);
    let forced = forced.filter(|forced| forced.suits(call).is_ok());
    let algorithm = match forced {
        Some(forced) => forced,
        None => usual(call, tuning)?,
    };
    Ok(Choice {
        algorithm,
        parameters: tuning.parameters(algorithm),
    })
}

/// The algorithm for the call where none is asked for.
fn usual(call: &Call, tuning: &Tuning) -> Result<Algorithm, Unsuited> {
    if ring_pays(call, tuning) {
        return Ok(Algorithm::AllreduceRing);
    }
    let mut why = Unsuited::None {
        collective: call.collective,
    };
    for algorithm in call.collective.algorithms() {
        match algorithm.suits(call) {
            Ok(()) => return Ok(algorithm),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

/// Whether the ring may serve the allreduce, and its small volume outweighs its many rounds.
fn ring_pays(call: &Call, tuning: &Tuning) -> bool {
    let chunks = u64::from(call.size).saturating_mul(tuning.ring_chunk_bytes);
    Algorithm::AllreduceRing.suits(call).is_ok()
        && call.bytes() >= tuning.ring_from_bytes.max(chunks)
}

#[cfg(test)]
mod tests {
    use super::{Tuning, choose};
    use crate::catalog::{Algorithm, Call, Unsuited};

    fn algorithm(call: &Call, tuning: &Tuning) -> Result<Algorithm, Unsuited> {
        choose(call, tuning).map(|choice| choice.algorithm)
    }

    #[test]
    fn the_ring_serves_large_vectors_of_operations_that_commute() {
        let chosen = |size, bytes, commutative| {
            let call = Call::allreduce(0, size, bytes / 8, 8).with_commutative(commutative);
            algorithm(&call, &Tuning::default())
        };
        assert_eq!(chosen(2, 64 << 10, true), Ok(Algorithm::AllreduceRing));
        assert_eq!(
            chosen(2, (64 << 10) - 8, true),
            Ok(Algorithm::AllreduceRecursiveDoubling)
        );
        assert_eq!(
            chosen(2, 64 << 10, false),
            Ok(Algorithm::AllreduceRecursiveDoubling)
        );
        assert_eq!(chosen(64, 256 << 10, true), Ok(Algorithm::AllreduceRing));
        assert_eq!(
            chosen(64, 255 << 10, true),
            Ok(Algorithm::AllreduceRecursiveDoubling)
        );
        assert_eq!(
            chosen(u32::MAX, u64::MAX, true),
            Ok(Algorithm::AllreduceRecursiveDoubling)
        );
    }

    #[test]
    fn a_larger_vector_never_goes_back() {
        for size in 1..200 {
            let choices = (0..40)
                .map(|log| algorithm(&Call::allreduce(0, size, 1 << log, 1), &Tuning::default()));
            let choices: heapless::Vec<_, 40> = choices.collect();
            assert!(
                choices.is_sorted_by_key(|choice| *choice == Ok(Algorithm::AllreduceRing)),
                "{size} ranks"
            );
        }
    }

    #[test]
    fn what_is_asked_for_is_taken_where_it_suits() {
        let mut tuning = Tuning::default();
        tuning.forced.set(Algorithm::AllreduceRing);
        let call = Call::allreduce(0, 4, 1, 8);
        assert_eq!(algorithm(&call, &tuning), Ok(Algorithm::AllreduceRing));
        let ordered = call.with_commutative(false);
        assert_eq!(
            algorithm(&ordered, &tuning),
            Ok(Algorithm::AllreduceRecursiveDoubling)
        );
        tuning.forced.unset(call.collective);
        assert_eq!(
            algorithm(&call, &tuning),
            Ok(Algorithm::AllreduceRecursiveDoubling)
        );
    }

    #[test]
    fn a_wrong_call_is_refused() {
        let tuning = Tuning::default();
        assert_eq!(
            choose(&Call::barrier(3, 3), &tuning),
            Err(Unsuited::Rank { rank: 3, size: 3 })
        );
        assert_eq!(
            choose(&Call::barrier(0, 0), &tuning),
            Err(Unsuited::Rank { rank: 0, size: 0 })
        );
        assert_eq!(
            choose(&Call::bcast(0, 3, 7, 1), &tuning),
            Err(Unsuited::Root { root: 7, size: 3 })
        );
    }
}
