use super::recorder::KernelRecording;
use super::{SimulatedJob, row};
use crate::bench::local_system::LocalSystem;
use oxmpi_bench::Kernel;
use oxmpi_bench::kernels::{Active, AnyKernel, Class};
use oxmpi_bench::lengths::Lengths;
use oxmpi_bench::options::{Request, parse};
use oxmpi_bench::suite::{Observer, Plan, SampleRow, SampleTable, Skip};
use oxmpi_coll::catalog::{Call, Collective};
use oxmpi_coll::choice::choose;
use oxmpi_coll::plan::{Act, Acts, Plan as _, PlanInputs};
use oxmpi_coll::sim::{Machine, Simulation, Workload};

fn gemini(ranks: usize) -> SimulatedJob {
    SimulatedJob::parse(&format!("gemini:{ranks}")).expect("a machine with a name")
}

#[test]
fn what_a_rank_asks_for_is_written_down() {
    let steps = |kernel, rank| {
        let messages = KernelRecording::new(kernel, 8, 2).of(rank).messages;
        format!("{messages:?}")
    };
    assert_eq!(
        steps(Kernel::PingPong, 0),
        "MessageSteps([[Send(1, 8)], [Recv(1, 8)]])"
    );
    assert_eq!(
        steps(Kernel::PingPong, 1),
        "MessageSteps([[Recv(0, 8)], [Send(0, 8)]])"
    );
    assert_eq!(
        steps(Kernel::PingPing, 1),
        "MessageSteps([[Send(0, 8), Recv(0, 8)]])"
    );
    let alone = KernelRecording::new(Kernel::Exchange, 8, 1).of(0).messages;
    assert_eq!(format!("{alone:?}"), "MessageSteps([[Copy(8), Copy(8)]])");
    let asked = |kernel, rank| KernelRecording::new(kernel, 8, 3).of(rank).collective;
    let bcast = Call::bcast(2, 3, 0, 8);
    assert_eq!(asked(Kernel::Bcast, 2), Some((bcast, vec![])));
    let gatherv = Call::gatherv(0, 3, 0, 8);
    assert_eq!(asked(Kernel::Gatherv, 0), Some((gatherv, vec![8; 3])));
    let reduce_scatter = Call::reduce_scatter(1, 3, 2, 4);
    let blocks = vec![1, 1, 0];
    assert_eq!(
        asked(Kernel::ReduceScatter, 1),
        Some((reduce_scatter, blocks))
    );
}

/// As plans must: the acts of a step start together.
#[test]
fn each_message_of_a_step_has_a_part_of_the_buffer() {
    for ranks in [1, 2, 4] {
        let plan = KernelRecording::new(Kernel::Exchange, 8, ranks)
            .of(0)
            .messages;
        for step in 0..plan.steps() {
            let mut acts = Acts::new();
            plan.step(step, &PlanInputs::NOTHING, &mut acts);
            let parts: Vec<_> = acts.iter().filter_map(Act::writes).collect();
            assert_eq!(parts.len(), 2, "{acts:?}");
            assert!(!parts[0].overlaps(parts[1]), "{acts:?}");
        }
    }
}

/// Against the model's closed form: both ranks are on one node.
#[test]
fn a_message_takes_what_the_machine_says() {
    let times = gemini(2).times(Kernel::PingPong, 0, 2).expect("it runs");
    let node = Machine::GEMINI.node;
    let one_way = (node.send + node.latency + node.recv) as f64 / 1e6;
    let row = row(Kernel::PingPong, 0, &times);
    assert_eq!(
        (row.t_min, row.t_max, row.t_avg),
        (one_way, one_way, one_way)
    );
    assert_eq!((row.repetitions, row.throughput), (1, Some(0.0)));
}

/// Against `oxmpi sim`.
#[test]
fn a_collective_takes_what_the_simulator_says() {
    let machine = gemini(48);
    for (kernel, collective, bytes) in [
        (Kernel::Barrier, Collective::Barrier, 0),
        (Kernel::Bcast, Collective::Bcast, 4096),
        (Kernel::Gatherv, Collective::Gatherv, 64),
        (Kernel::Alltoall, Collective::Alltoall, 64),
    ] {
        let work = Workload::new(collective, 48, bytes as u64);
        let call = work.call(0).expect("no neighbours");
        let choice = choose(&call, &machine.tuning()).expect("an algorithm");
        let setup = machine.setup(48);
        let report = Simulation::new(&setup).work(&work, choice.algorithm, &choice.parameters);
        let last = report.expect("it runs").last();
        let times = machine.times(kernel, bytes, 48).expect("it runs");
        assert_eq!(times.iter().max(), Some(&last), "{kernel:?}");
    }
}

/// Keeps the rows.
#[derive(Default)]
struct Rows(Vec<(AnyKernel, SampleRow)>, usize);

impl Observer for Rows {
    fn table(&mut self, _: &SampleTable) {}
    fn row(&mut self, table: &SampleTable, row: &SampleRow) {
        self.0.push((table.kernel, *row));
    }
    fn skip(&mut self, _: &SampleTable, _: &Skip) {
        self.1 += 1;
    }
    fn end(&mut self, _: &SampleTable) {}
}

fn all(lengths: &[usize]) -> Plan {
    Plan {
        benchmarks: Kernel::ALL.iter().map(|&kernel| kernel.into()).collect(),
        lengths: Lengths::Listed(lengths.to_vec()),
        ..Plan::default()
    }
}

#[test]
fn every_kernel_is_simulated() {
    for ranks in [1, 2, 5, 40] {
        let mut rows = Rows::default();
        let done = gemini(ranks).run(&all(&[0, 4, 100_000]), &mut rows);
        done.expect("every kernel has an algorithm");
        for &kernel in Kernel::ALL {
            let of = rows.0.iter().filter(|row| row.0 == kernel.into());
            let largest = of.map(|(_, row)| row).max_by_key(|row| row.bytes);
            let runs = ranks > 1 || kernel.info().active == Active::All;
            assert_eq!(largest.is_some(), runs, "{kernel:?} on {ranks}");
            let Some(row) = largest.filter(|_| ranks > 1) else {
                continue;
            };
            assert!(row.t_max > 0.0, "{kernel:?} on {ranks}: {row:?}");
            assert!(row.t_min <= row.t_avg && row.t_avg <= row.t_max, "{row:?}");
            let has_rate = matches!(
                kernel.info().class,
                Class::SingleTransfer | Class::ParallelTransfer
            );
            assert_eq!(row.throughput.is_some(), has_rate, "{kernel:?}");
        }
    }
}

#[test]
fn what_needs_too_much_memory_is_skipped() {
    let plan = Plan {
        benchmarks: vec![Kernel::Alltoall.into()],
        memory: 1000,
        ..all(&[8, 1_000_000])
    };
    let mut rows = Rows::default();
    gemini(10).run(&plan, &mut rows).expect("it runs");
    assert_eq!((rows.0.len(), rows.1), (4, 4));
}

#[test]
fn machines_and_ranks_are_read_and_mistakes_reported() {
    assert_eq!(gemini(12_000).ranks, 12_000);
    for (text, part) in [
        ("gemini", "such as gemini:12000"),
        ("gemini:0", "from 1 to 1048576 ranks"),
        ("gemni:4", "did you mean `gemini`?"),
    ] {
        let why = SimulatedJob::parse(text).expect_err("wrong");
        assert!(why.contains(part), "{text}: {why}");
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for (line, part) in [
        (
            "-check",
            "-check: a simulation moves no data; leave it or --sim out",
        ),
        ("-multi 0", "-multi: a simulation has one group at a time"),
        ("-map 2x2", "-map: a simulation"),
        ("-off_cache 1,64", "-off_cache: a simulation has no cache"),
    ] {
        let Ok(Request::Run(order)) = parse(line.split_whitespace(), &LocalSystem) else {
            panic!("{line} is right");
        };
        let why = gemini(4).check(None, &order.plan).expect_err("refused");
        assert!(why.contains(part), "{line}: {why}");
    }
    assert_eq!(gemini(4).check(None, &Plan::default()), Ok(()));
    assert!(gemini(4).check(Some(4), &Plan::default()).is_err());
}
