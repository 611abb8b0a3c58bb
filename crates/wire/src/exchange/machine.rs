//! The state machine of one leader in the address exchange ([`AddressExchange`]).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::message::{EncodedTable, TableMessage, read, write};
use super::{
    AddressDirectory, ExchangeError, NodeAddressTable, round_source, round_target, rounds,
    tables_in_round,
};

/// What a leader has to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeStep {
    /// Get the business card of this node's leader from the process manager, then call [`AddressExchange::card_received`].
    GetCard {
        /// The node.
        node: u32,
    },
    /// Send these bytes to the leader of this node, connecting to it if necessary, and go on.
    Send {
        /// The receiver.
        node: u32,
        /// The message.
        bytes: Vec<u8>,
    },
    /// Wait for the message of this node, then call [`AddressExchange::message_received`].
    Receive {
        /// The sender.
        node: u32,
    },
    /// All tables have arrived.
    Done,
}

/// The next action of a leader in its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Get,
    Send,
    Await,
}

/// A leader that collects the tables of all nodes. It keeps messages of later rounds, at most one for each.
#[derive(Clone, Debug)]
pub struct AddressExchange {
    me: u32,
    nodes: u32,
    round: u32,
    stage: Stage,
    /// Tables of this node and those that follow it.
    have: Vec<EncodedTable>,
    /// Tables that arrived early, by round.
    early: Vec<Option<Vec<EncodedTable>>>,
}

impl AddressExchange {
    /// The leader of node `me` of `nodes`, whose table is `own`.
    ///
    /// # Panics
    /// If `me` is not below `nodes`.
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

    /// The next step. Each message to send is returned once.
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

    /// Records whether the process manager has the card of [`ExchangeStep::GetCard`].
    ///
    /// # Errors
    /// [`ExchangeError::NoCard`] if it has not.
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

    /// Takes in a message of the leader of node `from`.
    ///
    /// # Errors
    /// If it is not a message of the exchange, or not one that node `from` would send to this node now.
    pub fn message_received(&mut self, from: u32, bytes: &[u8]) -> Result<(), ExchangeError> {
        let TableMessage {
            nodes,
            first,
            tables: new,
        } = read(from, bytes)?;
        let all = rounds(self.nodes);
        let round = (0..all).find(|round| round_source(self.me, self.nodes, *round) == from);
        let Some(round) = round else {
            let expected = format!("messages of {all} other nodes only");
            return Err(unexpected(from, "address tables".into(), expected));
        };
        let is_due = round >= self.round && self.early[round as usize].is_none();
        if !is_due {
            return Err(unexpected(
                from,
                "address tables again".into(),
                "one message".into(),
            ));
        }
        let count = tables_in_round(self.nodes, round);
        if (nodes, first, new.len()) != (self.nodes, from, count as usize) {
            let say = |nodes, first, count| {
                format!("{count} tables from node {first} on, of {nodes} nodes")
            };
            let expected = say(self.nodes, from, count as usize);
            return Err(unexpected(from, say(nodes, first, new.len()), expected));
        }
        self.early[round as usize] = Some(new);
        self.take_early();
        Ok(())
    }

    /// Ends the round if its message was sent and has arrived.
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

    /// All tables as one message, for the other ranks of the node; [`AddressDirectory::read`] decodes it.
    ///
    /// # Panics
    /// Before all tables have arrived.
    #[must_use]
    pub fn encode_all(&self) -> Vec<u8> {
        assert_eq!(self.have.len(), self.nodes as usize, "tables are missing");
        let mut tables = self.have.clone();
        tables.rotate_right(self.me as usize);
        write(self.nodes, 0, &tables)
    }

    /// The addresses of all ranks of a job of `ranks` ranks.
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

fn unexpected(from: u32, got: String, expected: String) -> ExchangeError {
    ExchangeError::Unexpected {
        from,
        got,
        expected,
    }
}
