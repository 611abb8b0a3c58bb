//! The address at which a rank waits for other ranks of its node.

use std::fmt;

use crate::error::{Error, Result};

/// The address at which a rank waits for other ranks of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointAddress {
    /// The abstract socket's name.
    pub(super) socket: String,
    /// The job's key: processes that know it may connect.
    pub(super) key: [u8; 16],
    /// The name of the node: see [`super::open_acceptor`].
    pub(super) node: String,
    /// The rank's host, for error messages.
    pub(super) host: String,
}

impl EndpointAddress {
    /// The longest text, in bytes.
    pub(crate) const ROOM: usize = 256;

    /// Reads the text that another rank has published.
    ///
    /// # Errors
    /// When it is malformed.
    pub(crate) fn decode(text: &str) -> Result<Self> {
        let mut fields = text.split(',');
        let mut next = || fields.next().filter(|field| !field.is_empty());
        let parts = (next(), next(), next(), next(), next());
        if let (Some(socket), Some(key), Some(node), Some(host), None) = parts
            && key.len() == 2 * size_of::<u128>()
            && let Ok(key) = u128::from_str_radix(key, 16)
        {
            return Ok(Self {
                socket: socket.to_owned(),
                key: key.to_be_bytes(),
                node: node.to_owned(),
                host: host.to_owned(),
            });
        }
        Err(Error::start(
            "looking for the other ranks",
            format_args!(
                "a rank published the address {text:?}, expected socket,key,node,host: is it another \
                 version of oxmpi?"
            ),
        ))
    }
}

/// The part of a node's name that all nodes of one machine have in common: the machine's boot.
pub(super) fn machine(node: &str) -> &str {
    node.split('.').next().unwrap_or_default()
}

/// The parts that nodes have in common whose processes can name each other by number: a machine's boot and a
/// process namespace.
pub(super) fn processes(node: &str) -> (&str, Option<&str>) {
    (machine(node), node.split('.').nth(2))
}

/// The node name of a rank that does not share memory on the node `name`: process `pid` alone.
pub(super) fn alone(name: &str, pid: u32) -> String {
    format!("{name}.{pid}")
}

/// Whether `own` is the first of `nodes`, the node names of all ranks, among the ranks of its host that do
/// not share memory.
pub(super) fn is_first_alone<'a>(own: &str, mut nodes: impl Iterator<Item = &'a str>) -> bool {
    let host = |node: &'a str| node.rsplit_once('.').map(|(host, _)| host);
    let mine = own.rsplit_once('.').map(|(host, _)| host);
    nodes.find(|node| host(node) == mine) == Some(own)
}

/// The text that [`EndpointAddress::decode`] reads. No field contains a comma: [`super::open_acceptor`]
/// replaces them.
impl fmt::Display for EndpointAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = u128::from_be_bytes(self.key);
        write!(f, "{},{key:032x},{},{}", self.socket, self.node, self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::{EndpointAddress, alone, is_first_alone};

    #[test]
    fn one_rank_of_a_host_speaks_for_those_alone() {
        let (sharing, other) = ("one.1.2.3", alone("two.1.2.3", 5));
        let [first, second] = [7, 9].map(|pid| alone(sharing, pid));
        let nodes = [sharing, &other, &first, &second, sharing];
        for (own, speaks) in [(&first, true), (&second, false), (&other, true)] {
            assert_eq!(is_first_alone(own, nodes.into_iter()), speaks, "{own}");
        }
    }

    #[test]
    fn decode_reads_what_display_writes() {
        let address = EndpointAddress {
            socket: "oxmpi-1a2b".into(),
            key: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
            node: "5f0c-77.4026.4027.4028".into(),
            host: "node1".into(),
        };
        let text = address.to_string();
        assert!(text.len() <= EndpointAddress::ROOM);
        assert_eq!(EndpointAddress::decode(&text).ok(), Some(address));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "a", "a,b,c,d", "a,0,c", "a,0,c,d,e", "a,0,,d"] {
            let error = EndpointAddress::decode(text).expect_err(text).to_string();
            assert!(error.contains("socket,key,node,host"), "{error}");
        }
    }
}
