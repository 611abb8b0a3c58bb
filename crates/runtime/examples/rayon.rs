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
    let team = threads.team().clone();
    for warning in &team.warnings {
        eprintln!("{}", warning.text);
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(team.threads.len())
        .start_handler(threads.clone().start_handler())
        .build()?;
    let masks = pool.broadcast(|_| affinity::current());
    for (number, (mask, cpus)) in masks.into_iter().zip(&team.threads).enumerate() {
        println!("thread {number} runs on {cpus}");
        assert!(affinity::cpus(&mask?).eq(cpus.iter()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use oxmpi::threads::{Request, Threads};

    #[test]
    fn threads_are_bound() {
        for setting in ["granularity=fine,compact", "scatter", "none"] {
            let request = Request {
                kmp_affinity: Some(setting),
                threads: 3,
                ..Request::default()
            };
            let threads = Threads::place(&request).expect("the machine is known");
            super::on(&threads).expect("each thread is where it was placed");
        }
    }
}
