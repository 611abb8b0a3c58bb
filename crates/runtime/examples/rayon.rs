//! Binds the threads of a rayon pool to processors as `KMP_AFFINITY` or `OMP_PLACES` says.
//!
//! `KMP_AFFINITY=granularity=fine,compact cargo run --example rayon`

use std::error::Error;

use oxmpi::threads::Threads;
use oxmpi_os::affinity;
use rayon::ThreadPoolBuilder;

fn main() -> Result<(), Box<dyn Error>> {
    on(&Threads::from_env(2)?)
}

/// Prints the processor of each thread of a bound pool.
fn on(threads: &Threads) -> Result<(), Box<dyn Error>> {
    for warning in threads.warnings() {
        eprintln!("{warning}");
    }
    println!("{threads}");
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.count())
        .start_handler(threads.clone().start_handler())
        .build()?;
    let masks = pool.broadcast(|_| affinity::current());
    for (number, mask) in masks.into_iter().enumerate() {
        assert!(affinity::cpus(&mask?).eq(threads.cpus(number)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use oxmpi::threads::Threads;

    #[test]
    fn threads_are_bound() {
        for setting in ["granularity=fine,compact", "scatter", "none"] {
            let variable = |name: &str| (name == "KMP_AFFINITY").then_some(setting);
            let threads = Threads::from_variables(3, variable).expect("the machine is known");
            assert_eq!(threads.to_string().lines().count(), 3);
            super::on(&threads).expect("each thread is where it was placed");
        }
    }
}
