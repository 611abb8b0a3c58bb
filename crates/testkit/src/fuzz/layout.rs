//! Fuzz body of derived datatypes.

use crate::datatypes::{Description, compare};

/// Compares the datatype that `data` describes with its typemap.
///
/// # Panics
/// If they differ.
pub fn layout(data: &[u8]) {
    let Some((seed, mut data)) = data.split_first_chunk() else {
        return;
    };
    let description = Description::read(&mut data);
    compare(&description, 500, u64::from_le_bytes(*seed));
}
