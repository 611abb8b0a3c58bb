//! Windows that damage the data that one rank receives: what others put into its memory, and what it gets.

use super::{Fault, Faulty, Result, When};
use crate::common::transport::{ThreadError, Threads};
use oxmpi_bench::{Comm, Window, Windows};
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

/// The accesses of a rank by which the victim receives data, and how many of them have been damaged.
#[derive(Default)]
pub(crate) struct Accesses {
    seen: Cell<usize>,
    pub(crate) damaged: Cell<usize>,
}

pub(crate) struct FaultyWindow {
    inner: <Threads as Windows>::Window,
    rank: usize,
    victim: usize,
    fault: Fault,
    when: When,
    accesses: Rc<Accesses>,
}

impl Windows for Faulty {
    type Memory = Vec<u8>;
    type Window = FaultyWindow;

    fn alloc(&mut self, bytes: usize) -> Result<Vec<u8>> {
        self.inner.alloc(bytes)
    }

    fn window(&mut self, memory: Vec<u8>, landing: usize) -> Result<FaultyWindow> {
        Ok(FaultyWindow {
            rank: self.inner.rank(),
            inner: self.inner.window(memory, landing)?,
            victim: self.victim,
            fault: self.fault,
            when: self.when_in_windows,
            accesses: Rc::clone(&self.accesses),
        })
    }
}

impl FaultyWindow {
    /// The fault of an access by which `receiver` gets data, if it is due.
    fn fault(&self, receiver: usize) -> Option<Fault> {
        if receiver != self.victim {
            return None;
        }
        let number = self.accesses.seen.replace(self.accesses.seen.get() + 1);
        let is_struck = match self.when {
            When::Always => true,
            When::Call(call) => call == number,
            When::Never | When::Root(_) | When::Length { .. } => false,
        };
        is_struck.then_some(self.fault)
    }

    /// Counts a damage, unless it has changed nothing.
    fn count<T: PartialEq + ?Sized>(&self, right: &T, wrong: &T) {
        let damaged = &self.accesses.damaged;
        damaged.set(damaged.get() + usize::from(right != wrong));
    }

    /// The items that arrive at the victim instead of `items`; `flip` damages one.
    fn instead<T: Copy + PartialEq>(&self, fault: Fault, items: &[T], flip: fn(T) -> T) -> Vec<T> {
        let mut wrong = items.to_vec();
        match (fault, wrong.len() / 2) {
            (Fault::Flip, half) => wrong
                .iter_mut()
                .skip(half)
                .take(1)
                .for_each(|item| *item = flip(*item)),
            (Fault::Swap, half) => wrong.rotate_left(half),
            (Fault::Drop, _) => drop(wrong.pop()),
            (Fault::Stale, _) => wrong.clear(),
            (Fault::Early, _) => {}
        }
        self.count(items, &wrong);
        wrong
    }

    /// Makes an access that brings data into the landing, and damages it if it is due.
    fn brings(
        &mut self,
        into: Range<usize>,
        access: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let before = self.inner.landing()?[into.clone()].to_vec();
        access(self)?;
        if let Some(fault) = self.fault(self.rank) {
            let landing = &mut self.inner.landing()?[into.clone()];
            let right = landing.to_vec();
            fault.spoil(1, &before, landing);
            let wrong = landing.to_vec();
            self.count(&right, &wrong);
        }
        Ok(())
    }
}

impl Window for FaultyWindow {
    type Memory = Vec<u8>;
    type Error = ThreadError;

    fn load(&mut self, into: &mut [u8], at: usize) -> Result<()> {
        self.inner.load(into, at)
    }

    fn store(&mut self, from: &[u8], at: usize) -> Result<()> {
        self.inner.store(from, at)
    }

    fn landing(&mut self) -> Result<&mut [u8]> {
        self.inner.landing()
    }

    fn put(&mut self, from: &[u8], target: usize, at: usize) -> Result<()> {
        match self.fault(target) {
            None => self.inner.put(from, target, at),
            Some(fault) => {
                let wrong = self.instead(fault, from, |byte| byte ^ 0x10);
                self.inner.put(&wrong, target, at)
            }
        }
    }

    fn get(&mut self, into: Range<usize>, target: usize, at: usize) -> Result<()> {
        self.brings(into.clone(), |window| window.inner.get(into, target, at))
    }

    fn accumulate_sum(&mut self, from: &[f32], target: usize, at: usize) -> Result<()> {
        match self.fault(target) {
            None => self.inner.accumulate_sum(from, target, at),
            Some(fault) => {
                let wrong = self.instead(fault, from, |number| number + 16.0);
                self.inner.accumulate_sum(&wrong, target, at)
            }
        }
    }

    fn get_accumulate_sum(
        &mut self,
        from: &[f32],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<()> {
        let landing = into..into + size_of_val(from);
        self.brings(landing.clone(), |window| {
            window.inner.get(landing, target, at)
        })?;
        self.accumulate_sum(from, target, at)
    }

    fn fetch_and_add(&mut self, number: f32, into: usize, target: usize, at: usize) -> Result<()> {
        self.get_accumulate_sum(&[number], into, target, at)
    }

    fn compare_and_swap(
        &mut self,
        [expected, new]: [i32; 2],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<()> {
        let arrives = match self.fault(target) {
            None => Some(new),
            Some(fault) => {
                let wrong = self.instead(fault, &[new], |number| number ^ 0x10);
                wrong.first().copied()
            }
        };
        let numbers = [expected, arrives.unwrap_or(expected)];
        self.brings(into..into + size_of::<i32>(), |window| {
            window.inner.compare_and_swap(numbers, into, target, at)
        })
    }

    fn fence(&mut self, opens: bool) -> Result<()> {
        self.inner.fence(opens)
    }

    fn lock(&mut self, target: usize) -> Result<()> {
        self.inner.lock(target)
    }

    fn unlock(&mut self, target: usize) -> Result<()> {
        self.inner.unlock(target)
    }

    fn lock_all(&mut self) -> Result<()> {
        self.inner.lock_all()
    }

    fn unlock_all(&mut self) -> Result<()> {
        self.inner.unlock_all()
    }

    fn flush(&mut self, target: usize) -> Result<()> {
        self.inner.flush(target)
    }

    fn flush_local(&mut self, target: usize) -> Result<()> {
        self.inner.flush_local(target)
    }

    fn flush_all(&mut self) -> Result<()> {
        self.inner.flush_all()
    }

    fn flush_local_all(&mut self) -> Result<()> {
        self.inner.flush_local_all()
    }

    fn free(self) -> Result<Vec<u8>> {
        self.inner.free()
    }
}
