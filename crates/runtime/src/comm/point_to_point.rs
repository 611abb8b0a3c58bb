//! Blocking sends, receives and probes (MPI 5.0, chapter 3). Ranks may be `PROC_NULL` (section 3.10).

use std::mem::MaybeUninit;

use oxmpi_core::{Destination, Mode, Result, Source, Status, Tag, Threading};

use super::{Comm, Message};
use crate::data::Data;
use crate::values::{Values, ValuesMut};

impl<A: Threading> Comm<A> {
    /// Sends `values` to rank `to` (`MPI_Send`). When it returns, `values` may be changed; a short message
    /// may not have been received yet. Nothing is sent to [`PROC_NULL`](crate::PROC_NULL).
    ///
    /// # Errors
    /// When the rank does not exist, the tag is too large, or the peer is lost.
    ///
    /// # Cost
    /// Up to the eager limit one copy; above it the call waits for the receive. The code for a short message
    /// that finds room is inlined.
    #[inline(always)]
    pub fn send<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        let Destination(to) = to.into();
        if self.raw.send_short(&values.lend().bytes, to, tag) {
            return Ok(());
        }
        self.raw.send(values.lend().bytes, to, tag, Mode::Standard)
    }

    /// Sends, and returns after the receive has begun (`MPI_Ssend`).
    ///
    /// # Errors
    /// As [`Comm::send`].
    pub fn ssend<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        let Destination(to) = to.into();
        self.raw
            .send(values.lend().bytes, to, tag, Mode::Synchronous)
    }

    /// Sends to a receive that is known to be posted (`MPI_Rsend`). Without a posted receive the message
    /// still arrives.
    ///
    /// # Errors
    /// As [`Comm::send`].
    pub fn rsend<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        let Destination(to) = to.into();
        self.raw.send(values.lend().bytes, to, tag, Mode::Ready)
    }

    /// Sends a copy of `values` and returns at once (`MPI_Bsend`, and `MPI_Ibsend` too). The copy is freed
    /// when it has been sent; dropping the [`World`](crate::World) waits for that.
    ///
    /// # Errors
    /// As [`Comm::send`].
    pub fn bsend<T: Data>(
        &self,
        values: &(impl Values<T> + ?Sized),
        to: impl Into<Destination>,
        tag: u32,
    ) -> Result<()> {
        let Destination(to) = to.into();
        self.raw.bsend(values.lend().bytes, to, tag, 0)
    }

    /// Receives into `values`, which may be longer than the message (`MPI_Recv`). A receive from
    /// [`PROC_NULL`](crate::PROC_NULL) leaves them as they are and gives [`Status::PROC_NULL`].
    ///
    /// # Errors
    /// [`Error::Truncated`](crate::Error::Truncated) when the message is longer than `values`; when the rank
    /// does not exist or is lost.
    ///
    /// # Cost
    /// The code for a short message that has arrived is inlined.
    #[inline(always)]
    pub fn recv<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        (self.raw).recv(values.lend_mut().bytes, source.into(), tag.into())
    }

    /// Receives a message of any length (`MPI_Mprobe` and `MPI_Mrecv`).
    ///
    /// # Errors
    /// [`Error::PartialElement`](crate::Error::PartialElement) when its length is not a multiple of an
    /// element's; when the rank does not exist or is lost.
    pub fn recv_vec<T: Data>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<T>, Status)> {
        self.mprobe(source, tag)?.recv_vec()
    }

    /// Receives into memory that need not be initialised, and gives the elements that the message filled
    /// (`MPI_Mprobe` and `MPI_Mrecv`). The others stay as they are.
    ///
    /// ```
    /// # use oxmpi::World;
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// # comm.bsend(&[1u32, 2, 3], comm.rank(), 7)?;
    /// let mut room = Vec::with_capacity(1000);
    /// let (got, status) = comm.recv_uninit::<u32>(room.spare_capacity_mut(), comm.rank(), 7)?;
    /// assert_eq!((&*got, status.bytes), (&[1, 2, 3][..], 12));
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comm::recv`] and [`Comm::recv_vec`].
    ///
    /// # Cost
    /// As [`Comm::recv_vec`] without the allocation: as many bytes as the message has are set to zero first.
    pub fn recv_uninit<'buf, T: Data>(
        &self,
        values: &'buf mut [MaybeUninit<T>],
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(&'buf mut [T], Status)> {
        self.mprobe(source, tag)?.recv_uninit(values)
    }

    /// Sends one message and receives another, in any order (`MPI_Sendrecv`). A rank that is `None` is
    /// [`PROC_NULL`](crate::PROC_NULL), as beyond the edge of a [grid](crate::Cart::shift):
    ///
    /// ```
    /// # use oxmpi::{Grid, World};
    /// # let world = World::init()?;
    /// # let comm = world.comm();
    /// let line = comm.cart(Grid::new(&[comm.size()], &[false]))?.expect("every rank has a place");
    /// let [left, right] = line.shift(0, 1);
    /// let mut ghost = [-1.0];
    /// line.sendrecv(&[line.rank() as f64], right, 0, &mut ghost, left, 0)?;
    /// assert_eq!(ghost, [line.rank() as f64 - 1.0]); // rank 0 keeps its -1
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a send and of a receive.
    pub fn sendrecv<S: Data, R: Data>(
        &self,
        send: &(impl Values<S> + ?Sized),
        to: impl Into<Destination>,
        send_tag: u32,
        recv: &mut (impl ValuesMut<R> + ?Sized),
        from: impl Into<Source>,
        recv_tag: impl Into<Tag>,
    ) -> Result<Status> {
        let (Destination(to), from, recv_tag) = (to.into(), from.into(), recv_tag.into());
        let (out, into) = (send.lend().bytes, recv.lend_mut().bytes);
        self.raw.sendrecv(out, to, send_tag, into, from, recv_tag)
    }

    /// As [`Comm::sendrecv`], with the message that comes in place of the one that goes (`MPI_Sendrecv_replace`).
    ///
    /// # Errors
    /// As there; a message longer than `values` among them.
    ///
    /// # Cost
    /// A copy of `values`.
    pub fn sendrecv_replace<T: Data>(
        &self,
        values: &mut (impl ValuesMut<T> + ?Sized),
        to: impl Into<Destination>,
        send_tag: u32,
        from: impl Into<Source>,
        recv_tag: impl Into<Tag>,
    ) -> Result<Status> {
        let (Destination(to), bytes) = (to.into(), values.lend_mut().bytes);
        (self.raw).sendrecv_replace(bytes, to, send_tag, from.into(), recv_tag.into())
    }

    /// Waits for a message without receiving it (`MPI_Probe`).
    ///
    /// # Errors
    /// When the rank does not exist or is lost.
    pub fn probe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Status> {
        self.raw.probe(source.into(), tag.into())
    }

    /// Checks for a message without waiting or receiving it (`MPI_Iprobe`).
    ///
    /// # Errors
    /// When the rank does not exist or is lost.
    pub fn iprobe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Option<Status>> {
        self.raw.iprobe(source.into(), tag.into())
    }

    /// Waits for a message and takes it out of the queue: only its handle can receive it (`MPI_Mprobe`).
    ///
    /// # Errors
    /// When the rank does not exist or is lost.
    pub fn mprobe(&self, source: impl Into<Source>, tag: impl Into<Tag>) -> Result<Message<'_, A>> {
        let (message, status) = self.raw.mprobe(source.into(), tag.into())?;
        Ok(Message::new(self, message, status))
    }

    /// As [`Comm::mprobe`], without waiting (`MPI_Improbe`).
    ///
    /// # Errors
    /// When the rank does not exist or is lost.
    pub fn improbe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Message<'_, A>>> {
        let found = self.raw.improbe(source.into(), tag.into())?;
        Ok(found.map(|(message, status)| Message::new(self, message, status)))
    }
}
