//! One communicator of two groups that do not share a rank (MPI 5.0, section 7.6).

use std::ops::Range;

use super::collective::InterGroups;
use super::communicator::Communicator;
use super::process_group::ProcessGroup;
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

/// Two groups of ranks that communicate, beside the communicator of this rank's own group.
pub struct InterCommunicator<A: Threading> {
    /// Both groups in one.
    both: Communicator<A>,
    /// As `both`, with a context of its own for collectives between the groups.
    internal: Communicator<A>,
    /// The ranks of the remote group in both.
    remote: Range<usize>,
}

impl<A: Threading> InterCommunicator<A> {
    fn new(both: Communicator<A>, remote: Range<usize>) -> Result<Self> {
        Ok(Self {
            internal: both.duplicate()?,
            both,
            remote,
        })
    }

    /// The messages with the remote group; this process has `rank` in errors.
    #[must_use]
    pub fn messages(&self, rank: usize) -> Communicator<A> {
        self.both.messages_with(self.remote.clone(), rank)
    }

    /// Number of ranks of the remote group (`MPI_Comm_remote_size`).
    #[must_use]
    pub fn remote_size(&self) -> usize {
        self.remote.len()
    }

    /// The processes of the remote group (`MPI_Comm_remote_group`).
    #[must_use]
    pub fn remote_group(&self) -> ProcessGroup {
        let remote = self.both.process_group().incl(self.remote.clone());
        remote.unwrap_or_else(|_| unreachable!("the remote group's ranks are among those of both"))
    }

    /// The ranks of this rank's own group in both.
    fn own(&self) -> Range<usize> {
        match self.remote.start {
            0 => self.remote.end..self.both.group().size() as usize,
            start => 0..start,
        }
    }

    /// Both groups, for collectives between them.
    #[must_use]
    pub fn groups(&self) -> InterGroups {
        let ranks = |range: Range<usize>| range.start as u32..range.end as u32;
        InterGroups {
            both: self.internal.group().clone(),
            own: ranks(self.own()),
            remote: ranks(self.remote.clone()),
        }
    }

    /// The communicator on which collectives between the groups run.
    #[must_use]
    pub const fn internal(&self) -> &Communicator<A> {
        &self.internal
    }

    /// The same groups with contexts of their own. Collective over both.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn duplicate(&self) -> Result<Self> {
        Self::new(self.both.duplicate()?, self.remote.clone())
    }

    /// The same groups with these contexts, and the one after each, on which all ranks have agreed.
    pub(super) fn with_contexts(&self, both: u32, internal: u32) -> Self {
        Self {
            both: self.both.with_context(both),
            internal: self.internal.with_context(internal),
            remote: self.remote.clone(),
        }
    }

    /// The intercommunicator of a part of each group (`MPI_Comm_split`, `MPI_Comm_create`). `local` is this rank's part of
    /// its group, `None` if it is in none, and parts of both groups with the same colour belong together. `None` too where the
    /// other group has no such part. Collective over both groups.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn part(&self, local: Option<&Communicator<A>>, colour: u32) -> Result<Option<Self>> {
        // The ranks of the first group stay before those of the second one, each in the order of its part.
        let before = match self.remote.start {
            0 => self.both.group().size() as i32,
            _ => 0,
        };
        let key = local.map_or(0, |local| before + local.group().rank() as i32);
        let part = self.both.split(local.map(|_| colour), key)?;
        let (Some(local), Some(part)) = (local, part) else {
            return Ok(None);
        };
        let (own, all) = (local.group().size() as usize, part.group().size() as usize);
        let remote = if before == 0 { own..all } else { 0..all - own };
        match remote.is_empty() {
            true => Ok(None),
            false => Self::new(part, remote).map(Some),
        }
    }

    /// One communicator of both groups, the one that gives `high` after the other (`MPI_Intercomm_merge`).
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn merge(&self, high: bool) -> Result<Communicator<A>> {
        let merged = self.both.split(Some(0), high.into())?;
        Ok(merged.unwrap_or_else(|| unreachable!("every rank has a colour")))
    }
}

impl<A: Threading> Communicator<A> {
    /// An intercommunicator of this group and another one, (`MPI_Intercomm_create`). Collective over
    /// both groups; only rank `leader` gives `leaders`.
    ///
    /// # Errors
    /// When a rank is in both groups, a leader's two communicators are on different endpoints, or a rank is lost
    /// meanwhile.
    pub fn intercommunicator(
        &self,
        leader: usize,
        leaders: Option<&GroupLeaders<'_, A>>,
    ) -> Result<InterCommunicator<A>> {
        let (both, remote) = self.join_groups(leader, leaders)?;
        InterCommunicator::new(both, remote)
    }

    /// The messages of this communicator with its ranks `others`, which are numbered from 0: those of the other
    /// group, where this communicator has both groups. This process, which is none of `others`, has `rank` in
    /// errors. The result sends and receives messages only, and shares the context of this communicator.
    #[must_use]
    fn messages_with(&self, others: Range<usize>, rank: usize) -> Self {
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
    fn join_groups(
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
