//! Where all ranks are.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::message::read;
use super::{Seat, Sheet, Wrong};

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
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
pub struct Directory {
    commons: Vec<String>,
    ranks: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    node: u32,
    pid: u32,
    port: u16,
}

/// A rank that no node has named yet.
const NOWHERE: Entry = Entry {
    node: u32::MAX,
    pid: 0,
    port: 0,
};

impl Directory {
    /// Reads what [`Exchange::whole`](super::Exchange::whole) has written, in a job of `ranks` on
    /// `nodes`.
    ///
    /// # Errors
    /// What is no such message; sheets that are none; a rank that two nodes have, or none, or that is
    /// not of the job.
    pub fn read(ranks: u32, nodes: u32, bytes: &[u8]) -> Result<Self, Wrong> {
        let parcel = read(0, bytes)?;
        if (parcel.nodes, parcel.first, parcel.sheets.len()) != (nodes, 0, nodes as usize) {
            return Err(Wrong::Order {
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
            ranks: vec![NOWHERE; ranks as usize],
        };
        for (node, sheet) in (0..).zip(&parcel.sheets) {
            all.add(node, Sheet::decode(node, sheet)?)?;
        }
        let missing = all.ranks.iter().position(|entry| *entry == NOWHERE);
        match missing {
            None => Ok(all),
            Some(rank) => Err(Wrong::Missing {
                rank: rank as u32,
                ranks,
                nodes,
            }),
        }
    }

    fn add(&mut self, node: u32, sheet: Sheet) -> Result<(), Wrong> {
        let ranks = self.ranks.len() as u32;
        for Seat { rank, pid, port } in sheet.ranks {
            let entry = self.ranks.get_mut(rank as usize);
            let entry = entry.ok_or(Wrong::NoSuchRank { node, rank, ranks })?;
            if *entry != NOWHERE {
                let nodes = [entry.node, node];
                return Err(Wrong::Twice { rank, nodes });
            }
            *entry = Entry { node, pid, port };
        }
        self.commons.push(sheet.common);
        Ok(())
    }

    /// Where a rank is; `None`: the job has no such rank.
    #[must_use]
    pub fn place(&self, rank: u32) -> Option<Place<'_>> {
        let &Entry { node, pid, port } = self.ranks.get(rank as usize)?;
        let common = self.commons.get(node as usize)?;
        Some(Place {
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
