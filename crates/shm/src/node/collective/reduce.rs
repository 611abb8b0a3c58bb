//! Reductions whose receivers combine the vectors: reduce, allreduce and reduce_scatter.
//!
//! Operands are combined from the left in the order of ranks, on every rank.

use std::convert::Infallible;

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;
use oxmpi_wire::Bytes;

use super::call_kind::CallKind;
use super::catalog::{self, NodeProtocol};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::operands::{Operands, contiguous};
use super::pieces::{self, vector_index};
use super::run::CollectiveRun;
use super::scratch::{ASIDE, OPERAND, SCRATCH_LEN};

#[resumable]
impl NodeGroup {
    /// Whether the group can reduce elements of `element` bytes.
    #[must_use]
    pub const fn can_reduce(&self, element: u64) -> bool {
        let (bounce, pair) = (self.buffer_len, self.pair_buffers.buffer_len);
        pieces::fits(element, if bounce < pair { bounce } else { pair })
    }

    /// The longest elements, in bytes, that a group of any size reduces, on a node of any size.
    pub const MAX_ELEMENT: u64 = 64;

    /// Whether a group of `size` ranks should reduce `len` bytes: some long vectors go faster by messages.
    #[must_use]
    pub const fn is_worth_reducing(size: usize, len: u64) -> bool {
        !catalog::reduces_by_messages(size, len)
    }

    /// Reduces the input of all ranks to the output of `root`. The others' output is not used.
    ///
    /// # Errors
    /// When a rank that this one waits for never arrives.
    ///
    /// # Panics
    /// If the group [cannot reduce](NodeGroup::can_reduce) the elements, or they are not contiguous.
    pub async fn reduce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        if operands.len >= const { CallKind::Reduce.long_from() }
            && self.long_reduce(driver, root, operands).await?
        {
            return Ok(());
        }
        let (me, len) = (self.me, operands.len);
        let pieces = self.pieces_for_one(len, operands.element);
        let mut run = CollectiveRun::new(self, driver, (CallKind::Reduce, root, len), pieces.path);
        for step in 0..pieces.steps() {
            run.others_write(step, root);
            let (at, len) = pieces.part(step);
            if me == root {
                run.wait_for_all(step).await?;
                run.combine((step, 0), operands, (at, at), len);
            } else {
                run.wait_until_free(step).await?;
                run.write_to((root, 0), step, operands.input, (at, len));
                run.publish(step);
                run.wake(root);
            }
            run.finish(step);
        }
        Ok(())
    }

    /// Reduces the input of all ranks to the output of every rank.
    ///
    /// # Errors
    /// When a rank never arrives.
    ///
    /// # Panics
    /// As [`NodeGroup::reduce`].
    ///
    /// # Cost
    /// Up to 56 B: one line written, and one read of each rank.
    pub async fn allreduce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        if operands.len >= const { CallKind::Allreduce.long_from() }
            && self.long_allreduce(driver, operands).await?
        {
            return Ok(());
        }
        let len = operands.len;
        let pieces = self.pieces_for_all(len, operands.element);
        let mut run = CollectiveRun::new(self, driver, (CallKind::Allreduce, 0, len), pieces.path);
        run.exchange(
            pieces,
            |run, step| run.write(step, operands.input, pieces.part(step)),
            |_| Ok(()),
            |run, step| {
                let (at, len) = pieces.part(step);
                run.combine((step, 0), operands, (at, at), len);
            },
        )
        .await
    }

    /// Reduces to `root` by another protocol than buffers. False: the catalog names buffers.
    #[inline(never)]
    async fn long_reduce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        root: usize,
        operands: Operands<'_>,
    ) -> Result<bool, D::Error> {
        let choice = CallKind::Reduce.choose(&self.facts(), &operands.facts());
        match choice.protocol {
            by @ NodeProtocol::Shares => {
                self.reduce_by_shares(driver, (by, Some(root)), operands)
                    .await?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reduces to all by another protocol than buffers. False: the catalog names buffers.
    #[inline(never)]
    async fn long_allreduce<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<bool, D::Error> {
        let choice = CallKind::Allreduce.choose(&self.facts(), &operands.facts());
        match choice.protocol {
            NodeProtocol::Hierarchical => self.hierarchical_allreduce(driver, operands).await?,
            by @ (NodeProtocol::Shares | NodeProtocol::SharesBounce) => {
                self.reduce_by_shares(driver, (by, None), operands).await?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reduces the input of all ranks, of which every rank gets its block, in rank order, at the start of its
    /// output.
    ///
    /// # Errors
    /// When a rank never comes.
    ///
    /// # Panics
    /// As [`NodeGroup::reduce`], or if the input is shorter than a block for each.
    pub async fn reduce_scatter<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        if operands.len < const { CallKind::ReduceScatter.long_from() } {
            return self.reduce_scatter_by_buffers(driver, operands).await;
        }
        self.long_reduce_scatter(driver, operands).await
    }

    // Not inlined, so that a short call, which does not get here, has the registers.
    #[inline(never)]
    async fn long_reduce_scatter<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let kind = (CallKind::ReduceScatter, operands.facts());
        let call = self.begin_long(driver, kind).await?;
        match call.protocol {
            NodeProtocol::Cma => self.reduce_scatter_by_cma(driver, operands).await,
            _ => self.reduce_scatter_by_buffers(driver, operands).await,
        }?;
        self.end_long(driver, call).await
    }

    async fn reduce_scatter_by_buffers<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        operands: Operands<'_>,
    ) -> Result<(), D::Error> {
        let (me, size, block) = (self.me, self.size(), operands.len);
        let pieces = self.pieces_for_each(block, size - 1, operands.element);
        let call = (CallKind::ReduceScatter, 0, block);
        let mut run = CollectiveRun::new(self, driver, call, pieces.path);
        run.exchange(
            pieces,
            |run, step| run.write_blocks(pieces, step, (operands.input, block)),
            |_| Ok(()),
            |run, step| {
                let (at, len) = pieces.part(step);
                let place = |writer| pieces.place(vector_index(writer, me));
                run.combine_from((step, place), operands, (me as u64 * block + at, at), len);
            },
        )
        .await
    }
}

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// [`CollectiveRun::combine_from`] where all payloads begin at the same `place`.
    #[inline]
    pub(super) fn combine(
        &mut self,
        (step, place): (u64, usize),
        operands: Operands<'_>,
        at: (u64, u64),
        len: usize,
    ) {
        self.combine_from((step, |_| place), operands, at, len);
    }

    /// Combines `len` bytes of all ranks: this one's from byte `own` of its input, the others' of `step`,
    /// each from byte `place(rank)` of its payload. The result goes to byte `to` of the output.
    #[inline]
    pub(super) fn combine_from(
        &mut self,
        (step, place): (u64, impl Fn(usize) -> usize),
        operands: Operands<'_>,
        (own, to): (u64, u64),
        len: usize,
    ) {
        if len <= SCRATCH_LEN {
            let own = contiguous(operands.input, own, len);
            let into = contiguous(operands.output, to, len);
            return self.combine_piece((step, place), own, into);
        }
        let longest = SCRATCH_LEN / operands.element * operands.element;
        let mut done = 0;
        while done < len {
            let piece = (len - done).min(longest);
            let own = contiguous(operands.input, own + done as u64, piece);
            let into = contiguous(operands.output, to + done as u64, piece);
            self.combine_piece((step, |rank| place(rank) + done), own, into);
            done += piece;
        }
    }

    /// Combines `into.len()` bytes of all ranks, at most a scratch.
    #[inline]
    pub(super) fn combine_piece(
        &mut self,
        (step, place): (u64, impl Fn(usize) -> usize),
        own: RawBytes,
        into: RawBytes,
    ) {
        let whole = (0, into.len() as usize);
        let among = (self.group.me, self.group.size());
        self.combine_available(among, own, into, |run, rank, to| {
            run.read((rank, step, place(rank)), to, whole);
        });
    }

    /// [`CollectiveRun::combine_all`] where nothing can fail.
    #[inline]
    pub(super) fn combine_available(
        &mut self,
        among: (usize, usize),
        own: RawBytes,
        into: RawBytes,
        mut fetch: impl FnMut(&mut Self, usize, &RawBytes),
    ) {
        let fetch = |run: &mut Self, number, to: &RawBytes| {
            fetch(run, number, to);
            Ok::<_, Infallible>(())
        };
        match self.combine_all(among, own, into, fetch) {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// Combines one piece of `size` ranks, of which this one is number `me`; `fetch` copies the operand of
    /// another rank to the memory that it is given.
    ///
    /// # Errors
    /// As `fetch`.
    #[inline]
    pub(super) fn combine_all<E>(
        &mut self,
        (me, size): (usize, usize),
        own: RawBytes,
        into: RawBytes,
        mut fetch: impl FnMut(&mut Self, usize, &RawBytes) -> Result<(), E>,
    ) -> Result<(), E> {
        let len = into.len() as usize;
        let mut own = own;
        if own.start() == into.start() && me > 0 {
            let aside = self.group.scratch[ASIDE].bytes(len);
            aside.copy_from(&own);
            own = aside;
        }
        // The first rank whose operand is not yet combined.
        let mut first = 1;
        if me > 0 {
            fetch(self, 0, &into)?;
        } else if own.start() != into.start() {
            // The second operand takes the result's place, so that the first one needs no copy.
            fetch(self, 1, &into)?;
            self.driver.fold_left(own, into);
            first = 2;
        }
        for rank in first..size {
            let from = if rank == me {
                own
            } else {
                let room = self.group.scratch[OPERAND].bytes(len);
                fetch(self, rank, &room)?;
                room
            };
            self.driver.fold(from, into);
        }
        Ok(())
    }
}
