//! The group of a communicator, communicators of groups, and how two compare (MPI 5.0, sections 7.3 and 7.4).

use oxmpi_core::{Comparison, ProcessGroup, Result, Threading};

use super::Comm;

impl<A: Threading> Comm<A> {
    /// The processes of this communicator, in the order of its ranks (`MPI_Comm_group`). Groups are data: no
    /// call on them communicates.
    ///
    /// ```
    /// # use oxmpi::{Comparison, World};
    /// # let world = World::init()?;
    /// let all = world.comm().group();
    /// let even = all.incl((0..all.size()).step_by(2))?;
    /// let odd = all.difference(&even);
    /// assert_eq!(odd.translate(0..odd.size(), &even)?, vec![None; odd.size()]);
    /// assert_ne!(odd.union(&even).compare(&all), Comparison::Unequal);
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    #[must_use]
    pub fn group(&self) -> ProcessGroup {
        self.raw.process_group()
    }

    /// How this communicator and `other` compare (`MPI_Comm_compare`): they are identical where they are one
    /// communicator, congruent where they have the same processes in the same order, as a duplicate has.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Comparison {
        self.raw.compare(&other.raw)
    }

    /// A communicator of the processes of `group`, in its order; `None` where this process is not a member
    /// (`MPI_Comm_create`). Collective over this communicator. All members of a group give that group; several
    /// groups without a common process may be given at once, and others give any group that they are not in.
    ///
    /// # Errors
    /// When the members gave different groups, or a process of the group is not in this communicator; when a
    /// rank is lost meanwhile.
    pub fn create(&self, group: &ProcessGroup) -> Result<Option<Self>> {
        Ok(self.raw.create(group)?.map(Self::new))
    }

    /// As [`Comm::create`], but only the members of `group` call it (`MPI_Comm_create_group`); another caller gets
    /// `None` at once.
    ///
    /// Where threads create groups that share a process at the same time, each group has a tag of its own; tags
    /// that differ by a multiple of 4,194,303 count as the same. Messages under the same tag do not interfere.
    ///
    /// ```
    /// # use oxmpi::World;
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// let first_half = comm.group().incl(0..comm.size().div_ceil(2))?;
    /// if let Some(half) = comm.create_group(&first_half, 1)? {
    ///     half.barrier()?; // the other half is busy elsewhere
    /// }
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the tag is too large, or a process of the group is not in this communicator; when a rank is lost
    /// meanwhile.
    pub fn create_group(&self, group: &ProcessGroup, tag: u32) -> Result<Option<Self>> {
        Ok(self.raw.create_group(group, tag)?.map(Self::new))
    }
}
