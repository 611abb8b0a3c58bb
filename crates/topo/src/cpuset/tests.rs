use super::CpuSet;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use proptest::collection::btree_set;
use proptest::prelude::*;

fn numbers() -> impl Strategy<Value = BTreeSet<usize>> {
    btree_set(prop_oneof![0..70usize, 0..400usize, 0..5000usize], 0..40)
}

fn set(numbers: &BTreeSet<usize>) -> CpuSet {
    numbers.iter().copied().collect()
}

proptest! {
    #[test]
    fn is_a_set_of_numbers(a in numbers(), b in numbers(), n in 0..5000usize) {
        let (x, y) = (set(&a), set(&b));
        prop_assert_eq!(&x | &y, set(&(&a | &b)));
        prop_assert_eq!(&x & &y, set(&(&a & &b)));
        prop_assert_eq!(&x ^ &y, set(&(&a ^ &b)));
        prop_assert_eq!(&x - &y, set(&(&a - &b)));
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
        prop_assert_eq!(x.contains(n), a.contains(&n));
        prop_assert_eq!(x.len(), a.len());
        prop_assert_eq!((x.first(), x.last()), (a.first().copied(), a.last().copied()));
        prop_assert!(x.iter().eq(a.iter().copied()));
        prop_assert_eq!(x == y, a == b);
    }

    #[test]
    fn removal_undoes_insertion(a in numbers(), n in 0..9000usize) {
        let before = set(&a);
        let mut after = before.clone();
        after.insert(n);
        prop_assert!(after.contains(n));
        after.remove(n);
        prop_assert_eq!(after, &before - &CpuSet::one(n));
    }

    #[test]
    fn ranges_are_their_numbers(start in 0..300usize, length in 0..300usize) {
        prop_assert_eq!(CpuSet::range(start, start + length), (start..start + length).collect());
    }

    #[test]
    fn what_is_written_reads_back(a in numbers()) {
        let set = set(&a);
        prop_assert_eq!(CpuSet::parse_list(&set.to_string()).unwrap(), set.clone());
        prop_assert_eq!(CpuSet::parse_mask(&set.mask().to_string()).unwrap(), set.clone());
        prop_assert_eq!(CpuSet::parse_mask(&format!("{:#}\n", set.mask())).unwrap(), set);
    }

    #[test]
    fn order_is_that_of_the_first_difference(a in numbers(), b in numbers()) {
        let smallest = (&a ^ &b).first().copied();
        prop_assert_eq!(set(&a) < set(&b), smallest.is_some_and(|number| a.contains(&number)));
    }

    #[test]
    fn any_text_reads_or_is_refused(text in "[0-9a-fx, -]{0,20}|\\PC{0,10}") {
        for result in [CpuSet::parse_list(&text), CpuSet::parse_mask(&text)] {
            if let Err(error) = result {
                let span = error.cause().span;
                prop_assert!(text.get(span.start..span.end).is_some(), "{error}");
            }
        }
    }
}

#[test]
fn reads_the_kernels_files() {
    let list = |text| CpuSet::parse_list(text).unwrap().to_string();
    assert_eq!(list("0-3,8\n"), "0-3,8");
    assert_eq!(list("\n"), "");
    assert_eq!(list("7,1,0-2"), "0-2,7");
    let mask = |text| CpuSet::parse_mask(text).unwrap().to_string();
    assert_eq!(mask("00000000,0000010f\n"), "0-3,8");
    assert_eq!(mask("1,00000000,80000000"), "31,64");
    assert_eq!(mask("0x1,,0x80000000"), "31,64");
    assert_eq!(mask("0xffff0000ffff0000ffff"), "0-15,32-47,64-79");
    assert_eq!(mask("0"), "");
    let hwlocs = |list| format!("{:#}", CpuSet::parse_list(list).unwrap().mask());
    assert_eq!(hwlocs("5"), "0x00000020");
    assert_eq!(hwlocs("0,99"), "0x00000008,,,0x00000001");
    assert_eq!(hwlocs("32"), "0x00000001,0x0");
    assert_eq!(hwlocs(""), "0x0");
}

#[test]
fn refuses_with_the_place() {
    let wrong = |result: Result<CpuSet, crate::SyntaxError>| {
        let error = result.unwrap_err();
        error.cause().span.of(error.text()).to_string()
    };
    assert_eq!(wrong(CpuSet::parse_list("0-3,x")), "x");
    assert_eq!(wrong(CpuSet::parse_list(" 8,7-4\n")), "7-4");
    assert_eq!(wrong(CpuSet::parse_list("0-4294967295")), "0-4294967295");
    assert_eq!(wrong(CpuSet::parse_list("0-3 8")), " ");
    assert_eq!(wrong(CpuSet::parse_mask("")), "");
    assert_eq!(wrong(CpuSet::parse_mask("1,0123456789")), "0123456789");
    assert_eq!(wrong(CpuSet::parse_mask("0xfg")), "g");
    assert_eq!(
        CpuSet::parse_mask("1;2").unwrap_err().to_string(),
        "expected a hexadecimal digit, a comma or the end of the mask, found `;2`\n  1;2\n   ^^"
    );
}
