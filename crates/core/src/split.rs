//! New communicators and endpoints from a communicator: duplicate, split, share (MPI 5.0, section 7.4).

use std::fmt::Display;

use oxmpi_coll::catalog::Call;
use oxmpi_shm::Node;

use super::collective_state::{Area, Buffers};
use super::communicator::Communicator;
use super::endpoint::Endpoint;
use super::group::Group;
use super::ownership::Multi;
use super::thread_endpoints;
use super::threading::Threading;
use crate::boot::{self, EndpointAddress, NetworkListener, WiredRanks};
use crate::bytes::target;
use crate::error::Result;

/// Columns of the table that a split exchanges. Ranks of one colour are ordered by key, then by their old rank.
const COLOUR: usize = 0;
const KEY: usize = 1;
/// The colour of a rank that joins no part: above every colour.
const NO_COLOUR: u64 = u64::MAX;

impl<A: Threading> Communicator<A> {
    /// A communicator of the same group with contexts of its own.
    pub fn duplicate(&self) -> Result<Self> {
        let context = self.agree_on_context()?;
        Ok(self.with_context(context))
    }

    /// The communicator of the ranks with this rank's colour; `None` for a rank without one.
    pub fn split(&self, colour: Option<u32>, key: i32) -> Result<Option<Self>> {
        // Every rank fills its own row of the table; the others' are zero, so a sum joins them. A
        // key is moved to the non-negative numbers.
        let (rank, size) = (self.group().rank() as usize, self.group().size() as usize);
        let mut rows = vec![[0u64; 2]; size];
        rows[rank][COLOUR] = colour.map_or(NO_COLOUR, u64::from);
        rows[rank][KEY] = (i64::from(key) - i64::from(i32::MIN)) as u64;
        self.allreduce_in_place(rows.as_flattened_mut(), u64::wrapping_add)?;

        let context = self.agree_on_context()?;
        let mine = rows[rank][COLOUR];
        if mine == NO_COLOUR {
            return Ok(None);
        }
        let mut members: Vec<usize> = (0..size).filter(|&r| rows[r][COLOUR] == mine).collect();
        members.sort_by_key(|&r| rows[r][KEY]);
        let new_rank = members.iter().take_while(|&&r| r != rank).count() as u32;
        let links = members
            .iter()
            .filter_map(|&r| self.link(r).map(|peer| peer.0))
            .collect();
        let group = (self.access()).with(|endpoint| endpoint.group(links, new_rank));
        // Parts are disjoint, so they may share a context.
        Ok(Some(Self::new(self.access().clone(), context, group)))
    }

    /// The communicator of the ranks that share memory with this one.
    pub fn split_by_node(&self, key: i32) -> Result<Self> {
        let part = self.split(Some(self.node()), key)?;
        Ok(part.unwrap_or_else(|| unreachable!("a rank with a colour joins a part")))
    }

    /// The number of this rank's node: the same on all ranks of a node, and on no other one.
    #[must_use]
    pub fn node(&self) -> u32 {
        // The links of a node come first on each of its ranks, in one order: link 0 is the same rank for all.
        (self.access()).with(|endpoint| endpoint.endpoint_rank(0))
    }

    /// A communicator of the same ranks on a new endpoint that threads may share.
    pub fn share(&self) -> Result<Communicator<Multi>> {
        let (endpoint, group) = self.new_endpoint()?;
        let endpoint = Multi::new(endpoint);
        Ok(Communicator::new(endpoint, Endpoint::FIRST_CONTEXT, group))
    }

    /// A new endpoint among the same ranks, and the group of all its links.
    ///
    /// The ranks connect by system calls with a time limit, so all of them are here before they begin. Some may
    /// still wait for messages of others, which those deliver meanwhile: see `thread_endpoints::while_driving`.
    pub fn new_endpoint(&self) -> Result<(Endpoint, Group)> {
        let ranks = match self.group().is_on_one_node() {
            true => self.connect_on_node().map(WiredRanks::from),
            false => self.connect_over_network(),
        };
        // Where it fails on this rank alone, the others must not wait for it.
        let ranks = ranks.map_err(|why| self.members().end_collectives_for(why))?;
        let endpoint = (self.access()).with(|endpoint| endpoint.for_group(ranks, self.group()))?;
        let group = endpoint.all_ranks(self.group().rank());
        Ok((endpoint, group))
    }

    /// Connects the ranks of this communicator anew, which are all on this node.
    fn connect_on_node(&self) -> Result<Node> {
        let (rank, size) = (self.group().rank(), self.group().size());
        let layout = (self.access()).with(|endpoint| endpoint.policy().start.layout(size));
        let mut text = [0; EndpointAddress::ROOM];
        if rank == 0 {
            let (acceptor, address) = boot::open_acceptor(true)?;
            write(&mut text, &address);
            self.bcast(target(&mut text), 0)?;
            self.barrier()?;
            return thread_endpoints::while_driving(|| boot::accept_ranks(acceptor, layout, None));
        }
        self.bcast(target(&mut text), 0)?;
        self.barrier()?;
        let address = EndpointAddress::decode(&read(&text))?;
        thread_endpoints::while_driving(|| boot::join_node(&address, rank, size))
    }

    /// Connects the ranks of this communicator anew, which are on several nodes.
    fn connect_over_network(&self) -> Result<WiredRanks> {
        let options = (self.access()).with(|endpoint| endpoint.policy().start.clone());
        let (acceptor, own) = boot::open_acceptor(options.network.selection.shared)?;
        let mut text = [0; EndpointAddress::ROOM];
        write(&mut text, &own);
        self.bcast(target(&mut text), 0)?;
        let first = EndpointAddress::decode(&read(&text))?;
        let size = self.group().size();
        let listening = NetworkListener::open(&options.network, acceptor, own, &first, size)?;
        let texts = self.exchange_business_cards(&listening)?;
        let rank = self.group().rank();
        thread_endpoints::while_driving(|| {
            listening.join(rank, &texts, |ranks| options.layout(ranks))
        })
    }

    /// Gives every rank the business cards of all, by rank. All ranks have called it when it returns, but messages
    /// of this rank may not have left it yet.
    fn exchange_business_cards(&self, own: &NetworkListener) -> Result<Vec<String>> {
        let (rank, size) = (self.group().rank(), self.group().size());
        let mut all = vec![[0u8; NetworkListener::ROOM]; size as usize];
        write(&mut all[rank as usize], own);
        let call = Call::allgather(rank, size, NetworkListener::ROOM as u64).with_in_place(true);
        let bytes = Area::Whole(target(all.as_flattened_mut()));
        self.collective(&call, &Buffers::new(Area::empty(), bytes), None)?;
        Ok(all.iter().map(|text| read(text)).collect())
    }

    /// Contexts that no member uses yet: the largest of the members' next ones. Where threads share the endpoint,
    /// another thread of some rank may take them meanwhile; then all ranks try again.
    fn agree_on_context(&self) -> Result<u32> {
        self.agree_on_context_by(|word, combine| self.allreduce_in_place(word, combine))
    }

    /// As [`Communicator::agree_on_context`], among the ranks over which `reduce` reduces a word.
    pub(super) fn agree_on_context_by(
        &self,
        reduce: impl Fn(&mut [u32; 1], fn(u32, u32) -> u32) -> Result<()>,
    ) -> Result<u32> {
        loop {
            let mut next = [self.access().with(|endpoint| endpoint.next_context())];
            reduce(&mut next, Ord::max)?;
            let taken = (self.access()).with(|endpoint| endpoint.take_context(next[0]))?;
            let mut all_took = [u32::from(taken)];
            if !self.access().is_single() {
                reduce(&mut all_took, Ord::min)?;
            }
            if all_took == [1] {
                return Ok(next[0]);
            }
        }
    }
}

/// Writes what `text` says to the front of `room`.
fn write(room: &mut [u8], text: &impl Display) {
    let text = text.to_string();
    room[..text.len()].copy_from_slice(text.as_bytes());
}

/// The text at the front of `room`.
fn read(room: &[u8]) -> String {
    let text = String::from_utf8_lossy(room);
    text.trim_end_matches('\0').to_owned()
}
