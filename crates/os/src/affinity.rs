//! The affinity mask of a thread, without the 1,024-processor limit of `cpu_set_t`.
//!
//! A mask is a slice of 64-bit words: processor `i` is bit `i % 64` of word `i / 64`. Source:
//! `sched_setaffinity(2)`, which takes masks of any length.

use std::io;

/// Bits in a word of a mask.
const WORD: usize = u64::BITS as usize;
/// Words of the first attempt to read a mask (1,024 processors), and of the last.
const WORDS_FIRST: usize = 16;
const WORDS_LAST: usize = 1 << 14;

/// The mask of the calling thread, with as many words as the kernel fills.
///
/// # Errors
/// The error of sched_getaffinity(2).
pub fn current() -> io::Result<Vec<u64>> {
    of_thread(0)
}

/// The mask of the thread `tid`; 0 is the calling one.
///
/// # Errors
/// The error of sched_getaffinity(2): `ESRCH` if the thread does not exist.
pub fn of_thread(tid: i32) -> io::Result<Vec<u64>> {
    let mut words = WORDS_FIRST;
    loop {
        let mut mask = vec![0_u64; words];
        let bytes = size_of_val(mask.as_slice());
        // SAFETY: the pointer and the length name exactly the memory of `mask`, which outlives the call.
        let filled =
            unsafe { libc::syscall(libc::SYS_sched_getaffinity, tid, bytes, mask.as_mut_ptr()) };
        if let Ok(filled) = usize::try_from(filled) {
            mask.truncate(filled.div_ceil(size_of::<u64>()));
            return Ok(mask);
        }
        let error = io::Error::last_os_error();
        // The kernel refuses a mask shorter than its own.
        if error.raw_os_error() != Some(libc::EINVAL) || words >= WORDS_LAST {
            return Err(error);
        }
        words *= 2;
    }
}

/// Binds the calling thread to the processors of `mask`.
///
/// Safe between fork and exec: it makes one system call.
///
/// # Errors
/// `EINVAL` if this thread is allowed to use none of the processors.
pub fn set_current(mask: &[u64]) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of_val(mask)` bytes from the pointer, which is the slice's memory.
    let done = unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            0,
            size_of_val(mask),
            mask.as_ptr(),
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The processors of a mask in ascending order.
pub fn cpus(mask: &[u64]) -> impl Iterator<Item = usize> {
    let bits = |word: u64| (0..WORD).filter(move |bit| word >> bit & 1 == 1);
    mask.iter()
        .enumerate()
        .flat_map(move |(at, word)| bits(*word).map(move |bit| at * WORD + bit))
}

/// The mask of exactly these processors.
#[must_use]
pub fn mask(cpus: impl IntoIterator<Item = usize>) -> Vec<u64> {
    let mut mask = Vec::new();
    for cpu in cpus {
        if mask.len() <= cpu / WORD {
            mask.resize(cpu / WORD + 1, 0);
        }
        mask[cpu / WORD] |= 1 << (cpu % WORD);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_holds_what_was_put_in() {
        let numbers = [0, 1, 63, 64, 127, 1_500];
        assert!(cpus(&mask(numbers)).eq(numbers));
        assert!(mask([]).is_empty());
    }

    #[test]
    fn a_thread_can_be_narrowed_and_widened() {
        std::thread::spawn(|| {
            let all = current().expect("every thread has a mask");
            let first = cpus(&all).next().expect("every thread runs somewhere");
            set_current(&mask([first])).expect("one of the allowed processors");
            assert!(cpus(&current().expect("the new mask")).eq([first]));
            set_current(&all).expect("what was allowed before");
            assert_eq!(current().expect("the old mask"), all);
        })
        .join()
        .expect("the thread ended well");
    }

    #[test]
    fn processors_that_do_not_exist_are_refused() {
        let refused = set_current(&mask([100_000])).expect_err("no machine has that many");
        assert_eq!(refused.raw_os_error(), Some(libc::EINVAL));
    }
}
