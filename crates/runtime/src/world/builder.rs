//! Joining the job with other than the usual settings: [`WorldBuilder`].

use std::fmt;
use std::marker::PhantomData;

use oxmpi_core::{Error, Job, Multi, Result, Single, Threading};
use oxmpi_settings::Assignment;

use super::World;
use crate::comm::Comm;

/// The way in which a process joins its job; made by [`World::builder`].
#[must_use = "`init` joins the job"]
pub struct WorldBuilder<'a, A: Threading = Single> {
    settings: Vec<Assignment>,
    warn: Box<dyn FnMut(&str) + 'a>,
    threading: PhantomData<fn() -> A>,
}

impl WorldBuilder<'_> {
    pub(super) fn new() -> Self {
        Self {
            settings: Vec::new(),
            warn: Box::new(|warning| eprintln!("oxmpi: {warning}")),
            threading: PhantomData,
        }
    }
}

impl<'a, A: Threading> WorldBuilder<'a, A> {
    /// Gives a setting a value, which counts like one of the command line: more than the environment and files.
    /// The last of several values of a setting wins. `oxmpi settings` lists the names.
    ///
    /// A wrong name or value is an error of [`init`](WorldBuilder::init).
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push(Assignment {
            option: "World::builder".to_owned(),
            product: None,
            name: name.into(),
            value: value.into(),
        });
        self
    }

    /// Hands `warn` each warning that joining gives, a sentence without a line's end, in place of printing it to
    /// stderr. Warnings about settings are given on rank 0 only; the report of the setting `start_report` is one
    /// too, on every rank.
    pub fn warnings<'b>(self, warn: impl FnMut(&str) + 'b) -> WorldBuilder<'b, A> {
        WorldBuilder {
            settings: self.settings,
            warn: Box::new(warn),
            threading: PhantomData,
        }
    }

    /// Joins for several threads (`MPI_THREAD_MULTIPLE`): [`World::comm`] is a
    /// [`SharedComm`](crate::SharedComm), each of whose calls takes a lock. [`Comm::endpoint`] gives a thread an
    /// endpoint of its own, without a lock.
    pub fn shared(self) -> WorldBuilder<'a, Multi> {
        WorldBuilder {
            settings: self.settings,
            warn: self.warn,
            threading: PhantomData,
        }
    }

    /// Joins the job of this process (`MPI_Init`, `MPI_Init_thread`).
    ///
    /// # Errors
    /// As [`World::init`].
    pub fn init(mut self) -> Result<World<A>> {
        let settings = self.settings;
        let policy = || {
            let policy = oxmpi_settings::job_policy(settings);
            policy.map_err(|bad| Error::Setting(bad.to_string()))
        };
        let (job, comm) = Job::join(policy, &mut *self.warn)?;
        Ok(World {
            comm: Comm::new(comm),
            job,
            host: oxmpi_os::host::name(),
        })
    }
}

impl<A: Threading> fmt::Debug for WorldBuilder<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
