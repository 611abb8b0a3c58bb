//! The process ids of a node's ranks, as the leader learned them from the system.
//!
//! They travel with the leader's release. What a rank writes into the segment later cannot make others watch,
//! or read, another process than its own.

use std::vec::Vec;

/// The process ids of `ranks` ranks: of the leader, and of the others that have connected.
pub(super) fn gather(ranks: u32, others: impl Iterator<Item = (Option<u32>, u32)>) -> Vec<u32> {
    let mut pids = vec![0; ranks as usize];
    pids[0] = std::process::id();
    for (rank, pid) in others {
        if let Some(known) = rank.and_then(|rank| pids.get_mut(rank as usize)) {
            *known = pid;
        }
    }
    pids
}

/// Bytes of the message about `ranks` ranks.
pub(super) const fn len(ranks: u32) -> usize {
    ranks as usize * 4
}

/// The message about these process ids.
pub(super) fn bytes(pids: &[u32]) -> Vec<u8> {
    pids.iter().flat_map(|pid| pid.to_ne_bytes()).collect()
}

/// The reverse of [`bytes`], for `ranks` ranks.
pub(super) fn parse(message: &[u8], ranks: u32) -> Option<Vec<u32>> {
    let (words, rest) = message.as_chunks();
    let whole = rest.is_empty() && words.len() == ranks as usize;
    whole.then(|| words.iter().map(|word| u32::from_ne_bytes(*word)).collect())
}

/// Whether process ids mean the same here as for the leader: `rank` is this process, and the system calls the
/// leader `leader`. In another PID namespace they do not.
pub(super) fn are_ours(pids: &[u32], rank: u32, leader: u32) -> bool {
    pids.get(rank as usize) == Some(&std::process::id()) && pids.first() == Some(&leader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Node, NodeLeader};
    use crate::segment::SegmentLayout;
    use std::borrow::ToOwned;
    use std::time::Duration;

    #[test]
    fn a_message_is_decoded_as_encoded() {
        let pids = gather(3, [(Some(2), 7), (None, 8), (Some(9), 9)].into_iter());
        assert_eq!(pids, [std::process::id(), 0, 7]);
        assert_eq!(parse(&bytes(&pids), 3), Some(pids.clone()));
        assert_eq!(bytes(&pids).len(), len(3));
        for (message, ranks) in [(&bytes(&pids)[..11], 3), (&bytes(&pids), 2), (&[], 1)] {
            assert_eq!(parse(message, ranks), None);
        }
    }

    #[test]
    fn another_pid_namespace_is_noticed() {
        let own = std::process::id();
        assert!(are_ours(&[5, own], 1, 5));
        assert!(!are_ours(&[5, own], 1, 6), "another leader");
        assert!(!are_ours(&[5, own + 1], 1, 5), "another self");
        assert!(!are_ours(&[5], 1, 5), "no such rank");
    }

    #[test]
    fn a_forged_pid_misleads_no_rank() {
        let host = NodeLeader::bind().unwrap();
        let (name, key) = (host.name().to_owned(), [1; 16]);
        let limit = Duration::from_secs(120);
        let nodes = std::thread::scope(|s| {
            let one = s.spawn(|| Node::join(&name, 1, 2, key, limit).unwrap());
            let zero = host.serve(SegmentLayout::new(2), key, limit).unwrap();
            [zero, one.join().unwrap()]
        });
        nodes[1].segment.set_pid(0, 1);
        nodes[1].segment.set_pid(1, 1);
        for node in &nodes {
            assert_eq!([0, 1].map(|rank| node.pid(rank)), [std::process::id(); 2]);
        }
    }
}
