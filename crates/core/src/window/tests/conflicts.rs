//! Accesses that conflict, which the setting `rma_check` finds.

use super::{SUM, me_and_size};
use crate::bytes::{source, target};
use crate::operation::{ElementKind, Op};
use crate::placement::on_one_node;
use crate::test_job::job_with;
use crate::{
    AccumulateOp, Communicator, EndpointPolicy, ErrorClass, LockKind, Result, Single, Window,
    WindowRange,
};

fn checked(size: u32, rank: impl Fn(&Communicator<Single>, &Window<Single>) + Sync) {
    let policy = EndpointPolicy {
        check_windows: true,
        ..EndpointPolicy::default()
    };
    job_with(on_one_node(size), &policy, |comm| {
        let window = Window::allocate(comm, 64, 8).expect("memory");
        rank(comm, &window);
        comm.barrier().expect("a barrier");
        window.free().expect("all free it");
    });
}

/// Whether exactly the accesses of which both ranks and kinds are named conflict.
fn says(result: Result<()>, words: [&str; 2]) -> bool {
    let error = result.expect_err("it conflicts");
    let text = error.to_string();
    assert_eq!(error.class(), ErrorClass::RmaConflict, "{text}");
    words.iter().all(|word| text.contains(word))
}

/// Puts of two ranks to one place in an epoch of fences, in whichever order they come.
#[test]
fn puts_to_one_place_conflict() {
    checked(3, |comm, window| {
        let (me, _) = me_and_size(comm);
        let put = |at: u64| window.put(source(&[me as u64]), &WindowRange::bytes(0, at, 8));
        let mut found = 0;
        window.fence(true).expect("a fence");
        let result = match me {
            0 => Ok(()),
            _ => put(3),
        };
        result.expect("it is found when it ends");
        if let Err(error) = window.fence(true) {
            let text = error.to_string();
            let other = 3 - me;
            let words = [
                "put at byte 24 of the memory of rank 0".to_owned(),
                format!("the put of rank {other} in"),
            ];
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
            found = 1;
        }
        let mut all = [found];
        comm.allreduce_in_place(&mut all, |a, b| a + b)
            .expect("all take part");
        assert_eq!(all, [1], "one of them");
        // Apart in place or time, nothing conflicts.
        put(me as u64).expect("a put");
        window.fence(true).expect("no conflict");
        if me == 1 {
            put(3).expect("a put");
        }
        window.fence(true).expect("no conflict");
        if me == 2 {
            put(3).expect("a put");
        }
        window.fence(false).expect("no conflict");
    });
}

/// What a call has waited for has ended, by loads and stores and by messages.
#[test]
fn an_access_that_has_returned_conflicts_with_nothing() {
    for direct_windows in [true, false] {
        let policy = EndpointPolicy {
            check_windows: true,
            direct_windows,
            ..EndpointPolicy::default()
        };
        job_with(on_one_node(2), &policy, |comm| {
            let window = Window::allocate(comm, 64, 8).expect("memory");
            if comm.group().rank() == 0 {
                let (word, one) = (WindowRange::bytes(1, 2, 8), [1u64]);
                let mut before = [9u64];
                let operand = source(&one);
                window.lock(1, LockKind::Exclusive).expect("it is free");
                (window.fetch_accumulate(operand, target(&mut before), SUM, &word)).expect("a sum");
                window.put(operand, &word).expect("the sum has ended");
                window.unlock(1).expect("no conflict");
                assert_eq!(before, [0]);
            }
            comm.barrier().expect("a barrier");
            window.free().expect("all free it");
        });
    }
}

/// An access of the target itself counts, too.
#[test]
fn an_access_to_oneself_conflicts() {
    checked(2, |comm, window| {
        let (me, _) = me_and_size(comm);
        let range = WindowRange::bytes(0, 2, 8);
        let mut read = [0u64];
        if me == 1 {
            window.lock(0, LockKind::Shared).expect("a lock");
            window.put(source(&[7u64]), &range).expect("a put");
        }
        comm.barrier().expect("a barrier");
        if me == 0 {
            window.lock(0, LockKind::Shared).expect("a lock");
            let got = window.get(target(&mut read), &range);
            assert!(says(got, ["get at byte 16", "the put of rank 1"]));
            window.unlock(0).expect("a lock");
        }
        comm.barrier().expect("a barrier");
        if me == 1 {
            // It was there first.
            window.unlock(0).expect("no conflict");
        }
        comm.barrier().expect("a barrier");
        if me == 0 {
            window.lock(0, LockKind::Shared).expect("a lock");
            window.get(target(&mut read), &range).expect("it has ended");
            window.unlock(0).expect("a lock");
            assert_eq!(read, [7]);
        }
    });
}

#[test]
fn accumulates_conflict_only_by_type() {
    checked(2, |comm, window| {
        let (me, _) = me_and_size(comm);
        let range = WindowRange::bytes(0, 0, 8);
        let floats = (ElementKind::F64, AccumulateOp::Predefined(Op::SUM));
        window.fence(true).expect("a fence");
        window
            .accumulate(source(&[1u64]), SUM, &range)
            .expect("a sum");
        window
            .accumulate(source(&[2u64]), SUM, &range)
            .expect("a sum");
        window.fence(true).expect("no conflict");
        let mut found = 0;
        match me {
            0 => window
                .accumulate(source(&[1u64]), SUM, &range)
                .map_or_else(|_| found = 1, |()| ()),
            _ => window
                .accumulate(source(&[1f64]), floats, &range)
                .expect("a sum"),
        }
        if let Err(error) = window.fence(false) {
            assert_eq!(error.class(), ErrorClass::RmaConflict, "{error}");
            found = 1;
        }
        let mut all = [found];
        comm.allreduce_in_place(&mut all, |a, b| a + b)
            .expect("all take part");
        assert_eq!(all, [1], "whichever came later");
    });
}
