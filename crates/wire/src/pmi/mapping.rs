//! Which ranks are on which node, as a manager writes it: the value of `PMI_process_mapping`.
//!
//! `(vector,(0,2,4),(2,1,3))` has two blocks. The first says: from node 0 on, 2 nodes with 4 ranks
//! each; the second: from node 2 on, 1 node with 3 ranks. Ranks are counted through the blocks, and
//! when they end before the job's ranks do, from the first block again: `(vector,(0,1,1))` is a
//! job of any size on one node.
//!
//! It is what the manager meant to do. Whether two ranks really share memory shows when they try.

use core::fmt;

use super::Excerpt;

/// The key under which managers publish the mapping.
pub const KEY: &str = "PMI_process_mapping";

/// A mapping that was read and is sound; it borrows its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping<'a> {
    blocks: &'a str,
    /// Ranks that the blocks name before they begin again; at least 1.
    round: u64,
}

/// A text that is no mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{KEY}={got} is no mapping, expected `(vector,(node,nodes,ranks),...)` with nodes and ranks of at least 1"
)]
pub struct MappingError {
    /// Its beginning.
    pub got: Excerpt,
}

/// `nodes` nodes from `first` on, with `ranks` ranks each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeBlock {
    first: u32,
    nodes: u32,
    ranks: u32,
}

impl<'a> Mapping<'a> {
    /// Reads a mapping.
    ///
    /// # Errors
    /// When the text has another form, names a block of nothing, or counts beyond a u32.
    pub fn parse(text: &'a str) -> Result<Self, MappingError> {
        let wrong = || MappingError {
            got: Excerpt::new(text.as_bytes()),
        };
        let inner = text.trim().strip_prefix("(vector");
        let blocks = inner
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(wrong)?;
        let mut round = 0u64;
        let mut rest = blocks;
        while !rest.is_empty() {
            let (block, after) = NodeBlock::read(rest).ok_or_else(wrong)?;
            round = round
                .checked_add(u64::from(block.nodes) * u64::from(block.ranks))
                .ok_or_else(wrong)?;
            rest = after;
        }
        if round == 0 {
            return Err(wrong());
        }
        Ok(Self { blocks, round })
    }

    /// The node of `rank`.
    ///
    /// # Cost
    /// Linear in the number of blocks.
    #[must_use]
    pub fn node(&self, rank: u32) -> u32 {
        let mut left = u64::from(rank) % self.round;
        let mut rest = self.blocks;
        while let Some((block, after)) = NodeBlock::read(rest) {
            let here = u64::from(block.nodes) * u64::from(block.ranks);
            if left < here {
                let within = u32::try_from(left / u64::from(block.ranks));
                return block.first + within.expect("below the block's number of nodes");
            }
            left -= here;
            rest = after;
        }
        0
    }

    /// How many of the first `size` ranks are on the node of `rank`, itself among them.
    ///
    /// # Cost
    /// Linear in `size`, times the number of blocks.
    #[must_use]
    pub fn neighbours(&self, rank: u32, size: u32) -> u32 {
        let node = self.node(rank);
        let same = (0..size).filter(|other| self.node(*other) == node);
        same.fold(0, |count, _| count + 1)
    }
}

impl NodeBlock {
    /// Reads `,(a,b,c)` from the beginning of `text`, and gives what is behind it.
    fn read(text: &str) -> Option<(Self, &str)> {
        let (inside, after) = text.strip_prefix(",(")?.split_once(')')?;
        let mut numbers = inside
            .split(',')
            .map(|word| word.trim().parse::<u32>().ok());
        let mut next = || numbers.next().flatten();
        let (first, nodes, ranks) = (next()?, next()?, next()?);
        let sound = nodes > 0 && ranks > 0 && first.checked_add(nodes).is_some();
        let block = Self {
            first,
            nodes,
            ranks,
        };
        (sound && numbers.next().is_none()).then_some((block, after))
    }
}

impl fmt::Display for Mapping<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(vector{})", self.blocks)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::string::ToString;

    use super::Mapping;

    /// Nodes of the first ranks, for each text that is a mapping.
    const SOUND: &[(&str, &[u32])] = &[
        ("(vector,(0,1,1))", &[0, 0, 0]),
        ("(vector,(0,1,2))", &[0, 0, 0, 0]),
        ("(vector,(0,1,2),(1,1,1))", &[0, 0, 1, 0, 0, 1]),
        ("(vector,(0,2,2))", &[0, 0, 1, 1, 0, 0]),
        ("(vector,(0,3,1))", &[0, 1, 2, 0]),
        ("(vector,(2,2,1),(0,1,2))", &[2, 3, 0, 0, 2]),
        ("(vector, (0,1,4294967295))", &[0, 0]),
    ];

    #[test]
    fn ranks_are_counted_through_the_blocks_and_round_again() {
        for (text, nodes) in SOUND {
            let text = text.replace(' ', "");
            let mapping = Mapping::parse(&text).expect(&text);
            for (rank, node) in (0..).zip(*nodes) {
                assert_eq!(mapping.node(rank), *node, "{text}: rank {rank}");
                let here = nodes.iter().filter(|other| *other == node).count();
                let size = u32::try_from(nodes.len()).expect("few");
                assert_eq!(mapping.neighbours(rank, size) as usize, here, "{text}");
            }
            assert_eq!(mapping.to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let texts = [
            "",
            "(vector)",
            "(vector,)",
            "vector,(0,1,1)",
            "(vector,(0,1))",
            "(vector,(0,1,1,1))",
            "(vector,(0,0,1))",
            "(vector,(0,1,0))",
            "(vector,(-1,1,1))",
            "(vector,(0,1,1)",
            "(vector,(4294967295,1,1))",
            "(vector,(0,4294967296,1))",
            "(vector,(0,4294967295,4294967295),(0,4294967295,4294967295))",
            "(matrix,(0,1,1))",
        ];
        for text in texts {
            let error = Mapping::parse(text).expect_err(text).to_string();
            assert!(error.contains("expected `(vector,"), "{error}");
        }
    }
}
