//! Cartesian communicators, whose ranks form a grid (MPI 5.0, section 8.5).

use std::fmt;
use std::ops::Deref;

use oxmpi_core::{Error, Grid, Result, Single, Threading, Topology};

use super::Comm;

/// A communicator whose ranks form a [`Grid`]; made by [`Comm::cart`]. It is a [`Comm`] too, whose
/// neighbourhood collectives exchange with the rank below and the rank above in each dimension.
pub struct Cart<A: Threading = Single> {
    comm: Comm<A>,
    grid: Grid,
}

impl<A: Threading> Comm<A> {
    /// A communicator of this one's first ranks, in a grid (`MPI_Cart_create`). Collective. Ranks beyond the
    /// grid's size get `None`. Ranks keep their numbers.
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
    /// cart.neighbor_allgather_into(&[cart.rank()], &mut around)?;
    /// assert_eq!(Some(around[0]), cart.grid().along(cart.rank(), 0, -1));
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the grid has no rank or more than there are, or a rank is lost meanwhile.
    pub fn cart(&self, grid: Grid) -> Result<Option<Cart<A>>> {
        let (rank, size) = (self.rank(), self.size());
        if grid.size() > size || grid.size() == 0 {
            let why = format!("a grid of {} ranks is to have 1 to {size}", grid.size());
            return Err(Error::Collective { rank, why });
        }
        let colour = (rank < grid.size()).then_some(0);
        let comm = self.split(colour, 0)?;
        Ok(comm.map(|comm| Cart::of(comm, grid)))
    }
}

impl<A: Threading> Cart<A> {
    fn of(mut comm: Comm<A>, grid: Grid) -> Self {
        let neighbors = grid.neighbors(comm.rank());
        comm.topology = Some(Topology::new(neighbors.clone(), neighbors, true));
        Self { comm, grid }
    }

    /// The shape of the grid.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The coordinates of this rank (`MPI_Cart_get`).
    #[must_use]
    pub fn coordinates(&self) -> Vec<usize> {
        self.grid.coordinates(self.rank())
    }

    /// The ranks `by` steps back and `by` steps on along a dimension: source and destination of a shift
    /// (`MPI_Cart_shift`). `None`: beyond an edge, where messages go to and come from
    /// [`PROC_NULL`](crate::PROC_NULL).
    #[must_use]
    pub fn shift(&self, dimension: usize, by: isize) -> [Option<usize>; 2] {
        let along = |by| self.grid.along(self.rank(), dimension, by);
        [by.checked_neg().and_then(along), along(by)]
    }

    /// Splits the grid into grids of the dimensions that `keep` selects, one for each position in the others
    /// (`MPI_Cart_sub`). Collective.
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn slice(&self, keep: &[bool]) -> Result<Self> {
        let (grid, part, place) = self.grid.slice(self.rank(), keep);
        let part = self.split(Some(part), place)?;
        match part {
            Some(comm) => Ok(Self::of(comm, grid)),
            None => unreachable!("every rank has a colour"),
        }
    }
}

impl<A: Threading> Deref for Cart<A> {
    type Target = Comm<A>;

    fn deref(&self) -> &Comm<A> {
        &self.comm
    }
}

impl<A: Threading> fmt::Debug for Cart<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cart")
            .field("rank", &self.rank())
            .field("grid", &self.grid)
            .finish_non_exhaustive()
    }
}
