//! One rank of a benchmark job.

use std::process::ExitCode;

use oxmpi::World;
use oxmpi_bench::report::Rank;
use oxmpi_bench::suite;
use oxmpi_os::affinity;
use oxmpi_topo::CpuSet;

use super::command::BenchCommand;
use super::report::BenchReport;
use super::timed_comm::TimedComm;

/// Tag of the message with the host, process id and processors of a rank.
const TAG_BINDING: u32 = 1;

/// Runs the benchmarks as one rank. Rank 0 prints the results. Any rank fails if its received data was wrong.
///
/// # Errors
/// A sentence that says what failed.
pub(crate) fn run(command: &BenchCommand) -> Result<ExitCode, String> {
    let world = World::init().map_err(|why| why.to_string())?;
    let rank = world.comm().rank();
    let failed = |why: oxmpi::Error| format!("rank {rank}: {why}");
    if let Err(why) = command.check_size(world.comm().size()) {
        // Rank 0 prints the error for all ranks.
        return if rank == 0 {
            Err(why)
        } else {
            Ok(ExitCode::FAILURE)
        };
    }
    let ranks = rank_bindings(&world).map_err(failed)?;
    let mut report = BenchReport::begin(command, ranks)?;
    let plan = &command.bench_run.plan;
    let comm = world.comm().dup().map_err(failed)?;
    let defect = suite::run(&mut TimedComm::new(comm), plan, &mut report).map_err(failed)?;
    if rank == 0 {
        report.finish()?;
    }
    world.finalize().map_err(failed)?;
    if defect == 0.0 {
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!(
        "rank {rank}: received wrong data: the largest difference is {defect}"
    ))
}

/// Host, process id and processors of every rank, on rank 0; empty on the other ranks.
fn rank_bindings(world: &World) -> oxmpi::Result<Vec<Rank>> {
    let comm = world.comm();
    let cpus = affinity::current().map_or_else(
        |why| format!("unknown: {why}"),
        |mask| affinity::cpus(&mask).collect::<CpuSet>().to_string(),
    );
    let (rank, pid) = (comm.rank(), std::process::id());
    let mine = Rank {
        rank,
        host: world.host().to_owned(),
        pid,
        cpus,
    };
    if rank != 0 {
        let text = format!("{}\n{}\n{}", mine.host, mine.pid, mine.cpus);
        comm.send(text.as_bytes(), 0, TAG_BINDING)?;
        return Ok(Vec::new());
    }
    let mut ranks = vec![mine];
    for rank in 1..comm.size() {
        let (text, _) = comm.recv_vec::<u8>(rank, TAG_BINDING)?;
        let text = String::from_utf8_lossy(&text);
        let mut fields = text.split('\n');
        let mut next = || fields.next().unwrap_or_default();
        let (host, pid, cpus) = (next(), next(), next());
        let pid = pid.parse().unwrap_or_default();
        ranks.push(Rank {
            rank,
            host: host.to_owned(),
            pid,
            cpus: cpus.to_owned(),
        });
    }
    Ok(ranks)
}
