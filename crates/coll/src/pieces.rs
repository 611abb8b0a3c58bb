//! Messages of a ring that go from node to node in pieces.

use crate::catalog::Parameters;
use crate::circle::Circle;
use crate::circular::Spot;
use crate::placement::Placement;

/// How a rank gets and passes on what goes around a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// The pieces of what comes from another node or goes there; the turns in which a message passes.
    pub(crate) number: u32,
    /// Whether messages come, and go, in pieces.
    pub(crate) cut: [bool; 2],
}

impl Pieces {
    /// Of messages of so many bytes. What goes from node to node is in pieces where its receiver
    /// [asks ahead](Parameters::asks_ahead).
    pub(crate) fn of(circle: Circle, parameters: &Parameters, bytes: u64) -> Self {
        let place = Placement::new(parameters.order, circle.size(), parameters.per_node);
        let number = parameters.pieces_between_nodes(place, bytes);
        let [below, above] = parameters.edges(circle);
        let asks = |circle| parameters.asks_ahead(circle, bytes) > 0;
        match (
            number,
            below && asks(circle),
            above && asks(circle.turned(1)),
        ) {
            (1, ..) | (_, false, false) => Pieces::all(1),
            (_, comes, goes) => Pieces {
                number,
                cut: [comes, goes],
            },
        }
    }

    /// The same number both ways.
    pub(crate) const fn all(number: u32) -> Self {
        Pieces {
            number,
            cut: [number > 1; 2],
        }
    }

    /// What of a message comes in a turn; all of it in the first, if it is not cut.
    pub(crate) fn coming(&self, turn: u32, whole: Spot) -> Spot {
        self.part(self.cut[0], turn, whole)
    }

    /// What of a message goes in a turn.
    pub(crate) fn going(&self, turn: u32, whole: Spot) -> Spot {
        self.part(self.cut[1], turn, whole)
    }

    fn part(&self, is_cut: bool, turn: u32, whole: Spot) -> Spot {
        match (is_cut, turn % self.number) {
            (true, piece) => whole.cut(self.number, piece),
            (false, 0) => whole,
            (false, _) => Spot::EMPTY,
        }
    }

    /// Before so many turns what goes in this one had come: a piece, or the last one of a message.
    pub(crate) const fn behind(&self, sent: u32) -> u32 {
        match self.cut[1] {
            true => (sent + 1).saturating_sub(self.number),
            false => sent,
        }
    }
}
