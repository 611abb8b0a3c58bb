//! Random derived datatypes compared with their typemaps.

use oxmpi_testkit::datatypes::{Description, compare};
use proptest::collection::vec;
use proptest::prelude::*;

/// Entries of a typemap that is not too slow to compare.
const LIMIT: usize = 100;

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(100_000) })]

    #[test]
    fn random_datatypes_equal_their_typemaps(bytes in vec(any::<u8>(), 16..96), seed: u64) {
        let description = Description::read(&mut &bytes[..]);
        prop_assume!(compare(&description, LIMIT, seed));
    }
}
