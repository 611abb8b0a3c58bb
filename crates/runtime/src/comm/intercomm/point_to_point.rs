//! Messages between two groups: those of a communicator, with ranks of the remote group.

use std::mem::MaybeUninit;

use oxmpi_core::{Destination, Result, Source, Status, Tag, Threading};

use super::InterComm;
use crate::comm::{Message, OwnedRequest};
use crate::data::Data;
use crate::values::{Values, ValuesMut};

impl<A: Threading> InterComm<A> {
    /// Sends `values` to rank `to` of the remote group, as [`Comm::send`](crate::Comm::send).
    ///
    /// # Errors
    /// As there.
    pub fn send<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        self.remote.send(values, to, tag)
    }

    /// As [`Comm::ssend`](crate::Comm::ssend), to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn ssend<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        self.remote.ssend(values, to, tag)
    }

    /// As [`Comm::rsend`](crate::Comm::rsend), to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn rsend<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        self.remote.rsend(values, to, tag)
    }

    /// As [`Comm::bsend`](crate::Comm::bsend), to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn bsend<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        self.remote.bsend(values, to, tag)
    }

    /// Receives from the remote group, as [`Comm::recv`](crate::Comm::recv).
    ///
    /// # Errors
    /// As there.
    pub fn recv<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        self.remote.recv(values, source, tag)
    }

    /// As [`Comm::recv_vec`](crate::Comm::recv_vec), from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn recv_vec<T: Data>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<T>, Status)> {
        self.remote.recv_vec(source, tag)
    }

    /// As [`Comm::recv_uninit`](crate::Comm::recv_uninit), from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn recv_uninit<'buf, T: Data>(
        &self,
        values: &'buf mut [MaybeUninit<T>],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(&'buf mut [T], Status)> {
        self.remote.recv_uninit(values, source, tag)
    }

    /// As [`Comm::sendrecv`](crate::Comm::sendrecv), to and from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn sendrecv<S: Data, R: Data>(
        &self,
        send: &(impl Values<S> + ?Sized),
        to: impl Into<Destination>,
        send_tag: u32,
        recv: &mut (impl ValuesMut<R> + ?Sized),
        from: impl Into<Source>,
        recv_tag: impl Into<Tag>,
    ) -> Result<Status> {
        self.remote
            .sendrecv(send, to, send_tag, recv, from, recv_tag)
    }

    /// As [`Comm::probe`](crate::Comm::probe), for messages of the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn probe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Status> {
        self.remote.probe(source, tag)
    }

    /// As [`Comm::iprobe`](crate::Comm::iprobe), for messages of the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn iprobe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Option<Status>> {
        self.remote.iprobe(source, tag)
    }

    /// As [`Comm::mprobe`](crate::Comm::mprobe), for messages of the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn mprobe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Message<'_, A>> {
        self.remote.mprobe(source, tag)
    }

    /// As [`Comm::improbe`](crate::Comm::improbe), for messages of the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn improbe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Message<'_, A>>> {
        self.remote.improbe(source, tag)
    }

    /// As [`Comm::isend_owned`](crate::Comm::isend_owned), to the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn isend_owned<T: Data>(
        &self,
        values: Vec<T>,
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<OwnedRequest<'_, T, A>> {
        self.remote.isend_owned(values, to, tag)
    }

    /// As [`Comm::irecv_owned`](crate::Comm::irecv_owned), from the remote group.
    ///
    /// # Errors
    /// As there.
    pub fn irecv_owned<T: Data>(
        &self,
        room: usize,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<OwnedRequest<'_, T, A>> {
        self.remote.irecv_owned(room, source, tag)
    }
}
