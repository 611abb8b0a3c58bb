//! Where all ranks are.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::message::read;
use super::{ExchangeError, NodeAddressTable, RankAddress};

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankLocation<'a> {
    /// The number of its node.
    pub node: u32,
    /// What the node's ranks have in common.
    pub common: &'a str,
    /// Its process there.
    pub pid: u32,
    /// The port that it listens at.
    pub port: u16,
}

/// Where all ranks of a job are. Twelve bytes a rank, and a text a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressDirectory {
    commons: Vec<String>,
    ranks: Vec<RankEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RankEntry {
    node: u32,
    pid: u32,
    port: u16,
}

/// A rank that no node has named yet.
const UNKNOWN: RankEntry = RankEntry {
    node: u32::MAX,
    pid: 0,
    port: 0,
};

impl AddressDirectory {
    /// Reads what [`AddressExchange::encode_all`](super::AddressExchange::encode_all) has written, in a job of `ranks` on
    /// `nodes`.
    ///
    /// # Errors
    /// What is no such message; sheets that are none; a rank that two nodes have, or none, or that is
    /// not of the job.
    pub fn read(ranks: u32, nodes: u32, bytes: &[u8]) -> Result<Self, ExchangeError> {
        let parcel = read(0, bytes)?;
        if (parcel.nodes, parcel.first, parcel.sheets.len()) != (nodes, 0, nodes as usize) {
            return Err(ExchangeError::Unexpected {
                from: 0,
                got: format!(
                    "{} sheets from node {} on, of {}",
                    parcel.sheets.len(),
                    parcel.first,
                    parcel.nodes
                ),
                expected: format!("all {nodes}"),
            });
        }
        let mut all = Self {
            commons: Vec::with_capacity(nodes as usize),
            ranks: vec![UNKNOWN; ranks as usize],
        };
        for (node, sheet) in (0..).zip(&parcel.sheets) {
            all.add(node, NodeAddressTable::decode(node, sheet)?)?;
        }
        let missing = all.ranks.iter().position(|entry| *entry == UNKNOWN);
        match missing {
            None => Ok(all),
            Some(rank) => Err(ExchangeError::Missing {
                rank: rank as u32,
                ranks,
                nodes,
            }),
        }
    }

    fn add(&mut self, node: u32, sheet: NodeAddressTable) -> Result<(), ExchangeError> {
        let ranks = self.ranks.len() as u32;
        for RankAddress { rank, pid, port } in sheet.ranks {
            let entry = self.ranks.get_mut(rank as usize);
            let entry = entry.ok_or(ExchangeError::NoSuchRank { node, rank, ranks })?;
            if *entry != UNKNOWN {
                let nodes = [entry.node, node];
                return Err(ExchangeError::Duplicate { rank, nodes });
            }
            *entry = RankEntry { node, pid, port };
        }
        self.commons.push(sheet.common);
        Ok(())
    }

    /// Where a rank is; `None`: the job has no such rank.
    #[must_use]
    pub fn locate(&self, rank: u32) -> Option<RankLocation<'_>> {
        let &RankEntry { node, pid, port } = self.ranks.get(rank as usize)?;
        let common = self.commons.get(node as usize)?;
        Some(RankLocation {
            node,
            common,
            pid,
            port,
        })
    }

    /// What the ranks of each node have in common, in the order of nodes.
    #[must_use]
    pub fn commons(&self) -> &[String] {
        &self.commons
    }
}
