//! A communicator that damages the data that one of its ranks receives, in all calls or in some.

mod windows;

use crate::common::transport::{ThreadError, Threads};
use crate::common::watched;
use oxmpi_bench::{Blocks, Comm, Nonblocking, Source};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::IntoBytes;

type Result<T> = std::result::Result<T, ThreadError>;

/// The kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// One bit of the data is flipped.
    Flip,
    /// The two halves of the data are swapped: those of two ranks, where more than one sends.
    Swap,
    /// The last item, a byte or a number, is missing.
    Drop,
    /// No data arrives: the buffer keeps its content.
    Stale,
    /// A barrier returns at once on the victim.
    Early,
}

impl Fault {
    /// The faults in data.
    pub(crate) const ALL: [Fault; 4] = [Fault::Flip, Fault::Swap, Fault::Drop, Fault::Stale];

    /// Damages what has come in the place of `before`, made of items of so many bytes.
    fn spoil(self, item: usize, before: &[u8], into: &mut [u8]) {
        if into.is_empty() {
            return;
        }
        let half = into.len() / 2;
        let last = into.len() - item;
        match self {
            Fault::Flip => into[half] ^= 0x10,
            Fault::Swap => into.rotate_left(half),
            Fault::Drop => into[last..].copy_from_slice(&before[last..]),
            Fault::Stale => into.copy_from_slice(before),
            Fault::Early => {}
        }
    }
}

/// The calls that are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Never,
    Always,
    /// The call with this number, counted from 0 over the calls in which the victim receives data.
    Call(usize),
    /// Calls with this root.
    Root(usize),
    /// The calls `from..to`, counted as those of [`When::Call`], in which the victim receives `bytes`; no others
    /// are counted.
    Length {
        bytes: usize,
        from: usize,
        to: usize,
    },
}

/// Logical clocks of all ranks (Lamport, Communications of the ACM 21, 1978): a reading, a message and a
/// barrier advance them, however long the system lets a rank sleep.
type Clocks = Arc<[AtomicU64]>;

/// The defects that `look` finds on each rank when barriers return at once on `victim`.
fn let_go_early(ranks: usize, victim: usize, look: impl Fn(&mut Faulty) -> f64 + Sync) -> Vec<f64> {
    let clocks: Clocks = (0..ranks).map(|_| AtomicU64::new(0)).collect();
    watched(ranks, |inner| {
        let mut world = Faulty {
            clocks: Some(Arc::clone(&clocks)),
            ..Faulty::new(inner, victim, Fault::Early, When::Always)
        };
        let defect = look(&mut world);
        world.settle().expect("no call fails");
        defect
    })
}

/// Asserts that a barrier that returns at once on one rank is found there, and on no other rank, in groups of `sizes`.
pub(crate) fn assert_found_by_the_victim(
    sizes: impl IntoIterator<Item = usize>,
    look: impl Fn(&mut Faulty) -> f64 + Sync,
) {
    for (ranks, victim) in (sizes.into_iter()).flat_map(|ranks| (0..ranks).map(move |v| (ranks, v)))
    {
        let defects = let_go_early(ranks, victim, &look);
        let mut found = (0..)
            .zip(&defects)
            .map(|(rank, &defect)| (rank, defect > 0.0));
        let is_right = found.all(|(rank, is_found)| is_found == (rank == victim));
        assert!(is_right, "{victim} of {ranks}: {defects:?}");
    }
}

/// Nanoseconds by which a reading advances a logical clock.
const TICK: u64 = 1000;

pub(crate) struct Faulty {
    inner: Threads,
    /// The clocks that replace the transport's.
    clocks: Option<Clocks>,
    victim: usize,
    fault: Fault,
    when: When,
    /// The number of calls in which the victim received data.
    pub(crate) seen: usize,
    /// The number of damaged calls.
    pub(crate) spoiled: usize,
    /// The number of barriers that this rank has entered.
    pub(crate) barriers: usize,
    /// Whether the victim left a barrier early and has not settled it.
    owed: bool,
    /// The accesses in windows that are damaged.
    when_in_windows: When,
    /// This rank's accesses in windows.
    pub(crate) accesses: Rc<windows::Accesses>,
}

impl Faulty {
    /// Damages the data that rank `victim` receives over `inner`.
    pub(crate) fn new(inner: Threads, victim: usize, fault: Fault, when: When) -> Self {
        Faulty {
            inner,
            clocks: None,
            victim,
            fault,
            when,
            seen: 0,
            spoiled: 0,
            barriers: 0,
            owed: false,
            when_in_windows: When::Never,
            accesses: Rc::default(),
        }
    }

    /// Damages the data that rank `victim` receives in windows over `inner`, and no messages.
    pub(crate) fn in_windows(inner: Threads, victim: usize, fault: Fault, when: When) -> Self {
        Faulty {
            when_in_windows: when,
            ..Faulty::new(inner, victim, fault, When::Never)
        }
    }

    /// Sets this rank's clock to at least those of `ranks`.
    fn catch_up(&self, ranks: impl Iterator<Item = usize>) {
        let Some(clocks) = &self.clocks else {
            return;
        };
        let mine = &clocks[self.inner.rank()];
        for rank in ranks {
            let theirs = clocks[rank].load(Ordering::Relaxed);
            mine.fetch_max(theirs, Ordering::Relaxed);
        }
    }

    /// Takes part in the barrier that this rank left early.
    pub(crate) fn settle(&mut self) -> Result<()> {
        if std::mem::take(&mut self.owed) {
            self.inner.barrier()?;
            self.catch_up(0..self.inner.size());
        }
        Ok(())
    }

    /// Sets the fault from here on.
    pub(crate) fn switch_to(&mut self, fault: Fault, when: When) {
        (self.fault, self.when) = (fault, when);
    }

    /// Restarts the counts.
    pub(crate) fn recount(&mut self) {
        (self.seen, self.spoiled) = (0, 0);
    }

    /// Counts a call in which this rank receives `length` bytes; returns whether to damage it.
    fn is_struck(&mut self, root: Option<usize>, length: usize) -> bool {
        let is_counted = match self.when {
            When::Length { bytes, .. } => bytes == length,
            _ => true,
        };
        if self.inner.rank() != self.victim || !is_counted {
            return false;
        }
        let number = self.seen;
        self.seen += 1;
        let is_struck = match self.when {
            When::Never => false,
            When::Always => true,
            When::Call(call) => call == number,
            When::Root(wanted) => root == Some(wanted),
            When::Length { from, to, .. } => (from..to).contains(&number),
        };
        self.spoiled += usize::from(is_struck);
        is_struck
    }

    /// Makes a call that receives bytes, and damages them if it is due.
    fn bytes(
        &mut self,
        root: Option<usize>,
        into: &mut [u8],
        call: impl FnOnce(&mut Threads, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let before = into.to_vec();
        call(&mut self.inner, into)?;
        if self.is_struck(root, into.len()) {
            self.fault.spoil(1, &before, into);
        }
        Ok(())
    }

    /// Makes a call that receives numbers, and damages them if it is due.
    fn numbers(
        &mut self,
        root: Option<usize>,
        into: &mut [f32],
        call: impl FnOnce(&mut Threads, &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        let before = into.as_bytes().to_vec();
        call(&mut self.inner, into)?;
        if self.is_struck(root, size_of_val(into)) {
            self.fault
                .spoil(size_of::<f32>(), &before, into.as_mut_bytes());
        }
        Ok(())
    }
}

/// A started collective is the damaged call, when it is tested or waited for.
impl Nonblocking for Faulty {}

impl Comm for Faulty {
    type Error = ThreadError;

    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn now(&self) -> u64 {
        match &self.clocks {
            Some(clocks) => clocks[self.inner.rank()].fetch_add(TICK, Ordering::Relaxed),
            None => self.inner.now(),
        }
    }

    fn send(&mut self, bytes: &[u8], to: usize, tag: u32) -> Result<()> {
        self.settle()?;
        self.inner.send(bytes, to, tag)
    }

    fn recv(&mut self, into: &mut [u8], from: Source, tag: u32) -> Result<()> {
        self.settle()?;
        self.bytes(None, into, |inner, into| inner.recv(into, from, tag))?;
        if let Source::Rank(from) = from {
            self.catch_up(std::iter::once(from));
        }
        Ok(())
    }

    fn exchange<const N: usize>(
        &mut self,
        sends: [(&[u8], usize); N],
        mut receives: [(&mut [u8], Source); N],
        tag: u32,
    ) -> Result<()> {
        let before = receives.each_ref().map(|(into, _)| into.to_vec());
        let inner = receives.each_mut().map(|(into, from)| (&mut **into, *from));
        self.inner.exchange(sends, inner, tag)?;
        let length = before.iter().map(Vec::len).sum();
        if self.is_struck(None, length) {
            for ((into, _), before) in receives.into_iter().zip(&before) {
                self.fault.spoil(1, before, into);
            }
        }
        Ok(())
    }

    fn split(&mut self, group: Option<u32>, key: u32) -> Result<Option<Self>> {
        let part = self.inner.split(group, key)?;
        Ok(part.map(|inner| Faulty {
            when_in_windows: self.when_in_windows,
            accesses: Rc::clone(&self.accesses),
            ..Faulty::new(inner, self.victim, self.fault, self.when)
        }))
    }

    fn barrier(&mut self) -> Result<()> {
        self.barriers += 1;
        self.settle()?;
        if self.fault == Fault::Early && self.rank() == self.victim {
            self.owed = true;
            return Ok(());
        }
        self.inner.barrier()?;
        self.catch_up(0..self.inner.size());
        Ok(())
    }

    fn bcast(&mut self, bytes: &mut [u8], root: usize) -> Result<()> {
        if self.rank() == root {
            return self.inner.bcast(bytes, root);
        }
        self.bytes(Some(root), bytes, |inner, bytes| inner.bcast(bytes, root))
    }

    fn gather(&mut self, mine: &[u8], all: Option<&mut [u8]>, root: usize) -> Result<()> {
        match all {
            None => self.inner.gather(mine, None, root),
            Some(all) => self.bytes(Some(root), all, |inner, all| {
                inner.gather(mine, Some(all), root)
            }),
        }
    }

    fn gatherv(
        &mut self,
        mine: &[u8],
        all: Option<Blocks<'_, &mut [u8]>>,
        root: usize,
    ) -> Result<()> {
        match all {
            None => self.inner.gatherv(mine, None, root),
            Some(Blocks { bytes, lengths }) => self.bytes(Some(root), bytes, |inner, all| {
                inner.gatherv(mine, Some(Blocks::new(all, lengths)), root)
            }),
        }
    }

    fn scatter(&mut self, all: Option<&[u8]>, mine: &mut [u8], root: usize) -> Result<()> {
        self.bytes(Some(root), mine, |inner, mine| {
            inner.scatter(all, mine, root)
        })
    }

    fn scatterv(
        &mut self,
        all: Option<Blocks<'_, &[u8]>>,
        mine: &mut [u8],
        root: usize,
    ) -> Result<()> {
        self.bytes(Some(root), mine, |inner, mine| {
            inner.scatterv(all, mine, root)
        })
    }

    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        self.bytes(None, all, |inner, all| inner.allgather(mine, all))
    }

    fn allgatherv(&mut self, mine: &[u8], all: Blocks<'_, &mut [u8]>) -> Result<()> {
        self.bytes(None, all.bytes, |inner, bytes| {
            inner.allgatherv(mine, Blocks::new(bytes, all.lengths))
        })
    }

    fn alltoall(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.bytes(None, into, |inner, into| inner.alltoall(out, into))
    }

    fn alltoallv(&mut self, out: Blocks<'_, &[u8]>, into: Blocks<'_, &mut [u8]>) -> Result<()> {
        self.bytes(None, into.bytes, |inner, bytes| {
            inner.alltoallv(out, Blocks::new(bytes, into.lengths))
        })
    }

    fn reduce_sum(&mut self, from: &[f32], into: Option<&mut [f32]>, root: usize) -> Result<()> {
        match into {
            None => self.inner.reduce_sum(from, None, root),
            Some(into) => self.numbers(Some(root), into, |inner, into| {
                inner.reduce_sum(from, Some(into), root)
            }),
        }
    }

    fn allreduce_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<()> {
        self.numbers(None, into, |inner, into| inner.allreduce_sum(from, into))
    }

    fn reduce_scatter_block_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<()> {
        self.numbers(None, into, |inner, into| {
            inner.reduce_scatter_block_sum(from, into)
        })
    }

    fn reduce_scatter_sum(
        &mut self,
        from: &[f32],
        items: &[usize],
        into: &mut [f32],
    ) -> Result<()> {
        self.numbers(None, into, |inner, into| {
            inner.reduce_scatter_sum(from, items, into)
        })
    }
}
