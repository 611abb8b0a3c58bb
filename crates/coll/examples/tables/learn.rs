//! Learns a decision tree: each split is the one after which the best choices of both sides lose least.

use crate::Sample;
use oxmpi_coll::choice::cyclic::FEATURES;

/// A learned tree.
pub(crate) enum Tree {
    /// The choice to use.
    Use(usize),
    /// Whether the feature is below a value, and the trees for either case.
    Below(usize, u64, Box<[Tree; 2]>),
}

impl Tree {
    /// The choice for a sample.
    pub(crate) fn choice(&self, sample: &Sample) -> usize {
        match self {
            Tree::Use(choice) => *choice,
            Tree::Below(feature, value, cases) => {
                cases[usize::from(sample.features[*feature] >= *value)].choice(sample)
            }
        }
    }

    pub(crate) fn leaves(&self) -> usize {
        match self {
            Tree::Use(_) => 1,
            Tree::Below(_, _, cases) => cases.iter().map(Tree::leaves).sum(),
        }
    }
}

/// The candidates that lose least if the best of them is always known: the first one, and those that gain most, one by one.
pub(crate) fn shortlist(samples: &[Sample], most: usize) -> Vec<usize> {
    let mut list = vec![0];
    let mut losses: Vec<u64> = samples.iter().map(|one| one.loss(0).into()).collect();
    while list.len() < most {
        let with = |candidate: usize| {
            let each = samples.iter().zip(&losses);
            each.map(move |(sample, &loss)| loss.min(sample.loss(candidate).into()))
        };
        let total = |candidate: &usize| with(*candidate).sum::<u64>();
        let Some(best) = (0..samples[0].candidates()).min_by_key(total) else {
            break;
        };
        // A candidate that gains less than a thousandth is not worth its line.
        if total(&best) + 1_000 * samples.len() as u64 > losses.iter().sum() {
            break;
        }
        losses = with(best).collect();
        list.push(best);
    }
    list
}

/// The fewest samples of a leaf.
const FEWEST: usize = 8;

/// A loss beyond this much, in millionths, counts three more times, up to [`SEVERE`]: many small losses are better than a
/// few large ones.
const TOLERABLE: u32 = 80_000;
const SEVERE: u32 = 380_000;

/// The samples to learn from, with how bad each choice is.
pub(crate) struct Learner<'a> {
    samples: &'a [Sample],
    penalties: Vec<Vec<u64>>,
}

/// A leaf that may be split.
struct Leaf {
    members: Vec<usize>,
    choice: usize,
    /// What the best split gains, its feature and its value.
    split: Option<(u64, usize, u64)>,
}

impl<'a> Learner<'a> {
    pub(crate) fn new(samples: &'a [Sample]) -> Self {
        let penalty = |loss: u32| {
            let beyond = loss.min(SEVERE).saturating_sub(TOLERABLE);
            u64::from(loss.min(1_000_000) + 3 * beyond)
        };
        let of = |sample: &Sample| {
            (0..sample.candidates())
                .map(|one| penalty(sample.loss(one)))
                .collect()
        };
        Learner {
            samples,
            penalties: samples.iter().map(of).collect(),
        }
    }

    /// A tree of at most so many leaves for each kind of operation and sharing, grown where that gains most.
    pub(crate) fn tree(&self, leaves: usize) -> Tree {
        let mut open = vec![self.leaf((0..self.samples.len()).collect())];
        let mut splits = Vec::new();
        let mut split = |open: &mut Vec<Leaf>, at: usize, feature: usize, value: u64| {
            let members = core::mem::take(&mut open[at].members);
            let is_below = |&at: &usize| self.samples[at].features[feature] < value;
            let (below, other): (Vec<_>, Vec<_>) = members.into_iter().partition(is_below);
            open[at] = self.leaf(below);
            open.push(self.leaf(other));
            splits.push((at, feature, value));
        };
        // What suits differs between kinds, so each has leaves of its own.
        for name in ["commutes", "shared memory"] {
            let value = 1;
            let feature = FEATURES
                .iter()
                .position(|one| *one == name)
                .expect("a feature");
            for at in 0..open.len() {
                let values = open[at]
                    .members
                    .iter()
                    .map(|&one| self.samples[one].features[feature]);
                let (below, other): (Vec<_>, Vec<_>) = values.partition(|&one| one < value);
                if !below.is_empty() && !other.is_empty() {
                    split(&mut open, at, feature, value);
                }
            }
        }
        let leaves = leaves * open.len();
        while open.len() < leaves {
            let gain = |leaf: &Leaf| leaf.split.map_or(0, |split| split.0);
            let best = (0..open.len()).max_by_key(|&at| gain(&open[at]));
            let Some((at, (_, feature, value))) = best.and_then(|at| Some((at, open[at].split?)))
            else {
                break;
            };
            split(&mut open, at, feature, value);
        }
        let mut trees: Vec<Tree> = open.iter().map(|leaf| Tree::Use(leaf.choice)).collect();
        for (low, feature, value) in splits.into_iter().rev() {
            let other = trees.pop().expect("a split has two cases");
            let below = core::mem::replace(&mut trees[low], Tree::Use(0));
            trees[low] = match (below, other) {
                (Tree::Use(one), Tree::Use(two)) if one == two => Tree::Use(one),
                (below, other) => Tree::Below(feature, value, Box::new([below, other])),
            };
        }
        trees.remove(0)
    }

    /// The leaf of these samples, with its best split.
    fn leaf(&self, members: Vec<usize>) -> Leaf {
        let mut total = vec![0; self.samples[0].candidates()];
        members
            .iter()
            .for_each(|&at| add(&mut total, &self.penalties[at]));
        let (choice, own) = least(total.iter().copied());
        let mut order = members.clone();
        let mut split: Option<(u64, usize, u64)> = None;
        for feature in 0..FEATURES.len() {
            let value = |at: usize| self.samples[at].features[feature];
            order.sort_by_key(|&at| (value(at), at));
            let mut below = vec![0; total.len()];
            for (count, pair) in (1..).zip(order.windows(2)) {
                add(&mut below, &self.penalties[pair[0]]);
                let [low, high] = [value(pair[0]), value(pair[1])];
                if low == high || count < FEWEST || order.len() - count < FEWEST {
                    continue;
                }
                let others = total.iter().zip(&below).map(|(all, part)| all - part);
                let gain = own - least(below.iter().copied()).1 - least(others).1;
                if gain > split.map_or(0, |known| known.0) {
                    split = Some((gain, feature, round(low, high)));
                }
            }
        }
        Leaf {
            members,
            choice,
            split,
        }
    }
}

fn add(sums: &mut [u64], to: &[u64]) {
    sums.iter_mut().zip(to).for_each(|(sum, one)| *sum += one);
}

/// The first of the least numbers, and that number.
fn least(numbers: impl Iterator<Item = u64>) -> (usize, u64) {
    numbers
        .enumerate()
        .min_by_key(|one| one.1)
        .expect("there are candidates")
}

/// A number above `low` and up to `high` with few digits, near the middle.
fn round(low: u64, high: u64) -> u64 {
    let middle = low + (high - low).div_ceil(2);
    let units = (0..18).rev().map(|digits| 10_u64.pow(digits));
    let rounded = units.map(|unit| middle / unit * unit);
    rounded.into_iter().find(|&one| one > low).unwrap_or(high)
}
