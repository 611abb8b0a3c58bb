//! The edges of a rank in the graph of neighbours, and a global order of edges that avoids deadlock.
//!
//! A rank that limits its messages under way must not start them in any order: three ranks could each wait
//! for the next one to start a message that it has postponed. So all ranks process edges in one global
//! order; then the first edge that is not done has been started at both ends. The order goes by the sum of
//! the two ranks modulo their number, so that in each round a rank has one partner.

use crate::plan::PlanInputs;

/// One message of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// A message from the source with this number.
    From(u32),
    /// A message to the destination with this number.
    To(u32),
}

/// The edges of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edges {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) sources: u32,
    pub(super) destinations: u32,
    /// Whether the block for neighbour `2 d` becomes the receiver's block from neighbour `2 d + 1`, and vice
    /// versa.
    pub(super) cartesian: bool,
}

impl Edges {
    /// The number of edges.
    pub(super) const fn len(&self) -> u32 {
        self.sources + self.destinations
    }

    /// Edge `i`, below [`Edges::len`], in the order that all ranks keep; none where the neighbour is
    /// nobody.
    ///
    /// # Cost
    ///
    /// The number of edges times the logarithm of the number of ranks.
    pub(super) fn nth(&self, i: u32, inputs: &PlanInputs<'_>) -> Option<Edge> {
        let (mut low, mut high) = (0, u64::from(self.size));
        // The round of edge `i`: at most `i` edges come in earlier ones.
        while low + 1 < high {
            let middle = (low + high) / 2;
            if self.before(middle, inputs) <= i {
                low = middle;
            } else {
                high = middle;
            }
        }
        let size = u64::from(self.size);
        let peer = ((low + size - u64::from(self.rank)) % size) as u32;
        let n = i - self.before(low, inputs);
        let count = |peers: &mut dyn Iterator<Item = u32>| peers.filter(|&p| p == peer).count();
        // What the lower of the two ranks sends comes first.
        let sends_first = self.rank <= peer;
        let first = if sends_first {
            count(&mut self.destinations(inputs))
        } else {
            count(&mut self.sources(inputs))
        };
        let (is_first, n) = match n.checked_sub(first as u32) {
            None => (true, n),
            Some(n) => (false, n),
        };
        if is_first == sends_first {
            self.nth_to(peer, n, inputs).map(Edge::To)
        } else {
            self.nth_from(peer, n, inputs).map(Edge::From)
        }
    }

    /// The place among the sources of the `n`th message that `peer` sends here.
    pub(super) fn nth_from(&self, peer: u32, n: u32, inputs: &PlanInputs<'_>) -> Option<u32> {
        let places = (0..self.sources).map(|place| self.sent_as(place));
        let given = inputs.arrays.sources;
        let mut theirs = places.filter(|&place| given.get(place as usize) == Some(&peer));
        theirs.nth(n as usize)
    }

    /// The place among the destinations of the `n`th message to `peer`.
    fn nth_to(&self, peer: u32, n: u32, inputs: &PlanInputs<'_>) -> Option<u32> {
        let places = (0..self.destinations).zip(self.destinations(inputs));
        let mut theirs = places.filter(|&(_, to)| to == peer).map(|(place, _)| place);
        theirs.nth(n as usize)
    }

    /// The source whose message was sent as number `place` of its sender, or the other way round.
    pub(super) const fn sent_as(&self, place: u32) -> u32 {
        if self.cartesian { place ^ 1 } else { place }
    }

    /// How many edges come in rounds below this one.
    fn before(&self, round: u64, inputs: &PlanInputs<'_>) -> u32 {
        let early = |&peer: &u32| {
            peer < self.size && {
                let sum = u64::from(self.rank) + u64::from(peer);
                sum % u64::from(self.size) < round
            }
        };
        let all = self.destinations(inputs).chain(self.sources(inputs));
        all.filter(early).count() as u32
    }

    fn sources<'a>(&self, inputs: &PlanInputs<'a>) -> impl Iterator<Item = u32> + use<'a> {
        let given = inputs.arrays.sources;
        given.iter().copied().take(self.sources as usize)
    }

    fn destinations<'a>(&self, inputs: &PlanInputs<'a>) -> impl Iterator<Item = u32> + use<'a> {
        let given = inputs.arrays.destinations;
        given.iter().copied().take(self.destinations as usize)
    }
}
