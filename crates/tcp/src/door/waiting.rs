//! Callers that have not proved anything yet: a bounded number, each for a bounded time.

/// A waiting room. Time is counted by the caller, in any unit, from any moment.
///
/// When it is full, who came first has to go: strangers that say nothing keep nobody out for longer
/// than it takes as many others to come.
#[derive(Debug)]
pub struct Waiting<T> {
    places: Vec<Place<T>>,
    most: usize,
    patience: u64,
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
        }
    }

    /// Lets `who` wait under `number`, which is greater than all before. Gives who had to go for that.
    pub fn enter(&mut self, number: u64, who: T, now: u64) -> Option<T> {
        let gone = (self.places.len() >= self.most).then(|| self.places.remove(0).who);
        self.places.push(Place {
            number,
            until: now.saturating_add(self.patience),
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

    /// Takes away somebody whose time is over.
    pub fn overdue(&mut self, now: u64) -> Option<T> {
        let first = self.places.first()?;
        (first.until <= now).then(|| self.places.remove(0).who)
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
        assert_eq!(waiting.overdue(14), None);
        assert_eq!(waiting.overdue(15), Some('b'));
        assert_eq!(waiting.overdue(15), None);
        assert_eq!((waiting.leave(3), waiting.leave(3)), (Some('c'), None));
        assert!(waiting.is_empty());
    }
}
