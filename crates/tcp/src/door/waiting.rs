//! Callers that have not proved anything yet: a bounded number, each for a bounded time.

/// A waiting room. Time is told by its keeper, in any unit, from any moment, as often as the keeper looks.
///
/// The room's own clock goes on no further than an eighth of the guests' patience from one look to the next: who
/// waits is looked at several times before its time is over, however seldom the keeper looks.
///
/// When it is full, who came first has to go: strangers that say nothing keep nobody out for longer
/// than it takes as many others to come.
#[derive(Debug)]
pub struct Waiting<T> {
    places: Vec<Place<T>>,
    most: usize,
    patience: u64,
    /// When the keeper looked last.
    looked: u64,
    /// The time of the room's own clock.
    clock: u64,
}

#[derive(Debug)]
struct Place<T> {
    number: u64,
    until: u64,
    who: T,
}

impl<T> Waiting<T> {
    /// Room for `most` callers, at least one, for a time of `patience` each.
    #[must_use]
    pub fn new(most: usize, patience: u64) -> Self {
        Self {
            places: Vec::new(),
            most: most.max(1),
            patience,
            looked: 0,
            clock: 0,
        }
    }

    /// The keeper looks, at `now`.
    fn look(&mut self, now: u64) {
        let passed = now
            .saturating_sub(self.looked)
            .min(self.patience.div_ceil(8));
        self.clock = self.clock.saturating_add(passed);
        self.looked = now;
    }

    /// Lets `who` wait under `number`, which is greater than all before. Gives who had to go for that.
    pub fn enter(&mut self, number: u64, who: T, now: u64) -> Option<T> {
        self.look(now);
        let is_full = self.places.len() >= self.most;
        let gone = if is_full { self.yield_place() } else { None };
        self.places.push(Place {
            number,
            until: self.clock.saturating_add(self.patience),
            who,
        });
        gone
    }

    /// Who waits under `number`.
    pub fn get(&mut self, number: u64) -> Option<&mut T> {
        let at = self.at(number)?;
        Some(&mut self.places[at].who)
    }

    /// Takes who waits under `number` away.
    pub fn leave(&mut self, number: u64) -> Option<T> {
        let at = self.at(number)?;
        Some(self.places.remove(at).who)
    }

    /// Takes away somebody whose time is over. Ask once what they said has been heard.
    pub fn overdue(&mut self, now: u64) -> Option<T> {
        self.look(now);
        let first = self.places.first()?;
        (first.until <= self.clock).then(|| self.places.remove(0).who)
    }

    /// Takes away who came first, to make room.
    pub fn yield_place(&mut self) -> Option<T> {
        (!self.places.is_empty()).then(|| self.places.remove(0).who)
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn at(&self, number: u64) -> Option<usize> {
        let found = self.places.binary_search_by_key(&number, |p| p.number);
        found.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_and_time_are_bounded() {
        let mut waiting = Waiting::new(2, 10);
        assert_eq!(waiting.enter(1, 'a', 0), None);
        assert_eq!(waiting.enter(2, 'b', 5), None);
        assert_eq!(waiting.enter(3, 'c', 6), Some('a'), "who came first goes");
        assert_eq!((waiting.len(), waiting.get(1)), (2, None));
        assert_eq!(waiting.get(2), Some(&mut 'b'));
        for now in 7..15 {
            assert_eq!(waiting.overdue(now), None);
        }
        assert_eq!(waiting.overdue(15), Some('b'));
        assert_eq!(waiting.overdue(15), None);
        assert_eq!((waiting.leave(3), waiting.leave(3)), (Some('c'), None));
        assert!(waiting.is_empty());
    }

    #[test]
    fn time_without_a_look_is_not_counted() {
        let mut waiting = Waiting::new(2, 800);
        assert_eq!(waiting.enter(1, 'a', 10_000), None);
        let looks = (11..).map(|look| waiting.overdue(look * 10_000));
        assert_eq!(looks.take_while(Option::is_none).count(), 7);
    }
}
