//! Ranks on a grid of 2 by 2, the second dimension a ring. rsmpi: `cartesian`.

use oxmpi::{Grid, World};

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    if world.comm().size() < 4 {
        return Ok(());
    }
    let Some(cart) = world.comm().cart(Grid::new(&[2, 2], &[false, true]))? else {
        return Ok(());
    };
    let (me, here) = (cart.rank(), cart.coordinates());
    let [x, y] = here[..] else {
        unreachable!("two dimensions")
    };

    let (column, row) = (cart.slice(&[true, false])?, cart.slice(&[false, true])?);
    assert_eq!((column.size(), column.rank()), (2, x));
    assert_eq!((row.size(), row.rank()), (2, y));

    // The first dimension ends at its edges, the second does not end.
    let beside = |dimension, by| {
        let ranks = cart.shift(dimension, by);
        ranks.map(|rank| rank.map(|rank| cart.grid().coordinates(rank)[dimension]))
    };
    assert_eq!(
        beside(0, 1),
        if x == 0 {
            [None, Some(1)]
        } else {
            [Some(0), None]
        }
    );
    assert_eq!(beside(1, 1), [Some(1 - y); 2]);
    assert_eq!(cart.shift(1, 2), [Some(me); 2]);
    Ok(())
}
