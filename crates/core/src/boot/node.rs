//! How the ranks of a node connect, at the socket of the first of them.

use std::time::Duration;
use std::{fs, process};

use oxmpi_shm::heap::HeapPreference;
use oxmpi_shm::{GatheredNode, JoinError, Node, NodeLeader, SegmentLayout};

use super::EndpointAddress;
use super::endpoint_address::alone;
use crate::error::{Error, Result};

/// How long ranks wait for each other to connect. The death of a rank is noticed at once; this bounds the
/// wait for a rank that never starts.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The first rank of a node, before the others have connected.
pub(crate) struct Acceptor {
    host: NodeLeader,
    key: [u8; 16],
}

/// Opens an acceptor for the other ranks of the node. A rank that does not share memory (`shared`) is a node
/// of its own.
pub(crate) fn open_acceptor(shared: bool) -> Result<(Acceptor, EndpointAddress)> {
    let host = NodeLeader::bind().map_err(failed)?;
    let key = oxmpi_os::host::random().map_err(|why| Error::start("making the job's key", why))?;
    let address = EndpointAddress {
        socket: host.name().to_owned(),
        key,
        node: if shared {
            this_node()
        } else {
            alone(&this_node(), process::id())
        },
        host: word(&oxmpi_os::host::name(), &[]),
    };
    Ok((Acceptor { host, key }, address))
}

/// Waits until all ranks of `layout` have connected.
pub(crate) fn accept_ranks(
    acceptor: Acceptor,
    layout: SegmentLayout,
    heap: Option<HeapPreference>,
) -> Result<Node> {
    let Acceptor { host, key } = acceptor;
    let node = match (layout.ranks, heap) {
        (1, None) => Node::alone(layout),
        (1, Some(preference)) => Node::alone(layout).map(|node| node.with_heap(preference)),
        (_, None) => host.serve(layout, key, TIMEOUT),
        (_, Some(preference)) => host.with_heap(preference).serve(layout, key, TIMEOUT),
    };
    node.map_err(failed)
}

/// As [`accept_ranks`] for two ranks or more, but the others wait for [`release`]. `note` is what this rank
/// adds to the node address table.
pub(super) fn gather(
    acceptor: Acceptor,
    layout: SegmentLayout,
    heap: HeapPreference,
    note: u64,
) -> Result<GatheredNode> {
    let Acceptor { host, key } = acceptor;
    let gathered = host.with_heap(heap).gather(layout, key, note, TIMEOUT);
    gathered.map_err(failed)
}

/// Lets the ranks of a node go on, and sends them `word`.
pub(super) fn release(gathered: GatheredNode, word: &[u8]) -> Result<Node> {
    gathered.release(word, TIMEOUT).map_err(failed)
}

/// As [`join_node`], where the first rank gathers: sends `note`, and gets its word.
pub(super) fn gather_at_node(
    address: &EndpointAddress,
    rank: u32,
    size: u32,
    note: u64,
) -> Result<(Node, Vec<u8>)> {
    let EndpointAddress { socket, key, .. } = address;
    Node::join_with(socket, rank, size, *key, note, TIMEOUT).map_err(failed)
}

/// Connects to the first rank of the node, as rank `rank` of `size` there.
pub(crate) fn join_node(address: &EndpointAddress, rank: u32, size: u32) -> Result<Node> {
    Node::join(&address.socket, rank, size, address.key, TIMEOUT).map_err(failed)
}

/// The name of what ranks that share memory have in common: the boot of the machine, and the namespaces of
/// sockets, processes and users.
fn this_node() -> String {
    let boot = oxmpi_os::host::boot_id().unwrap_or_else(|_| oxmpi_os::host::name());
    let boot = word(&boot, &['.']);
    let spaces = ["net", "pid", "user"].map(|space| {
        let link = fs::read_link(format!("/proc/self/ns/{space}"));
        let text = link.map(|link| link.to_string_lossy().into_owned());
        let digits = |text: String| {
            text.chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
        };
        text.map(digits).unwrap_or_default()
    });
    format!("{boot}.{}", spaces.join("."))
}

/// `name` as one short word, without the separators of published texts and without `others`. Host names may
/// contain anything.
fn word(name: &str, others: &[char]) -> String {
    /// Longest name in bytes: that of a host on Linux.
    const LONGEST: usize = 64;
    let parts = |c: char| c.is_whitespace() || c.is_control() || [',', '/', '='].contains(&c);
    let one = |c: char| {
        if parts(c) || others.contains(&c) {
            '-'
        } else {
            c
        }
    };
    let mut word = String::new();
    for c in name.chars().map(one) {
        if word.len() + c.len_utf8() > LONGEST {
            break;
        }
        word.push(c);
    }
    if word.is_empty() {
        word.push('-');
    }
    word
}

fn failed(why: JoinError) -> Error {
    Error::start("connecting to the other ranks of this node", why)
}

#[cfg(test)]
mod tests {
    use super::{open_acceptor, word};
    use crate::boot::endpoint_address::{machine, processes};

    #[test]
    fn any_name_of_a_host_is_one_word() {
        assert_eq!(word("node1.site.org", &[]), "node1.site.org");
        assert_eq!(word("a b,c/d=e\nf.g", &['.']), "a-b-c-d-e-f-g");
        assert_eq!(word("", &[]), "-");
        assert_eq!(word(&"\u{fffd}".repeat(64), &[]), "\u{fffd}".repeat(21));
    }

    #[test]
    fn ranks_of_one_node_have_one_node_name() {
        let (_first, one) = open_acceptor(true).expect("an acceptor");
        let (_second, two) = open_acceptor(true).expect("an acceptor");
        let (_third, alone) = open_acceptor(false).expect("an acceptor");
        assert_eq!(one.node, two.node);
        assert_ne!(one.node, alone.node);
        assert_eq!(machine(&one.node), machine(&alone.node));
        assert_eq!(processes(&one.node), processes(&alone.node));
        let (_, space) = processes(&one.node);
        assert!(space.is_some_and(|space| !space.is_empty()));
        assert_ne!((one.socket, one.key), (two.socket, two.key));
    }
}
