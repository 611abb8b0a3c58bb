//! Which algorithms look the same from every rank.

use crate::call::Algorithm;

/// Algorithms in which rank `r + m` does what rank `r` does, with all peers `m` higher around the
/// group, whatever `m` is; or where `m` are the ranks of a node, for those that are told the nodes:
/// by collective and name.
///
/// A test compares each with its plans, rank by rank. An algorithm that is missing here is only
/// simulated at greater length.
const SHIFTING: [(&str, &str); 12] = [
    ("barrier", "dissemination"),
    ("barrier", "node-aware"),
    ("allgather", "ring"),
    ("allgather", "bruck"),
    ("allgather", "rail-ring"),
    ("allgather", "rail-bruck"),
    ("allgather", "node-aware"),
    ("allgatherv", "node-aware"),
    ("alltoall", "bruck"),
    ("alltoall", "pairwise"),
    ("alltoall", "linear"),
    ("alltoall", "node-aware"),
];

/// Whether one node may stand for all; see [`Setup::by_symmetry`](super::Setup::by_symmetry).
pub fn shifts(algorithm: Algorithm) -> bool {
    SHIFTING.contains(&(algorithm.collective().name(), algorithm.name()))
}
