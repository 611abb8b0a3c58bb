//! Engines over a fabric: a whole job in one thread ([`Job`]).

use oxmpi_wire::{Engine, EngineConfig, Envelope, Mode, Outcome, Peer, Request, Rx, Source, Tag};

use crate::fabric::{Fabric, FabricConfig, FabricRx, FabricTx, fabric};
use crate::memory::Buffer;

/// Steps after which a job counts as hanging.
const MAX_STEPS: u32 = 100_000;

/// One rank's engine and its end of the fabric.
#[derive(Debug)]
pub struct Rank {
    /// The sending half.
    pub tx: FabricTx,
    /// The receiving half.
    pub rx: FabricRx,
    /// The engine.
    pub engine: Engine<FabricTx>,
}

impl Rank {
    /// Polls once and resumes what waits for room.
    pub fn step(&mut self) {
        self.rx.poll(&mut self.tx, 8, &mut self.engine);
        self.engine.resume(&mut self.tx);
    }
}

/// All ranks of a job. Every rank is peer number `rank` of every rank, itself included.
#[derive(Debug)]
pub struct Job {
    /// The fabric, to kill ranks.
    pub fabric: Fabric,
    /// The ranks.
    pub ranks: Vec<Rank>,
}

impl Job {
    /// A job of `ranks` ranks.
    #[must_use]
    pub fn new(ranks: u32, fabric_config: FabricConfig, config: EngineConfig) -> Self {
        let (fabric, ends) = fabric(ranks, fabric_config);
        let ranks = ends
            .into_iter()
            .map(|(mut tx, rx)| Rank {
                engine: Engine::new(&mut tx, ranks, config),
                tx,
                rx,
            })
            .collect();
        Self { fabric, ranks }
    }

    /// Starts a send from `from` to `to`.
    pub fn send(
        &mut self,
        from: usize,
        to: u32,
        envelope: Envelope,
        mode: Mode,
        body: Buffer,
    ) -> Request {
        let Rank { tx, engine, .. } = &mut self.ranks[from];
        engine.send(tx, Peer(to), envelope, mode, body)
    }

    /// Starts a receive at `at`.
    pub fn recv(
        &mut self,
        at: usize,
        source: Source,
        context: u32,
        tag: Tag,
        body: &Buffer,
    ) -> Request {
        let Rank { tx, engine, .. } = &mut self.ranks[at];
        engine.recv(tx, source, context, tag, body.clone())
    }

    /// Cancels a request.
    pub fn cancel(&mut self, at: usize, request: Request) {
        let Rank { tx, engine, .. } = &mut self.ranks[at];
        engine.cancel(tx, request);
    }

    /// Steps every rank once.
    pub fn step(&mut self) {
        for rank in &mut self.ranks {
            rank.step();
        }
    }

    /// Steps until `end` returns true.
    ///
    /// # Panics
    /// If it does not within `MAX_STEPS` steps.
    pub fn until(&mut self, mut end: impl FnMut(&mut Self) -> bool) {
        for _ in 0..MAX_STEPS {
            if end(self) {
                return;
            }
            self.step();
        }
        panic!("no end after {MAX_STEPS} steps: {self:#?}");
    }

    /// Steps until `request` of rank `at` is complete, and returns its outcome.
    pub fn wait(&mut self, at: usize, request: Request) -> Outcome {
        let mut outcome = None;
        self.until(|job| {
            outcome = job.ranks[at].engine.test(request);
            outcome.is_some()
        });
        outcome.expect("the loop above ended")
    }

    /// Steps 1000 times: all that is under way arrives.
    pub fn settle(&mut self) {
        for _ in 0..1000 {
            self.step();
        }
    }
}
