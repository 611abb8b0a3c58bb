//! Collectives between two groups that are started, once or again and again.

use oxmpi_core::{Result, Threading};

use super::InterComm;
use crate::buffer::Buffer;
use crate::comm::collective::Collective;
use crate::comm::persistent::{Persistent, Prepared};
use crate::comm::request::Request;
use crate::comm::scope::Scope;
use crate::op::{Combine, owned_operation};

/// Where collectives between two groups are started; made by [`InterComm::scope`].
#[derive(Debug)]
pub struct InterScope<'scope, 'env: 'scope, A: Threading> {
    scope: &'scope Scope<'scope, 'env, A>,
    inter: &'env InterComm<A>,
}

impl<A: Threading> Clone for InterScope<'_, '_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Threading> Copy for InterScope<'_, '_, A> {}

impl<'scope, 'env, A: Threading> InterScope<'scope, 'env, A> {
    /// Starts a collective between the two groups, as [`Scope::start`].
    ///
    /// # Errors
    /// As there.
    pub fn start<B, C>(
        self,
        operation: impl Collective<B, C>,
    ) -> Result<Request<'scope, 'env, B, A>>
    where
        B: Buffer + 'env,
        C: Combine + Send + 'static,
    {
        let described = self.inter.describe(operation)?;
        let combine = described.combine.map(owned_operation);
        let raw = &self.inter.internal.raw;
        let request = raw.start_stages(described.stages, combine)?;
        Ok(self.scope.keep(request, described.held))
    }

    /// Starts a persistent collective between the two groups once more, as [`Scope::restart`].
    ///
    /// # Errors
    /// As there.
    pub fn restart<'comm, B: Buffer>(
        self,
        persistent: &'env mut Persistent<'comm, B, A>,
    ) -> Result<Request<'scope, 'env, &'env mut Persistent<'comm, B, A>, A>> {
        self.scope.restart(persistent)
    }
}

impl<A: Threading> InterComm<A> {
    /// Runs `body` with a scope, in which collectives between the two groups are started and borrow
    /// their buffers, as [`Comm::scope`](crate::Comm::scope).
    ///
    /// ```no_run
    /// # use oxmpi::{InterComm, Op, intercomm};
    /// # fn f(inter: &InterComm) -> oxmpi::Result<()> {
    /// let (mine, mut theirs) = ([1.0, 2.0], [0.0; 2]);
    /// inter.scope(|s| {
    ///     let sum = s.start(intercomm::allreduce(&mine, &mut theirs, Op::SUM))?;
    ///     // work of your own
    ///     sum.wait()
    /// })?;
    /// println!("the ranks of the other group have {theirs:?} together");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As there.
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(InterScope<'scope, 'env, A>) -> Result<R>,
    ) -> Result<R> {
        self.internal
            .scope(|scope| body(InterScope { scope, inter: self }))
    }

    /// Prepares a collective between the two groups that is run again and again, as
    /// [`Comm::persistent`](crate::Comm::persistent).
    ///
    /// # Errors
    /// As there.
    pub fn persistent<B, C>(&self, operation: impl Collective<B, C>) -> Result<Persistent<'_, B, A>>
    where
        B: Buffer,
        C: Combine + Send + 'static,
    {
        let described = self.describe(operation)?;
        let combine = described.combine.map(owned_operation);
        let raw = &self.internal.raw;
        let prepared = Prepared::Collective(raw.prepare_stages(described.stages, combine)?);
        Ok(Persistent::new(&self.internal, prepared, described.held))
    }
}
