//! Compares a datatype with its typemap.

use oxmpi_wire::layout::{Basic, ByteRun, Datatype, Member};

use super::{Description, Typemap};
use crate::rng::Rng;

/// Instances of a datatype that are walked over.
const INSTANCES: u64 = 2;

/// Compares the datatype of `description` with its typemap: size, bounds, bytes from random offsets on, elements,
/// signature. Returns false if the typemap has more than `limit` entries and nothing was compared.
///
/// # Panics
/// If they differ.
pub fn compare(description: &Description, limit: usize, seed: u64) -> bool {
    let Some(typemap) = Typemap::of(description, limit) else {
        return false;
    };
    let datatype = description.datatype().expect("its numbers are small");
    let bytes = typemap.bytes(INSTANCES);
    let size = bytes.len() as u64 / INSTANCES;
    let seen = [
        datatype.size() as i64,
        datatype.lower_bound(),
        datatype.extent(),
        datatype.true_lower_bound(),
        datatype.true_extent(),
        datatype.size_of(INSTANCES).map_or(-1, |size| size as i64),
    ];
    let expected = [
        size as i64,
        typemap.lower_bound(),
        typemap.extent(),
        typemap.true_lower_bound(),
        typemap.true_extent(),
        bytes.len() as i64,
    ];
    assert_eq!(seen, expected, "size and bounds");
    let mut rng = Rng::new(seed);
    compare_bytes(&datatype, &bytes, 0, bytes.len());
    for _ in 0..3 {
        let at = rng.below(bytes.len() as u64 + 1);
        let len = rng.below(bytes.len() as u64 - at + 1);
        compare_bytes(&datatype, &bytes, at as usize, len as usize);
    }
    for count in [1, INSTANCES] {
        let bytes = &bytes[..(size * count) as usize];
        let touch = bytes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let first = touch.then(|| bytes.first().copied().unwrap_or(0));
        assert_eq!(datatype.contiguous_at(count), first, "{count} instances");
    }
    compare_elements(&datatype, &typemap);
    compare_signature(&datatype, &typemap, &mut rng);
    true
}

fn compare_bytes(datatype: &Datatype, bytes: &[i64], at: usize, len: usize) {
    let expected = &bytes[at..at + len];
    let offsets = |ByteRun { offset, len }| offset..offset + len as i64;
    let iterated: Vec<i64> = datatype
        .runs(at as u64, len as u64)
        .flat_map(offsets)
        .collect();
    assert_eq!(iterated, expected, "runs of {len} bytes from {at}");
    let mut visited = Vec::with_capacity(len);
    datatype.visit(at as u64, len as u64, &mut |runs| {
        for i in 0..runs.times as i64 {
            let offset = runs.offset + i * runs.stride;
            visited.extend(offset..offset + runs.len as i64);
        }
    });
    assert_eq!(visited, expected, "visit of {len} bytes from {at}");
}

fn compare_elements(datatype: &Datatype, typemap: &Typemap) {
    let signature = datatype.signature();
    let (mut elements, mut bytes) = (0, 0);
    for _ in 0..2 {
        for (basic, _) in typemap.basics() {
            assert_eq!(
                signature.elements_in(bytes),
                Some(elements),
                "{bytes} bytes"
            );
            assert_eq!(signature.bytes_of(elements), Some(bytes));
            let within = u64::from(basic.size()) / 2;
            assert!(within == 0 || signature.elements_in(bytes + within).is_none());
            bytes += u64::from(basic.size());
            elements += 1;
        }
    }
    assert_eq!(signature.elements_in(bytes), Some(elements));
    assert_eq!(signature.bytes_of(elements), Some(bytes));
    let mut visited = Vec::new();
    signature.visit(&mut |basic, times| visited.extend((0..times).map(|_| basic)));
    let basics = typemap.basics().map(|(basic, _)| basic);
    assert!(basics.eq(visited), "visit of a signature");
    assert_eq!(signature.elements() * 2, elements);
    assert_eq!(signature.bytes(), datatype.size());
}

/// Equal for the list of all basic datatypes, and different if one is another.
fn compare_signature(datatype: &Datatype, typemap: &Typemap, rng: &mut Rng) {
    let mut basics: Vec<(Basic, i64)> = typemap.basics().collect();
    let flat = structure(&basics);
    assert_eq!(flat.signature(), datatype.signature());
    if basics.is_empty() {
        return;
    }
    let changed = &mut basics[rng.below(datatype.signature().elements()) as usize].0;
    *changed = Basic::new(changed.kind() + 100, changed.size(), changed.align());
    assert_ne!(structure(&basics).signature(), datatype.signature());
}

fn structure(basics: &[(Basic, i64)]) -> Datatype {
    let datatypes: Vec<_> = basics
        .iter()
        .map(|(basic, _)| Datatype::basic(*basic))
        .collect();
    let member = |(&(_, displacement), datatype)| Member {
        len: 1,
        displacement,
        datatype,
    };
    let members: Vec<_> = basics.iter().zip(&datatypes).map(member).collect();
    Datatype::structure(&members).expect("its numbers are small")
}
