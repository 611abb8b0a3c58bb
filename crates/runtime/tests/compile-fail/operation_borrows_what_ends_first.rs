use oxmpi::{Op, Result, World, collective};

fn main() -> Result<()> {
    let world = World::init()?;
    let mut values = [0u64; 4];
    world.comm().scope(|s| {
        let limit = 7;
        let smaller = Op::commutative(|a: u64, b: u64| (a + b).min(limit));
        s.start(collective::allreduce_in_place(&mut values, smaller))?;
        Ok(())
    })
}
