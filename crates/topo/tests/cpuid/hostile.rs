//! Impossible cpuid answers give an error or a machine, and reading them always ends.

use oxmpi_topo::cpuid::{Cpuid, Dump, Registers};
use oxmpi_topo::{CpuSet, Kind, Machine};
use proptest::prelude::*;

/// Processors whose answers are a function of processor, leaf and subleaf.
struct Answering<F>(CpuSet, F);

impl<F: Fn(usize, u32, u32) -> Option<Registers>> Cpuid for Answering<F> {
    fn processors(&self) -> CpuSet {
        self.0.clone()
    }

    fn leaf(&self, cpu: usize, leaf: u32, subleaf: u32) -> Option<Registers> {
        (self.1)(cpu, leaf, subleaf)
    }
}

fn why(result: Result<Machine, oxmpi_topo::SyntaxError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn processors_that_cannot_be_are_errors() {
    let silent = Answering(CpuSet::range(0, 2), |_, _, _| None);
    assert!(why(Machine::from_cpuid(&silent)).contains("found `processor 0`"));
    let first = |_, leaf, _| (leaf == 0).then(Registers::default);
    let only_first = Answering(CpuSet::one(7), first);
    assert!(why(Machine::from_cpuid(&only_first)).contains("found `processor 7`"));

    let answer = |_, _, _| Some(Registers::default());
    let two = Answering(CpuSet::range(3, 5), answer);
    let twice = why(Machine::from_cpuid(&two));
    assert!(
        twice.contains("found `APIC id 0 of processors 3 and 4`"),
        "{twice}"
    );

    for cpus in [CpuSet::new(), CpuSet::one(8192), CpuSet::range(0, 1 << 20)] {
        let all = Answering(cpus.clone(), answer);
        assert!(why(Machine::from_cpuid(&all)).contains("processors up to 8191"));
        let one = Answering(CpuSet::one(0), answer);
        assert!(why(Machine::from_local_cpuid(&one, &cpus)).contains("processors up to 8191"));
    }
}

/// Every subleaf is another cache and another level, without end.
#[test]
fn leaves_that_never_end_are_cut() {
    let endless = |cpu: usize, leaf: u32, subleaf: u32| match leaf {
        0 => Some([0x1f, 0, 0, 0].into()),
        4 => Some([1 | (subleaf % 8) << 5, 0, 0, 0].into()),
        0x1f => Some([subleaf % 32, 1, 0x100 + (subleaf << 8 & 0xff00), cpu as u32].into()),
        _ => Some(Registers::default()),
    };
    let machine = Machine::from_cpuid(&Answering(CpuSet::range(0, 64), endless)).unwrap();
    assert_eq!(machine.objects(Kind::Pu).len(), 64);

    let mut asked = 0;
    Dump::new().record(0, |leaf, subleaf| {
        asked += 1;
        let highest = leaf & 0x7fff_ffff == 0;
        let all = if highest { u32::MAX } else { 0xfff0_ffff };
        [all, all, subleaf | 0x100, all].into()
    });
    assert!(asked < 200, "{asked} questions");
}

#[test]
fn the_largest_machine_has_all_its_processors() {
    // Fields of 32 bits, which take the whole APIC id.
    let wide = |cpu: usize, leaf: u32, subleaf: u32| match (leaf, subleaf) {
        (0, _) => Some([0x1f, 0, 0, 0].into()),
        (0x1f, 0) => Some([31, 0xffff, 0x100, cpu as u32].into()),
        (0x1f, 1) => Some([31, 0xffff, 0x201, cpu as u32].into()),
        (0x1f, _) => Some(Registers::default()),
        _ => Some([u32::MAX; 4].into()),
    };
    let all = CpuSet::range(0, Machine::LARGEST_CPU + 1);
    let machine = Machine::from_cpuid(&Answering(all.clone(), wide)).unwrap();
    assert_eq!(machine.online(), &all);
}

/// One object of each kind for every processor.
#[test]
fn no_machine_has_too_many_objects() {
    let many = |cpu: usize, leaf: u32, subleaf: u32| match leaf {
        0 => Some([0x1f, 0, 0, 0].into()),
        4 => Some([1 << (subleaf & 1) | (subleaf / 2) << 5, 0, 0, 0].into()),
        0x1f => Some(
            [
                if subleaf > 14 { 31 } else { 0 },
                1,
                (subleaf + 1) << 8,
                cpu as u32,
            ]
            .into(),
        ),
        _ => Some(Registers::default()),
    };
    let all = CpuSet::range(0, Machine::LARGEST_CPU + 1);
    let machine = Machine::from_cpuid(&Answering(all, many)).unwrap();
    for kind in [
        Kind::Core,
        Kind::Die,
        Kind::L5,
        Kind::L4,
        Kind::L3,
        Kind::L3i,
        Kind::L1i,
    ] {
        assert_eq!(machine.objects(kind).len(), 8192, "{kind}");
    }
    assert!(machine.iter().len() <= Machine::MOST_OBJECTS);
}

proptest! {
    /// Whatever the registers contain, the result is an error or a machine of these processors.
    #[test]
    fn any_answer_is_answered(
        words in proptest::collection::vec(any::<[u32; 4]>(), 1..40),
        vendor in 0..3_usize,
        few in any::<u32>(),
    ) {
        let any_answer = |cpu: usize, leaf: u32, subleaf: u32| {
            let place = cpu ^ (leaf as usize & 0xff) << 2 ^ subleaf as usize ^ (leaf >> 27) as usize;
            let [mut eax, mut ebx, mut ecx, mut edx] = words[place % words.len()];
            match (leaf, vendor) {
                (0x8000_0000, _) => eax = 0x8000_0026,
                (0, 0) => [eax, ebx, ecx, edx] = [0x1f, 0x756e_6547, 0x6c65_746e, 0x4965_6e69],
                (0, 1) => [eax, ebx, ecx, edx] = [0x1f, 0x6874_7541, 0x444d_4163, 0x6974_6e65],
                // Widths and types that real processors use are rare among all numbers.
                (0xb | 0x1f | 0x8000_0026, _) if few.is_multiple_of(3) => {
                    [eax, ebx, ecx, edx] = [eax % 8, ebx % 4 + 1, ecx & 0x700, cpu as u32];
                }
                _ => {}
            }
            Some(Registers { eax, ebx, ecx, edx })
        };
        let cpus = CpuSet::range(0, 12);
        let cpuid = Answering(cpus.clone(), any_answer);
        let made = [Machine::from_cpuid(&cpuid), Machine::from_local_cpuid(&cpuid, &cpus)];
        for machine in made.into_iter().flatten() {
            prop_assert_eq!(machine.online(), &cpus);
            prop_assert_eq!(machine.objects(Kind::Pu).len(), 12);
            for object in machine.iter() {
                let inside = object.parent().is_none_or(|it| object.cpus().is_subset(it.cpus()));
                prop_assert!(inside, "{object:?}");
            }
        }
    }
}
