//! Benchmark of packing bytes with gaps, beside loops written by hand: `cargo bench -p oxmpi-os --bench packing`.
//!
//! A vector of one million blocks of 8 B must reach 0.9 times the rate of its loop. `ratio` measures that one
//! interleaved: in each round both pack once, in alternating order; it prints the ratio of the medians.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use oxmpi_os::RawBytes;
use oxmpi_wire::layout::{Basic, Datatype, Member};

const DOUBLE: Basic = Basic::new(1, 8, 8);

/// Memory with instances of a datatype, and room for their packed bytes.
struct Packing {
    datatype: Datatype,
    memory: Vec<u8>,
    packed: Vec<u8>,
}

impl Packing {
    fn new(datatype: Datatype) -> Self {
        let reach = datatype.true_lower_bound() + datatype.true_extent();
        Self {
            memory: (0..reach).map(|i| i as u8).collect(),
            packed: vec![0; datatype.size() as usize],
            datatype,
        }
    }

    fn pack(&mut self) {
        // SAFETY: the memory covers the datatype, and outlives the value.
        let from = unsafe { RawBytes::with_datatype(self.memory.as_mut_ptr(), &self.datatype, 1) };
        // SAFETY: the room outlives the value.
        let to = unsafe { RawBytes::new(self.packed.as_mut_ptr(), self.packed.len()) };
        to.copy_from(&from);
        black_box(&self.packed);
    }

    /// Packs blocks of `N` bytes at distances of `stride` as a programmer does.
    fn pack_by_hand<const N: usize>(&mut self, stride: usize) {
        for (block, to) in self.packed.chunks_exact_mut(N).enumerate() {
            let at = block * stride;
            to.copy_from_slice(&self.memory[at..at + N]);
        }
        black_box(&self.packed);
    }
}

/// A vector of `blocks` blocks of `len` doubles, as far apart as they are long.
fn vector(blocks: u64, len: u64) -> Packing {
    let double = Datatype::basic(DOUBLE);
    Packing::new(double.vector(blocks, len, 2 * len as i64).expect("small"))
}

/// 100,000 structures of an int and a double, with a gap between them.
fn structures() -> Packing {
    let [int, double] = [Basic::new(2, 4, 4), DOUBLE].map(Datatype::basic);
    let member = |displacement, datatype| Member {
        len: 1,
        displacement,
        datatype,
    };
    let pair = Datatype::structure(&[member(0, &int), member(8, &double)]);
    let pairs = pair.and_then(|pair| pair.contiguous(100_000));
    Packing::new(pairs.expect("small"))
}

fn packing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packing");
    for (blocks, len) in [(1_000_000, 1), (1000, 1), (100_000, 8), (10_000, 100)] {
        let mut packing = vector(blocks, len);
        let name = format!("{blocks} x {} B", 8 * len);
        group.throughput(Throughput::Bytes(packing.datatype.size()));
        group.bench_function(BenchmarkId::new("vector", &name), |bencher| {
            bencher.iter(|| packing.pack());
        });
    }
    let mut packing = structures();
    group.throughput(Throughput::Bytes(packing.datatype.size()));
    group.bench_function("structures of 4 and 8 B", |bencher| {
        bencher.iter(|| packing.pack());
    });
    group.finish();
}

fn ratio(_: &mut Criterion) {
    for blocks in [1_000_000, 1000] {
        let mut packing = vector(blocks, 1);
        let rounds = (100_000_000 / blocks) as usize;
        let mut times = [const { Vec::new() }; 2];
        for round in 0..2 * rounds {
            let start = Instant::now();
            match round % 4 {
                0 | 3 => packing.pack(),
                _ => packing.pack_by_hand::<8>(16),
            }
            times[usize::from(matches!(round % 4, 1 | 2))].push(start.elapsed());
        }
        let [ours, by_hand] = times.map(|mut times: Vec<Duration>| {
            times.sort_unstable();
            times[times.len() / 2]
        });
        let rate = by_hand.as_secs_f64() / ours.as_secs_f64();
        println!("{blocks} blocks of 8 B: {ours:?}, by hand {by_hand:?}: {rate:.2} of its rate");
    }
}

criterion_group!(benches, ratio, packing);
criterion_main!(benches);
