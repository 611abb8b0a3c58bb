//! Random machines, described in the leaves of each vendor, are read back unchanged.

use oxmpi_topo::cpuid::{Cpuid, Registers};
use oxmpi_topo::{CpuSet, Kind, Machine, Object};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The leaves that describe a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    /// 1Fh and 4.
    Intel,
    /// 0Bh and 4: no level between core and package.
    OldIntel,
    /// 1 and 4: they do not say how many threads are enabled.
    OldestIntel,
    /// 80000026h and 8000001Dh.
    Amd,
    /// 80000008h, 8000001Eh and 8000001Dh: no level between core and package.
    OldAmd,
}

/// A machine whose parts are all alike.
#[derive(Clone, Debug)]
struct Made {
    style: Style,
    /// Packages, dies in each, complexes or modules in each, cores in each, threads in each.
    counts: [u32; 5],
    /// The APIC id of the first processor, from its package's number.
    first: u32,
    /// Processor `n` is at index `order[n]` in the order of APIC ids.
    order: Vec<usize>,
}

/// What the fields of an APIC id are, from the outermost on.
const PARTS: usize = 5;
const MODULE: usize = 2;

impl Made {
    fn processors(&self) -> u32 {
        self.counts.iter().product()
    }

    /// How many processors are inside one of this part.
    fn inside(&self, part: usize) -> u32 {
        self.counts[part + 1..].iter().product()
    }

    /// The bit where the number of this part begins.
    fn shift(&self, part: usize) -> u32 {
        let width = |count: &u32| count.next_power_of_two().trailing_zeros();
        self.counts[part + 1..].iter().map(width).sum()
    }

    fn apic_id(&self, cpu: usize) -> u32 {
        let place = self.order[cpu] as u32;
        let number = |part: usize| match part {
            0 => place / self.inside(0) + self.first,
            _ => place / self.inside(part) % self.counts[part],
        };
        (0..PARTS).fold(0, |id, part| id | number(part) << self.shift(part))
    }

    /// The sets of processors of this part.
    fn sets(&self, part: usize) -> BTreeSet<CpuSet> {
        let number = |cpu: usize| self.order[cpu] as u32 / self.inside(part);
        let all = 0..self.order.len();
        let set = |of| all.clone().filter(|cpu| number(*cpu) == of).collect();
        (0..self.processors() / self.inside(part))
            .map(set)
            .collect()
    }

    /// The leaves of levels: each field from the innermost, as types that the leaf knows.
    fn level(&self, types: &[(u32, usize)], subleaf: u32, cpu: usize) -> Registers {
        let id = self.apic_id(cpu);
        match types.get(subleaf as usize) {
            // The level ends at the bit where the number of its parent begins.
            Some((kind, around)) => {
                let (shift, inside) = (self.shift(*around), self.inside(*around));
                [shift, inside, kind << 8 | subleaf, id].into()
            }
            None => [0, 0, subleaf, id].into(),
        }
    }

    /// Caches: L1 and L1i of each core, L2 of each module, L3 of each die.
    fn cache(&self, subleaf: u32) -> Registers {
        let around = [3, 3, MODULE, 1];
        let kinds = [1 << 5 | 1, 1 << 5 | 2, 2 << 5 | 3, 3 << 5 | 3];
        let Some(part) = around.get(subleaf as usize) else {
            return Registers::default();
        };
        let sharing = (1 << self.shift(*part)) - 1;
        let cores = (1 << (self.shift(0) - self.shift(3))) - 1;
        let eax = kinds[subleaf as usize] | sharing << 14 | cores << 26;
        // 64 bytes, 8 ways, 64 sets: 32 KiB.
        [eax, 7 << 22 | 63, 63, 0].into()
    }
}

impl Cpuid for Made {
    fn processors(&self) -> CpuSet {
        CpuSet::range(0, self.order.len())
    }

    fn leaf(&self, cpu: usize, leaf: u32, subleaf: u32) -> Option<Registers> {
        use Style::{Amd, Intel, OldAmd, OldIntel, OldestIntel};
        let id = self.apic_id(cpu);
        let (slots, inside) = (1 << self.shift(0), self.inside(0));
        Some(match (leaf, self.style) {
            (0, Amd | OldAmd) => [0xb, 0x6874_7541, 0x444d_4163, 0x6974_6e65].into(),
            (0, Intel) => [0x1f, 0x756e_6547, 0x6c65_746e, 0x4965_6e69].into(),
            (0, OldIntel) => [0xb, 0x756e_6547, 0x6c65_746e, 0x4965_6e69].into(),
            (0, OldestIntel) => [0x4, 0x756e_6547, 0x6c65_746e, 0x4965_6e69].into(),
            // Family 19h of AMD; bits 23-16 of ebx are of no use above 255.
            (1, _) => [0xa0_0f10, id << 24 | (slots & 0xff) << 16, 0, 1 << 28].into(),
            (4, Intel | OldIntel | OldestIntel) => self.cache(subleaf),
            (0xb, Intel | OldIntel) => self.level(&[(1, 3), (2, 0)], subleaf, cpu),
            (0x1f, Intel) => {
                let types = [(1, 3), (2, MODULE), (3, 1), (5, 0)];
                self.level(&types, subleaf, cpu)
            }
            (0x8000_0000, Amd) => [0x8000_0026, 0, 0, 0].into(),
            (0x8000_0000, OldAmd) => [0x8000_001e, 0, 0, 0].into(),
            (0x8000_0001, _) => [0, 0, 1 << 22, 0].into(),
            (0x8000_0008, _) => [0, 0, self.shift(0) << 12 | (inside - 1), 0].into(),
            (0x8000_001d, _) => self.cache(subleaf),
            (0x8000_001e, _) => [id, (self.counts[4] - 1) << 8, 0, 0].into(),
            (0x8000_0026, Amd) => {
                let types = [(1, 3), (2, MODULE), (3, 1), (4, 0)];
                self.level(&types, subleaf, cpu)
            }
            _ => Registers::default(),
        })
    }
}

fn made() -> impl Strategy<Value = Made> {
    use Style::{Amd, Intel, OldAmd, OldIntel, OldestIntel};
    let style = prop::sample::select(&[Intel, OldIntel, OldestIntel, Amd, OldAmd]);
    let counts = [1..=3_u32, 1..=3, 1..=3, 1..=3, 1..=2];
    (style, counts, 0..3_u32).prop_perturb(|(style, mut counts, first), mut rng| {
        if !matches!(style, Intel | Amd) {
            counts[1] = 1;
            counts[MODULE] = 1;
        }
        let processors: u32 = counts.iter().product();
        let mut order: Vec<usize> = (0..processors as usize).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, rng.next_u32() as usize % (at + 1));
        }
        Made {
            style,
            counts,
            first,
            order,
        }
    })
}

fn sets(machine: &Machine, kind: Kind) -> BTreeSet<CpuSet> {
    machine
        .objects(kind)
        .map(|object| object.cpus().clone())
        .collect()
}

proptest! {
    #[test]
    fn a_made_up_machine_is_read_as_it_was_made(made in made()) {
        let machine = Machine::from_cpuid(&made).unwrap();
        prop_assert_eq!(machine.notes().next(), None);
        let kinds = [(Kind::Package, 0), (Kind::L3, 1), (Kind::L2, MODULE), (Kind::L1, 3), (Kind::L1i, 3), (Kind::Core, 3)];
        for (kind, part) in kinds {
            prop_assert_eq!(sets(&machine, kind), made.sets(part), "{}", kind);
        }
        let dies = if made.counts[1] > 1 { made.sets(1) } else { BTreeSet::new() };
        prop_assert_eq!(sets(&machine, Kind::Die), dies);
        for (cpu, place) in made.order.iter().enumerate() {
            let thread = *place as u32 % made.counts[4];
            prop_assert_eq!(machine.pu(cpu).unwrap().thread(), Some(thread));
        }
        let packages: BTreeSet<u32> = machine.objects(Kind::Package).filter_map(|it| it.os()).collect();
        prop_assert!(packages.into_iter().eq(made.first..made.first + made.counts[0]));
        prop_assert!(machine.objects(Kind::L2).all(|cache| cache.cache().unwrap().size == 32 << 10));
    }

    /// One processor of a uniform machine describes it as well as all of them do. On older processors, this
    /// holds if threads are off or absent, since reading assumes that.
    #[test]
    fn one_processor_tells_all_of_a_uniform_machine(mut made in made(), asked in any::<prop::sample::Index>()) {
        made.order.sort_unstable();
        made.first = 0;
        if made.style == Style::OldestIntel {
            made.counts[4] = 1;
            made.counts[3] = made.counts[3].next_power_of_two();
            made.order = (0..made.processors() as usize).collect();
        }
        let global = Machine::from_cpuid(&made).unwrap();
        let one = One(asked.index(made.order.len()), &made);
        let local = Machine::from_local_cpuid(&one, &CpuSet::range(0, made.order.len())).unwrap();
        let lines = |machine: &Machine| -> Vec<String> {
            let line = |object: Object<'_>| format!("{object:?} {:?} {:?}", object.cache(), object.infos());
            machine.iter().map(line).collect()
        };
        prop_assert_eq!(lines(&local), lines(&global));
        prop_assert_eq!(local.source().to_string(), "local cpuid info");
    }
}

/// One processor of a machine.
struct One<'a>(usize, &'a Made);

impl Cpuid for One<'_> {
    fn processors(&self) -> CpuSet {
        CpuSet::one(self.0)
    }

    fn leaf(&self, cpu: usize, leaf: u32, subleaf: u32) -> Option<Registers> {
        assert_eq!(cpu, self.0, "only one processor may be asked");
        self.1.leaf(cpu, leaf, subleaf)
    }
}

/// The same processors without caches.
struct Bare<'a>(&'a Made);

impl Cpuid for Bare<'_> {
    fn processors(&self) -> CpuSet {
        CpuSet::range(0, self.0.order.len())
    }

    fn leaf(&self, cpu: usize, leaf: u32, subleaf: u32) -> Option<Registers> {
        let caches = [4, 0x8000_001d].contains(&leaf);
        self.0.leaf(cpu, leaf, subleaf).filter(|_| !caches)
    }
}

/// A part without a kind of its own is a group, which is listed where no cache has the same processors.
#[test]
fn parts_without_a_kind_are_named_groups() {
    for (style, name) in [(Style::Intel, "Module"), (Style::Amd, "Complex")] {
        let counts = [1, 2, 3, 2, 2];
        let order = (0..24).collect();
        let made = Made {
            style,
            counts,
            first: 0,
            order,
        };
        let machine = Machine::from_cpuid(&Bare(&made)).unwrap();
        assert_eq!(sets(&machine, Kind::Group), made.sets(MODULE));
        assert_eq!(sets(&machine, Kind::Die), made.sets(1));
        assert!(
            machine
                .objects(Kind::Group)
                .all(|group| group.subtype() == Some(name))
        );
        let with_caches = Machine::from_cpuid(&made).unwrap();
        assert_eq!(with_caches.objects(Kind::Group).len(), 0);
    }
}
