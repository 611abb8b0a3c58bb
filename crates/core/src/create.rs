//! Communicators and their groups: the group of one, one of a group, and how two compare (MPI 5.0, sections 7.3
//! and 7.4).

use std::ptr::NonNull;

use oxmpi_coll::catalog::Call;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::collective_state::{Area, Buffers};
use super::communicator::Communicator;
use super::group::Group;
use super::intercomm::InterCommunicator;
use super::process_group::{Comparison, ProcessGroup};
use super::request::RawRequest;
use super::threading::Threading;
use crate::error::{Error, Result};

/// A duplicate of a communicator whose contexts are on their way. It lives until its request has completed.
pub struct StartedDuplicate {
    /// Memory of its own, which the collective writes through a pointer: a box would have it to itself.
    contexts: NonNull<[u32]>,
}

impl Drop for StartedDuplicate {
    fn drop(&mut self) {
        // SAFETY: the pointer is that of a box, and the collective has completed.
        drop(unsafe { Box::from_raw(self.contexts.as_ptr()) });
    }
}

impl StartedDuplicate {
    /// The duplicate of `original`, which started this, once the request has completed.
    #[must_use]
    pub fn finish<A: Threading>(&self, original: &Communicator<A>) -> Communicator<A> {
        original.with_context(self.contexts()[0])
    }

    /// The duplicates of this rank's group and of the intercommunicator, which started this, once the request has completed.
    #[must_use]
    pub fn finish_between<A: Threading>(
        &self,
        local: &Communicator<A>,
        groups: &InterCommunicator<A>,
    ) -> (Communicator<A>, InterCommunicator<A>) {
        let contexts = self.contexts();
        // The groups are disjoint, so their local communicators may share a context.
        let local = local.with_context(contexts[0]);
        (local, groups.with_contexts(contexts[1], contexts[2]))
    }

    fn contexts(&self) -> &[u32] {
        // SAFETY: the memory lives as long as this, and the collective has completed.
        unsafe { self.contexts.as_ref() }
    }
}

impl<A: Threading> Communicator<A> {
    /// The processes of the communicator, in the order of its ranks (`MPI_Comm_group`). No call on the group
    /// communicates.
    #[must_use]
    pub fn process_group(&self) -> ProcessGroup {
        let processes = self
            .access()
            .with(|endpoint| endpoint.processes(self.group()));
        let own = processes[self.group().rank() as usize];
        ProcessGroup::new(processes, own)
    }

    /// A communicator of this process alone (`MPI_COMM_SELF`). No rank communicates.
    ///
    /// # Errors
    /// When the contexts of the endpoint are used up.
    pub fn alone(&self) -> Result<Self> {
        let context = self.agree_on_context_by(|_, _| Ok(()))?;
        let rank = self.group().rank();
        let group = self.group().section(None, rank..rank + 1, 0);
        Ok(Self::new(self.access().clone(), context, group))
    }

    /// Starts to duplicate the communicator: rank 0 gives out the contexts, so that nothing is to be agreed on. The request
    /// completes as that of a collective does; [`StartedDuplicate::finish`] makes the communicator then (`MPI_Comm_idup`).
    ///
    /// # Errors
    /// As [`Communicator::start`]; when rank 0 has no contexts left.
    pub fn start_duplicate(&self) -> Result<(StartedDuplicate, RawRequest)> {
        self.start_contexts(1)
    }

    /// Starts to give all ranks so many contexts of rank 0.
    fn start_contexts(&self, count: usize) -> Result<(StartedDuplicate, RawRequest)> {
        let contexts = NonNull::from(Box::leak(vec![0; count].into_boxed_slice()));
        let started = StartedDuplicate { contexts };
        let (rank, size) = (self.group().rank(), self.group().size());
        if rank == 0 {
            for at in 0..count {
                let own = self.access().with(|endpoint| endpoint.own_context())?;
                // SAFETY: within the memory of `count` contexts.
                let place = unsafe { contexts.cast::<u32>().add(at) };
                // SAFETY: nobody else uses the memory yet.
                unsafe { place.write(own) };
            }
        }
        // SAFETY: the memory lives until the request has completed, and this is the only pointer that writes it.
        let bytes = unsafe { RawBytes::new(contexts.as_ptr().cast(), count * size_of::<u32>()) };
        let call = Call::bcast(rank, size, 0, bytes.len());
        let buffers = Buffers::new(Area::Whole(bytes), Area::Whole(bytes));
        let request = self.start(call, buffers, None)?;
        Ok((started, request))
    }

    /// The same ranks with other contexts, `context` and the next one, on which all of them have agreed.
    pub(super) fn with_context(&self, context: u32) -> Self {
        Self::new(self.access().clone(), context, self.group().clone())
    }

    /// How the communicators compare (`MPI_Comm_compare`). No rank communicates.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Comparison {
        let is_same = self.access().is_same(other.access()) && self.context() == other.context();
        match self.process_group().compare(&other.process_group()) {
            Comparison::Identical if !is_same => Comparison::Congruent,
            comparison => comparison,
        }
    }

    /// A communicator of the processes of `group` on the same endpoint, in the order of the group; `None` where
    /// the calling process is not a member (`MPI_Comm_create`). Collective over this communicator. Members of a
    /// group give the same group; several groups without a common process may be given at once.
    ///
    /// # Errors
    /// Where the members gave different groups, or a member is not in this communicator; when a rank is lost
    /// meanwhile.
    pub fn create(&self, group: &ProcessGroup) -> Result<Option<Self>> {
        let whole = self.process_group();
        let ranks = group.translate(0..group.size(), &whole)?;
        let outside = ranks.contains(&None);
        // A group is known by its first member, who is in no other one.
        let first = ranks.first().copied().flatten();
        let colour = first.filter(|_| !outside).map(|rank| rank as u32);
        let rank = group.rank();
        let part = self.split(rank.and(colour), rank.unwrap_or_default() as i32)?;
        let agreed = part.as_ref().map(Self::process_group);
        match part {
            _ if outside => Err(self.not_in_it()),
            Some(_) if agreed.as_ref() != Some(group) => Err(self.refused(
                &"the members of a group have given different groups to create a communicator of",
            )),
            part => Ok(part),
        }
    }

    /// As [`Communicator::create`], but only the members of `group` call it; another caller gets `None` at once
    /// (`MPI_Comm_create_group`). Threads that create groups with common processes at the same time use different
    /// tags, which must not differ by a multiple of 4,194,303. The tag is apart from those of messages.
    ///
    /// # Errors
    /// When a member is not in this communicator, the tag is too large, or a rank is lost meanwhile.
    pub fn create_group(&self, group: &ProcessGroup, tag: u32) -> Result<Option<Self>> {
        self.check_tag(tag)?;
        let Some(rank) = group.rank() else {
            return Ok(None);
        };
        let ranks = group.translate(0..group.size(), &self.process_group())?;
        let links = ranks.iter().map(|&rank| self.group().link(rank?));
        let links: Option<Vec<u32>> = links.collect();
        let links = links.ok_or_else(|| self.not_in_it())?;
        let ranks: Group = (self.access()).with(|endpoint| endpoint.group(links, rank as u32));
        let context = self.agree_on_context_by(|word, combine| {
            self.allreduce_among(&ranks, tag, word, combine)
        })?;
        Ok(Some(Self::new(self.access().clone(), context, ranks)))
    }

    #[cold]
    fn not_in_it(&self) -> Error {
        self.refused(
            &"the group to create a communicator of has a process that is not in this communicator",
        )
    }
}

impl<A: Threading> InterCommunicator<A> {
    /// As [`Communicator::start_duplicate`], for both groups; [`StartedDuplicate::finish_between`] makes the communicators.
    ///
    /// # Errors
    /// As there.
    pub fn start_duplicate(&self) -> Result<(StartedDuplicate, RawRequest)> {
        self.internal().start_contexts(3)
    }
}
