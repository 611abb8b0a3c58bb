//! How long placing 128 ranks on 384 processors takes: `cargo bench -p oxmpi-pin --bench place`. The limit is
//! 1 ms for any setting.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use oxmpi_pin::openmpi::Mapping;
use oxmpi_pin::{Compat, Settings, place};
use oxmpi_topo::Machine;

/// Two packages of four NUMA nodes with four third-level caches of six cores each.
const MACHINE: &str = "package:2 numa:4 l3:4 l2:6 l1:1 core:1 pu:2(indexes=2*192:192*1)";

/// Common settings, as variables of Intel MPI.
const SETTINGS: [(&str, &[(&str, &str)]); 8] = [
    ("auto", &[]),
    ("core", &[("I_MPI_PIN_DOMAIN", "core")]),
    ("3:scatter", &[("I_MPI_PIN_DOMAIN", "3:scatter")]),
    ("cache3", &[("I_MPI_PIN_DOMAIN", "cache3")]),
    (
        "2, scatter",
        &[("I_MPI_PIN_DOMAIN", "2"), ("I_MPI_PIN_ORDER", "scatter")],
    ),
    ("spread", &[("I_MPI_PIN_ORDER", "spread")]),
    ("list", &[("I_MPI_PIN_PROCESSOR_LIST", "0-127")]),
    (
        "list of cores",
        &[("I_MPI_PIN_PROCESSOR_LIST", "allcores:grain=2,shift=socket")],
    ),
];

fn placing(criterion: &mut Criterion) {
    let machine = Machine::from_synthetic(MACHINE).expect("a machine");
    assert_eq!(machine.online().len(), 384);
    let mut group = criterion.benchmark_group("128 ranks on 384 processors");
    for compat in [Compat::Documented, Compat::Intel2021] {
        for (name, variables) in SETTINGS {
            let value = |name: &str| {
                let found = variables.iter().find(|(other, _)| *other == name);
                found.map(|(_, value)| *value)
            };
            let (settings, _) = Settings::read(compat, value).expect("good settings");
            group.bench_function(format!("{compat}, {name}"), |bencher| {
                bencher.iter(|| place(black_box(&machine), &settings, None, 128));
            });
        }
    }
    let mapping = Mapping {
        map_by: Some("numa".parse().expect("a way to map")),
        bind_to: Some("core".parse().expect("a part of a machine")),
        ..Mapping::default()
    };
    let settings = Settings::from(mapping);
    group.bench_function("mapped by numa, bound to core", |bencher| {
        bencher.iter(|| place(black_box(&machine), &settings, None, 128));
    });
    group.finish();
}

criterion_group!(benches, placing);
criterion_main!(benches);
