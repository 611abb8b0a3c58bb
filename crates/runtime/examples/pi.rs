//! Computes pi as the area under 4 / (1 + x^2): each rank sums its share of the strips.
//!
//! `oxmpi run -n 4 pi 1000000`

use std::f64::consts::PI;

use oxmpi::{Op, World};

fn main() -> oxmpi::Result<()> {
    let strips: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    let world = World::init()?;
    let comm = world.comm();

    let width = 1.0 / strips as f64;
    let part: f64 = (comm.rank() as u64..strips)
        .step_by(comm.size())
        .map(|i| {
            let x = (i as f64 + 0.5) * width;
            4.0 / (1.0 + x * x) * width
        })
        .sum();
    let pi = comm.allreduce(&part, Op::SUM)?;

    if comm.rank() == 0 {
        println!("pi is about {pi:.12}, off by {:.1e}", (pi - PI).abs());
    }
    assert!((pi - PI).abs() < 1e-6, "{strips} strips are too few");
    Ok(())
}
