//! Properties: displayed values parse back, spans are within the text, and no text causes a panic.

use oxmpi_text::{
    Error, Nanos, NumberList, Ranges, Scanner, Size, Words, distance, duration, nearest, size,
    switch, whole,
};
use proptest::prelude::*;

fn numbers(text: &str) -> Result<Vec<u32>, Error> {
    Ranges::new(text).try_fold(Vec::new(), |mut all, range| {
        all.extend(range?);
        Ok(all)
    })
}

fn fits(text: &str, error: Error) {
    let span = error.span;
    assert!(
        span.start <= span.end && span.end <= text.len(),
        "{span:?} of {text:?}"
    );
    assert!(
        text.get(span.start..span.end).is_some(),
        "{span:?} splits a character of {text:?}"
    );
    let shown = error.show(text).to_string();
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.ends_with('^'), "{shown}");
}

const SHAPES: Words = Words(&["core", "socket", "numa", "node", "a number"]);

/// Texts that are nearly right: parts of the grammars, in any order.
fn nearly() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9KMGiBunms.,:_µ-]{0,12}",
        "(core|socket|auto|[0-9]{1,3}|[,:. -]){0,6}",
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn lists_round_trip(all in prop::collection::vec(prop_oneof![0u32..40, any::<u32>()], 1..40)) {
        let text = NumberList(all.iter().copied()).to_string();
        prop_assert_eq!(numbers(&text).unwrap(), all);
    }

    #[test]
    fn sizes_round_trip(value in prop_oneof![any::<u64>(), (0u64..1 << 14, 0u32..50).prop_map(|(n, s)| n << s)]) {
        prop_assert_eq!(size(&Size(value).to_string()), Ok(value));
    }

    #[test]
    fn durations_round_trip(value in prop_oneof![any::<u64>(), (0u64..1000, 0u32..10).prop_map(|(n, e)| n * 10u64.pow(e))]) {
        prop_assert_eq!(duration(&Nanos(value).to_string()), Ok(value));
    }

    #[test]
    fn errors_point_into_the_text(text in nearly()) {
        // Ranges of 2^32 numbers are right and long: count entries only.
        if let Some(error) = Ranges::new(&text).find_map(Result::err) { fits(&text, error); }
        for error in [size(&text).err(), duration(&text).err(), switch(&text).err(), SHAPES.find(&text).err(),
            whole(&text, 1..=64, "a number from 1 to 64").err()].into_iter().flatten() {
            fits(&text, error);
        }
    }

    #[test]
    fn scanning_ends_and_covers_the_text(text in any::<String>()) {
        let mut scanner = Scanner::new(&text);
        let mut read = String::new();
        while let Some(next) = scanner.peek() {
            let word = scanner.word();
            prop_assert_eq!(word.span.of(&text), word.text);
            read.push_str(word.text);
            if word.text.is_empty() {
                prop_assert!(scanner.eat(next));
                read.push(next);
            }
        }
        prop_assert_eq!(scanner.text(), &text);
        prop_assert_eq!(read, text);
    }

    #[test]
    fn distance_is_a_metric(a in "[a-d]{0,12}", b in "[a-d]{0,12}") {
        let there = distance(&a, &b).unwrap();
        prop_assert_eq!(there, distance(&b, &a).unwrap());
        prop_assert_eq!(there == 0, a == b);
        prop_assert!(there <= a.len().max(b.len()));
        prop_assert!(there >= a.len().abs_diff(b.len()));
    }

    #[test]
    fn one_edit_still_suggests(at in 0usize..6, letter in "[a-z]") {
        let mut typed = String::from("socket");
        typed.replace_range(at..=at, &letter);
        prop_assert_eq!(nearest(&typed, ["core", "socket", "numa"]), Some("socket"));
    }
}
