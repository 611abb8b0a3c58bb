//! One leader in the exchange.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::message::{EncodedTable, TableMessage, read, write};
use super::{
    AddressDirectory, ExchangeError, NodeAddressTable, round_source, round_target, rounds,
    tables_in_round,
};

/// What a leader does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeStep {
    /// Get the card of this node from the manager, and tell by [`AddressExchange::card_received`].
    GetCard {
        /// Whose.
        node: u32,
    },
    /// Send these bytes to the leader of this node, and go on; a connection is made if there is none.
    Send {
        /// To whom.
        node: u32,
        /// What.
        bytes: Vec<u8>,
    },
    /// Wait until a message of this node has come, and tell by [`AddressExchange::message_received`].
    Receive {
        /// Of whom.
        node: u32,
    },
    /// All sheets are here.
    Done,
}

/// What a leader has still to do in its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Get,
    Send,
    Await,
}

/// A leader that collects the sheets of all nodes. What comes before its turn is kept, one message for
/// each round.
#[derive(Clone, Debug)]
pub struct AddressExchange {
    me: u32,
    nodes: u32,
    round: u32,
    stage: Stage,
    /// Of this node and those that follow it.
    have: Vec<EncodedTable>,
    /// Of later rounds.
    early: Vec<Option<Vec<EncodedTable>>>,
}

impl AddressExchange {
    /// The leader of node `me`, of `nodes`, whose sheet is `own`.
    ///
    /// # Panics
    /// If `me` is no node.
    #[must_use]
    pub fn new(me: u32, nodes: u32, own: &NodeAddressTable) -> Self {
        assert!(me < nodes, "node {me} of {nodes}");
        Self {
            me,
            nodes,
            round: 0,
            stage: Stage::Get,
            have: Vec::from([own.encode().into_boxed_slice()]),
            early: (0..rounds(nodes)).map(|_| None).collect(),
        }
    }

    /// What is to be done now. A message that is to be sent is given once.
    #[must_use]
    pub fn next_step(&mut self) -> ExchangeStep {
        if self.round == rounds(self.nodes) {
            return ExchangeStep::Done;
        }
        let node = round_target(self.me, self.nodes, self.round);
        match self.stage {
            Stage::Get => ExchangeStep::GetCard { node },
            Stage::Send => {
                let count = tables_in_round(self.nodes, self.round) as usize;
                let bytes = write(self.nodes, self.me, &self.have[..count]);
                self.stage = Stage::Await;
                self.take_early();
                ExchangeStep::Send { node, bytes }
            }
            Stage::Await => ExchangeStep::Receive {
                node: round_source(self.me, self.nodes, self.round),
            },
        }
    }

    /// The manager has answered: it has the card that was asked for, or has none.
    ///
    /// # Errors
    /// Where it has none.
    pub fn card_received(&mut self, has_card: bool) -> Result<(), ExchangeError> {
        if !has_card {
            let node = round_target(self.me, self.nodes, self.round);
            return Err(ExchangeError::NoCard { node });
        }
        if self.stage == Stage::Get {
            self.stage = Stage::Send;
        }
        Ok(())
    }

    /// A message of the leader of node `from` has come.
    ///
    /// # Errors
    /// What is no message of an exchange, or none that this node would get from there now.
    pub fn message_received(&mut self, from: u32, bytes: &[u8]) -> Result<(), ExchangeError> {
        let TableMessage {
            nodes,
            first,
            sheets: new,
        } = read(from, bytes)?;
        let all = rounds(self.nodes);
        let round = (0..all).find(|round| round_source(self.me, self.nodes, *round) == from);
        let Some(round) = round else {
            let expected = format!("nothing, as {all} other nodes do");
            return Err(order(from, "sheets".into(), expected));
        };
        let is_due = round >= self.round && self.early[round as usize].is_none();
        if !is_due {
            return Err(order(from, "sheets again".into(), "one message".into()));
        }
        let count = tables_in_round(self.nodes, round);
        if (nodes, first, new.len()) != (self.nodes, from, count as usize) {
            let say =
                |nodes, first, count| format!("{count} sheets from node {first} on, of {nodes}");
            let expected = say(self.nodes, from, count as usize);
            return Err(order(from, say(nodes, first, new.len()), expected));
        }
        self.early[round as usize] = Some(new);
        self.take_early();
        Ok(())
    }

    /// Ends the round if all of it is done.
    fn take_early(&mut self) {
        if self.stage != Stage::Await {
            return;
        }
        if let Some(new) = self.early[self.round as usize].take() {
            self.have.extend(new);
            self.round += 1;
            self.stage = Stage::Get;
        }
    }

    /// All sheets as one message, for the other ranks of the node; [`AddressDirectory::read`] reads it.
    ///
    /// # Panics
    /// Before all are here.
    #[must_use]
    pub fn encode_all(&self) -> Vec<u8> {
        assert_eq!(self.have.len(), self.nodes as usize, "not all are here");
        let mut sheets = self.have.clone();
        sheets.rotate_right(self.me as usize);
        write(self.nodes, 0, &sheets)
    }

    /// Where all ranks of a job of `ranks` are.
    ///
    /// # Errors
    /// As [`AddressDirectory::read`].
    ///
    /// # Panics
    /// As [`AddressExchange::encode_all`].
    pub fn directory(&self, ranks: u32) -> Result<AddressDirectory, ExchangeError> {
        AddressDirectory::read(ranks, self.nodes, &self.encode_all())
    }
}

fn order(from: u32, got: String, expected: String) -> ExchangeError {
    ExchangeError::Unexpected {
        from,
        got,
        expected,
    }
}
