//! [`Token`]: names an operation of registered memory, and tells whose it is.

/// Identifies an operation that uses registered memory.
///
/// The owner that starts the operation chooses it, and the transport returns it in
/// [`Sink::done`](super::Sink::done), once for each operation that was started with it. All puts of a message
/// have the same token.
///
/// The two lowest bits tell the owner. Tokens with [`Token::FOREIGN`] there belong to an owner beside the
/// engine, such as windows; all others are the engine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub u64);

impl Token {
    /// The two lowest bits of a token that is not the engine's.
    pub(crate) const FOREIGN: u64 = 3;

    /// The token `number` of an owner beside the engine.
    ///
    /// # Panics
    /// If `number` is 2^62 or more.
    #[must_use]
    pub const fn foreign(number: u64) -> Self {
        assert!(number < 1 << 62, "a number of 62 bits");
        Self(number << 2 | Self::FOREIGN)
    }

    /// The number of a token that [`Token::foreign`] made; `None` if it is the engine's.
    #[must_use]
    pub const fn foreign_number(self) -> Option<u64> {
        if self.0 & 3 == Self::FOREIGN {
            Some(self.0 >> 2)
        } else {
            None
        }
    }
}
