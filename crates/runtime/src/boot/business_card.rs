//! How a rank listens to the network, and says where.

use std::str::FromStr;
use std::{fmt, process};

use oxmpi_shm::Layout;
use oxmpi_tcp::{Card, Filter, JobKey, Options, Site};
use oxmpi_wire::transports::{Selection, Verdict};

use super::endpoint_address::{is_first_alone, machine, processes};
use super::node::Acceptor;
use super::nodes::JobNodes;
use super::{EndpointAddress, ExchangeTraffic, RemoteRanks, WiredRanks, accept_ranks, join_node};
use crate::error::{Error, Result};

/// Which transports are taken, and how the network is to be used.
#[derive(Clone, Debug)]
pub(crate) struct NetworkPreference {
    pub(crate) selection: Selection,
    /// The interfaces, those of the selection alone.
    pub(crate) filter: Filter,
    pub(crate) options: Options,
}

impl NetworkPreference {
    /// Why no other node is reached: tcp is not taken.
    fn refusal(&self) -> Error {
        let not_taken = |verdict: &&Verdict| !verdict.taken;
        let reasons = self.selection.transports.iter().filter(not_taken);
        let reasons: Vec<String> = reasons.map(|v| format!("{}: {}", v.name, v.why)).collect();
        let host = oxmpi_os::host::name();
        let why = format!(
            "{host} has no transport to ranks it shares no memory with ({}); with `transports=auto` and an \
             interface that is up, tcp is taken: see `oxmpi explain transports`",
            reasons.join("; ")
        );
        Error::start(STEP, why)
    }
}

/// What is being done here, for people.
const STEP: &str = "listening for the ranks of other nodes";

/// A rank that listens to its node and to the network, and does not know the others yet. Its text is
/// what they need.
pub(crate) struct NetworkListener {
    pub(super) acceptor: Acceptor,
    pub(super) address: EndpointAddress,
    pub(super) site: Site,
    pub(super) lengths: WireLengths,
    /// Where the site is, in a text that a process manager takes.
    pub(super) card: Card,
}

impl NetworkListener {
    /// The longest text, in bytes: what the process managers take as a value.
    pub(crate) const ROOM: usize = 1000;

    /// Listens to the network too. Who knows the key of `first`, the address of the first of all
    /// ranks, may join.
    ///
    /// # Errors
    /// When there is no network, or it is not to be used.
    pub(crate) fn open(
        wish: &NetworkPreference,
        acceptor: Acceptor,
        address: EndpointAddress,
        first: &EndpointAddress,
    ) -> Result<Self> {
        if !wish.selection.tcp {
            return Err(wish.refusal());
        }
        let key = JobKey::new(&first.key);
        let site = Site::open(key, &wish.filter, wish.options).map_err(|why| {
            let host = oxmpi_os::host::name();
            let why = format!("{why}; the ranks are on several nodes, and no network joins {host}");
            Error::start(STEP, why)
        })?;
        let mut card = site.card().clone();
        let lengths = WireLengths::of(&wish.options);
        let room = Self::ROOM - format!("{address}/4194304/{lengths}/").len();
        while card.to_string().len() > room && card.addresses.len() > 1 {
            card.addresses.pop();
        }
        Ok(Self {
            acceptor,
            address,
            site,
            lengths,
            card,
        })
    }

    /// Joins all ranks, of which this is number `rank`; `texts` are those of all. `layout` says how
    /// much memory so many ranks share.
    ///
    /// # Errors
    /// When a text is none, a rank's settings differ, or a rank of this node does not come.
    pub(crate) fn join(
        self,
        rank: u32,
        texts: &[String],
        layout: impl Fn(u32) -> Layout,
    ) -> Result<WiredRanks> {
        let (mut addresses, mut pids, mut cards) = (Vec::new(), Vec::new(), Vec::new());
        let mut lengths = Vec::new();
        for text in texts {
            let (address, pid, its_lengths, card) = parse(text)?;
            lengths.push(its_lengths);
            addresses.push(address);
            pids.push(pid);
            cards.push(card);
        }
        agree(&lengths, |rank| {
            format!("rank {rank} on {}", cards[rank].host)
        })?;
        let is_here = |&rank: &u32| addresses[rank as usize].node == self.address.node;
        let (here, there): (Vec<u32>, Vec<u32>) = (0..texts.len() as u32).partition(is_here);
        let place = here.iter().position(|&of| of == rank).unwrap_or_default() as u32;
        let size = here.len() as u32;
        let node = match place {
            0 => accept_ranks(self.acceptor, layout(size), None)?,
            _ => join_node(&addresses[here[0] as usize], place, size)?,
        };
        if there.is_empty() {
            return Ok(node.into());
        }
        let nodes = addresses.iter().map(|address| &*address.node);
        let (ranks_on_machine, visible_pids) =
            co_located(&self.address.node, nodes.clone().zip(pids.iter().copied()));
        let speaks_for_host = is_first_alone(&self.address.node, nodes.clone());
        let (tx, rx) = self.site.join(rank, cards).map_err(not_watched)?;
        let remote = RemoteRanks {
            speaks_for_host,
            tx,
            rx,
            pids,
            order: [here, there].concat(),
            nodes: JobNodes::named(nodes).numbers(),
            ranks_on_machine,
            visible_pids,
            traffic: ExchangeTraffic::default(),
        };
        Ok(WiredRanks {
            node,
            remote: Some(remote.into()),
        })
    }
}

impl fmt::Display for NetworkListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, lengths, card) = (&self.address, self.lengths, &self.card);
        write!(f, "{address}/{}/{lengths}/{card}", process::id())
    }
}

/// Lengths by which one rank makes what another one reads, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WireLengths {
    frame: u32,
    chunk: u32,
}

impl WireLengths {
    const fn of(options: &Options) -> Self {
        Self {
            frame: options.frame,
            chunk: options.chunk,
        }
    }
}

impl fmt::Display for WireLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.frame, self.chunk)
    }
}

impl FromStr for WireLengths {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let lengths = text.split_once('.').and_then(|(frame, chunk)| {
            Some(Self {
                frame: frame.parse().ok()?,
                chunk: chunk.parse().ok()?,
            })
        });
        lengths.ok_or("a rank does not say how long its frames are: is it of another version?")
    }
}

/// Whether these lengths are the same. They are all ranks', so that all find the same.
///
/// # Errors
/// The first ones that are others than those before, and `whose` they are.
pub(super) fn agree(lengths: &[WireLengths], whose: impl Fn(usize) -> String) -> Result<()> {
    let differs = lengths.iter().position(|of| *of != lengths[0]);
    let Some(other) = differs else {
        return Ok(());
    };
    let told = |one: usize| {
        let WireLengths { frame, chunk } = lengths[one];
        format!("{} has tcp_frame={frame} and tcp_chunk={chunk}", whose(one))
    };
    let why = format!(
        "{}, {}; all ranks of a job need the same",
        told(0),
        told(other)
    );
    Err(Error::start("comparing the settings of all ranks", why))
}

/// The system cannot watch connections.
pub(super) fn not_watched(why: std::io::Error) -> Error {
    Error::start("setting up the network", why)
}

/// How many ranks run on the machine of the node `own`, and the processes of those of them that a rank there
/// can ask the kernel about. `ranks` are all of them: the names of their nodes, and their processes.
pub(super) fn co_located<'a>(
    own: &str,
    ranks: impl Iterator<Item = (&'a str, u32)>,
) -> (u32, Vec<u32>) {
    let on_machine = ranks.filter(|(node, _)| machine(node) == machine(own));
    let (mut count, mut seen) = (0, Vec::new());
    for (node, pid) in on_machine {
        count += 1;
        if processes(node) == processes(own) {
            seen.push(pid);
        }
    }
    (count, seen)
}

/// Reads the text of another rank: its address, its process, its lengths, its card.
fn parse(text: &str) -> Result<(EndpointAddress, u32, WireLengths, Card)> {
    let wrong = |why: &dyn fmt::Display| Error::start("looking for the ranks of other nodes", why);
    let mut parts = text.splitn(4, '/');
    let mut next = || parts.next().unwrap_or_default();
    let address = EndpointAddress::decode(next())?;
    let pid = next().parse().map_err(|why| wrong(&why))?;
    let lengths = next().parse().map_err(|why| wrong(&why))?;
    let card = next().parse().map_err(|why| wrong(&why))?;
    Ok((address, pid, lengths, card))
}

#[cfg(test)]
mod tests {
    use super::co_located;

    #[test]
    fn numbers_of_processes_count_in_one_namespace_of_one_machine() {
        let nodes = ["one.1.2.3", "one.9.2.3.77", "one.1.4.3", "two.1.2.3"];
        let ranks = nodes.into_iter().zip([10, 11, 12, 13]);
        assert_eq!(co_located("one.1.2.3", ranks), (3, vec![10, 11]));
    }
}
