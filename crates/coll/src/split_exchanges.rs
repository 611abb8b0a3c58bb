//! Exchanges that depend on nothing, split into a receive step and a send step each, so that a rank posts
//! their receives before it has anything to send.

/// The most exchanges that are split; their sends fit beside them in one execution.
const AHEAD: u32 = 8;

/// The steps of a plan of exchanges: the receives of the split exchanges, then their sends, then the other
/// exchanges, one step each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitExchanges {
    exchanges: u32,
    ahead: u32,
}

/// An exchange, or half of one, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeHalf {
    /// The receive.
    Receive(u32),
    /// The send.
    Send(u32),
    /// Both.
    Both(u32),
}

impl SplitExchanges {
    /// Splits at most the first `free` of `exchanges` exchanges, which depend on nothing.
    pub(crate) const fn of(exchanges: u32, free: u32) -> Self {
        let most = if exchanges < AHEAD { exchanges } else { AHEAD };
        SplitExchanges {
            exchanges,
            ahead: if free < most { free } else { most },
        }
    }

    pub(crate) const fn steps(&self) -> u32 {
        self.exchanges + self.ahead
    }

    /// The half or the exchange of step `i`.
    pub(crate) const fn step(&self, i: u32) -> ExchangeHalf {
        match () {
            () if i < self.ahead => ExchangeHalf::Receive(i),
            () if i < 2 * self.ahead => ExchangeHalf::Send(i - self.ahead),
            () => ExchangeHalf::Both(i - self.ahead),
        }
    }

    /// The steps that must be done for the first `exchanges` exchanges to have received.
    pub(crate) const fn received(&self, exchanges: u32) -> u32 {
        if exchanges <= self.ahead {
            exchanges
        } else {
            exchanges + self.ahead
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, ExchangeHalf, SplitExchanges};

    #[test]
    fn each_half_comes_once_and_receives_come_first() {
        for exchanges in [0, 1, 5, AHEAD, AHEAD + 1, 40] {
            for free in [0, 1, 4, AHEAD, 50] {
                let halves = SplitExchanges::of(exchanges, free);
                let (mut received, mut sent) = (0, 0);
                for i in 0..halves.steps() {
                    let step = halves.step(i);
                    if let ExchangeHalf::Receive(n) | ExchangeHalf::Both(n) = step {
                        assert_eq!(n, received);
                        received += 1;
                        assert_eq!(halves.received(received), i + 1);
                    }
                    if let ExchangeHalf::Send(n) | ExchangeHalf::Both(n) = step {
                        assert_eq!(n, sent);
                        sent += 1;
                    }
                    assert!(sent <= received && received - sent <= free.min(AHEAD));
                }
                assert_eq!((received, sent), (exchanges, exchanges));
            }
        }
    }
}
