//! The predefined datatypes: their sizes, and their elements in reductions (MPI 5.0, appendix A.1.1).

use std::sync::{Arc, LazyLock};

use oxmpi_core::ElementKind;
use oxmpi_wire::layout::{Basic, Datatype, Member};

use super::description::Description;
use super::object::Type;
use crate::constants::*;

/// The values of all predefined datatypes are from here, and less than 256 above.
const FIRST: usize = MPI_DATATYPE_NULL;

/// What the table says about a predefined datatype.
struct Row {
    handle: usize,
    name: &'static str,
    content: Content,
    kind: Option<ElementKind>,
}

/// What a predefined datatype consists of.
#[derive(Clone, Copy)]
enum Content {
    /// One basic datatype, with these bytes and alignment.
    One(u16, u16),
    /// A value and an index, as a structure of C has them.
    Pair(usize, usize),
}
use Content::{One, Pair};

macro_rules! table {
    ($($handle:ident $content:expr, $($kind:ident)?;)*) => {
        const TABLE: &[Row] = &[$(Row {
            handle: $handle,
            name: stringify!($handle),
            content: $content,
            kind: table!(@kind $($kind)?),
        }),*];
    };
    (@kind $kind:ident) => { Some(ElementKind::$kind) };
    (@kind) => { None };
}

table! {
    MPI_AINT One(8, 8), I64;
    MPI_COUNT One(8, 8), I64;
    MPI_OFFSET One(8, 8), I64;
    MPI_PACKED One(1, 1),;
    MPI_SHORT One(2, 2), I16;
    MPI_INT One(4, 4), I32;
    MPI_LONG One(8, 8), I64;
    MPI_LONG_LONG_INT One(8, 8), I64;
    MPI_UNSIGNED_SHORT One(2, 2), U16;
    MPI_UNSIGNED One(4, 4), U32;
    MPI_UNSIGNED_LONG One(8, 8), U64;
    MPI_UNSIGNED_LONG_LONG One(8, 8), U64;
    MPI_FLOAT One(4, 4), F32;
    MPI_C_COMPLEX One(8, 4), ComplexF32;
    MPI_CXX_FLOAT_COMPLEX One(8, 4), ComplexF32;
    MPI_DOUBLE One(8, 8), F64;
    MPI_C_DOUBLE_COMPLEX One(16, 8), ComplexF64;
    MPI_CXX_DOUBLE_COMPLEX One(16, 8), ComplexF64;
    MPI_LOGICAL One(4, 4), Logical32;
    MPI_INTEGER One(4, 4), I32;
    MPI_REAL One(4, 4), F32;
    MPI_COMPLEX One(8, 4), ComplexF32;
    MPI_DOUBLE_PRECISION One(8, 8), F64;
    MPI_DOUBLE_COMPLEX One(16, 8), ComplexF64;
    MPI_CHARACTER One(1, 1),;
    MPI_LONG_DOUBLE One(16, 16), LongDouble;
    MPI_C_LONG_DOUBLE_COMPLEX One(32, 16), ComplexLongDouble;
    MPI_CXX_LONG_DOUBLE_COMPLEX One(32, 16), ComplexLongDouble;
    MPI_FLOAT_INT Pair(MPI_FLOAT, MPI_INT), FloatInt;
    MPI_DOUBLE_INT Pair(MPI_DOUBLE, MPI_INT), DoubleInt;
    MPI_LONG_INT Pair(MPI_LONG, MPI_INT), LongInt;
    MPI_2INT Pair(MPI_INT, MPI_INT), IntInt;
    MPI_SHORT_INT Pair(MPI_SHORT, MPI_INT), ShortInt;
    MPI_LONG_DOUBLE_INT Pair(MPI_LONG_DOUBLE, MPI_INT), LongDoubleInt;
    MPI_2REAL Pair(MPI_REAL, MPI_REAL), TwoF32;
    MPI_2DOUBLE_PRECISION Pair(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION), TwoF64;
    MPI_2INTEGER Pair(MPI_INTEGER, MPI_INTEGER), IntInt;
    MPI_C_BOOL One(1, 1), Logical8;
    MPI_CXX_BOOL One(1, 1), Logical8;
    MPI_WCHAR One(4, 4),;
    MPI_INT8_T One(1, 1), I8;
    MPI_UINT8_T One(1, 1), U8;
    MPI_CHAR One(1, 1), I8;
    MPI_SIGNED_CHAR One(1, 1), I8;
    MPI_UNSIGNED_CHAR One(1, 1), U8;
    MPI_BYTE One(1, 1), Byte;
    MPI_INT16_T One(2, 2), I16;
    MPI_UINT16_T One(2, 2), U16;
    MPI_INT32_T One(4, 4), I32;
    MPI_UINT32_T One(4, 4), U32;
    MPI_INT64_T One(8, 8), I64;
    MPI_UINT64_T One(8, 8), U64;
    MPI_LOGICAL1 One(1, 1), Logical8;
    MPI_LOGICAL2 One(2, 2), Logical16;
    MPI_LOGICAL4 One(4, 4), Logical32;
    MPI_LOGICAL8 One(8, 8), Logical64;
    MPI_LOGICAL16 One(16, 16), Logical128;
    MPI_INTEGER1 One(1, 1), I8;
    MPI_INTEGER2 One(2, 2), I16;
    MPI_INTEGER4 One(4, 4), I32;
    MPI_INTEGER8 One(8, 8), I64;
    MPI_INTEGER16 One(16, 16), I128;
    MPI_REAL2 One(2, 2), F16;
    MPI_REAL4 One(4, 4), F32;
    MPI_REAL8 One(8, 8), F64;
    MPI_REAL16 One(16, 16), F128;
    MPI_COMPLEX4 One(4, 2), ComplexF16;
    MPI_COMPLEX8 One(8, 4), ComplexF32;
    MPI_COMPLEX16 One(16, 8), ComplexF64;
    MPI_COMPLEX32 One(32, 16), ComplexF128;
}

impl Row {
    const fn basic(&self) -> Option<Basic> {
        match self.content {
            One(size, align) => Some(Basic::new((self.handle - FIRST) as u16, size, align)),
            Pair(..) => None,
        }
    }

    fn layout(&self) -> Datatype {
        match self.content {
            One(..) => basic(self.handle),
            Pair(value, index) => {
                let [value, index] = [value, index].map(basic);
                pair(&value, &index)
            }
        }
    }
}

/// The handle of the predefined datatype that is a basic datatype.
pub(super) const fn value_of(basic: Basic) -> usize {
    FIRST + basic.kind() as usize
}

/// The layout of a predefined datatype that is one basic datatype.
fn basic(handle: usize) -> Datatype {
    let row = TABLE.iter().find(|row| row.handle == handle);
    let basic = row.and_then(Row::basic).expect("pairs have basic members");
    Datatype::basic(basic)
}

/// A structure of a value and an index.
fn pair(value: &Datatype, index: &Datatype) -> Datatype {
    let align = index.extent() as u64;
    let member = |datatype, displacement: u64| Member {
        len: 1,
        displacement: displacement as i64,
        datatype,
    };
    let members = [
        member(value, 0),
        member(index, value.size().next_multiple_of(align)),
    ];
    Datatype::structure(&members).expect("it is small")
}

/// Bytes of the predefined datatypes without gaps between elements, by the lowest byte of the handle; 0 for others.
static SIZES: [u8; 256] = {
    let mut sizes = [0; 256];
    let mut i = 0;
    while i < TABLE.len() {
        if let Some(basic) = TABLE[i].basic() {
            sizes[TABLE[i].handle - FIRST] = basic.size() as u8;
        }
        i += 1;
    }
    sizes
};

/// Bytes of an element of a predefined datatype that is one basic datatype; 0 for any other handle.
#[inline(always)]
pub(super) fn basic_size(handle: usize) -> u8 {
    match SIZES.get(handle.wrapping_sub(FIRST)) {
        Some(&size) => size,
        None => 0,
    }
}

/// The predefined pair of a value and an index of predefined datatypes.
pub(super) fn pair_of(value: usize, index: usize) -> Option<usize> {
    let is_pair = |row: &&Row| match row.content {
        Pair(one, other) => (one, other) == (value, index),
        One(..) => false,
    };
    TABLE.iter().find(is_pair).map(|row| row.handle)
}

/// The predefined datatype of a handle.
pub(super) fn find(handle: usize) -> Option<&'static Arc<Type>> {
    static TYPES: LazyLock<Vec<Option<Arc<Type>>>> = LazyLock::new(|| {
        let mut types = vec![None; SIZES.len()];
        for row in TABLE {
            let description = Description::named(row.handle, row.name, row.layout(), row.kind);
            types[row.handle - FIRST] = Some(Arc::new(Type::new(Arc::new(description))));
        }
        types
    });
    TYPES.get(handle.checked_sub(FIRST)?)?.as_ref()
}
