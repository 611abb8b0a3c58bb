//! Properties of thread placement for any machine, mask and setting.

use oxmpi_pin::openmp::{Dialect, Levels, Request, Rules, Team, bind};
use oxmpi_topo::{CpuSet, Kind, Machine};
use proptest::prelude::*;

/// The number of packages, of cores in each and of threads in each, with gaps in the packages' numbers; the
/// processors have the numbers `new[0]`, `new[1]` and so on, in the order of the tree.
fn machine((packages, cores, threads): (usize, usize, usize), new: &[usize]) -> Machine {
    let record = |at: usize| {
        let (package, core, thread) = (at / threads / cores, at / threads % cores, at % threads);
        let (cpu, package) = (new[at], 3 * package);
        format!(
            "processor: {cpu}\nphysical id: {package}\ncore id: {core}\nthread id: {thread}\n\n"
        )
    };
    let text: String = (0..packages * cores * threads).map(record).collect();
    Machine::from_cpuinfo(&text).unwrap()
}

fn shapes() -> impl Strategy<Value = (usize, usize, usize)> {
    (1usize..4, 1usize..4, 1usize..4)
}

fn in_order(shape: (usize, usize, usize)) -> Machine {
    machine(shape, &(0..27).collect::<Vec<_>>())
}

/// Values of `KMP_AFFINITY` that name no processor by number.
const SETTINGS: &str = "(granularity=(fine|core|socket|1|2|9|die|ll_cache),)?(nodups,)?\
    (compact|scatter|logical|physical|balanced|none)(,[0-4])?(,[0-9])?";

fn dialects() -> impl Strategy<Value = Dialect> {
    let levels = prop_oneof![Just(Levels::Documented), Just(Levels::Current)];
    let rules = prop_oneof![Just(Rules::Documented), Just(Rules::Runtime)];
    (levels, rules).prop_map(|(levels, rules)| Dialect { levels, rules })
}

fn masks() -> impl Strategy<Value = CpuSet> {
    prop::collection::btree_set(0usize..27, 1..20).prop_map(|set| set.into_iter().collect())
}

fn team(
    machine: &Machine,
    setting: &str,
    mask: Option<&CpuSet>,
    threads: u32,
    dialect: Dialect,
) -> Team {
    let request = Request {
        kmp_affinity: Some(setting),
        mask,
        threads,
        ..Request::default()
    };
    bind(machine, &request, dialect)
}

proptest! {
    /// A team's list of places gives the same team again.
    #[test]
    fn places_say_where_a_team_is(
        shape in shapes(),
        setting in SETTINGS,
        mask in prop::option::of(masks()),
        threads in 1u32..40,
        dialect in dialects(),
    ) {
        let machine = in_order(shape);
        let placed = team(&machine, &setting, mask.as_ref(), threads, dialect);
        let places = placed.omp_places();
        let request = Request {
            omp_places: Some(&places),
            omp_proc_bind: Some("close"),
            mask: mask.as_ref(),
            threads,
            ..Request::default()
        };
        let again = bind(&machine, &request, dialect);
        prop_assert_eq!(again.threads, placed.threads, "{}", places);
    }

    #[test]
    fn every_thread_has_processors_that_it_may_use(shape in shapes(), setting in SETTINGS, mask in masks(), threads in 0u32..40, dialect in dialects()) {
        let machine = in_order(shape);
        let team = team(&machine, &setting, Some(&mask), threads, dialect);
        let allowed = match mask.intersects(machine.online()) {
            true => &mask & machine.online(),
            false => machine.online().clone(),
        };
        prop_assert!(threads == 0 || team.threads.len() == threads as usize);
        prop_assert!(!team.threads.is_empty());
        for cpus in &team.threads {
            prop_assert!(!cpus.is_empty() && cpus.is_subset(&allowed), "{} of {}", cpus, allowed);
        }
    }

    #[test]
    fn numbers_of_the_operating_system_do_not_matter(shape in shapes(), setting in SETTINGS, threads in 0u32..40, dialect in dialects(), new in Just((0..27).collect::<Vec<usize>>()).prop_shuffle()) {
        let plain = team(&in_order(shape), &setting, None, threads, dialect);
        let back = team(&machine(shape, &new), &setting, None, threads, dialect);
        let called = |cpus: &CpuSet| cpus.iter().map(|cpu| new[cpu]).collect::<CpuSet>();
        prop_assert_eq!(back.threads, plain.threads.iter().map(called).collect::<Vec<_>>());
        prop_assert_eq!(back.warnings, plain.warnings);
    }

    #[test]
    fn a_mask_and_a_machine_cut_to_it_are_the_same(shape in shapes(), setting in SETTINGS, mask in masks(), threads in 1u32..40, dialect in dialects()) {
        let machine = in_order(shape);
        prop_assume!(mask.intersects(machine.online()));
        let masked = team(&machine, &setting, Some(&mask), threads, dialect);
        prop_assert_eq!(masked, team(&machine.restrict(&mask), &setting, None, threads, dialect));
    }

    #[test]
    fn a_set_has_all_of_a_core_or_nothing(shape in shapes(), kind in "(compact|scatter|logical|physical|balanced)(,[0-4])?", mask in masks(), threads in 0u32..40, dialect in dialects()) {
        let machine = in_order(shape);
        prop_assume!(mask.intersects(machine.online()));
        let setting = format!("granularity=core,{kind}");
        for cpus in team(&machine, &setting, Some(&mask), threads, dialect).threads {
            for core in machine.objects(Kind::Core) {
                let core = core.cpus() & &mask;
                prop_assert!(core.is_subset(&cpus) || !core.intersects(&cpus));
            }
        }
    }

    #[test]
    fn an_offset_rotates(shape in shapes(), kind in "(compact|scatter),[0-4]", offset in 0usize..60, dialect in dialects()) {
        let machine = in_order(shape);
        let all = machine.online().len();
        let mut first = team(&machine, &format!("{kind},0"), None, 0, dialect).threads;
        let moved = team(&machine, &format!("{kind},{offset}"), None, 0, dialect).threads;
        first.rotate_left(offset % all);
        prop_assert_eq!(moved, first);
    }

    #[test]
    fn scatter_and_compact_take_all_before_any_twice(shape in shapes(), kind in "(compact|scatter)(,[0-4])?", dialect in dialects()) {
        let machine = in_order(shape);
        let mut threads = team(&machine, &format!("granularity=fine,{kind}"), None, 0, dialect).threads;
        threads.sort();
        threads.dedup();
        prop_assert_eq!(threads.len(), machine.online().len());
    }
}
