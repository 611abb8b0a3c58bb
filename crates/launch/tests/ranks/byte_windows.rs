//! Tests of windows of bytes with real ranks: many accesses to one place, flushes, and what is refused.

use oxmpi::window::ByteWindow;
use oxmpi::window::LockKind;
use oxmpi::{Error, Op, Result, World};

use crate::job::{Job, SIZES};

/// Bytes of a rank's memory, and of its landing.
const BYTES: usize = 4096;
const LANDING: usize = 256;

/// Variables of a job whose ranks reach each other's memory, and of one that sends messages instead.
const PATHS: [[&str; 2]; 2] = [
    ["OXMPI_WINDOW_DIRECT", "on"],
    ["OXMPI_WINDOW_DIRECT", "off"],
];

fn window(world: &World) -> Result<ByteWindow> {
    let comm = world.comm();
    comm.byte_window(comm.alloc(BYTES)?, comm.alloc(LANDING)?)
}

#[test]
fn accesses_to_one_place_are_completed_by_one_flush() {
    for [name, value] in PATHS {
        for ranks in SIZES {
            Job::of(ranks).with(name, value).succeed(|world| {
                let comm = world.comm();
                let (me, size) = (comm.rank(), comm.size());
                let right = (me + 1) % size;
                let mut window = window(world)?;
                window.lock_all()?;
                for round in 0..100 {
                    window.put(&[round; LANDING], right, 64)?;
                }
                window.flush(right)?;
                for _ in 0..100 {
                    window.get(0..LANDING, right, 64)?;
                }
                window.flush_all()?;
                assert_eq!(window.landing()?, [99; LANDING]);

                for _ in 0..10 {
                    window.accumulate(&[1.5f32, 2.0], Op::SUM, 0, 1024)?;
                }
                window.flush_all()?;
                comm.barrier()?;
                window.get_accumulate(&[0f32; 2], Op::SUM, 8, 0, 1024)?;
                let sums = [15.0, 20.0].map(|sum: f32| sum * size as f32);
                let sums = sums.map(f32::to_ne_bytes);
                assert_eq!(&window.landing()?[8..16], sums.as_flattened());

                // Each rank replaces its own number in the memory of rank 0.
                let at = 2048 + 4 * me;
                for number in 0..10 {
                    window.compare_and_swap([number, number + 1], 0, 0, at)?;
                }
                window.compare_and_swap([77, 78], 4, 0, at)?;
                let landing = window.landing()?;
                assert_eq!(landing[..8], [[9, 0, 0, 0], [10, 0, 0, 0]].concat());
                window.unlock_all()?;
                window.free().map(drop)
            });
        }
    }
}

#[test]
fn own_memory_is_copied_in_an_epoch() {
    for [name, value] in PATHS {
        Job::of(3).with(name, value).succeed(|world| {
            let me = world.comm().rank();
            let window = window(world)?;
            let mut copy = [0; 8];
            assert!(window.load(&mut copy, 0).is_err(), "there is no epoch");
            window.fence(true)?;
            window.store(&[me as u8; 8], 16)?;
            window.load(&mut copy, 16)?;
            assert_eq!(copy, [me as u8; 8]);
            window.fence(false)?;
            window.lock(me, LockKind::Shared)?;
            window.load(&mut copy, 12)?;
            window.unlock(me)?;
            assert_eq!(copy[..4], [0; 4]);
            let memory = window.free()?;
            assert_eq!((memory.len(), memory[16]), (BYTES, me as u8));
            Ok(())
        });
    }
}

#[test]
fn accesses_beyond_memory_or_landing_and_other_kinds_are_refused() {
    Job::of(2).succeed(|world| {
        let comm = world.comm();
        let window = window(world)?;
        window.lock_all()?;
        assert!(matches!(
            window.put(&[0; 16], 1, BYTES - 8),
            Err(Error::WindowRange { .. })
        ));
        let why = window.get(LANDING - 8..LANDING + 8, 1, 0);
        let why = why.expect_err("too long").to_string();
        assert!(
            why.contains("16 B from byte 248 of the landing, which has 256 B"),
            "{why}"
        );
        window.unlock_all()?;
        window.free()?;

        let refused = match comm.rank() {
            0 => comm.byte_window(comm.alloc(8)?, comm.alloc(8)?).err(),
            _ => comm.passive_window(comm.alloc::<u8>(8)?).err(),
        };
        let why = refused.expect("two kinds").to_string();
        assert!(why.contains("different kinds"), "{why}");
        Ok(())
    });
}
