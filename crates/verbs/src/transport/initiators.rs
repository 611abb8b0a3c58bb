//! What connections by receive queues of kind `X` consist of: see [`extended`](super::extended).

use super::CONFIRMATIONS;
use super::frame_head::MAX_INLINE;
use super::options::VerbsOptions;
use super::pair_address::PairAddress;
use crate::error::VerbsError;
use crate::objects::{
    Context, Gid, Init, QueueCapacity, QueuePair, ReadyToReceive, ReadyToSend, WeakInitiator,
    XrcDomain, XrcInitiator, XrcTarget,
};
use std::fs::{File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads and writes to one peer that an initiator has at a time.
pub(super) const MOST_ACCESSES: u32 = 16;

/// The receiving end of a connection with the node of a peer.
pub(super) type Target = QueuePair<ReadyToReceive, XrcTarget>;

/// The most ranks of a node by one initiator.
const MOST_PEERS: u32 = 64;

/// open(2): the last part of the path is no symbolic link.
const O_NOFOLLOW: i32 = if cfg!(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "powerpc64"
)) {
    0o100_000
} else {
    0o400_000
};

/// The XRC domain of a rank on a device.
#[derive(Debug, Clone)]
pub(super) struct ExtendedDomain {
    pub(super) domain: XrcDomain,
    /// What tells it from those of other ranks of the port.
    pub(super) identity: u64,
    _file: Option<Arc<DomainFile>>,
}

/// The empty file by which the ranks of a node share a domain, as long as they have it.
#[derive(Debug)]
struct DomainFile {
    path: PathBuf,
    file: File,
    identity: u64,
}

/// The ports of a node with the domain of some of its ranks, as a rail of this rank reaches them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeKey {
    rail: u8,
    gid: Option<Gid>,
    lid: u16,
    domain: u64,
}

/// Initiators that are connected.
#[derive(Debug, Default)]
pub(super) struct Initiators(pub(super) Vec<ConnectedInitiator>);

#[derive(Debug)]
pub(super) struct ConnectedInitiator {
    pub(super) node: NodeKey,
    pub(super) pair: WeakInitiator,
    /// The number of its target.
    pub(super) target: u32,
    /// Ranks that were connected by it.
    pub(super) peers: u32,
    /// A clone is with each offer to another rank.
    pub(super) offers: Arc<()>,
}

/// What a rank offers a peer on a rail.
#[derive(Debug)]
pub(super) struct OfferedEnds {
    /// Where the peer is, if it has said so before.
    pub(super) node: Option<NodeKey>,
    pub(super) initiator: OfferedInitiator,
    /// For the initiator of the peer, unless that has one.
    pub(super) target: Option<QueuePair<Init, XrcTarget>>,
}

#[derive(Debug)]
pub(super) enum OfferedInitiator {
    New(QueuePair<Init, XrcInitiator>),
    /// One that is connected with the peer's node. It has room for the peer as long as this offer stands.
    Connected(QueuePair<ReadyToSend, XrcInitiator>, Arc<()>),
}

impl ExtendedDomain {
    /// Opens that of a file, which is made if it is not there.
    ///
    /// # Errors
    /// When the device opens no domain.
    pub(super) fn open(context: &Context, file: Option<&Path>) -> Result<Self, VerbsError> {
        let opened = match file {
            Some(path) => DomainFile::open(path.to_owned()),
            None => default_file().and_then(DomainFile::open),
        };
        let opened = opened.inspect_err(|why| {
            tracing::warn!(%why, "no file for the XRC domain: no rank of this node shares its connections");
        });
        let shared = opened.ok();
        let descriptor = shared.as_ref().map(|shared| shared.file.as_fd());
        let domain = context.open_xrc_domain(descriptor)?;
        let alone = || RandomState::new().hash_one(0);
        Ok(Self {
            domain,
            identity: shared.as_ref().map_or_else(alone, |shared| shared.identity),
            _file: shared.map(Arc::new),
        })
    }
}

/// The file of this user's ranks on this node.
fn default_file() -> io::Result<PathBuf> {
    let user = std::fs::metadata("/proc/self")?.uid();
    let shared = Path::new("/dev/shm");
    let folder = match shared.is_dir() {
        true => shared.to_owned(),
        false => std::env::temp_dir(),
    };
    Ok(folder.join(format!("oxmpi-xrc-{user}")))
}

impl DomainFile {
    /// Opens a file of this user, which other users do not open, and makes it where it is missing.
    fn open(path: PathBuf) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.mode(0o600).custom_flags(O_NOFOLLOW).open(&path)?;
        let of = file.metadata()?;
        if !of.is_file() || of.uid() != std::fs::metadata("/proc/self")?.uid() {
            let why = format!("{} is no file of this user", path.display());
            return Err(io::Error::other(why));
        }
        let identity = identity(&of);
        Ok(Self {
            path,
            file,
            identity,
        })
    }
}

impl Drop for DomainFile {
    /// Removes the file. Ranks that have it open keep their domain, and those that come later make another one: they share
    /// connections among themselves only.
    fn drop(&mut self) {
        if std::fs::metadata(&self.path).is_ok_and(|of| identity(&of) == self.identity) {
            // Another rank may have removed it just now.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(of: &Metadata) -> u64 {
    of.dev().rotate_left(32) ^ of.ino()
}

/// Requests of one peer that an initiator has in flight at most, for each of which it has room.
fn room_of_peer(options: &VerbsOptions, peers: u32) -> u32 {
    let queues = options.receive_queues.iter();
    let messages: u32 = queues.map(|queue| queue.most_in_flight(peers)).sum();
    let confirmations = options.receive_queues.len() as u32 * CONFIRMATIONS;
    messages + confirmations + MOST_ACCESSES + options.rings.slots
}

/// What an initiator holds, and for how many ranks of a node that is.
///
/// # Errors
/// When the device does not answer.
pub(super) fn initiator_capacity(
    context: &Context,
    options: &VerbsOptions,
    peers: u32,
) -> Result<(QueueCapacity, u32), VerbsError> {
    let room = room_of_peer(options, peers);
    let most = context.limits()?.max_qp_wr / room;
    let most = most.min(MOST_PEERS).min(peers).max(1);
    let capacity = QueueCapacity {
        max_inline_data: options.inline.min(MAX_INLINE as u32),
        ..QueueCapacity::new(room * most, 0)
    };
    Ok((capacity, most))
}

impl NodeKey {
    pub(super) fn of(rail: u8, there: &PairAddress) -> Option<Self> {
        let domain = there.extended?.domain;
        let PairAddress { gid, lid, .. } = *there;
        Some(Self {
            rail,
            gid,
            lid,
            domain,
        })
    }
}

impl Initiators {
    /// One that is connected with a node, and takes another rank of it.
    pub(super) fn find(&mut self, node: NodeKey, most: u32) -> Option<&ConnectedInitiator> {
        self.0.retain(|known| known.pair.upgrade().is_some());
        let takes = |known: &&ConnectedInitiator| known.node == node && known.ranks() < most;
        self.0.iter().find(takes)
    }

    /// Counts a rank of a node that is connected by the initiator `number`. False: that was put in error.
    pub(super) fn count(&mut self, node: NodeKey, number: u32) -> bool {
        let is_it = |known: &&mut ConnectedInitiator| {
            let pair = known.pair.upgrade().filter(|_| known.node == node);
            pair.is_some_and(|pair| pair.number() == number)
        };
        let known = self.0.iter_mut().find(is_it);
        known.map(|known| known.peers += 1).is_some()
    }
}

impl ConnectedInitiator {
    /// Ranks that are connected by it, or may soon be.
    fn ranks(&self) -> u32 {
        self.peers + Arc::strong_count(&self.offers) as u32 - 1
    }
}
