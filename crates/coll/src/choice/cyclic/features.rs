//! The numbers that a decision compares: those of a group, of its nodes, of its machine and of the length of a call.

use crate::call::{Call, SharedMemory};
use crate::choice::Tuning;
use crate::machine::PathCosts;

/// A number that a decision compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The same for all lengths.
    Fixed(u64),
    /// So much for each byte of a vector or block: a numerator and a denominator, neither 0.
    PerByte(u64, u64),
}

/// The names of the features in tables, in the order of [`features`].
pub const FEATURES: [&str; 20] = [
    "ranks",
    "nodes",
    "ranks a node",
    "root of nodes",
    "free places",
    "shared memory",
    "copies one by one",
    "commutes",
    "power of two",
    "network latency %",
    "network byte %",
    "network gap %",
    "overheads %",
    "bytes",
    "eager %",
    "node eager %",
    "message %",
    "node message %",
    "copy %",
    "all messages %",
];

/// The features of a call on ranks in cyclic placement; its rank, root and length do not count.
///
/// | name | meaning |
/// |---|---|
/// | ranks a node | on the first node, which has most |
/// | root of nodes | the smallest number of which the number of nodes is a power |
/// | free places | places on nodes that no rank has |
/// | shared memory | 1 if ranks of a node share it, else 0 |
/// | commutes | 1 if the operation commutes, else 0 |
/// | network latency, byte | those of the network, in percent of those inside a node |
/// | network gap | the least time between two messages of an adapter, in percent of the receiver's overhead |
/// | overheads | time at one rank for an empty message from every other, in percent of one such message's time |
/// | eager, node eager | a block, and the blocks of a node's ranks, in percent of the eager limit |
/// | message, node message | time on the network for the bytes of these, in percent of an empty message's |
/// | copy | time for the bytes of a block inside a node, in percent of an empty message's there |
/// | all messages | time for the bytes of a block from every other rank, in percent of an empty message's |
pub fn features(call: &Call, tuning: &Tuning) -> [Feature; FEATURES.len()] {
    use Feature::{Fixed, PerByte};
    let (place, machine) = (tuning.placement(call.size), tuning.machine);
    let (network, node) = (machine.network, machine.node);
    let (size, nodes) = (u64::from(call.size), u64::from(place.nodes()));
    let each = u64::from(place.per_node().min(call.size));
    let empty = |path: PathCosts| {
        let ends = path.send.saturating_add(path.recv);
        ends.saturating_add(path.latency).max(1)
    };
    let from_all = |far: u64, near: u64| {
        let far = far.saturating_mul(size - each);
        far.saturating_add(near.saturating_mul(each - 1))
    };
    let percent = |of: u64, per: u64| Fixed(of.saturating_mul(100) / per.max(1));
    let per_byte = |of: u64, per: u64| PerByte(of.max(1).saturating_mul(100), per.max(1));
    let on_network = |byte: u64| per_byte(byte, empty(network));
    [
        Fixed(size),
        Fixed(nodes),
        Fixed(each),
        Fixed(root(nodes)),
        Fixed((nodes * each).saturating_sub(size)),
        Fixed((call.shared_memory != SharedMemory::None).into()),
        Fixed(tuning.serial_copies.into()),
        Fixed(call.commutative.into()),
        Fixed(call.size.is_power_of_two().into()),
        percent(empty(network), empty(node)),
        percent(network.byte, node.byte),
        percent(network.gap, network.recv),
        percent(
            from_all(network.recv.max(network.gap), node.recv),
            empty(network),
        ),
        PerByte(1, 1),
        per_byte(1, machine.eager),
        per_byte(each, machine.eager),
        on_network(network.byte),
        on_network(network.byte.saturating_mul(each)),
        per_byte(node.byte, empty(node)),
        on_network(from_all(network.byte, node.byte)),
    ]
}

/// The smallest number of which this is a power, if that is at most 16; else the number itself.
fn root(number: u64) -> u64 {
    let is_root = |root: &u64| number == root.pow(number.ilog(*root));
    (2..=number.min(16)).find(is_root).unwrap_or(number)
}

impl Feature {
    /// Its value for a vector or block of this many bytes.
    pub fn value(self, bytes: u64) -> u64 {
        match self {
            Feature::Fixed(value) => value,
            Feature::PerByte(of, per) => {
                let value = u128::from(bytes) * u128::from(of) / u128::from(per);
                value.min(u64::MAX.into()) as u64
            }
        }
    }

    /// The fewest bytes for which the value is at least this; `None` if it is the same for all lengths.
    pub(super) fn bytes_for(self, value: u64) -> Option<u64> {
        match self {
            Feature::Fixed(_) => None,
            Feature::PerByte(of, per) => {
                let bytes = (u128::from(value) * u128::from(per)).div_ceil(of.into());
                Some(bytes.min(u64::MAX.into()) as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Feature, root};

    #[test]
    fn the_fewest_bytes_have_the_value_and_fewer_have_not() {
        for (of, per) in [(1, 1), (100, 8192), (25_000, 16_000_000), (1 << 40, 3)] {
            let feature = Feature::PerByte(of, per);
            for value in [1, 2, 99, 100, 12_345] {
                let bytes = feature.bytes_for(value).expect("it grows with the length");
                assert!(feature.value(bytes) >= value, "{feature:?} {value}");
                assert!(feature.value(bytes - 1) < value, "{feature:?} {value}");
            }
        }
        assert_eq!(Feature::PerByte(u64::MAX, 1).value(u64::MAX), u64::MAX);
    }

    #[test]
    fn roots_of_powers_are_found() {
        let roots = [2, 3, 4, 6, 8, 9, 13, 25, 27, 289, 1_000_003].map(root);
        assert_eq!(roots, [2, 3, 2, 6, 2, 3, 13, 5, 3, 289, 1_000_003]);
    }
}
