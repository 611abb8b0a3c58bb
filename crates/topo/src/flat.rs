//! The flat machine, the last resort: a package of one core for each processor number.
//!
//! Source: the Intel C++ Compiler's documentation of `KMP_AFFINITY`, "Determining machine topology".

use crate::cpuset::CpuSet;
use crate::facts::Facts;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::source::Source;
use crate::tree::Tree;
use alloc::string::String;
use alloc::vec::Vec;

/// The note of every flat machine.
const WARNING: &str = "the topology of the machine is not known and assumed to be flat: \
                       processor N is package N with one core of one thread";

impl Machine {
    /// A machine where processor N of `processors` is package N, with one core of one thread, and one NUMA node of
    /// unknown size is the memory of all. One of the [`notes`](Self::notes) warns that this is assumed.
    ///
    /// For the empty set, the machine has processor 0; processors above [`LARGEST_CPU`](Self::LARGEST_CPU)
    /// are left out.
    pub fn flat(processors: &CpuSet) -> Self {
        let mut all = processors & &CpuSet::range(0, Self::LARGEST_CPU + 1);
        if all.is_empty() {
            all.insert(0);
        }
        let objects = |cpu: usize| {
            let one = |kind, os| Facts::new(kind, Some(os), CpuSet::one(cpu));
            let package = one(Kind::Package, cpu as u32);
            [package, one(Kind::Core, 0), Facts::pu(cpu)]
        };
        let mut facts: Vec<Facts> = all.iter().flat_map(objects).collect();
        facts.push(Facts::new(Kind::Numa, Some(0), all));
        let mut machine = Tree::nest(facts, &mut Vec::new()).flatten(Source::Flat);
        machine.notes.push(String::from(WARNING));
        machine
    }
}

#[cfg(test)]
mod tests {
    //! Every processor is a package, and there is one warning.

    use crate::cpuset::CpuSet;
    use crate::kind::Kind;
    use crate::machine::Machine;
    use alloc::format;
    use alloc::vec::Vec;

    #[test]
    fn processor_n_is_package_n() {
        let machine = Machine::flat(&"0-1,8".parse().unwrap());
        for kind in [Kind::Package, Kind::Core, Kind::Pu] {
            assert_eq!(machine.objects(kind).len(), 3, "{kind}");
        }
        for cpu in [0, 1, 8] {
            let pu = machine.pu(cpu).unwrap();
            let os = |kind| pu.ancestor(kind).and_then(|object| object.os());
            let expected = (Some(cpu as u32), Some(0));
            assert_eq!((os(Kind::Package), os(Kind::Core)), expected);
        }
        let node = machine.logical(Kind::Numa, 0).unwrap();
        assert_eq!((node.cpus(), node.local_memory()), (machine.online(), None));
    }

    #[test]
    fn one_note_warns() {
        let notes: Vec<_> = ["0", "0-3", "0,9-4000"]
            .map(|list| Machine::flat(&list.parse().unwrap()))
            .iter()
            .map(|machine| machine.notes().filter(|note| note.contains("flat")).count())
            .collect();
        assert_eq!(notes, [1, 1, 1]);
    }

    #[test]
    fn without_processors_there_is_one() {
        let large = CpuSet::one(Machine::LARGEST_CPU + 1);
        for cpus in [CpuSet::new(), large] {
            let machine = Machine::flat(&cpus);
            assert_eq!(format!("{:?}", machine.root()), "Machine {0}");
        }
    }
}
