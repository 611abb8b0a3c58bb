//! Exchanges that need nothing, as two steps each: what they receive is asked for before the rank has
//! anything to send.

/// The most exchanges that receive before they send. As many sends fit beside them.
const AHEAD: u32 = 8;

/// The steps of a plan of exchanges: first those that receive in the exchanges that need nothing,
/// then those that send in them, then the other exchanges as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SplitExchanges {
    exchanges: u32,
    ahead: u32,
}

/// An exchange, or half of one, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeHalf {
    /// What it receives.
    Receive(u32),
    /// What it sends.
    Send(u32),
    /// Both.
    Both(u32),
}

impl SplitExchanges {
    /// Of so many exchanges the first `free` ones need nothing.
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

    /// What step `i` does.
    pub(crate) const fn step(&self, i: u32) -> ExchangeHalf {
        match () {
            () if i < self.ahead => ExchangeHalf::Receive(i),
            () if i < 2 * self.ahead => ExchangeHalf::Send(i - self.ahead),
            () => ExchangeHalf::Both(i - self.ahead),
        }
    }

    /// How many steps must be done for the first `exchanges` exchanges to have received.
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
