//! The addresses of all ranks of a job ([`AddressDirectory`]): the result of the exchange.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::message::{describe, read};
use super::{ExchangeError, NodeAddressTable, RankAddress};

/// Node and address of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankLocation<'a> {
    /// The number of its node.
    pub node: u32,
    /// The text that the node's ranks have in common.
    pub common: &'a str,
    /// Its process id there.
    pub pid: u32,
    /// The port at which it listens.
    pub port: u16,
}

/// Node and address of every rank of a job. Takes 12 bytes a rank, and the common text of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressDirectory {
    node_texts: Vec<String>,
    ranks: Vec<RankEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RankEntry {
    node: u32,
    pid: u32,
    port: u16,
}

/// The entry of a rank that no table has named yet.
const UNKNOWN: RankEntry = RankEntry {
    node: u32::MAX,
    pid: 0,
    port: 0,
};

impl AddressDirectory {
    /// Decodes [`AddressExchange::encode_all`](super::AddressExchange::encode_all), in a job of `ranks` ranks
    /// on `nodes` nodes.
    ///
    /// # Errors
    /// If `bytes` is not such a message, a table does not decode, or a rank is in two tables, in none, or not
    /// of the job.
    pub fn read(ranks: u32, nodes: u32, bytes: &[u8]) -> Result<Self, ExchangeError> {
        let message = read(0, bytes)?;
        if (message.nodes, message.first, message.tables.len()) != (nodes, 0, nodes as usize) {
            return Err(ExchangeError::Unexpected {
                from: 0,
                got: describe(message.nodes, message.first, message.tables.len()),
                expected: format!("all {nodes}"),
            });
        }
        let mut all = Self {
            node_texts: Vec::with_capacity(nodes as usize),
            ranks: vec![UNKNOWN; ranks as usize],
        };
        for (node, table) in (0..).zip(&message.tables) {
            all.add(node, NodeAddressTable::decode(node, table)?)?;
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

    fn add(&mut self, node: u32, table: NodeAddressTable) -> Result<(), ExchangeError> {
        let ranks = self.ranks.len() as u32;
        for RankAddress { rank, pid, port } in table.ranks {
            let entry = self.ranks.get_mut(rank as usize);
            let entry = entry.ok_or(ExchangeError::NoSuchRank { node, rank, ranks })?;
            if *entry != UNKNOWN {
                let nodes = [entry.node, node];
                return Err(ExchangeError::Duplicate { rank, nodes });
            }
            *entry = RankEntry { node, pid, port };
        }
        self.node_texts.push(table.common);
        Ok(())
    }

    /// Node and address of a rank; `None` if the job has no such rank.
    #[must_use]
    pub fn locate(&self, rank: u32) -> Option<RankLocation<'_>> {
        let &RankEntry { node, pid, port } = self.ranks.get(rank as usize)?;
        let common = self.node_texts.get(node as usize)?;
        Some(RankLocation {
            node,
            common,
            pid,
            port,
        })
    }

    /// The common text of each node, in the order of nodes.
    #[must_use]
    pub fn node_texts(&self) -> &[String] {
        &self.node_texts
    }
}
