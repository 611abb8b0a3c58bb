//! Messages and collectives between two groups that are started, collectives also again and again.

use std::mem::MaybeUninit;

use oxmpi_core::{Destination, Result, Source, Tag, Threading};

use super::InterComm;
use crate::buffer::Buffer;
use crate::comm::collective::Collective;
use crate::comm::persistent::{Persistent, Prepared};
use crate::comm::request::Request;
use crate::comm::scope::Scope;
use crate::data::Data;
use crate::op::{Combine, owned_operation};
use crate::values::{Values, ValuesMut};

/// Where messages and collectives between two groups are started; made by [`InterComm::scope`]. Ranks are those of
/// the remote group.
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
    /// As [`Scope::isend`], to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn isend<T: Data, V: Values<T> + ?Sized>(
        self,
        values: &'env V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Request<'scope, 'env, V::Read<'env>, A>> {
        self.scope.isend(values, to, tag)
    }

    /// As [`Scope::issend`], to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn issend<T: Data, V: Values<T> + ?Sized>(
        self,
        values: &'env V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Request<'scope, 'env, V::Read<'env>, A>> {
        self.scope.issend(values, to, tag)
    }

    /// As [`Scope::irsend`], to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn irsend<T: Data, V: Values<T> + ?Sized>(
        self,
        values: &'env V,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<Request<'scope, 'env, V::Read<'env>, A>> {
        self.scope.irsend(values, to, tag)
    }

    /// As [`Scope::irecv`], from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn irecv<T: Data, V: ValuesMut<T> + ?Sized>(
        self,
        values: &'env mut V,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope, 'env, V::Written<'env>, A>> {
        self.scope.irecv(values, source, tag)
    }

    /// As [`Scope::irecv_uninit`], from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn irecv_uninit<T: Data>(
        self,
        values: &'env mut [MaybeUninit<T>],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope, 'env, &'env mut [T], A>> {
        self.scope.irecv_uninit(values, source, tag)
    }

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
        let raw = self.inter.groups.internal();
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
    /// Runs `body` with a scope, in which messages and collectives between the two groups are started and borrow
    /// their buffers, as [`Comm::scope`](crate::Comm::scope).
    ///
    /// ```no_run
    /// # use oxmpi::{InterComm, Op, intercomm};
    /// # fn f(inter: &InterComm) -> oxmpi::Result<()> {
    /// let (mine, mut theirs) = ([1.0, 2.0], [0.0; 2]);
    /// let mut first = [0u8; 4];
    /// inter.scope(|s| {
    ///     s.irecv(&mut first, 0, 1)?; // from rank 0 of the other group
    ///     s.isend(&[7u8; 4], 0, 1)?;
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
        self.remote
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
        let raw = self.groups.internal();
        let prepared = Prepared::Collective(raw.prepare_stages(described.stages, combine)?);
        Ok(Persistent::new(&self.remote, prepared, described.held))
    }
}
