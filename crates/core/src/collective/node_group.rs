//! How the ranks of a node make the node group of a communicator, or of a persistent collective.

use std::sync::LazyLock;

use oxmpi_os::cache::{self, Cache};
use oxmpi_os::{affinity, cpu};
use oxmpi_shm::node::collective::NodeGroup;

use super::super::collective_state::NodeGroups;
use super::super::communicator::Communicator;
use super::super::endpoint::Endpoint;
use super::super::threading::Threading;
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    /// Makes a node group with all other ranks of its node, or agrees with all ranks that there is none.
    /// Until it returns there is none.
    #[cold]
    pub(crate) fn make_node_group(&self) -> Result<()> {
        let context = self.context();
        let make = |endpoint: &mut Endpoint, links: &[u32], me| {
            endpoint.make_node_group(context, links, me)
        };
        let made = self.make_group(&self.links_on_node(), make)?;
        (self.access()).with(|endpoint| match made {
            MadeGroup::None => {}
            MadeGroup::Alone => endpoint.set_alone_on_node(context),
            MadeGroup::Group(node_group) => endpoint.keep_node_group(context, node_group),
        });
        Ok(())
    }

    /// A node group that no other collective uses; `None`: the ranks have none left.
    #[cold]
    pub(super) fn own_group(&self) -> Result<Option<NodeGroups>> {
        let links = self.links_on_node();
        let mut free = [match links.len() {
            1 => u32::MAX,
            _ => (self.access()).with(|endpoint| endpoint.free_own_groups(&links)),
        }];
        self.allreduce_in_place(&mut free, |one, other| one & other)?;
        let Some(index) = (0..u32::BITS).find(|index| free[0] >> index & 1 > 0) else {
            return Ok(None);
        };
        let index = index as usize;
        let take =
            |endpoint: &mut Endpoint, links: &[u32], me| endpoint.take_own_group(index, links, me);
        Ok(match self.make_group(&links, take)? {
            MadeGroup::None => None,
            MadeGroup::Alone => Some(NodeGroups::Waited),
            MadeGroup::Group(node_group) => Some(NodeGroups::Own {
                index,
                group: Some(node_group),
            }),
        })
    }

    /// The links to the ranks of this rank's node, itself included, in rank order.
    fn links_on_node(&self) -> Box<[u32]> {
        let group = self.group();
        let nodes = group.nodes();
        let ranks = nodes.ranks_on(nodes.node(group.rank()));
        ranks.filter_map(|rank| group.link(rank as usize)).collect()
    }

    /// A group of the ranks at `links`, which `make` makes, if those of every node can have one.
    fn make_group(
        &self,
        links: &[u32],
        make: impl FnOnce(&mut Endpoint, &[u32], usize) -> Option<NodeGroup>,
    ) -> Result<MadeGroup> {
        let group = self.group();
        let nodes = group.nodes();
        let (node, me) = (nodes.node(group.rank()), nodes.local(group.rank()));
        let is_alone = links.len() == 1;
        let mut node_group = match is_alone {
            true => None,
            false => (self.access()).with(|endpoint| make(endpoint, links, me as usize)),
        };
        if !self.all_agree(is_alone || node_group.is_some())? {
            return Ok(MadeGroup::None);
        }
        let all =
            self.exchange_node_facts(node_group.as_mut().is_none_or(NodeGroup::enable_cma))?;
        let Some(mut node_group) = node_group.map(Box::new) else {
            return Ok(MadeGroup::Alone);
        };
        let of_node = || nodes.ranks_on(node).map(|rank| all[rank as usize]);
        if !of_node().all(|(can_read, _)| can_read) {
            node_group.disable_cma();
        }
        let processors: Option<Vec<u32>> = of_node().map(|(_, processor)| processor).collect();
        let processors = processors.unwrap_or_default();
        node_group.set_processors(&processors);
        node_group.prefer((self.access()).with(|endpoint| endpoint.policy().node_protocol));
        if let Some(cache) = &*LAST_CACHE {
            let known = processors.iter().map(|processor| processor - 1);
            node_group.set_cache(
                cache.bytes,
                cache.sharers(node_group.ranks_on_node(), known),
            );
        }
        Ok(MadeGroup::Group(node_group))
    }

    /// For each rank: whether it can read the memory of the other ranks of its node (this one says
    /// `can_read`), and its processor, if it may run on a single one.
    fn exchange_node_facts(&self, can_read: bool) -> Result<Vec<(bool, Option<u32>)>> {
        let (size, me) = (self.group().size() as usize, self.group().rank() as usize);
        let mut all = vec![0_u32; size];
        let processor = own_processor().map_or(0, |own| own + 1);
        all[me] = processor << 1 | u32::from(can_read);
        self.allreduce_in_place(&mut all, Ord::max)?;
        let facts = |one: u32| {
            (
                one & 1 == 1,
                Some(one >> 1).filter(|&processor| processor > 0),
            )
        };
        Ok(all.into_iter().map(facts).collect())
    }

    /// Whether `does` holds on all ranks.
    fn all_agree(&self, does: bool) -> Result<bool> {
        let mut all = [u8::from(does)];
        self.allreduce_in_place(&mut all, Ord::min)?;
        Ok(all == [1])
    }
}

/// What making a node group has given.
enum MadeGroup {
    /// The ranks of some node can have none.
    None,
    /// This rank is alone on its node; ranks of other nodes have node groups.
    Alone,
    Group(Box<NodeGroup>),
}

/// The last-level cache of the processor on which this process first asked; all are taken to be alike.
static LAST_CACHE: LazyLock<Option<Cache>> = LazyLock::new(|| cache::last(cpu::current()));

/// The processor of this rank, if it may run on a single one.
fn own_processor() -> Option<u32> {
    let mask = affinity::current().ok()?;
    let mut processors = affinity::cpus(&mask);
    let first = processors.next()?;
    match processors.next() {
        None => u32::try_from(first).ok(),
        Some(_) => None,
    }
}
