//! The started collectives of the runtime as the interface that the benchmark kernels use.

use std::time::Instant;

use oxmpi::collective;
use oxmpi::{Buffer, Error, Op, Request, Result, Single, Test};
use oxmpi_bench::{Collective, Nonblocking, StartedCollective};

use super::timed_comm::{TimedComm, packed};

impl Nonblocking for TimedComm {
    fn overlap(
        &mut self,
        collective: Collective<'_>,
        meanwhile: impl FnOnce(&mut dyn StartedCollective<Error = Error>) -> Result<()>,
    ) -> Result<()> {
        let start = self.start;
        // Each collective starts a request of another type.
        macro_rules! started {
            ($collective:expr) => {
                self.comm
                    .scope(|scope| finish(scope.start($collective)?, start, meanwhile))
            };
        }
        match collective {
            Collective::Barrier => started!(collective::barrier()),
            Collective::Bcast(bytes, root) => started!(collective::bcast(bytes, root)),
            Collective::Gather(mine, all, root) => started!(collective::gather(mine, all, root)),
            Collective::Gatherv(mine, all, root) => {
                started!(collective::gatherv(mine, all.map(packed), root))
            }
            Collective::Scatter(all, mine, root) => started!(collective::scatter(all, mine, root)),
            Collective::Scatterv(all, mine, root) => {
                started!(collective::scatterv(all.map(packed), mine, root))
            }
            Collective::Allgather(mine, all) => started!(collective::allgather(mine, all)),
            Collective::Allgatherv(mine, all) => {
                started!(collective::allgatherv(mine, packed(all)))
            }
            Collective::Alltoall(out, into) => started!(collective::alltoall(out, into)),
            Collective::Alltoallv(out, into) => {
                started!(collective::alltoallv(packed(out), packed(into)))
            }
            Collective::ReduceSum(from, into, root) => {
                started!(collective::reduce(from, into, Op::SUM, root))
            }
            Collective::AllreduceSum(from, into) => {
                started!(collective::allreduce(from, into, Op::SUM))
            }
            Collective::ReduceScatterBlockSum(from, into) => {
                started!(collective::reduce_scatter_block(from, into, Op::SUM))
            }
            Collective::ReduceScatterSum(from, items, into) => {
                started!(collective::reduce_scatter(from, items, into, Op::SUM))
            }
        }
    }
}

/// Runs `meanwhile`, and waits for the request unless a test has completed it.
fn finish<B: Buffer>(
    request: Request<'_, '_, B, Single>,
    start: Instant,
    meanwhile: impl FnOnce(&mut dyn StartedCollective<Error = Error>) -> Result<()>,
) -> Result<()> {
    let mut timed = TimedRequest {
        request: Some(request),
        start,
    };
    meanwhile(&mut timed)?;
    match timed.request {
        Some(request) => request.wait().map(drop),
        None => Ok(()),
    }
}

/// A started collective with a clock; `None` once a test has completed it.
struct TimedRequest<'scope, 'env, B: Buffer> {
    request: Option<Request<'scope, 'env, B, Single>>,
    start: Instant,
}

impl<B: Buffer> StartedCollective for TimedRequest<'_, '_, B> {
    type Error = Error;

    #[inline]
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn test(&mut self) -> Result<bool> {
        if let Some(request) = self.request.take() {
            match request.test()? {
                Test::Ready(_) => {}
                Test::Pending(request) => self.request = Some(request),
            }
        }
        Ok(self.request.is_none())
    }
}
