//! Which algorithms look the same from every rank.

use crate::catalog::Algorithm;

/// Algorithms in which rank `r + m` does what rank `r` does, with all peers `m` higher around the
/// group, whatever `m` is: by collective and name.
///
/// A test compares each with its plans, rank by rank. An algorithm that is missing here is only
/// simulated at greater length.
const SHIFTING: [(&str, &str); 6] = [
    ("barrier", "dissemination"),
    ("allgather", "ring"),
    ("allgather", "bruck"),
    ("alltoall", "bruck"),
    ("alltoall", "pairwise"),
    ("alltoall", "linear"),
];

/// Whether one node may stand for all; see [`Setup::by_symmetry`](super::Setup::by_symmetry).
pub fn shifts(algorithm: Algorithm) -> bool {
    SHIFTING.contains(&(algorithm.collective().name(), algorithm.name()))
}
