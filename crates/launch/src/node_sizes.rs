//! The nodes of a command line: as many ranks on each, or a list of the ranks of every node.

use std::fmt;

use oxmpi_coll::nodes::Nodes;
use oxmpi_coll::placement::{Order, Placement};

/// The most ranks of listed nodes together.
const LISTED_MAX: u32 = 1 << 24;

/// How many ranks nodes have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeSizes {
    /// At most so many on each.
    Each(u32),
    /// So many on the first node, on the second one, and so on.
    Listed(Vec<u32>),
}

impl NodeSizes {
    /// Reads `4`, or `4+3+4`; no node has more than `most` ranks.
    ///
    /// # Errors
    /// What is expected.
    pub(crate) fn parse(text: &str, most: u32) -> Result<Self, String> {
        let size = |text: &str| {
            let number = text.parse().ok().filter(|size| (1..=most).contains(size));
            number.ok_or_else(|| format!("a node has from 1 to {most} ranks; 4+3+4 lists nodes"))
        };
        let sizes: Vec<u32> = text.split('+').map(size).collect::<Result<_, _>>()?;
        Ok(match sizes[..] {
            [each] => NodeSizes::Each(each),
            _ if sizes.iter().map(|&size| u64::from(size)).sum::<u64>() > LISTED_MAX.into() => {
                return Err(format!(
                    "listed nodes have at most {LISTED_MAX} ranks together"
                ));
            }
            _ => NodeSizes::Listed(sizes),
        })
    }

    /// The most ranks of a node.
    pub(crate) fn most(&self) -> u32 {
        match self {
            NodeSizes::Each(each) => *each,
            NodeSizes::Listed(sizes) => sizes.iter().max().map_or(0, |most| *most),
        }
    }

    /// The ranks of each node, if they are listed.
    pub(crate) fn listed(&self) -> Option<&[u32]> {
        match self {
            NodeSizes::Each(_) => None,
            NodeSizes::Listed(sizes) => Some(sizes),
        }
    }

    /// The number of ranks: as typed, or those of all listed nodes.
    ///
    /// # Errors
    /// When the two differ.
    pub(crate) fn ranks(&self, typed: Option<u32>) -> Result<Option<u32>, String> {
        let NodeSizes::Listed(sizes) = self else {
            return Ok(typed);
        };
        let sum: u32 = sizes.iter().sum();
        match typed {
            Some(ranks) if ranks != sum => Err(format!(
                "{self} are nodes of {sum} ranks together, not {ranks}: leave -n out, or make them equal"
            )),
            _ => Ok(Some(sum)),
        }
    }

    /// The nodes of `ranks` ranks, which are as many as a list says.
    pub(crate) fn nodes(&self, order: Order, ranks: u32) -> Nodes {
        let sizes = match self {
            NodeSizes::Each(each) => return Placement::new(order, ranks, *each).into(),
            NodeSizes::Listed(sizes) => sizes,
        };
        let nodes: Vec<u32> = match order {
            Order::Block => (0..)
                .zip(sizes)
                .flat_map(|(node, &size)| (0..size).map(move |_| node))
                .collect(),
            // Full nodes are passed over.
            Order::Cyclic => (0..self.most())
                .flat_map(|round| {
                    let free = (0..).zip(sizes).filter(move |&(_, &size)| size > round);
                    free.map(|(node, _)| node)
                })
                .collect(),
        };
        Nodes::of(&nodes)
    }
}

impl fmt::Display for NodeSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeSizes::Each(each) => write!(f, "{each}"),
            NodeSizes::Listed(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                f.write_str(&sizes.join("+"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_coll::nodes::{NodeMap, Nodes};
    use oxmpi_coll::placement::{Order, Placement};

    use super::NodeSizes;

    #[test]
    fn lists_of_nodes_are_read() {
        let read = |text| NodeSizes::parse(text, 65_536).expect("nodes");
        assert_eq!(read("4"), NodeSizes::Each(4));
        let listed = read("4+3+4");
        assert_eq!(
            (listed.to_string(), listed.ranks(None)),
            ("4+3+4".into(), Ok(Some(11)))
        );
        assert!(listed.ranks(Some(12)).is_err() && listed.ranks(Some(11)) == Ok(Some(11)));
        let [block, cyclic] = [Order::Block, Order::Cyclic].map(|order| listed.nodes(order, 11));
        let is = |nodes: &[u32]| Nodes::Listed(NodeMap::new(nodes).into());
        assert_eq!(block, is(&[0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2]));
        assert_eq!(cyclic, is(&[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2]));
        // Nodes that differ in the last one only are even.
        let even = Placement::new(Order::Block, 11, 4);
        assert_eq!(read("4+4+3").nodes(Order::Block, 11), even.into());
        for wrong in [
            "",
            "0",
            "4+",
            "4+x",
            "65537",
            "4,3",
            &["65536"; 257].join("+"),
        ] {
            assert!(NodeSizes::parse(wrong, 65_536).is_err(), "{wrong}");
        }
    }
}
