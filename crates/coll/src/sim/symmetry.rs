//! The algorithms that [`Setup::by_symmetry`](super::Setup::by_symmetry) can simulate on one node.

use crate::call::Algorithm;

/// Algorithms, by collective and name, in which rank `r + m` does what rank `r` does with all peers `m`
/// higher modulo the ranks, for every `m`; for node-aware ones, where `m` is the ranks per node.
///
/// A test compares each of them with its plans, rank by rank. One that is missing here only takes longer
/// to simulate.
const SHIFTING: [(&str, &str); 11] = [
    ("barrier", "dissemination"),
    ("barrier", "node-aware"),
    ("allgather", "ring"),
    ("allgather", "bruck"),
    ("allgather", "rail-ring"),
    ("allgather", "rail-bruck"),
    ("allgather", "node-aware"),
    ("allgatherv", "node-aware"),
    ("alltoall", "bruck"),
    ("alltoall", "linear"),
    ("alltoall", "node-aware"),
];

/// Whether one simulated node can represent all; see [`Setup::by_symmetry`](super::Setup::by_symmetry).
pub fn is_node_symmetric(algorithm: Algorithm) -> bool {
    SHIFTING.contains(&(algorithm.collective().name(), algorithm.name()))
}
