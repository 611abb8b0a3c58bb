//! Rank 0 gathers a number, then a row of a table, from each rank. rsmpi: `gather`.

use oxmpi::World;

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, count, root) = (comm.rank(), comm.size(), 0);

    let powers = comm.gather(&2u64.wrapping_pow(rank as u32 + 1), root)?;
    if let Some(powers) = powers {
        println!("gathered {powers:?}");
        assert!(
            (1..)
                .zip(powers)
                .all(|(i, power)| power == 2u64.wrapping_pow(i))
        );
    }

    let row: Vec<u64> = (1..=count as u64).map(|x| x * (rank as u64 + 1)).collect();
    let mut table = (rank == root).then(|| vec![0; count * count]);
    comm.gather_into(&row, table.as_deref_mut(), root)?;
    for (factor, row) in (1..).zip(table.as_deref().unwrap_or_default().chunks(count)) {
        assert!((1..).zip(row).all(|(x, &product)| product == x * factor));
    }
    Ok(())
}
