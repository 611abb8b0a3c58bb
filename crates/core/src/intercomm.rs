//! One communicator of two groups that do not share a rank (MPI 5.0, section 7.6).

use std::ops::Range;

use super::communicator::Communicator;
use super::threading::Threading;
use crate::bytes::{source, target};
use crate::envelope::{Source, Tag};
use crate::error::Result;

/// How the leader of a group reaches the leader of the other group.
pub struct GroupLeaders<'a, A: Threading> {
    /// A communicator that has both leaders.
    pub peers: &'a Communicator<A>,
    /// The rank of the other leader in `peers`.
    pub leader: usize,
    /// The tag of the messages between the leaders.
    pub tag: u32,
}

impl<A: Threading> Communicator<A> {
    /// The messages of this communicator with its ranks `others`, which are numbered from 0: those of the other
    /// group, where this communicator has both groups. This process, which is none of `others`, has `rank` in
    /// errors. The result sends and receives messages only, and shares the context of this communicator.
    #[must_use]
    pub fn messages_with(&self, others: Range<usize>, rank: usize) -> Self {
        let others = others.start as u32..others.end as u32;
        let ranks = self.group().section(None, others, rank as u32);
        Self::new(self.access().clone(), self.context(), ranks)
    }

    /// A communicator of this group's ranks and another group's, and the range of the other group's ranks in it.
    /// The group whose leader has the lower endpoint rank comes first. Collective over both groups; only rank
    /// `leader` gives `leaders`.
    ///
    /// # Errors
    /// When a rank is in both groups, a leader's two communicators are on different endpoints, or a rank
    /// is lost meanwhile.
    pub fn join_groups(
        &self,
        leader: usize,
        leaders: Option<&GroupLeaders<'_, A>>,
    ) -> Result<(Self, Range<usize>)> {
        let (rank, size) = (self.group().rank() as usize, self.group().size() as usize);
        if (rank == leader) != leaders.is_some() || leader >= size {
            let why = format!("rank {leader} leads its group and reaches the other one's leader");
            return Err(self.refused(&why));
        }
        // Links differ from rank to rank; endpoint ranks are the same on all.
        let own: Vec<u32> = (0..size)
            .filter_map(|rank| self.group().link(rank))
            .map(|link| self.access().with(|endpoint| endpoint.endpoint_rank(link)))
            .collect();
        // A leader whose communicators are on two endpoints sends a size of 0.
        let one_endpoint = leaders.is_none_or(|of| self.access().is_same(of.peers.access()));
        let mine = [if one_endpoint { size as u32 } else { 0 }, own[leader]];
        let mut theirs = [0; 2];
        self.swap_words(leader, leaders, &mine, &mut theirs)?;
        let [their_size, their_leader] = theirs;
        if !one_endpoint || their_size == 0 {
            let why =
                "the communicator of the leaders is on another endpoint than a leader's group";
            return Err(self.members().end_collectives_for(self.refused(&why)));
        }
        let mut far = vec![0; their_size as usize];
        self.swap_words(leader, leaders, &own, &mut far)?;
        if let Some(both) = own.iter().find(|name| far.contains(name)) {
            let why = format!("process {both} is in both groups");
            return Err(self.refused(&why));
        }

        let context = self.agree_on_context_by(|word, combine| {
            self.allreduce_in_place(word, combine)?;
            let mut theirs = [0];
            self.swap_words(leader, leaders, word, &mut theirs)?;
            word[0] = combine(word[0], theirs[0]);
            Ok(())
        })?;
        let is_first = own[leader] < their_leader;
        let (first, second, range, rank) = match is_first {
            true => (&own, &far, size..size + far.len(), rank),
            false => (&far, &own, 0..far.len(), far.len() + rank),
        };
        let names = [&first[..], &second[..]].concat();
        let links = names.iter().map(|&name| {
            let link = self.access().with(|endpoint| endpoint.link(name));
            link.ok_or_else(|| self.refused(&format!("the endpoint has no process {name}")))
        });
        let links = links.collect::<Result<Vec<u32>>>()?;
        let group = (self.access()).with(|endpoint| endpoint.group(links, rank as u32));
        Ok((Self::new(self.access().clone(), context, group), range))
    }

    /// The leaders exchange words; each broadcasts the other's to its group.
    fn swap_words(
        &self,
        leader: usize,
        leaders: Option<&GroupLeaders<'_, A>>,
        mine: &[u32],
        theirs: &mut [u32],
    ) -> Result<()> {
        if let Some(GroupLeaders { peers, leader, tag }) = leaders {
            let (out, into) = (source(mine), target(theirs));
            let (from, tag_in) = (Source::Rank(*leader), Tag::Is(*tag));
            peers
                .sendrecv(out, *leader, *tag, into, from, tag_in)
                .map_err(|error| self.members().end_collectives_for(error))?;
        }
        self.bcast(target(theirs), leader as u32)
    }
}
