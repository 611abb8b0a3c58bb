//! The windows of the runtime as the interface that the benchmark kernels use.

use std::ops::Range;

use oxmpi::window::ByteWindow;
use oxmpi::window::LockKind;
use oxmpi::{Memory, Op, Result};
use oxmpi_bench::{Window, Windows};

use super::timed_comm::TimedComm;

/// A window of the runtime.
pub(crate) struct TimedWindow(ByteWindow);

impl Windows for TimedComm {
    type Memory = Memory<u8>;
    type Window = TimedWindow;

    fn alloc(&mut self, bytes: usize) -> Result<Memory<u8>> {
        self.comm.alloc(bytes)
    }

    fn window(&mut self, memory: Memory<u8>, landing: usize) -> Result<TimedWindow> {
        let landing = self.comm.alloc(landing)?;
        self.comm.byte_window(memory, landing).map(TimedWindow)
    }
}

impl Window for TimedWindow {
    type Memory = Memory<u8>;
    type Error = oxmpi::Error;

    fn load(&mut self, into: &mut [u8], at: usize) -> Result<()> {
        self.0.load(into, at)
    }

    fn store(&mut self, from: &[u8], at: usize) -> Result<()> {
        self.0.store(from, at)
    }

    fn landing(&mut self) -> Result<&mut [u8]> {
        self.0.landing()
    }

    #[inline]
    fn put(&mut self, from: &[u8], target: usize, at: usize) -> Result<()> {
        self.0.put(from, target, at)
    }

    #[inline]
    fn get(&mut self, into: Range<usize>, target: usize, at: usize) -> Result<()> {
        self.0.get(into, target, at)
    }

    #[inline]
    fn accumulate_sum(&mut self, from: &[f32], target: usize, at: usize) -> Result<()> {
        self.0.accumulate(from, Op::SUM, target, at)
    }

    #[inline]
    fn get_accumulate_sum(
        &mut self,
        from: &[f32],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<()> {
        self.0.get_accumulate(from, Op::SUM, into, target, at)
    }

    #[inline]
    fn fetch_and_add(&mut self, number: f32, into: usize, target: usize, at: usize) -> Result<()> {
        self.get_accumulate_sum(&[number], into, target, at)
    }

    #[inline]
    fn compare_and_swap(
        &mut self,
        numbers: [i32; 2],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<()> {
        self.0.compare_and_swap(numbers, into, target, at)
    }

    #[inline]
    fn fence(&mut self, opens: bool) -> Result<()> {
        self.0.fence(opens)
    }

    fn lock(&mut self, target: usize) -> Result<()> {
        self.0.lock(target, LockKind::Shared)
    }

    fn unlock(&mut self, target: usize) -> Result<()> {
        self.0.unlock(target)
    }

    fn lock_all(&mut self) -> Result<()> {
        self.0.lock_all()
    }

    fn unlock_all(&mut self) -> Result<()> {
        self.0.unlock_all()
    }

    #[inline]
    fn flush(&mut self, target: usize) -> Result<()> {
        self.0.flush(target)
    }

    #[inline]
    fn flush_local(&mut self, target: usize) -> Result<()> {
        self.0.flush_local(target)
    }

    #[inline]
    fn flush_all(&mut self) -> Result<()> {
        self.0.flush_all()
    }

    #[inline]
    fn flush_local_all(&mut self) -> Result<()> {
        self.0.flush_local_all()
    }

    fn free(self) -> Result<Memory<u8>> {
        self.0.free()
    }
}
