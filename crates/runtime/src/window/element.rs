//! [`WindowElement`]: elements on which windows have atomic operations.

use oxmpi_core::{Element, ElementKind};

/// A type of elements with operations that are atomic in a window: integers and floats. Sealed.
pub trait WindowElement: Element + Kinded {}

impl<T: Element + Kinded> WindowElement for T {}

/// The kind of a type.
#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `WindowElement`, never this"
)]
pub trait Kinded {
    /// As the core knows it.
    const KIND: ElementKind;
}

macro_rules! kinds {
    ($($t:ty: $kind:ident,)*) => {
        $(impl Kinded for $t {
            const KIND: ElementKind = ElementKind::$kind;
        })*
    };
}

kinds! {
    i8: I8,
    i16: I16,
    i32: I32,
    i64: I64,
    i128: I128,
    u8: U8,
    u16: U16,
    u32: U32,
    u64: U64,
    f32: F32,
    f64: F64,
}
