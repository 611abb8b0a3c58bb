//! Windows that allocate their memory, share it, or have it attached; and accesses with requests.

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
use oxmpi_wire::layout::{Basic, Datatype, Member};

use super::{SUM, Shape, me_and_size, numbers};
use crate::bytes::{source, target};
use crate::placement::on_one_node;
use crate::test_job::job_with;
use crate::threading::sealed::EndpointAccess;
use crate::{
    AccumulateOp, Communicator, ElementKind, EndpointPolicy, Error, ErrorClass, LockKind, Result,
    Single, Window, WindowRange,
};

/// Runs `rank` as each rank of a node, with windows reached directly and by messages.
fn both_paths(size: u32, rank: impl Fn(&Communicator<Single>) + Sync) {
    for direct_windows in [true, false] {
        let policy = EndpointPolicy {
            direct_windows,
            ..EndpointPolicy::default()
        };
        job_with(on_one_node(size), &policy, &rank);
    }
}

fn class<T: std::fmt::Debug>(result: Result<T>) -> ErrorClass {
    result.expect_err("it is wrong").class()
}

fn barrier(window: &Window<Single>) {
    window.comm().barrier().expect("a barrier");
}

/// A word of this rank's own memory.
fn word(window: &Window<Single>, at: u64) -> u64 {
    let (mut value, bytes) = ([0u64], window.memory().range(8 * at, 8));
    target(&mut value).copy_from(&bytes.expect("within"));
    value[0]
}

#[test]
fn a_window_allocates_its_memory() {
    both_paths(3, |comm| {
        let (me, size) = me_and_size(comm);
        // Different lengths; the last is more than the heap has.
        let len = [0, 64, 24 << 20][me];
        let window = Window::allocate(comm, len, 8).expect("memory");
        assert_eq!(window.memory().len(), len);
        window.fence(true).expect("a fence");
        let value = [me as u64 + 1];
        for to in numbers(size).skip(1) {
            let range = WindowRange::bytes(to, me as u64, 8);
            window.put(source(&value), &range).expect("a put");
        }
        let range = WindowRange::bytes(0, 0, 8);
        assert_eq!(
            class(window.put(source(&value), &range)),
            ErrorClass::RmaRange
        );
        window.fence(false).expect("a fence");
        if me > 0 {
            assert_eq!([0, 1, 2].map(|at| word(&window, at)), [1, 2, 3]);
        }
        window.free().expect("all free it");
    });
}

#[test]
fn ranks_of_a_node_share_memory() {
    for contiguous in [true, false] {
        both_paths(3, |comm| {
            let (me, size) = me_and_size(comm);
            let len = 8 * [2, 0, 3][me];
            let window = Window::allocate_shared(comm, (len, 8), contiguous).expect("memory");
            let places: Vec<_> = numbers(size).map(|rank| window.shared(rank)).collect();
            let [Some(first), _, Some(last)] = places[..] else {
                panic!("all are reached: {places:?}");
            };
            assert_eq!([first.1, last.1], [16, 24]);
            if contiguous {
                assert_eq!(first.0.wrapping_add(16), last.0);
            }
            let own = window.memory();
            if me != 1 {
                let (start, len, unit) = places[me].expect("its own");
                assert_eq!((start, len, unit), (own.start(), own.len(), 8));
            }
            window.lock_all().expect("locks");
            if me == 1 {
                let word = last.0.cast::<u64>().wrapping_add(1);
                // SAFETY: the memory of rank 2, which looks at it after the barrier.
                unsafe { word.write(77) };
            }
            window.sync().expect("it is open");
            barrier(&window);
            window.sync().expect("it is open");
            let mut seen = [0u64];
            let range = WindowRange::bytes(2, 1, 8);
            window.get(target(&mut seen), &range).expect("a get");
            window.flush_local(2).expect("a flush");
            assert_eq!(seen, [77]);
            window.unlock_all().expect("locks");
            window.free().expect("all free it");
        });
    }
}

#[test]
fn memory_that_is_not_there_is_an_error_of_all() {
    both_paths(2, |comm| {
        for contiguous in [true, false] {
            let len = [8, 1 << 40][me_and_size(comm).0];
            let more = Window::allocate_shared(comm, (len, 8), contiguous).map(drop);
            assert_eq!(class(more), ErrorClass::RmaShared);
        }
    });
}

#[test]
fn memory_is_attached_and_detached() {
    both_paths(2, |comm| {
        let (me, size) = me_and_size(comm);
        let window = Window::create_dynamic(comm).expect("a window");
        let mut first = [0u64; 4];
        let mut second = [0u64; 2];
        let (memory, more) = (target(&mut first), target(&mut second));
        window.attach(memory).expect("free");
        let overlaps = memory.range(8, 8).expect("within");
        assert_eq!(class(window.attach(overlaps)), ErrorClass::RmaAttach);
        assert_eq!(
            class(window.detach(overlaps.start())),
            ErrorClass::RmaAttach
        );
        window.attach(more).expect("free");
        window.detach(more.start()).expect("attached");

        let mine = [
            memory.start().expose_provenance() as u64,
            more.start().addr() as u64,
        ];
        let mut all = vec![0u64; 2 * size];
        all[2 * me..][..2].copy_from_slice(&mine);
        comm.allreduce_in_place(&mut all, |a, b| a | b)
            .expect("all take part");
        let other = 1 - me;
        window.lock(other, LockKind::Shared).expect("a lock");
        let put =
            |at: u64, value: u64| window.put(source(&[value]), &WindowRange::bytes(other, at, 8));
        put(all[2 * other] + 8, 5).expect("attached");
        window.flush(other).expect("a flush");
        let mut before = [0u64];
        let range = WindowRange::bytes(other, all[2 * other] + 8, 8);
        let added = window.get_accumulate(source(&[3u64]), target(&mut before), SUM, &range);
        added.expect("attached");
        window.flush(other).expect("a flush");
        assert_eq!(before, [5]);
        // Nothing is there any more, nor beyond what is attached.
        for wrong in [all[2 * other + 1], all[2 * other] + 32] {
            let ended = put(wrong, 9).and(window.flush(other));
            assert_eq!(class(ended), ErrorClass::RmaRange);
            let range = WindowRange::bytes(other, wrong, 8);
            let read = window
                .get(target(&mut before), &range)
                .and(window.flush(other));
            assert_eq!(class(read), ErrorClass::RmaRange);
            assert_eq!(before, [5]);
        }
        window.unlock(other).expect("a lock");
        barrier(&window);
        let mut values = [0u64; 4];
        target(&mut values).copy_from(&memory);
        assert_eq!(values, [0, 8, 0, 0]);
        window.detach(memory.start()).expect("attached");
        window.free().expect("all free it");
        assert_eq!(second, [0, 0]);
    });
}

#[test]
fn only_windows_without_memory_have_some_attached() {
    both_paths(1, |comm| {
        let window = Window::allocate(comm, 8, 8).expect("memory");
        let mut more = [0u64];
        assert_eq!(
            class(window.attach(target(&mut more))),
            ErrorClass::RmaFlavor
        );
        assert_eq!(
            class(window.detach(std::ptr::null())),
            ErrorClass::RmaFlavor
        );
        window.free().expect("all free it");
    });
}

#[test]
fn requests_complete_when_bytes_have_come() {
    both_paths(2, |comm| {
        let (me, _) = me_and_size(comm);
        const WORDS: u64 = 20_000;
        let window = Window::allocate(comm, 8 * WORDS, 8).expect("memory");
        let own: Vec<u64> = (0..WORDS).map(|at| at * 7 + me as u64).collect();
        window.memory().copy_from(&source(&own[..]));
        barrier(&window);
        let other = 1 - me;
        window.lock_all().expect("locks");
        let range = WindowRange::bytes(other, 0, 8 * WORDS);
        let mut read = vec![0u64; WORDS as usize];
        let mut before = read.clone();
        let one = window.rget(target(&mut read[..]), &range).expect("a get");
        let to = (target(&mut before[..]), SUM, &range);
        let zeroes = vec![0u64; WORDS as usize];
        let other_one = window.rget_accumulate(source(&zeroes[..]), to.0, to.1, to.2);
        let other_one = other_one.expect("an accumulate");
        assert_eq!(one.is_none(), window.reaches(other));
        for request in one.into_iter().chain(other_one) {
            window.comm().wait(request).expect("it completes");
        }
        let wanted = (0..WORDS).map(|at| at * 7 + other as u64);
        assert!(wanted.clone().eq(read) && wanted.eq(before));
        window.unlock_all().expect("locks");
        window.free().expect("all free it");
    });
}

/// A request whose target is lost ends with an error that names it.
#[test]
fn a_request_ends_with_its_target() {
    let policy = EndpointPolicy {
        direct_windows: false,
        ..EndpointPolicy::default()
    };
    let [fenced, asked] = [(); 2].map(|()| std::sync::Barrier::new(2));
    job_with(on_one_node(2), &policy, |comm| {
        let window = Window::allocate(comm, 8, 8).expect("memory");
        window.fence(true).expect("a fence");
        fenced.wait();
        if comm.group().rank() == 1 {
            // It is asked, makes no progress, and leaves without an answer.
            asked.wait();
            comm.access().leave();
            return;
        }
        let mut read = [0u64];
        let range = WindowRange::bytes(1, 0, 8);
        let request = window.rget(target(&mut read), &range).expect("it is asked");
        asked.wait();
        let ended = window.comm().wait(request.expect("by a message"));
        assert!(
            matches!(ended, Err(Error::Peer { peer: 1, .. })),
            "{ended:?}"
        );
    });
}

/// Bytes of nothing are no access.
#[test]
fn no_bytes_are_accessed_anywhere() {
    both_paths(2, |comm| {
        let window = Window::create_dynamic(comm).expect("a window");
        window.fence(true).expect("a fence");
        let range = WindowRange::bytes(1, 64, 0);
        window.put(RawBytes::empty(), &range).expect("nothing");
        window.get(RawBytes::empty(), &range).expect("nothing");
        assert!(
            window
                .rget(RawBytes::empty(), &range)
                .expect("nothing")
                .is_none()
        );
        window.fence(false).expect("a fence");
        window.free().expect("all free it");
    });
}

/// The first message of a window that is answered may be an accumulate's.
#[test]
fn the_first_access_of_a_window_is_answered() {
    both_paths(2, |comm| {
        let (me, _) = me_and_size(comm);
        let window = Window::allocate(comm, 8, 8).expect("memory");
        window.memory().copy_from(&source(&[5u64 + me as u64]));
        window.fence(true).expect("a fence");
        let mut before = [0u64];
        let range = WindowRange::bytes(1 - me, 0, 8);
        let added = window.get_accumulate(source(&[1u64]), target(&mut before), SUM, &range);
        added.expect("in its epoch");
        window.fence(false).expect("a fence");
        assert_eq!(before, [6 - me as u64]);
        window.free().expect("all free it");
    });
}

/// A pair of a `short` and an `int` has a gap in memory, by messages, too.
#[test]
fn pairs_with_gaps_are_combined() {
    let (short, int) = (Basic::new(0, 2, 2), Basic::new(1, 4, 4));
    let member = |displacement, datatype| Member {
        len: 1,
        displacement,
        datatype,
    };
    let (short, int) = (Datatype::basic(short), Datatype::basic(int));
    let pair = Datatype::structure(&[member(0, &short), member(4, &int)]).expect("a pair");
    both_paths(2, |comm| {
        let (me, _) = me_and_size(comm);
        let window = Window::allocate(comm, 32, 1).expect("memory");
        window.memory().copy_from(&source(&[0x77u8; 32]));
        window.fence(true).expect("a fence");
        let kind = (ElementKind::ShortInt, AccumulateOp::Replace);
        let given = [1u8, 0, 2, 0, 0, 0, 3, 0, 4, 0, 0, 0];
        let mut before = [0u8; 12];
        let range = WindowRange {
            rank: 1 - me,
            displacement: 8,
            shape: Shape::Instances(&pair, 2),
        };
        let got = window.get_accumulate(source(&given), target(&mut before), kind, &range);
        got.expect("in its epoch");
        window.fence(false).expect("a fence");
        assert_eq!(before, [0x77; 12]);
        let mut has = [0u8; 32];
        target(&mut has).copy_from(&window.memory());
        let pairs = [1, 0, 0x77, 0x77, 2, 0, 0, 0, 3, 0, 0x77, 0x77, 4, 0, 0, 0];
        assert_eq!(has[8..24], pairs);
        assert_eq!([&has[..8], &has[24..]], [[0x77; 8]; 2]);
        window.free().expect("all free it");
    });
}
