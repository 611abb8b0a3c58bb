//! One call of a node group, by whichever driver.

use std::convert::Infallible;

use oxmpi_coll::catalog::{Call, Collective};
use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;
use oxmpi_shm::node::collective::{CollectiveDriver, NodeGroup, Operands};
use oxmpi_wire::Bytes;

use crate::bytes::pairs;

/// What a call needs beside the services of a [`CollectiveDriver`].
pub(crate) trait CallDriver: CollectiveDriver {
    /// The error of a buffer that is shorter than the call says.
    fn short_buffer(&self) -> Self::Error;

    /// Whether it has an operation for reductions.
    fn has_operation(&self) -> bool;
}

/// Runs the call; this rank reads `input` and writes `output`. False: node groups do not serve it. Inlined, as all around
/// it: a function call on this path takes as long as the work of a short collective.
///
/// # Errors
/// As the driver.
#[inline(always)]
#[resumable]
pub(crate) async fn run_call<D: CallDriver>(
    node_group: &mut NodeGroup,
    driver: &mut D,
    call: &Call,
    (input, output): (&RawBytes, &RawBytes),
) -> Result<bool, D::Error> {
    let (root, bytes) = (call.root as usize, call.bytes());
    let (is_root, mine) = (call.rank == call.root, u64::from(call.rank) * bytes);
    let given = if call.in_place { output } else { input };
    match call.collective {
        Collective::Barrier => node_group.barrier(driver).await?,
        Collective::Bcast => {
            let given = if is_root { input } else { output };
            node_group.bcast(driver, root, (given, bytes)).await?;
        }
        Collective::Scatter => {
            node_group
                .scatter(driver, root, (input, bytes), output, |driver| {
                    copy_block(driver, call.in_place, (input, mine), (output, 0), bytes)
                })
                .await?;
        }
        Collective::Gather => {
            node_group
                .gather(driver, root, (input, bytes), output, |driver| {
                    copy_block(driver, call.in_place, (input, 0), (output, mine), bytes)
                })
                .await?;
        }
        Collective::Allgather => {
            let (from, at) = if call.in_place {
                (output, mine)
            } else {
                (input, 0)
            };
            node_group
                .allgather(driver, (from, at, bytes), output, |driver| {
                    copy_block(driver, call.in_place, (input, 0), (output, mine), bytes)
                })
                .await?;
        }
        Collective::Alltoall => {
            node_group
                .alltoall(driver, (given, bytes, call.in_place), output, |driver| {
                    copy_block(driver, call.in_place, (input, mine), (output, mine), bytes)
                })
                .await?;
        }
        Collective::Reduce | Collective::Allreduce | Collective::ReduceScatterBlock => {
            if !node_group.can_reduce(call.element_bytes) || !driver.has_operation() {
                return Ok(false);
            }
            let given = match call.collective {
                Collective::Reduce if !is_root => input,
                _ => given,
            };
            let operands = Operands {
                input: given,
                output,
                len: bytes,
                element: call.element_bytes as usize,
                commutes: call.commutative,
            };
            match call.collective {
                Collective::Reduce => node_group.reduce(driver, root, operands).await?,
                Collective::Allreduce => node_group.allreduce(driver, operands).await?,
                _ => node_group.reduce_scatter(driver, operands).await?,
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Copies this rank's own block, unless the call is in place.
fn copy_block<D: CallDriver>(
    driver: &D,
    in_place: bool,
    (from, at): (&RawBytes, u64),
    (into, place): (&RawBytes, u64),
    bytes: u64,
) -> Result<(), D::Error> {
    if in_place {
        return Ok(());
    }
    match (from.range(at, bytes), into.range(place, bytes)) {
        (Some(from), Some(into)) => {
            into.copy_from(&from);
            Ok(())
        }
        _ => match copy_runs((from, at), (into, place), bytes) {
            true => Ok(()),
            false => Err(driver.short_buffer()),
        },
    }
}

/// As [`copy_block`], where either buffer has gaps. False: a buffer is too short.
#[cold]
fn copy_runs((from, at): (&RawBytes, u64), (into, place): (&RawBytes, u64), bytes: u64) -> bool {
    let holds =
        |whole: &RawBytes, at: u64| at.checked_add(bytes).is_some_and(|end| end <= whole.len());
    if !holds(from, at) || !holds(into, place) {
        return false;
    }
    let runs = |whole: &RawBytes, at| whole.pieces(at, bytes).map(Ok::<_, Infallible>);
    for [from, into] in pairs(runs(from, at), runs(into, place)).flatten() {
        into.copy_from(&from);
    }
    true
}
