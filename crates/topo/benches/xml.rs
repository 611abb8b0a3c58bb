//! How long reading and writing hwloc's XML of 384 processors takes: `cargo bench -p oxmpi-topo --bench xml`.
//! The limit for reading is 5 ms.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use oxmpi_topo::Machine;
use std::fs;
use std::hint::black_box;
use std::path::Path;

fn xml(criterion: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xml/192em64t-24n8c2t.xml");
    let text = fs::read_to_string(path).expect("the file");
    let machine = Machine::from_xml(&text).expect("a machine");
    assert_eq!(machine.online().len(), 384);

    let mut group = criterion.benchmark_group("xml of 384 processors");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| Machine::from_xml(black_box(&text)));
    });
    group.bench_function("write", |bencher| {
        bencher.iter(|| black_box(&machine).to_xml());
    });
    group.finish();
}

criterion_group!(benches, xml);
criterion_main!(benches);
