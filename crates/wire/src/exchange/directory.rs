//! Where all ranks are.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::message::read;
use super::{Sheet, Wrong};

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The number of its node.
    pub node: u32,
    /// What the node's ranks have in common.
    pub common: &'a str,
    /// Its own number.
    pub number: u16,
}

/// Where all ranks of a job are. Six bytes a rank, and a text a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    commons: Vec<String>,
    ranks: Vec<(u32, u16)>,
}

/// The node of a rank that no node has named yet.
const NOWHERE: u32 = u32::MAX;

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
            ranks: vec![(NOWHERE, 0); ranks as usize],
        };
        for (node, sheet) in (0..).zip(&parcel.sheets) {
            all.add(node, Sheet::decode(node, sheet)?)?;
        }
        let missing = all.ranks.iter().position(|(node, _)| *node == NOWHERE);
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
        for (rank, number) in sheet.ranks {
            let place = self.ranks.get_mut(rank as usize);
            let place = place.ok_or(Wrong::NoSuchRank { node, rank, ranks })?;
            if place.0 != NOWHERE {
                let nodes = [place.0, node];
                return Err(Wrong::Twice { rank, nodes });
            }
            *place = (node, number);
        }
        self.commons.push(sheet.common);
        Ok(())
    }

    /// Where a rank is; `None`: the job has no such rank.
    #[must_use]
    pub fn place(&self, rank: u32) -> Option<Place<'_>> {
        let &(node, number) = self.ranks.get(rank as usize)?;
        let common = self.commons.get(node as usize)?;
        Some(Place {
            node,
            common,
            number,
        })
    }

    /// The node of each rank, in rank order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = u32> {
        self.ranks.iter().map(|(node, _)| *node)
    }
}
