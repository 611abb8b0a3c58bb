//! Windows of ranks that are threads of the test: what each epoch leaves in the memory of all, by each path.

mod conflicts;
mod corrupt;
mod footprint;
mod hostile;
mod kinds;
mod locks;

use oxmpi_coll::check::draw;
use oxmpi_os::RawBytes;
use oxmpi_wire::layout::{Basic, Datatype};

use super::{LockKind, Shape, Window, WindowRange};
use crate::bytes::{source, target};
use crate::operation::{ElementKind, Op};
use crate::placement::on_one_node;
use crate::test_job::job_with;
use crate::window_state::AccumulateOp;
use crate::{Communicator, EndpointPolicy, Error, Single};

/// How ranks access windows of their node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paths {
    /// By loads and stores.
    Mapped,
    /// By messages.
    Messages,
    /// Odd ranks by messages, the others by loads and stores.
    Mixed,
}

const PATHS: [Paths; 3] = [Paths::Mapped, Paths::Messages, Paths::Mixed];

/// Runs `rank` with a window of `words` words for each rank.
fn windows(size: u32, paths: Paths, words: usize, rank: impl Fn(&Window<Single>) + Sync) {
    let policy = EndpointPolicy {
        direct_windows: paths != Paths::Messages,
        ..EndpointPolicy::default()
    };
    job_with(on_one_node(size), &policy, |comm| {
        let mut private = vec![0u64; words];
        let heap = comm.heap().expect("an endpoint").expect("a heap");
        let block = heap.allocate(8 * words as u64).expect("room");
        let is_mapped = paths == Paths::Mapped || comm.group().rank() % 2 == 0;
        let memory = match is_mapped {
            // SAFETY: the block outlives the window.
            true => unsafe { RawBytes::new(block.start().as_ptr(), 8 * words) },
            false => target(&mut private),
        };
        let window = Window::create(comm, memory, 8).expect("a window");
        let me = comm.group().rank() as usize;
        let others = (0..size as usize).filter(|&other| other != me);
        for other in others {
            let reaches = paths == Paths::Mapped || paths == Paths::Mixed && other % 2 == 0;
            assert_eq!(window.reaches(other), reaches, "rank {other} by {paths:?}");
        }
        rank(&window);
        window.free().expect("no rank fails");
    });
}

fn numbers(size: usize) -> std::ops::Range<usize> {
    0..size
}

/// The words of this rank's memory.
fn own(window: &Window<Single>, words: usize) -> Vec<u64> {
    let mut values = vec![0; words];
    target(&mut values[..]).copy_from(&window.memory());
    values
}

fn me_and_size(comm: &Communicator<Single>) -> (usize, usize) {
    (comm.group().rank() as usize, comm.group().size() as usize)
}

const SUM: (ElementKind, AccumulateOp) = (ElementKind::U64, AccumulateOp::Predefined(Op::SUM));

/// Words that are put and read, and words that are added to.
const PUT: usize = 3000;
const ADDED: usize = 1200;

/// One access of a round.
struct Access {
    origin: usize,
    target: usize,
    /// The first word and how many; every other one where `strided`.
    first: usize,
    count: usize,
    strided: bool,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Put,
    Get,
    Add,
}

impl Access {
    /// The places of its words.
    fn words(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, step) = (self.first, 1 + usize::from(self.strided));
        (0..self.count).map(move |i| first + step * i)
    }

    fn value(&self, round: u64, word: usize) -> u64 {
        draw(round, (self.origin * 1_000_003 + word) as u64)
    }
}

/// The accesses of all ranks in a round. Each part of a rank's words is written by one rank, or read.
fn accesses(size: usize, round: u64) -> Vec<Access> {
    let mut all = Vec::new();
    for target in 0..size {
        let mut at = 0;
        let mut number = 0;
        while at < PUT {
            number += 1;
            let drawn = |what: u64, below: usize| {
                let seed = round * 1009 + target as u64;
                (draw(seed, number * 16 + what) % below as u64) as usize
            };
            let longest = [3, 60, 1500][drawn(0, 3)];
            let len = (1 + drawn(1, longest)).min(PUT - at);
            let strided = drawn(2, 3) == 0;
            let count = if strided { len.div_ceil(2) } else { len };
            let (first, origin) = (at, drawn(3, size));
            at += len;
            let what = if drawn(4, 2) == 0 {
                What::Put
            } else {
                What::Get
            };
            all.push(Access {
                origin,
                target,
                first,
                count,
                strided,
                what,
            });
        }
        for origin in 0..size {
            let drawn = |what: u64, below: usize| {
                let seed = round * 2003 + (target * size + origin) as u64;
                (draw(seed, what) % below as u64) as usize
            };
            let strided = drawn(0, 2) == 0;
            let count = 1 + drawn(1, ADDED / 2);
            let first = PUT + drawn(2, ADDED / 2 - count / 2);
            let first = if strided {
                first.min(PUT + ADDED - 2 * count)
            } else {
                first
            };
            all.push(Access {
                origin,
                target,
                first,
                count,
                strided,
                what: What::Add,
            });
        }
    }
    all
}

/// Makes this rank's accesses. Returns what it reads, with the access.
fn make<'a>(
    window: &Window<Single>,
    all: &'a [Access],
    round: u64,
    only: Option<usize>,
) -> Vec<(&'a Access, Box<[u64]>)> {
    let (me, _) = me_and_size(window.comm());
    let mut read = Vec::new();
    let word = Datatype::basic(Basic::new(0, 8, 8));
    let every_other = word.resized(0, 16).expect("a type");
    let mine = all.iter().filter(|access| access.origin == me);
    for access in mine.filter(|access| only.is_none_or(|only| only == access.target)) {
        let shape = match access.strided {
            true => Shape::Instances(&every_other, access.count as u64),
            false => Shape::Bytes(8 * access.count as u64),
        };
        let range = WindowRange {
            rank: access.target,
            displacement: access.first as u64,
            shape,
        };
        let values: Vec<u64> = access
            .words()
            .map(|word| access.value(round, word))
            .collect();
        match access.what {
            What::Put => window.put(source(&values[..]), &range).expect("a put"),
            What::Add => (window.accumulate(source(&values[..]), SUM, &range)).expect("a sum"),
            What::Get => {
                let mut into = vec![0u64; access.count].into_boxed_slice();
                window.get(target(&mut into[..]), &range).expect("a get");
                read.push((access, into));
            }
        }
    }
    read
}

/// What all ranks have after a round.
fn after(model: &mut [Vec<u64>], all: &[Access], round: u64) {
    for access in all {
        for word in access.words() {
            let (place, value) = (&mut model[access.target][word], access.value(round, word));
            match access.what {
                What::Put => *place = value,
                What::Add => *place = place.wrapping_add(value),
                What::Get => {}
            }
        }
    }
}

#[test]
fn epochs_leave_what_their_accesses_say() {
    for (paths, size) in PATHS
        .into_iter()
        .flat_map(|paths| [1, 2, 3, 5].map(|size| (paths, size)))
    {
        windows(size, paths, PUT + ADDED, |window| {
            let comm = window.comm();
            let (me, size) = me_and_size(comm);
            let everybody: Vec<usize> = numbers(size).collect();
            let mut model = vec![vec![0; PUT + ADDED]; size];
            for round in 0..24 {
                let all = accesses(size, round);
                let read = match draw(9, round) % 4 {
                    0 => {
                        window.fence(true).expect("a fence");
                        let read = make(window, &all, round, None);
                        window.fence(false).expect("a fence");
                        read
                    }
                    1 => {
                        window.post(&everybody).expect("a post");
                        window.start(&everybody).expect("a start");
                        let read = make(window, &all, round, None);
                        window.complete().expect("a complete");
                        if me % 2 == 0 {
                            window.wait().expect("a wait");
                        }
                        while me % 2 != 0 && !window.test().expect("a test") {
                            std::thread::yield_now();
                        }
                        read
                    }
                    2 => {
                        window.lock_all().expect("locks");
                        let read = make(window, &all, round, None);
                        window.flush_all().expect("a flush");
                        window.unlock_all().expect("locks");
                        comm.barrier().expect("a barrier");
                        read
                    }
                    _ => {
                        let mut read = Vec::new();
                        for target in numbers(size).map(|i| (i + me) % size) {
                            let kind = match round % 2 {
                                0 => LockKind::Shared,
                                _ => LockKind::Exclusive,
                            };
                            window.lock(target, kind).expect("a lock");
                            read.extend(make(window, &all, round, Some(target)));
                            window.unlock(target).expect("a lock");
                        }
                        comm.barrier().expect("a barrier");
                        read
                    }
                };
                for (access, values) in read {
                    let expected = access.words().map(|word| model[access.target][word]);
                    assert!(
                        expected.eq(values.iter().copied()),
                        "round {round} of {size} ranks by {paths:?}: rank {me} read from {}",
                        access.target
                    );
                }
                after(&mut model, &all, round);
                let own = own(window, PUT + ADDED);
                let wrong = (0..own.len()).find(|&word| own[word] != model[me][word]);
                assert_eq!(
                    wrong, None,
                    "round {round} of {size} ranks by {paths:?}: rank {me}"
                );
                comm.barrier().expect("a barrier");
            }
        });
    }
}

#[test]
fn a_counter_gives_each_number_once() {
    const EACH: u64 = 300;
    for paths in PATHS {
        windows(4, paths, 2, |window| {
            let (me, size) = me_and_size(window.comm());
            let place = WindowRange::bytes(0, 1, 8);
            let mut mine = Vec::new();
            window.lock_all().expect("locks");
            for _ in 0..EACH {
                let mut number = [0u64];
                let (one, before) = (source(&[1u64]), target(&mut number));
                window
                    .get_accumulate(one, before, SUM, &place)
                    .expect("a sum");
                window.flush(0).expect("a flush");
                mine.push(number[0]);
            }
            window.unlock_all().expect("locks");
            assert!(mine.is_sorted(), "rank {me}: {mine:?}");
            let total = EACH as usize * size;
            let mut taken = vec![0u64; total];
            mine.iter().for_each(|&number| taken[number as usize] += 1);
            let comm = window.comm();
            comm.allreduce_in_place(&mut taken, u64::wrapping_add)
                .expect("a sum");
            assert_eq!(taken, vec![1; total]);
        });
    }
}

#[test]
fn an_exclusive_lock_is_one_ranks() {
    const EACH: u64 = 150;
    for paths in PATHS {
        windows(4, paths, 1, |window| {
            let (_, size) = me_and_size(window.comm());
            let place = WindowRange::bytes(size - 1, 0, 8);
            for round in 0..EACH {
                window.lock(size - 1, LockKind::Exclusive).expect("a lock");
                let mut value = [0u64];
                window.get(target(&mut value), &place).expect("a get");
                window.flush(size - 1).expect("a flush");
                value[0] += 1;
                window.put(source(&value), &place).expect("a put");
                window.unlock(size - 1).expect("a lock");
                if round % 50 == 0 {
                    window.lock(size - 1, LockKind::Shared).expect("a lock");
                    window.unlock(size - 1).expect("a lock");
                }
            }
            window.comm().barrier().expect("a barrier");
            if window.comm().group().rank() as usize == size - 1 {
                assert_eq!(own(window, 1), [EACH * size as u64]);
            }
        });
    }
}

#[test]
fn a_swap_happens_where_the_word_is_as_expected() {
    for paths in PATHS {
        windows(3, paths, 1, |window| {
            let (me, size) = me_and_size(window.comm());
            let place = WindowRange::bytes(1, 0, 8);
            window.lock_all().expect("locks");
            // Ranks pass a token round: each waits for its predecessor's number.
            for round in 0..20u64 {
                let expected = round * size as u64 + me as u64;
                loop {
                    let mut before = [0u64];
                    let operands = [expected, expected + 1];
                    window
                        .compare_and_swap(
                            source(&operands),
                            target(&mut before),
                            ElementKind::U64,
                            &place,
                        )
                        .expect("a swap");
                    window.flush(1).expect("a flush");
                    if before[0] == expected {
                        break;
                    }
                    assert!(before[0] < expected, "nobody else swaps");
                    std::thread::yield_now();
                }
            }
            window.unlock_all().expect("locks");
            window.comm().barrier().expect("a barrier");
            if me == 1 {
                assert_eq!(own(window, 1), [20 * size as u64]);
            }
        });
    }
}

#[test]
fn wrong_calls_are_errors_and_change_nothing() {
    for paths in PATHS {
        windows(2, paths, 4, |window| {
            let (me, _) = me_and_size(window.comm());
            let other = 1 - me;
            let word = [7u64];
            let put = |displacement, len| {
                let range = WindowRange::bytes(other, displacement, len);
                window.put(source(&word), &range)
            };
            let is_epoch = |result| matches!(result, Err(Error::WindowEpoch { .. }));
            assert!(is_epoch(put(0, 8)) && is_epoch(window.flush(other)));
            assert!(is_epoch(window.unlock(0)) && is_epoch(window.complete()));
            assert!(is_epoch(window.wait()) && is_epoch(window.unlock_all()));
            window.lock_all().expect("locks");
            assert!(is_epoch(window.lock(0, LockKind::Shared)) && is_epoch(window.fence(true)));
            let is_range = |result| matches!(result, Err(Error::WindowRange { .. }));
            assert!(is_range(put(4, 8)) && is_range(put(u64::MAX, 8)) && is_range(put(1 << 61, 8)));
            assert!(matches!(put(0, 4), Err(Error::Window { .. })));
            let range = WindowRange::bytes(2, 0, 8);
            assert!(matches!(
                window.put(source(&word), &range),
                Err(Error::Rank { named: 2, .. })
            ));
            let float = (ElementKind::F64, AccumulateOp::Predefined(Op::BAND));
            let range = WindowRange::bytes(other, 0, 8);
            assert!(matches!(
                window.accumulate(source(&word), float, &range),
                Err(Error::Operation { .. })
            ));
            let range = WindowRange::bytes(other, 0, 7);
            assert!(window.accumulate(source(&[1u8; 7]), SUM, &range).is_err());
            assert!(matches!(
                window.post(&[0, 0]),
                Err(Error::GroupRank { named: 0, size: 2 })
            ));
            let nobody = WindowRange::bytes(crate::PROC_NULL, 9, 9);
            window.put(source(&word), &nobody).expect("nothing is done");
            window.unlock_all().expect("locks");
            window.comm().barrier().expect("a barrier");
            assert_eq!(own(window, 4), [0; 4]);
        });
    }
}
