//! Simulates heat on a rod that is divided among the ranks, which put their ends into their neighbours' windows.
//!
//! The same exchange by messages is timed beside it.
//!
//! `oxmpi run -n 4 halo_puts`

use std::time::{Duration, Instant};

use oxmpi::{Comm, Op, World};

/// Cells of a rank, without the ghost cell at each end.
const CELLS: usize = 1024;
const STEPS: usize = 2000;

/// The neighbours below and above, where there are some.
fn neighbours(comm: &Comm) -> [Option<usize>; 2] {
    let (rank, size) = (comm.rank(), comm.size());
    [
        rank.checked_sub(1),
        Some(rank + 1).filter(|&above| above < size),
    ]
}

/// One step of Jacobi's method.
fn relax(cells: &mut [f64]) {
    let mut before = cells[0];
    for i in 1..=CELLS {
        let here = cells[i];
        cells[i] = (before + cells[i + 1]) / 2.0;
        before = here;
    }
}

/// What a rank starts with: the lower end of the rod is hot.
fn start(comm: &Comm) -> Vec<f64> {
    let mut cells = vec![0.0; CELLS + 2];
    if comm.rank() == 0 {
        cells[0] = 100.0;
    }
    cells
}

fn by_puts(world: &World) -> oxmpi::Result<(Vec<f64>, Duration)> {
    let comm = world.comm();
    let mut window = comm.active_window(world.alloc::<f64>(CELLS + 2)?)?;
    window.local_mut().copy_from_slice(&start(comm));
    let [below, above] = neighbours(comm);
    let began = Instant::now();
    for _ in 0..STEPS {
        let (first, last) = (window.local()[1], window.local()[CELLS]);
        window.fence(|epoch| {
            if let Some(below) = below {
                epoch.put(&[first], below, CELLS + 1)?;
            }
            if let Some(above) = above {
                epoch.put(&[last], above, 0)?;
            }
            Ok(())
        })?;
        relax(window.local_mut());
    }
    let took = began.elapsed();
    Ok((window.free()?.to_vec(), took))
}

fn by_messages(comm: &Comm) -> oxmpi::Result<(Vec<f64>, Duration)> {
    let mut cells = start(comm);
    let [below, above] = neighbours(comm);
    let began = Instant::now();
    for _ in 0..STEPS {
        let (first, last) = ([cells[1]], [cells[CELLS]]);
        let (mut low, mut high) = ([cells[0]], [cells[CELLS + 1]]);
        comm.scope(|s| {
            s.irecv(&mut low, below, 1)?;
            s.irecv(&mut high, above, 2)?;
            s.isend(&last, above, 1)?;
            s.isend(&first, below, 2)?;
            Ok(())
        })?;
        (cells[0], cells[CELLS + 1]) = (low[0], high[0]);
        relax(&mut cells);
    }
    Ok((cells, began.elapsed()))
}

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let (puts, by_puts) = by_puts(&world)?;
    let (messages, by_messages) = by_messages(comm)?;
    assert_eq!(puts, messages, "both exchange the same");
    let heat = comm.allreduce(&puts[1..=CELLS].iter().sum::<f64>(), Op::SUM)?;
    if comm.rank() == 0 {
        let each = |took: Duration| took.as_secs_f64() * 1e6 / STEPS as f64;
        println!("{heat:.3} of heat after {STEPS} steps");
        println!(
            "a step by puts {:.2} us, by messages {:.2} us",
            each(by_puts),
            each(by_messages)
        );
    }
    Ok(())
}
