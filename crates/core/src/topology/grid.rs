//! The shape of a grid of ranks (MPI 5.0, section 8.5).

use oxmpi_coll::catalog::PROC_NULL;

/// The shape of a grid: the number of ranks in each dimension, and which dimensions are rings. Ranks are
/// numbered row by row: the last dimension varies fastest.
///
/// ```
/// use oxmpi_core::Grid;
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
    /// A grid with this number of ranks in each dimension. A dimension is a ring where `periodic` is true;
    /// missing entries are false.
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

    /// The number of ranks in each dimension for `ranks` ranks in all, as even as possible and in descending
    /// order (`MPI_Dims_create`). Dimensions that are not 0 in `given` are kept. `None`: the kept ones do not
    /// divide `ranks`, or all are kept and their product is not `ranks`.
    ///
    /// # Cost
    /// Steps as the root of `ranks`, and for each product of its divisors.
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

    /// The coordinates of a rank (`MPI_Cart_coords`).
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

    /// The rank at these coordinates, modulo the length of rings (`MPI_Cart_rank`). `None`: beyond an edge,
    /// or not one coordinate for each dimension.
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

    /// The rank `by` steps from `rank` along a dimension. `None`: beyond an edge, or no such dimension.
    #[must_use]
    pub fn along(&self, rank: usize, dimension: usize, by: isize) -> Option<usize> {
        let mut place = self.coordinates(rank);
        let at = place.get_mut(dimension)?;
        let ranks = self.dimensions.get(dimension)?.ranks;
        // Less than the ring's length, so that the sum does not overflow.
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

    /// The ranks with which a rank exchanges in neighbourhood collectives: for each dimension the one below,
    /// then the one above.
    #[must_use]
    pub fn neighbors(&self, rank: usize) -> Vec<u32> {
        let dimensions = 0..self.dimensions.len();
        let both = dimensions.flat_map(|dimension| [(dimension, -1), (dimension, 1)]);
        let ranks = both.map(|(dimension, by)| self.along(rank, dimension, by));
        ranks
            .map(|rank| rank.map_or(PROC_NULL, |rank| rank as u32))
            .collect()
    }

    /// The part of the grid in the dimensions that `keep` selects, as `rank` sees it: its shape, a number that tells it
    /// from the other parts, and the number of `rank` in it (`MPI_Cart_sub`).
    #[must_use]
    pub fn slice(&self, rank: usize, keep: &[bool]) -> (Self, u32, i32) {
        let own = self.coordinates(rank);
        let number = |kept: bool| {
            let selected = keep.iter().copied().chain(std::iter::repeat(false));
            let place = own.iter().zip(selected).filter(|&(_, keep)| keep == kept);
            let place: Vec<isize> = place.map(|(&at, _)| at as isize).collect();
            self.part(keep, kept).rank(&place).unwrap_or_default()
        };
        (
            self.part(keep, true),
            number(false) as u32,
            number(true) as i32,
        )
    }

    /// Whether a dimension is a ring, for each dimension.
    pub fn periods(&self) -> impl ExactSizeIterator<Item = bool> {
        self.dimensions.iter().map(|dimension| dimension.periodic)
    }

    /// The grid of the dimensions that `keep` selects, or of the others.
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

/// `number` factors of `product` in descending order, none above `most`, with the least difference between
/// the first and the last.
fn closest(product: usize, number: usize, most: usize) -> Option<Vec<usize>> {
    let small = (1..).take_while(|n| n * n <= product);
    let mut divisors: Vec<usize> = small.filter(|&n| product.is_multiple_of(n)).collect();
    let large = divisors.iter().rev().map(|n| product / n);
    divisors.extend(large.collect::<Vec<_>>());
    divisors.dedup();
    closest_of(&divisors, product, number, most)
}

/// As [`closest`]; `divisors` has all of `product`, and others, in ascending order.
fn closest_of(
    divisors: &[usize],
    product: usize,
    number: usize,
    most: usize,
) -> Option<Vec<usize>> {
    if number == 0 {
        return (product == 1).then(Vec::new);
    }
    let spread = |factors: &Vec<usize>| factors[0] - factors[number - 1];
    let firsts = divisors
        .iter()
        .copied()
        .take_while(|&n| n <= product.min(most));
    let with_first = firsts
        .filter(|&n| product.is_multiple_of(n))
        .filter_map(|first| {
            let mut factors = vec![first];
            factors.extend(closest_of(divisors, product / first, number - 1, first)?);
            Some(factors)
        });
    with_first.min_by_key(spread)
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
