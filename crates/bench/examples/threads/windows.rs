//! Windows between threads: each rank's memory is behind a lock that an access holds, so accesses complete at once.

use super::{ThreadError, Threads};
use oxmpi_bench::{Comm, Source, Window, Windows};
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A rank's memory in a window.
pub(super) type Exposed = Arc<Mutex<Vec<u8>>>;

/// The tag of the messages by which ranks make a window.
const WINDOW: u32 = u32::MAX - 1;

/// A window of threads.
pub(crate) struct ThreadWindow {
    comm: Threads,
    /// The memory of each rank.
    exposed: Vec<Exposed>,
    landing: Vec<u8>,
}

impl Windows for Threads {
    type Memory = Vec<u8>;
    type Window = ThreadWindow;

    fn alloc(&mut self, bytes: usize) -> Result<Vec<u8>, ThreadError> {
        Ok(vec![0; bytes])
    }

    /// Every rank gives every rank access to its memory.
    fn window(&mut self, memory: Vec<u8>, landing: usize) -> Result<ThreadWindow, ThreadError> {
        let mine = Arc::new(Mutex::new(memory));
        for rank in 0..self.size() {
            self.post(rank, WINDOW, Vec::new(), Some(Arc::clone(&mine)))?;
        }
        let mut exposed = Vec::new();
        for rank in 0..self.size() {
            exposed.extend(self.take(Source::Rank(rank), WINDOW)?.exposed);
        }
        let comm = Threads {
            endpoint: Rc::clone(&self.endpoint),
            members: self.members.clone(),
            ..*self
        };
        Ok(ThreadWindow {
            comm,
            exposed,
            landing: vec![0; landing],
        })
    }
}

impl ThreadWindow {
    fn memory(&self, target: usize) -> MutexGuard<'_, Vec<u8>> {
        let memory = self.exposed[target].lock();
        memory.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds `number` to the number in `bytes`.
fn add(bytes: &mut [u8], number: f32) {
    let before = bytes.try_into().map_or(f32::NAN, f32::from_ne_bytes);
    bytes.copy_from_slice(&(before + number).to_ne_bytes());
}

impl Window for ThreadWindow {
    type Memory = Vec<u8>;
    type Error = ThreadError;

    fn load(&mut self, into: &mut [u8], at: usize) -> Result<(), ThreadError> {
        into.copy_from_slice(&self.memory(self.comm.rank())[at..at + into.len()]);
        Ok(())
    }

    fn store(&mut self, from: &[u8], at: usize) -> Result<(), ThreadError> {
        self.put(from, self.comm.rank(), at)
    }

    fn landing(&mut self) -> Result<&mut [u8], ThreadError> {
        Ok(&mut self.landing)
    }

    fn put(&mut self, from: &[u8], target: usize, at: usize) -> Result<(), ThreadError> {
        self.memory(target)[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn get(&mut self, into: Range<usize>, target: usize, at: usize) -> Result<(), ThreadError> {
        let got = self.memory(target)[at..at + into.len()].to_vec();
        self.landing[into].copy_from_slice(&got);
        Ok(())
    }

    fn accumulate_sum(
        &mut self,
        from: &[f32],
        target: usize,
        at: usize,
    ) -> Result<(), ThreadError> {
        let mut memory = self.memory(target);
        let numbers = memory[at..].chunks_exact_mut(size_of::<f32>());
        numbers
            .zip(from)
            .for_each(|(bytes, number)| add(bytes, *number));
        Ok(())
    }

    fn get_accumulate_sum(
        &mut self,
        from: &[f32],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<(), ThreadError> {
        self.get(into..into + size_of_val(from), target, at)?;
        self.accumulate_sum(from, target, at)
    }

    fn fetch_and_add(
        &mut self,
        number: f32,
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<(), ThreadError> {
        self.get_accumulate_sum(&[number], into, target, at)
    }

    fn compare_and_swap(
        &mut self,
        [expected, new]: [i32; 2],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<(), ThreadError> {
        self.get(into..into + size_of::<i32>(), target, at)?;
        if self.landing[into..into + size_of::<i32>()] == expected.to_ne_bytes() {
            self.put(&new.to_ne_bytes(), target, at)?;
        }
        Ok(())
    }

    fn fence(&mut self, _opens: bool) -> Result<(), ThreadError> {
        self.comm.barrier()
    }

    fn lock(&mut self, _target: usize) -> Result<(), ThreadError> {
        Ok(())
    }

    fn unlock(&mut self, _target: usize) -> Result<(), ThreadError> {
        Ok(())
    }

    fn lock_all(&mut self) -> Result<(), ThreadError> {
        Ok(())
    }

    fn unlock_all(&mut self) -> Result<(), ThreadError> {
        Ok(())
    }

    fn flush(&mut self, _target: usize) -> Result<(), ThreadError> {
        Ok(())
    }

    fn flush_local(&mut self, _target: usize) -> Result<(), ThreadError> {
        Ok(())
    }

    fn flush_all(&mut self) -> Result<(), ThreadError> {
        Ok(())
    }

    fn flush_local_all(&mut self) -> Result<(), ThreadError> {
        Ok(())
    }

    /// Other ranks may still name the memory, but none accesses it any more.
    fn free(mut self) -> Result<Vec<u8>, ThreadError> {
        self.comm.barrier()?;
        let mine = std::mem::take(&mut *self.memory(self.comm.rank()));
        Ok(mine)
    }
}
