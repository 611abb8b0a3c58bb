//! Windows of memory that is attached to them later (MPI 5.0, section 12.2.4). Displacements are addresses.

use oxmpi_os::RawBytes;
use oxmpi_shm::window::{ATTACHED_LATER, NotAttached};
use oxmpi_wire::Bytes;

use super::super::communicator::Communicator;
use super::super::threading::Threading;
use super::Window;
use super::creation::Reach;
use super::near::Near;
use super::target::{WindowRange, offset};
use super::transfer::Checked;
use crate::error::{Error, ErrorClass, Result};

impl<A: Threading> Window<A> {
    /// Makes a window without memory, to which ranks [attach](Window::attach) some (`MPI_Win_create_dynamic`). Its
    /// displacements are addresses of the target. Collective.
    ///
    /// # Errors
    /// As [`Window::create`].
    ///
    /// # Cost
    /// That of [`Window::create`]; 96 KiB of shared memory.
    pub fn create_dynamic(comm: &Communicator<A>) -> Result<Self> {
        // Displacements are added to it, and `attach` exposes the provenance of what they lead to.
        let start = std::ptr::with_exposed_provenance_mut(0);
        // SAFETY: only what is attached is accessed.
        let all = unsafe { RawBytes::new(start, ATTACHED_LATER as usize) };
        Self::of_memory(comm.duplicate()?, all, 1, Reach::AsChosen)
    }

    /// Whether memory is attached to it.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.memory.len() == ATTACHED_LATER
    }

    /// Exposes memory of this rank (`MPI_Win_attach`). It belongs to the window until it is detached: see [`RawBytes::new`].
    ///
    /// # Errors
    /// When the window is of another kind; when some of the memory is attached already, or 4,096 ranges are.
    ///
    /// # Cost
    /// Looks at all ranges that are attached.
    pub fn attach(&self, memory: RawBytes) -> Result<()> {
        let own = self.own_near("attach")?;
        let range = (memory.start().expose_provenance() as u64, memory.len());
        // One thread at a time.
        let attached = self.with_state(|state| {
            if range.1 == 0 {
                state.attached_nothing.push(memory.start().addr());
            }
            let attached = own.words().attached()?;
            Some(attached.attach(range.0, range.1))
        })?;
        match attached {
            Some(Err(why)) => Err(self.not_attached(range, why)),
            _ => Ok(()),
        }
    }

    /// Takes back the memory that was attached at this address (`MPI_Win_detach`).
    ///
    /// # Errors
    /// When none was.
    pub fn detach(&self, start: *const u8) -> Result<()> {
        let own = self.own_near("detach")?;
        let address = start.addr();
        let detached = self.with_state(|state| {
            let attached = own.words().attached();
            let nothing = &mut state.attached_nothing;
            let at = nothing.iter().position(|&nothing| nothing == address);
            attached.is_some_and(|attached| attached.detach(address as u64))
                || at.map(|at| nothing.swap_remove(at)).is_some()
        })?;
        match detached {
            true => Ok(()),
            false => Err(Error::Window {
                rank: self.rank(),
                class: ErrorClass::RmaAttach,
                why: format!(
                    "no memory is attached that begins at {address:#x}; detach takes the address of an attach"
                ),
            }),
        }
    }

    /// What this rank has of its own memory, of a window of this kind.
    fn own_near(&self, call: &str) -> Result<&Near> {
        let own = self.near[self.me as usize].as_ref();
        own.filter(|_| self.is_dynamic())
            .ok_or_else(|| Error::Window {
                rank: self.rank(),
                class: ErrorClass::RmaFlavor,
                why: format!(
                    "its memory was given when it was made; {call} is for windows made without"
                ),
            })
    }

    #[cold]
    fn not_attached(&self, (start, len): (u64, u64), why: NotAttached) -> Error {
        let why = match why {
            NotAttached::Overlaps(other, bytes) => format!(
                "of the {len} B at {start:#x} some are attached already: those of the {bytes} B at {other:#x}"
            ),
            NotAttached::Full(most) => format!(
                "{most} ranges are attached, and the {len} B at {start:#x} are one too many; attach larger ranges"
            ),
        };
        let (rank, class) = (self.rank(), ErrorClass::RmaAttach);
        Error::Window { rank, class, why }
    }

    /// Checks that memory of this node is attached where an access goes.
    #[cold]
    pub(super) fn check_attached(
        &self,
        near: &Near,
        target: &Checked,
        range: &WindowRange<'_>,
    ) -> Result<()> {
        for run in range.shape.runs(target.len) {
            let at = offset(target.base, run.offset);
            if !near.words().is_attached(at, run.len) {
                return Err(self.outside(range.rank, at));
            }
        }
        Ok(())
    }

    /// The error of an access where nothing is attached.
    #[cold]
    pub(super) fn outside(&self, target: usize, at: u64) -> Error {
        let (rank, class) = (self.rank(), ErrorClass::RmaRange);
        let why = format!("rank {target} has attached no memory at {at:#x}, where it was accessed");
        Error::Window { rank, class, why }
    }
}
