//! Engines over an in-process transport: a whole job in one thread ([`Job`]).

use std::fmt::Debug;

use oxmpi_wire::{
    Engine, EngineConfig, Envelope, Memory, Mode, Outcome, Peer, Request, Rma, Rx, Source, Tag, Tx,
};

use crate::fabric::{Fabric, FabricConfig, FabricRx, FabricTx, fabric};
use crate::memory::Buffer;

/// Steps after which a job counts as hanging.
const MAX_STEPS: u32 = 100_000;

/// One rank's engine and its end of the transport.
#[derive(Debug)]
pub struct Rank<T: Memory<Bytes = Buffer, Region = u64> = FabricTx, R = FabricRx> {
    /// The sending half.
    pub tx: T,
    /// The receiving half.
    pub rx: R,
    /// The engine.
    pub engine: Engine<T>,
}

impl<T: Tx + Rma<Bytes = Buffer, Region = u64>, R: Rx<T>> Rank<T, R> {
    /// The ranks with these ends of one transport.
    pub fn all(ends: impl IntoIterator<Item = (T, R)>, config: EngineConfig) -> Vec<Self> {
        let ends: Vec<_> = ends.into_iter().collect();
        let peers = ends.len() as u32;
        let rank = |(mut tx, rx): (T, R)| Self {
            engine: Engine::new(&mut tx, peers, config),
            tx,
            rx,
        };
        ends.into_iter().map(rank).collect()
    }

    /// Polls once for at most `budget` arrivals, and resumes what waits for room.
    pub fn step(&mut self, budget: u32) {
        self.rx.poll(&mut self.tx, budget, &mut self.engine);
        self.engine.resume(&mut self.tx);
    }
}

/// All ranks of a job. Every rank is peer number `rank` of every rank, itself included.
#[derive(Debug)]
pub struct Job<H = Fabric, T: Memory<Bytes = Buffer, Region = u64> = FabricTx, R = FabricRx> {
    /// The handle of the transport, to kill ranks or read counters.
    pub fabric: H,
    /// The ranks.
    pub ranks: Vec<Rank<T, R>>,
}

impl Job {
    /// A job of `ranks` ranks over a fabric.
    #[must_use]
    pub fn new(ranks: u32, fabric_config: FabricConfig, config: EngineConfig) -> Self {
        Self::over(fabric(ranks, fabric_config), config)
    }
}

impl<H, T, R> Job<H, T, R>
where
    T: Tx + Rma<Bytes = Buffer, Region = u64>,
    R: Rx<T>,
    Self: Debug,
{
    /// A job over the transport with this handle and these ends.
    #[must_use]
    pub fn over((fabric, ends): (H, Vec<(T, R)>), config: EngineConfig) -> Self {
        let ranks = Rank::all(ends, config);
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
            rank.step(8);
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
