//! Accumulates: operations on elements of a target, each atomic (MPI 5.0, section 12.3.4).
//!
//! Whoever changes elements so, this rank, another one of the node or the target itself for a rank of another node, holds
//! the locks of their blocks meanwhile. So they are atomic whatever the path, the operation and the kind.

use oxmpi_os::RawBytes;
use oxmpi_shm::window::WindowWords;
use oxmpi_wire::Bytes;
use oxmpi_wire::layout::Locate;

use super::super::envelope::PROC_NULL;
use super::super::operation::ElementKind;
use super::super::request::RawRequest;
use super::super::threading::Threading;
use super::super::window_state::{AccumulateOp, Accumulation, AwaitedBy, BlockLocks};
use super::Window;
use super::near::Near;
use super::single_word::WordOp;
use super::target::{WindowRange, offset};
use super::transfer::Checked;
use crate::bytes::target;
use crate::error::{Error, ErrorClass, Result};

/// Most bytes of elements that are combined while a block is locked, beside the last element.
const PIECE: usize = 4 << 10;

/// Bytes of the largest element.
const LARGEST: usize = 64;

/// Bytes of a target for which a call takes [`SHORT`] bytes of room: clearing more would take longer than combining them.
const SHORT_PIECE: u64 = 64;
const SHORT: usize = 2 * LARGEST;

/// How often a rank yields its processor to those that combine a block, before it rests.
const YIELDS: u32 = 1000;

/// Room for the elements of a piece, aligned for all kinds.
#[repr(align(64))]
pub(super) struct Room<const N: usize>(pub(super) [u8; N]);

/// When an access has brought its bytes.
#[derive(Clone, Copy)]
enum Ends {
    Flushed,
    /// When its request completes.
    Requested,
    /// When its call returns.
    Returned,
}

/// What an accumulate reads and writes at the origin.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub(super) operands: &'a RawBytes,
    /// Where the elements before go.
    pub(super) before: Option<&'a RawBytes>,
    pub(super) operation: &'a Accumulation,
}

impl Operands<'_> {
    /// Bytes of the operands for `len` bytes of a target. An operation that reads none may be given some.
    pub(super) fn given(&self, len: u64) -> u64 {
        match self.operation.operands(len) {
            0 => 0,
            _ => self.operands.len(),
        }
    }
}

impl<A: Threading> Window<A> {
    /// Combines elements of a target with those of `from`, by an operation on elements of `kind` (`MPI_Accumulate`).
    /// Accumulates of one origin to one place take effect in their order.
    ///
    /// # Errors
    /// As [`Window::put`]; when the kind does not have the operation.
    ///
    /// # Cost
    /// On this node a lock for each 4 KiB, and two copies; else messages of up to 32 KiB.
    pub fn accumulate(
        &self,
        from: RawBytes,
        (kind, op): (ElementKind, AccumulateOp),
        to: &WindowRange<'_>,
    ) -> Result<()> {
        let word = WordOp::new(kind, op);
        if self.combine_word(word, (&from, None), to).is_some() {
            return Ok(());
        }
        let len = match op {
            AccumulateOp::NoOp => to.shape.len().unwrap_or(from.len()),
            _ => from.len(),
        };
        let operands = Operands {
            operands: &from,
            before: None,
            operation: &of_elements(kind, op, len)?,
        };
        (self.combine(("accumulate", Ends::Flushed), &operands, (to, len))).map(drop)
    }

    /// As [`Window::accumulate`], with the elements that were there before in `before` when the access is flushed or its
    /// epoch ends (`MPI_Get_accumulate`, `MPI_Fetch_and_op`).
    ///
    /// # Errors
    /// As [`Window::accumulate`].
    pub fn get_accumulate(
        &self,
        from: RawBytes,
        before: RawBytes,
        (kind, op): (ElementKind, AccumulateOp),
        to: &WindowRange<'_>,
    ) -> Result<()> {
        let call = ("get_accumulate", Ends::Flushed);
        (self.get_combined(call, from, before, (kind, op), to)).map(drop)
    }

    /// As [`Window::get_accumulate`], and waits for the elements: `before` has them when this returns. Meant for one
    /// element.
    ///
    /// # Errors
    /// As [`Window::accumulate`]; what keeps this access from being done is no other call's error.
    ///
    /// # Cost
    /// As [`Window::accumulate`]; by messages one there and back for each.
    pub fn fetch_accumulate(
        &self,
        from: RawBytes,
        before: RawBytes,
        (kind, op): (ElementKind, AccumulateOp),
        to: &WindowRange<'_>,
    ) -> Result<()> {
        let call = ("fetch_accumulate", Ends::Returned);
        self.get_combined(call, from, before, (kind, op), to)?;
        self.note_end(to.rank)
    }

    /// As [`Window::get_accumulate`], with a request that completes when `before` has the elements (`MPI_Rget_accumulate`);
    /// `None`: it has them.
    ///
    /// # Errors
    /// As [`Window::accumulate`].
    pub fn rget_accumulate(
        &self,
        from: RawBytes,
        before: RawBytes,
        (kind, op): (ElementKind, AccumulateOp),
        to: &WindowRange<'_>,
    ) -> Result<Option<RawRequest>> {
        let call = ("rget_accumulate", Ends::Requested);
        self.get_combined(call, from, before, (kind, op), to)
    }

    /// The call with this name, whose bytes have come when this says.
    fn get_combined(
        &self,
        call: (&'static str, Ends),
        from: RawBytes,
        before: RawBytes,
        (kind, op): (ElementKind, AccumulateOp),
        to: &WindowRange<'_>,
    ) -> Result<Option<RawRequest>> {
        let word = WordOp::new(kind, op);
        if self
            .combine_word(word, (&from, Some(&before)), to)
            .is_some()
        {
            return Ok(None);
        }
        let len = before.len();
        let operands = Operands {
            operands: &from,
            before: Some(&before),
            operation: &of_elements(kind, op, len)?,
        };
        self.combine(call, &operands, (to, len))
    }

    /// Stores the second element of `operands` at a target if the first is there, and gives the one that was there before
    /// in `before`, as [`Window::get_accumulate`] (`MPI_Compare_and_swap`).
    ///
    /// # Errors
    /// As [`Window::accumulate`]; of elements other than integers, truth values and bytes.
    pub fn compare_and_swap(
        &self,
        operands: RawBytes,
        before: RawBytes,
        kind: ElementKind,
        to: &WindowRange<'_>,
    ) -> Result<()> {
        self.swap_compared(
            ("compare_and_swap", Ends::Flushed),
            operands,
            before,
            kind,
            to,
        )
    }

    /// As [`Window::compare_and_swap`], and waits for the element: `before` has it when this returns.
    ///
    /// # Errors
    /// As [`Window::fetch_accumulate`].
    pub fn fetch_compare_and_swap(
        &self,
        operands: RawBytes,
        before: RawBytes,
        kind: ElementKind,
        to: &WindowRange<'_>,
    ) -> Result<()> {
        let call = ("fetch_compare_and_swap", Ends::Returned);
        self.swap_compared(call, operands, before, kind, to)?;
        self.note_end(to.rank)
    }

    /// An access to `rank` has ended: where conflicts are looked for, what comes after it is none.
    #[inline]
    fn note_end(&self, rank: usize) -> Result<()> {
        match self.checks && rank != PROC_NULL {
            true => self.finish(rank),
            false => Ok(()),
        }
    }

    fn swap_compared(
        &self,
        call: (&'static str, Ends),
        operands: RawBytes,
        before: RawBytes,
        kind: ElementKind,
        to: &WindowRange<'_>,
    ) -> Result<()> {
        let (word, places) = (WordOp::compare_swap(kind), (&operands, Some(&before)));
        if self.combine_word(word, places, to).is_some() {
            return Ok(());
        }
        let pair = Operands {
            operands: &operands,
            before: Some(&before),
            operation: &Accumulation::compare_swap(kind)?,
        };
        (self.combine(call, &pair, (to, before.len()))).map(drop)
    }

    fn combine(
        &self,
        (call, ends): (&'static str, Ends),
        operands: &Operands<'_>,
        (to, len): (&WindowRange<'_>, u64),
    ) -> Result<Option<RawRequest>> {
        let Some(target) = self.target((call, operands.operation.access_kind()), to, len)? else {
            return Ok(None);
        };
        let Operands {
            operands: from,
            before,
            operation,
        } = *operands;
        if !operation.suits(operands.given(len), len) {
            return Err(self.wrong_operands(operands, len));
        }
        let (awaited_by, request) = match ends {
            Ends::Flushed => (AwaitedBy::Flush, None),
            Ends::Returned => (AwaitedBy::Call, None),
            Ends::Requested => {
                let request = self.request_far(&target)?;
                (
                    request.map_or(AwaitedBy::Flush, AwaitedBy::Request),
                    request,
                )
            }
        };
        let combine = |at, first, len| match self.near(target.peer) {
            Some(near) if len <= SHORT_PIECE => {
                self.combine_near::<SHORT>(near, operands, (at, first, len), to.rank)
            }
            Some(near) => {
                self.combine_near::<{ PIECE + LARGEST }>(near, operands, (at, first, len), to.rank)
            }
            None => {
                let operands = (from, before, first);
                self.accumulate_far(target.peer, operation, (at, len), operands, awaited_by)
            }
        };
        let asked = match operation.padded_size() {
            None => self.each_run(&target, to, combine),
            Some(padded) => {
                self.each_padded(&target, to, (operation.packed(padded), padded), combine)
            }
        };
        self.requested(request, asked)
    }

    /// Calls `with` for each element of the target, of so many packed bytes and bytes in memory.
    fn each_padded(
        &self,
        target: &Checked,
        range: &WindowRange<'_>,
        (packed, padded): (u64, u64),
        mut with: impl FnMut(u64, u64, u64) -> Result<()>,
    ) -> Result<()> {
        (0..target.len / packed).try_for_each(|element| {
            let first = element * packed;
            let at = offset(target.base, range.shape.locate(first).offset);
            with(at, first, padded)
        })
    }

    /// Combines `len` bytes of the target from `at` on with the operands' from `first` on, in `N` bytes of room each.
    fn combine_near<const N: usize>(
        &self,
        near: &Near,
        operands: &Operands<'_>,
        (at, first, len): (u64, u64, u64),
        rank: usize,
    ) -> Result<()> {
        let operation = operands.operation;
        let element = operation
            .padded_size()
            .unwrap_or(operation.kind.size() as u64);
        let (mut elements, mut given) = (Room([0; N]), Room([0; N]));
        let mut done = 0;
        while done < len {
            // Whole elements, one of which may reach into the next block.
            let left = WindowWords::left_in_block(at + done);
            let now = (left.div_ceil(element) * element).min(len - done);
            let count = operation.operands(operation.packed(now));
            let given = &mut given.0[..count as usize];
            let from = if count == 0 { 0 } else { first + done };
            for (to, piece) in pieces_of(given, operands.operands, from) {
                to.copy_from(&piece);
            }
            let _locked = self.lock_blocks(near, at + done, now)?;
            let elements = &mut elements.0[..now as usize];
            let combined = near.update(at + done, elements, |elements| {
                if let Some(before) = operands.before {
                    match operation.padded_size() {
                        None => before.fill(first + done, &mut &*elements),
                        Some(_) => {
                            let mut packed = elements.to_vec();
                            operation.pack(&mut packed);
                            before.fill(first, &mut &packed[..]);
                        }
                    }
                }
                operation.apply(given, elements)
            });
            combined.map_err(|_| self.unreached(rank))?;
            done += now;
        }
        Ok(())
    }

    /// Locks the blocks of the `len` bytes from `at` on.
    #[inline]
    fn lock_blocks<'a>(&self, near: &'a Near, at: u64, len: u64) -> Result<BlockLocks<'a>> {
        match BlockLocks::try_all(near.words(), at, len, self.me) {
            Some(locked) => Ok(locked),
            None => self.wait_for_blocks(near, at, len),
        }
    }

    /// Waits for blocks that others combine. That takes them about as long as a system call, and they wake nobody: so this
    /// rank yields its processor for a while, and only then rests as for messages.
    #[cold]
    fn wait_for_blocks<'a>(&self, near: &'a Near, at: u64, len: u64) -> Result<BlockLocks<'a>> {
        let words = near.words();
        let locked = || BlockLocks::try_all(words, at, len, self.me);
        for _ in 0..YIELDS {
            std::thread::yield_now();
            if let Some(locked) = locked() {
                return Ok(locked);
            }
        }
        self.until_on_node(locked)
    }

    #[cold]
    fn wrong_operands(&self, operands: &Operands<'_>, len: u64) -> Error {
        Error::Window {
            rank: self.rank(),
            class: ErrorClass::Window,
            why: format!(
                "{} B of operands for {len} B of {:?}; they must be whole elements, as many as the operation takes",
                operands.operands.len(),
                operands.operation.kind
            ),
        }
    }
}

/// The operation on `len` bytes of elements: on none, any does nothing, whether the kind has it or not.
fn of_elements(kind: ElementKind, op: AccumulateOp, len: u64) -> Result<Accumulation> {
    let op = if len == 0 { AccumulateOp::NoOp } else { op };
    Accumulation::new(kind, op)
}

/// The places in `into` of the packed bytes of `from` from `first` on, piece by piece.
fn pieces_of(
    into: &mut [u8],
    from: &RawBytes,
    first: u64,
) -> impl Iterator<Item = (RawBytes, RawBytes)> {
    let (whole, mut at) = (target(into), 0);
    from.pieces(first, whole.len()).filter_map(move |piece| {
        let to = whole.range(at, piece.len())?;
        at += piece.len();
        Some((to, piece))
    })
}
