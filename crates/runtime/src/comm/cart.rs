//! Cartesian grids of ranks (MPI 5.0, section 8.5).

use std::fmt;
use std::ops::Deref;

use oxmpi_coll::catalog::NOBODY;

use super::Comm;
use super::topology::Topology;
use crate::error::{Error, Result};
use crate::raw::{Access, Own};

/// The shape of a grid: how many ranks each dimension has, and whether it closes to a ring. Ranks
/// are numbered row by row: the last dimension runs fastest.
///
/// ```
/// use oxmpi::Grid;
///
/// let grid = Grid::new(&[2, 3], &[false, true]);
/// assert_eq!(grid.coordinates(4), [1, 1]);
/// assert_eq!(grid.rank(&[1, -1]), Some(5)); // around the ring
/// assert_eq!(grid.rank(&[2, 0]), None); // beyond the edge
/// assert_eq!(Grid::balanced(12, &[0, 0]), Some(vec![4, 3]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    dimensions: Vec<Dimension>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dimension {
    ranks: usize,
    periodic: bool,
}

impl Grid {
    /// A grid of so many ranks in each dimension, those being rings where `periodic` says so; what
    /// it does not say is no ring.
    #[must_use]
    pub fn new(ranks: &[usize], periodic: &[bool]) -> Self {
        let periodic = periodic.iter().copied().chain(std::iter::repeat(false));
        let dimensions = ranks.iter().zip(periodic);
        Self {
            dimensions: dimensions
                .map(|(&ranks, periodic)| Dimension { ranks, periodic })
                .collect(),
        }
    }

    /// Ranks in each dimension for `ranks` ranks in all, as close to each other as can be and the
    /// larger ones first (`MPI_Dims_create`). Dimensions that are not 0 are given, and stay. `None`:
    /// `ranks` is no multiple of those given, or all are given and others in all.
    #[must_use]
    pub fn balanced(ranks: usize, given: &[usize]) -> Option<Vec<usize>> {
        let mut fixed = given.iter().filter(|&&n| n > 0);
        let product = fixed.try_fold(1usize, |product, &n| product.checked_mul(n))?;
        let rest = (ranks.is_multiple_of(product) && ranks > 0).then(|| ranks / product)?;
        let free = given.iter().filter(|&&n| n == 0).count();
        let mut factors = closest(rest, free, rest)?.into_iter();
        let filled = given.iter().map(|&n| match n {
            0 => factors.next(),
            n => Some(n),
        });
        filled.collect()
    }

    /// Number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        let ranks = self.dimensions.iter().map(|dimension| dimension.ranks);
        ranks.fold(1, usize::saturating_mul)
    }

    /// Ranks in each dimension.
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = usize> {
        self.dimensions.iter().map(|dimension| dimension.ranks)
    }

    /// The place of a rank (`MPI_Cart_coords`).
    ///
    /// # Panics
    /// When a dimension has no ranks.
    #[must_use]
    pub fn coordinates(&self, rank: usize) -> Vec<usize> {
        let mut rest = rank;
        let mut coordinates = vec![0; self.dimensions.len()];
        for (at, dimension) in coordinates.iter_mut().zip(&self.dimensions).rev() {
            *at = rest % dimension.ranks;
            rest /= dimension.ranks;
        }
        coordinates
    }

    /// The rank at a place, around the rings (`MPI_Cart_rank`). `None`: it is beyond an edge, or has
    /// not as many coordinates as the grid has dimensions.
    #[must_use]
    pub fn rank(&self, coordinates: &[isize]) -> Option<usize> {
        let places = self.dimensions.iter().zip(coordinates);
        let fits = self.dimensions.len() == coordinates.len();
        fits.then_some(())?;
        let mut rank = 0;
        for (dimension, &at) in places {
            let ranks = isize::try_from(dimension.ranks).ok()?;
            let at = if dimension.periodic && ranks > 0 {
                at.rem_euclid(ranks)
            } else {
                at
            };
            let at = (0..ranks).contains(&at).then_some(at.unsigned_abs())?;
            rank = rank * dimension.ranks + at;
        }
        Some(rank)
    }

    /// The rank that is `by` steps from `rank` along a dimension. `None`: it is beyond an edge, or
    /// there is no such dimension.
    #[must_use]
    pub fn along(&self, rank: usize, dimension: usize, by: isize) -> Option<usize> {
        let mut place = self.coordinates(rank);
        let at = place.get_mut(dimension)?;
        let ranks = self.dimensions.get(dimension)?.ranks;
        // Within two turns, so that no sum is too large.
        let by = match self.dimensions[dimension].periodic {
            true => by % isize::try_from(ranks).ok()?,
            false => by,
        };
        let moved = isize::try_from(*at).ok()?.checked_add(by)?;
        *at = 0;
        let mut place: Vec<isize> = place.iter().map(|&at| at as isize).collect();
        place[dimension] = moved;
        self.rank(&place)
    }

    /// Whom a rank sends to in neighbourhood collectives: in each dimension the rank below, then the
    /// one above.
    fn neighbors(&self, rank: usize) -> Vec<u32> {
        let dimensions = 0..self.dimensions.len();
        let both = dimensions.flat_map(|dimension| [(dimension, -1), (dimension, 1)]);
        let ranks = both.map(|(dimension, by)| self.along(rank, dimension, by));
        ranks
            .map(|rank| rank.map_or(NOBODY, |rank| rank as u32))
            .collect()
    }

    /// The dimensions that `keep` says, or the others.
    fn part(&self, keep: &[bool], kept: bool) -> Self {
        let keep = keep.iter().copied().chain(std::iter::repeat(false));
        let dimensions = self.dimensions.iter().zip(keep);
        Self {
            dimensions: dimensions
                .filter(|&(_, keep)| keep == kept)
                .map(|(&dimension, _)| dimension)
                .collect(),
        }
    }
}

/// `number` factors of `product`, none above `most` and none below the one after it, the first and
/// the last as close to each other as can be.
fn closest(product: usize, number: usize, most: usize) -> Option<Vec<usize>> {
    if number == 0 {
        return (product == 1).then(Vec::new);
    }
    let spread = |factors: &Vec<usize>| factors[0] - factors[number - 1];
    let divisors = (1..=product.min(most)).filter(|&n| product.is_multiple_of(n));
    let with_first = divisors.filter_map(|first| {
        let mut factors = vec![first];
        factors.extend(closest(product / first, number - 1, first)?);
        Some(factors)
    });
    with_first.min_by_key(spread)
}

/// A communicator whose ranks form a [`Grid`]; made by [`Comm::cart`]. It is a [`Comm`] too, whose
/// neighbourhood collectives exchange with the rank below and the rank above in each dimension.
pub struct Cart<A: Access = Own> {
    comm: Comm<A>,
    grid: Grid,
}

impl<A: Access> Comm<A> {
    /// A communicator of this one's first ranks in a grid (`MPI_Cart_create`). Collective. Ranks
    /// beyond the grid's size get `None`. Ranks keep their numbers.
    ///
    /// ```
    /// # use oxmpi::{Grid, World};
    /// # let world = World::init()?;
    /// let ranks = world.comm().size();
    /// let shape = Grid::balanced(ranks, &[0, 0]).expect("some factors");
    /// let grid = Grid::new(&shape, &[true, true]);
    /// let cart = world.comm().cart(grid)?.expect("every rank has a place");
    /// // Each rank's number to all four neighbours: below and above in both dimensions.
    /// let mut around = [0; 4];
    /// cart.neighbor_allgather(&[cart.rank()], &mut around)?;
    /// assert_eq!(Some(around[0]), cart.grid().along(cart.rank(), 0, -1));
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the grid has more ranks than there are, or none; when a rank is lost meanwhile.
    pub fn cart(&self, grid: Grid) -> Result<Option<Cart<A>>> {
        let (rank, size) = (self.rank(), self.size());
        if grid.size() > size || grid.size() == 0 {
            return Err(Error::Count {
                rank,
                what: "the grid",
                has: grid.size(),
                needs: size,
            });
        }
        let colour = (rank < grid.size()).then_some(0);
        let comm = self.split(colour, 0)?;
        Ok(comm.map(|comm| Cart::of(comm, grid)))
    }
}

impl<A: Access> Cart<A> {
    fn of(mut comm: Comm<A>, grid: Grid) -> Self {
        let neighbors = grid.neighbors(comm.rank());
        comm.topology = Some(Topology::new(neighbors.clone(), neighbors, true));
        Self { comm, grid }
    }

    /// Its shape.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// This rank's place (`MPI_Cart_get`).
    #[must_use]
    pub fn coordinates(&self) -> Vec<usize> {
        self.grid.coordinates(self.rank())
    }

    /// The ranks that are `by` steps back and on along a dimension: where what is shifted comes from
    /// and goes to (`MPI_Cart_shift`). `None`: it is beyond an edge.
    #[must_use]
    pub fn shift(&self, dimension: usize, by: isize) -> [Option<usize>; 2] {
        let along = |by| self.grid.along(self.rank(), dimension, by);
        [by.checked_neg().and_then(along), along(by)]
    }

    /// Cuts the grid into grids of the dimensions that `keep` says, one for each place in the others
    /// (`MPI_Cart_sub`). Collective.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn slice(&self, keep: &[bool]) -> Result<Self> {
        let number = |kept: bool| {
            let grid = self.grid.part(keep, kept);
            let own = self.coordinates();
            let keep = keep.iter().copied().chain(std::iter::repeat(false));
            let place = own.iter().zip(keep).filter(|&(_, keep)| keep == kept);
            let place: Vec<isize> = place.map(|(&at, _)| at as isize).collect();
            grid.rank(&place).unwrap_or_default()
        };
        let part = self.split(Some(number(false) as u32), number(true) as i32)?;
        match part {
            Some(comm) => Ok(Self::of(comm, self.grid.part(keep, true))),
            None => unreachable!("every rank has a colour"),
        }
    }
}

impl<A: Access> Deref for Cart<A> {
    type Target = Comm<A>;

    fn deref(&self) -> &Comm<A> {
        &self.comm
    }
}

impl<A: Access> fmt::Debug for Cart<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cart")
            .field("rank", &self.rank())
            .field("grid", &self.grid)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;
    use proptest::prelude::*;

    #[test]
    fn balanced_shapes_are_as_even_as_can_be() {
        let shape = |ranks, given: &[usize]| Grid::balanced(ranks, given);
        assert_eq!(shape(6, &[0, 0]), Some(vec![3, 2]));
        assert_eq!(shape(7, &[0, 0]), Some(vec![7, 1]));
        // The examples of the standard (MPI 5.0, example 8.1).
        assert_eq!(shape(6, &[0, 3, 0]), Some(vec![2, 3, 1]));
        assert_eq!(shape(7, &[0, 3, 0]), None);
        assert_eq!(shape(24, &[0, 0, 0]), Some(vec![4, 3, 2]));
        // Where taking the largest factor first is not even.
        assert_eq!(shape(36, &[0, 0, 0]), Some(vec![4, 3, 3]));
        assert_eq!(shape(1, &[0]), Some(vec![1]));
        assert_eq!(shape(6, &[2, 3]), Some(vec![2, 3]));
        assert_eq!(shape(6, &[2, 2]), None);
        assert_eq!(shape(0, &[0]), None);
        assert_eq!(shape(1, &[]), Some(vec![]));
    }

    #[test]
    fn steps_beyond_an_edge_lead_nowhere() {
        let grid = Grid::new(&[2, 3], &[false, true]);
        assert_eq!(grid.size(), 6);
        assert_eq!(grid.neighbors(0), [u32::MAX, 3, 2, 1]);
        assert_eq!(grid.along(5, 1, 1), Some(3));
        assert_eq!(grid.along(5, 1, isize::MIN), Some(3));
        assert_eq!(grid.along(5, 0, isize::MIN), None);
        assert_eq!(grid.along(5, 0, isize::MAX), None);
        assert_eq!(grid.along(5, 2, 1), None);
        assert_eq!(grid.rank(&[0]), None);
        let line = Grid::new(&[4], &[]);
        assert_eq!(line.neighbors(3), [2, u32::MAX]);
        let point = Grid::new(&[], &[]);
        assert_eq!((point.size(), point.rank(&[])), (1, Some(0)));
    }

    proptest! {
        #[test]
        fn ranks_and_coordinates_are_inverse(
            shape in prop::collection::vec((1usize..5, any::<bool>()), 0..4),
            rank in 0usize..256,
            by in -9isize..9,
        ) {
            let (ranks, periodic): (Vec<_>, Vec<_>) = shape.into_iter().unzip();
            let grid = Grid::new(&ranks, &periodic);
            let rank = rank % grid.size();
            let place = grid.coordinates(rank);
            let signed: Vec<isize> = place.iter().map(|&at| at as isize).collect();
            prop_assert_eq!(grid.rank(&signed), Some(rank));
            for (dimension, periodic) in periodic.into_iter().enumerate() {
                if let Some(other) = grid.along(rank, dimension, by) {
                    prop_assert_eq!(grid.along(other, dimension, -by), Some(rank));
                } else {
                    prop_assert!(!periodic);
                }
            }
        }

        #[test]
        fn balanced_shapes_have_all_ranks(ranks in 1usize..5000, free in 1usize..5) {
            let shape = Grid::balanced(ranks, &vec![0; free]).expect("there are factors");
            prop_assert_eq!(shape.iter().product::<usize>(), ranks);
            prop_assert!(shape.is_sorted_by(|a, b| a >= b));
        }
    }
}
