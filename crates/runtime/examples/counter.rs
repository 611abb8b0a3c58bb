//! Shares tasks by a counter in a window: each rank takes the next task when it has done the one before.
//!
//! Rank 0 has the counter and does nothing for it: the others add to it themselves, or ask while it is in a call.
//!
//! `oxmpi run -n 4 counter`

use oxmpi::{Op, World};

/// Tasks; each takes as long as its number says.
const TASKS: u64 = 2000;

/// Whether `n` is prime, by trial division: a task of uneven length.
fn is_prime(n: u64) -> bool {
    n > 1
        && (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
}

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let counter = comm.passive_window(world.alloc::<u64>(1)?)?;

    let mut done = vec![0u64; TASKS as usize];
    let mut primes = 0u64;
    counter.lock_all(|epoch| {
        loop {
            let task = epoch.fetch(&1, Op::SUM, 0, 0)?;
            let Some(done) = done.get_mut(task as usize) else {
                return Ok(());
            };
            *done = 1;
            primes += u64::from(is_prime(task * 1_000_003));
            primes += u64::from(is_prime(1_000_000_000 + task));
        }
    })?;

    let mine: u64 = done.iter().sum();
    let mut by_all = vec![0; done.len()];
    comm.allreduce_into(&done, &mut by_all, Op::SUM)?;
    assert!(
        by_all.iter().all(|&times| times == 1),
        "each task was done once"
    );
    let primes = comm.allreduce(&primes, Op::SUM)?;
    println!("rank {} did {mine} of {TASKS} tasks", comm.rank());
    if comm.rank() == 0 {
        println!("{primes} primes");
    }
    counter.free()?;
    Ok(())
}
