use oxmpi::{Op, Result, World, collective};

fn main() -> Result<()> {
    let world = World::init()?;
    let mut sums = [0u64; 4];
    world.comm().scope(|s| {
        let request = s.start(collective::allreduce_in_place(&mut sums, Op::SUM))?;
        println!("{}", sums[0]);
        request.wait().map(drop)
    })
}
