//! The shared words and the memory barrier of the models.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, fence};
use loom::thread::{self, JoinHandle};
use oxmpi_shm::ring::{AsymmetricFence, STRIDE, SharedWords, SleepFlag, words_for};

/// Shared words of a model; words that a test never uses are not made.
#[derive(Clone)]
pub(crate) struct Model {
    // Not the checker's `Arc`: passing the words on must not order them.
    words: Arc<Vec<Option<Word>>>,
    first: usize,
    len: usize,
}

struct Word {
    atomic: AtomicU64,
    cell: UnsafeCell<u64>,
}

impl Model {
    pub(crate) fn new(len: usize, used: impl Fn(usize) -> bool) -> Self {
        let word = |at| {
            used(at).then(|| Word {
                atomic: AtomicU64::new(0),
                cell: UnsafeCell::new(0),
            })
        };
        Self {
            words: Arc::new((0..len).map(word).collect()),
            first: 0,
            len,
        }
    }

    /// A ring of `slots` slots whose messages have one word.
    pub(crate) fn ring(slots: u32) -> Self {
        Self::new(words_for(slots), |at| at % STRIDE < 2)
    }

    /// Reads a word that nobody writes meanwhile, by the protocol: the checker reports a race.
    pub(crate) fn read(&self, at: usize) -> u64 {
        // SAFETY: the checker itself reports a race.
        self.word(at).cell.with(|value| unsafe { *value })
    }

    /// Writes a word that nobody accesses meanwhile, by the protocol: the checker reports a race.
    pub(crate) fn write(&self, at: usize, value: u64) {
        // SAFETY: as above.
        self.word(at)
            .cell
            .with_mut(|place| unsafe { *place = value });
    }

    fn word(&self, at: usize) -> &Word {
        assert!(at < self.len);
        let word = self.words[self.first + at].as_ref();
        word.expect("a word that the test uses")
    }
}

impl SharedWords for Model {
    fn len(&self) -> usize {
        self.len
    }
    unsafe fn part(&self, at: usize, len: usize) -> Self {
        assert!(at + len <= self.len);
        let (words, first) = (Arc::clone(&self.words), self.first + at);
        Self { words, first, len }
    }
    unsafe fn load(&self, at: usize, order: Ordering) -> u64 {
        self.word(at).atomic.load(order)
    }
    unsafe fn store(&self, at: usize, value: u64, order: Ordering) {
        self.word(at).atomic.store(value, order);
    }
    unsafe fn add(&self, at: usize, value: u64, order: Ordering) {
        self.word(at).atomic.fetch_add(value, order);
    }
    unsafe fn exchange(&self, at: usize, old: u64, new: u64, order: Ordering) -> bool {
        let word = &self.word(at).atomic;
        word.compare_exchange(old, new, order, Ordering::Relaxed)
            .is_ok()
    }
    fn fence(&self, order: Ordering) {
        fence(order);
    }
    unsafe fn get(&self, at: usize) -> u64 {
        self.read(at)
    }
    unsafe fn set(&self, at: usize, value: u64) {
        self.write(at, value);
    }
}

/// Runs `work` with `shared`, clones of the test's own, in another thread.
pub(crate) fn spawn_with<T: 'static, R: 'static>(
    shared: T,
    work: impl FnOnce(T) -> R + 'static,
) -> JoinHandle<R> {
    thread::spawn(move || work(shared))
}

/// A flag of a receiver that is awake.
pub(crate) fn sleep_flag() -> SleepFlag<Model> {
    SleepFlag::new(Model::new(1, |_| true), 0)
}

/// The system's barrier as the checker knows it: a full fence on both sides.
pub(crate) struct Fences;

impl AsymmetricFence for Fences {
    fn light(&self) {
        fence(Ordering::SeqCst);
    }
    fn heavy(&self) {
        fence(Ordering::SeqCst);
    }
}
