//! Derived datatypes for tests: descriptions from arbitrary bytes, a slow oracle, and a comparison of both.

mod compare;
mod description;
mod typemap;

pub use compare::compare;
pub use description::Description;
pub use typemap::{Typemap, TypemapEntry};
