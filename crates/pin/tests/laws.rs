//! Properties of placement for any machine, mask and setting.

use oxmpi_pin::intel::{Cell, Cells, Domain, Layout, Members, Order, ProcessorList, Shape, Size};
use oxmpi_pin::openmpi::Mapping;
use oxmpi_pin::{Compat, Placement, Settings, conflicts, place};
use oxmpi_topo::{CpuSet, Kind, Machine};
use proptest::prelude::*;

fn machines() -> impl Strategy<Value = Machine> {
    (1usize..5, 1usize..3, 1usize..5, 1usize..4).prop_map(|(packages, numas, cores, threads)| {
        let text = format!("package:{packages} numa:{numas} core:{cores} pu:{threads}");
        Machine::from_synthetic(&text).unwrap()
    })
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![
        Just(Layout::Platform),
        Just(Layout::Compact),
        Just(Layout::Scatter)
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let shapes = prop_oneof![
        Just(Shape::Core),
        Just(Shape::Socket),
        Just(Shape::Numa),
        Just(Shape::Node),
        (1u32..4).prop_map(Shape::Cache),
        Just(Shape::LargestCache),
    ];
    let domains = prop_oneof![
        Just(Domain::default()),
        (1u32..40, layouts()).prop_map(|(size, layout)| Domain::Size(Size::Number(size), layout)),
        shapes.prop_map(Domain::Shape)
    ];
    let orders = prop_oneof![
        Just(Order::Range),
        Just(Order::Scatter),
        Just(Order::Compact),
        Just(Order::Spread),
        Just(Order::Bunch)
    ];
    (any::<bool>(), domains, orders).prop_map(|(pin, domain, order)| Settings {
        pin,
        domain: Some(domain),
        order,
        ..Settings::default()
    })
}

/// A list of processors of a kind in some order, not by number.
fn lists() -> impl Strategy<Value = ProcessorList> {
    let sets = prop::sample::select(vec!["all", "allcores", "allsocks"]);
    let options = prop::sample::select(vec![
        "",
        ":map=bunch",
        ":map=scatter",
        ":map=spread",
        ":grain=2,shift=2",
        ":grain=core,shift=socket",
        ":shift=3,preoffset=1",
        ":shift=half,postoffset=cache2",
    ]);
    (sets, options).prop_map(|(set, options)| format!("{set}{options}").parse().unwrap())
}

/// Open MPI's options, without `--cpu-set`.
fn mappings() -> impl Strategy<Value = Mapping> {
    let words = [
        "hwthread", "core", "l1cache", "l2cache", "l3cache", "socket", "numa",
    ];
    let by = prop::sample::select([&words[..], &["slot", "node"]].concat());
    let map_by = (by, prop::option::of(1u32..6)).prop_map(|(by, parts)| {
        let parts = parts.map_or(String::new(), |parts| format!(":PE={parts}"));
        format!("{by}{parts}").parse().unwrap()
    });
    let bind_to = prop::sample::select(words.to_vec()).prop_map(|word| word.parse().unwrap());
    (prop::option::of(map_by), prop::option::of(bind_to)).prop_map(|(map_by, bind_to)| Mapping {
        cpu_set: None,
        map_by,
        bind_to,
        hwthread_cpus: false,
    })
}

/// The settings that [`settings`] leaves out and that name no processor by number.
fn other_settings() -> impl Strategy<Value = Settings> {
    let list = lists().prop_map(|list| Settings {
        processors: Some(list),
        ..Settings::default()
    });
    let cores = settings().prop_map(|settings| Settings {
        cell: Some(Cell::Core),
        ..settings
    });
    prop_oneof![list, cores, mappings().prop_map(Settings::from)]
}

fn masks() -> impl Strategy<Value = Option<CpuSet>> {
    prop::option::of(
        prop::collection::btree_set(0usize..96, 0..40).prop_map(|set| set.into_iter().collect()),
    )
}

/// The machine whose processor `n` gets the number `new[n]`.
fn renumbered(machine: &str, new: &[usize]) -> Machine {
    let indexes: Vec<String> = new.iter().map(ToString::to_string).collect();
    Machine::from_synthetic(&format!("{machine}(indexes={})", indexes.join(","))).unwrap()
}

fn distinct(placement: &Placement) -> Vec<&CpuSet> {
    let mut sets: Vec<&CpuSet> = placement.ranks.iter().map(|rank| &rank.cpus).collect();
    sets.sort();
    sets.dedup();
    sets
}

/// Whether each thread of each rank can have a processor of its own, if a rank needs at most all it has: Kuhn's matching.
fn can_have_own(placement: &Placement, threads: usize) -> bool {
    fn finds(
        slot: usize,
        slots: &[&CpuSet],
        owner: &mut [Option<usize>],
        seen: &mut [bool],
    ) -> bool {
        slots[slot].iter().any(|cpu| {
            if std::mem::replace(&mut seen[cpu], true) {
                return false;
            }
            let is_free = match owner[cpu] {
                None => true,
                Some(other) => finds(other, slots, owner, seen),
            };
            if is_free {
                owner[cpu] = Some(slot);
            }
            is_free
        })
    }
    let ranks = placement.ranks.iter();
    let slots = ranks.flat_map(|rank| vec![&rank.cpus; threads.clamp(1, rank.cpus.len())]);
    let slots: Vec<&CpuSet> = slots.collect();
    let size = placement.allowed.iter().max().map_or(0, |most| most + 1);
    let mut owner = vec![None; size];
    (0..slots.len()).all(|slot| finds(slot, &slots, &mut owner, &mut vec![false; size]))
}

proptest! {
    #[test]
    fn every_rank_has_processors_that_the_job_may_use(machine in machines(), settings in settings(), mask in masks(), ranks in 1u32..70) {
        let placement = place(&machine, &settings, mask.as_ref(), ranks);
        prop_assert_eq!(placement.ranks.len() as u32, ranks);
        prop_assert!(placement.allowed.is_subset(machine.online()));
        if let Some(mask) = mask.filter(|mask| mask.intersects(machine.online())) {
            prop_assert!(placement.allowed.is_subset(&mask));
        }
        for (number, rank) in (0..).zip(&placement.ranks) {
            prop_assert_eq!(rank.rank, number);
            prop_assert!(!rank.cpus.is_empty() && rank.cpus.is_subset(&placement.allowed));
        }
        prop_assert!(placement.explanation.ends_with('.'));
    }

    #[test]
    fn other_settings_too_place_every_rank(machine in machines(), settings in other_settings(), mask in masks(), ranks in 1u32..70) {
        let placement = place(&machine, &settings, mask.as_ref(), ranks);
        prop_assert_eq!(placement.ranks.len() as u32, ranks);
        for rank in &placement.ranks {
            prop_assert!(!rank.cpus.is_empty() && rank.cpus.is_subset(&placement.allowed));
        }
        prop_assert!(placement.explanation.ends_with('.'));
    }

    #[test]
    fn machines_may_be_read_without_caches_that_no_setting_needs(settings in prop_oneof![settings(), other_settings()], intel in any::<bool>(), mask in masks(), ranks in 1u32..70) {
        if settings.needs_caches() { return Ok(()); }
        let compat = if intel { Compat::Intel2021 } else { Compat::Documented };
        let settings = Settings { compat, ..settings };
        let placed = |text: &str| place(&Machine::from_synthetic(text).unwrap(), &settings, mask.as_ref(), ranks);
        prop_assert_eq!(placed("package:2 numa:2 l3:2 l2:3 l1:1 core:1 pu:2"), placed("package:2 numa:2 core:6 pu:2"));
    }

    #[test]
    fn conflicts_are_reported_once_each(machine in machines(), settings in prop_oneof![settings(), other_settings()], threads in prop::option::of(1u32..9), ranks in 1u32..70) {
        let placement = place(&machine, &settings, None, ranks);
        let mut codes: Vec<String> = conflicts(&machine, &placement, |_| threads).iter().map(|warning| warning.code.to_string()).collect();
        let count = codes.len();
        codes.sort();
        codes.dedup();
        prop_assert_eq!(codes.len(), count);
        let shared = !can_have_own(&placement, threads.unwrap_or(1) as usize);
        prop_assert_eq!(codes.contains(&"processor-shared".to_string()), shared);
    }

    #[test]
    fn domains_are_disjoint(machine in machines(), settings in settings(), intel in any::<bool>(), mask in masks(), ranks in 1u32..70) {
        let compat = if intel { Compat::Intel2021 } else { Compat::Documented };
        let settings = Settings { compat, ..settings };
        let placement = place(&machine, &settings, mask.as_ref(), ranks);
        if let Some(mask) = mask.filter(|mask| mask.intersects(machine.online())) {
            prop_assert!(placement.ranks.iter().all(|rank| rank.cpus.is_subset(&mask)));
        }
        let sets = distinct(&placement);
        let sum: usize = sets.iter().map(|set| set.len()).sum();
        let union = sets.iter().fold(CpuSet::new(), |all, set| &all | set);
        prop_assert_eq!(sum, union.len());
    }

    #[test]
    fn domains_are_shared_only_when_all_are_taken(machine in machines(), settings in settings(), mask in masks(), ranks in 1u32..70) {
        let placement = place(&machine, &settings, mask.as_ref(), ranks);
        let domains = distinct(&placement).len();
        for (rank, again) in placement.ranks.iter().zip(placement.ranks.iter().skip(domains)) {
            prop_assert_eq!(&rank.cpus, &again.cpus);
        }
        let in_order = matches!(settings.order, Order::Bunch | Order::Compact);
        if let (Some(Domain::Size(Size::Number(size), Layout::Compact)), true) = (settings.domain, settings.pin && in_order) {
            let size = (size as usize).min(placement.allowed.len());
            prop_assert!(placement.ranks.iter().all(|rank| rank.cpus.len() == size), "a number is kept as asked");
            prop_assert_eq!(domains, (ranks as usize).min(placement.allowed.len() / size));
        }
    }

    #[test]
    fn bunch_keeps_a_rank_on_one_socket_when_all_fit(machine in machines(), size in 1u32..8, ranks in 1u32..70) {
        let domain = Domain::Size(Size::Number(size), Layout::Compact);
        let settings = Settings { domain: Some(domain), ..Settings::default() };
        let placement = place(&machine, &settings, None, ranks);
        let sockets: Vec<&CpuSet> = machine.objects(Kind::Package).map(|package| package.cpus()).collect();
        let room: usize = sockets.iter().map(|socket| socket.len() / size as usize).sum();
        if ranks as usize <= room {
            let on = |socket: &CpuSet| placement.ranks.iter().filter(|rank| rank.cpus.is_subset(socket)).count();
            let counts: Vec<usize> = sockets.iter().map(|socket| on(socket)).collect();
            prop_assert_eq!(counts.iter().sum::<usize>(), ranks as usize);
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{:?}", counts);
        }
    }

    #[test]
    fn numbers_of_the_operating_system_do_not_matter(settings in prop_oneof![settings(), other_settings()].prop_filter("speaks of them", |settings| settings.order != Order::Range && settings.processors != Some(ProcessorList::Of(Members::all(Cells::Cores))) && !settings.domain.as_ref().is_some_and(|domain| domain.to_string().ends_with("platform"))), ranks in 1u32..30, new in Just((0..16).collect::<Vec<usize>>()).prop_shuffle()) {
        // The tree is ordered by first processors: shuffle only within that order.
        let shape = "package:2 core:4 pu:2";
        let plain = place(&Machine::from_synthetic(shape).unwrap(), &settings, None, ranks);
        let machine = renumbered(shape, &new);
        let back = place(&machine, &settings, None, ranks);
        let order: Vec<usize> = machine.objects(Kind::Pu).filter_map(|pu| pu.cpus().first()).collect();
        let moved: Vec<CpuSet> = plain.ranks.iter().map(|rank| rank.cpus.iter().map(|cpu| order[cpu]).collect()).collect();
        prop_assert_eq!(back.ranks.iter().map(|rank| rank.cpus.clone()).collect::<Vec<_>>(), moved);
    }

    #[test]
    fn a_mask_and_a_machine_cut_to_it_are_the_same(machine in machines(), settings in prop_oneof![settings(), other_settings()], mask in masks(), ranks in 1u32..70) {
        let mask = mask.filter(|mask| mask.intersects(machine.online()));
        let cut = mask.as_ref().map_or(machine.clone(), |mask| machine.restrict(mask));
        let first = place(&cut, &settings, None, ranks);
        prop_assert_eq!(first.ranks, place(&machine, &settings, mask.as_ref(), ranks).ranks);
    }
}
