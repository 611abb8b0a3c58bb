//! Simulates heat on a plate that is divided among a grid of ranks, which exchange the edges of their tiles.
//!
//! Each rank holds a tile with a row or column of ghost cells on each side. A step sends the four edges to
//! the neighbours, receives theirs into the ghost cells, and averages. The plate's rim has fixed
//! temperatures, so all ranks agree when it has settled.
//!
//! `oxmpi run -n 4 halo2d`

use oxmpi::{Cart, Grid, Op, World};

const TILE: usize = 16;
const WIDTH: usize = TILE + 2;
const SIDES: [(isize, isize); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];

struct Plate<'a> {
    cart: &'a Cart,
    cells: Vec<f64>,
}

impl Plate<'_> {
    /// The neighbour on each side; `None` at the rim of the plate.
    fn neighbours(&self) -> [Option<usize>; 4] {
        let ([up, down], [left, right]) = (self.cart.shift(0, 1), self.cart.shift(1, 1));
        [up, down, left, right]
    }

    /// Indexes of the cells along one side: the edge, or the ghost cells beyond it.
    fn line(side: (isize, isize), ghost: bool) -> impl Iterator<Item = usize> {
        let at = move |d: isize| match (d, ghost) {
            (-1, true) => 0,
            (-1, false) => 1,
            (_, false) => TILE,
            (_, true) => TILE + 1,
        };
        (1..=TILE).map(move |k| match side {
            (0, right) => k * WIDTH + at(right),
            (down, _) => at(down) * WIDTH + k,
        })
    }

    fn values(&self, side: (isize, isize), ghost: bool) -> Vec<f64> {
        Self::line(side, ghost).map(|i| self.cells[i]).collect()
    }

    fn exchange(&mut self) -> oxmpi::Result<()> {
        let edges = SIDES.map(|side| self.values(side, false));
        let mut ghosts = SIDES.map(|side| self.values(side, true));
        let neighbours = self.neighbours();
        self.cart.scope(|s| {
            // Beyond the rim there is nobody to send to, and the ghost cells stay what they are.
            for (side, (ghost, peer)) in ghosts.iter_mut().zip(neighbours).enumerate() {
                // The neighbour sends the opposite side: 0 and 1 swap, 2 and 3 swap.
                s.irecv(ghost, peer, side as u32 ^ 1)?;
            }
            for (side, (edge, peer)) in edges.iter().zip(neighbours).enumerate() {
                s.isend(edge, peer, side as u32)?;
            }
            Ok(()) // the scope waits for all of them
        })?;
        for (side, ghost) in SIDES.into_iter().zip(ghosts) {
            for (i, value) in Self::line(side, true).zip(ghost) {
                self.cells[i] = value;
            }
        }
        Ok(())
    }

    /// Runs one step of Jacobi's method, and returns the largest change of a cell.
    fn relax(&mut self) -> f64 {
        let old = self.cells.clone();
        let mut change = 0.0f64;
        for row in 1..=TILE {
            for column in 1..=TILE {
                let i = row * WIDTH + column;
                self.cells[i] = (old[i - 1] + old[i + 1] + old[i - WIDTH] + old[i + WIDTH]) / 4.0;
                change = change.max((self.cells[i] - old[i]).abs());
            }
        }
        change
    }
}

fn main() -> oxmpi::Result<()> {
    let world = World::init()?;
    let comm = world.comm();
    let shape = Grid::balanced(comm.size(), &[0, 0]).expect("any number of ranks forms a grid");
    let cart = comm
        .cart(Grid::new(&shape, &[]))?
        .expect("every rank has a place");
    let mut plate = Plate {
        cart: &cart,
        cells: vec![0.0; WIDTH * WIDTH],
    };
    if plate.neighbours()[0].is_none() {
        plate.cells[..WIDTH].fill(100.0); // the plate's upper rim is hot
    }

    let mut steps = 0;
    loop {
        plate.exchange()?;
        let change = comm.allreduce(&plate.relax(), Op::MAX)?;
        steps += 1;
        if change < 1e-2 || steps == 2_000 {
            break;
        }
    }

    let heat: f64 = (1..=TILE)
        .flat_map(|row| &plate.cells[row * WIDTH + 1..=row * WIDTH + TILE])
        .sum();
    let heat = comm.allreduce(&heat, Op::SUM)?;
    if comm.rank() == 0 {
        let cells = (comm.size() * TILE * TILE) as f64;
        println!(
            "{} x {} tiles settled after {steps} steps at {:.3} degrees on average",
            shape[0],
            shape[1],
            heat / cells
        );
    }
    Ok(())
}
