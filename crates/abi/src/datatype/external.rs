//! The data representation external32: big endian, with sizes of its own (MPI 5.0, section 14.5.2).

use oxmpi_core::{Quad, X87};
use oxmpi_wire::layout::{Basic, Signature};

use super::predefined::value_of;
use crate::constants::*;

/// How the numbers that a basic datatype consists of are represented.
#[derive(Clone, Copy)]
enum Form {
    /// So many bytes, in the other order.
    Reversed(usize),
    /// An integer that has more bytes here, so many, than there.
    Shortened {
        native: usize,
        external: usize,
        signed: bool,
    },
    /// A float of 80 bits in 16 bytes, as an IEEE float of 128 bits.
    Extended,
}

impl Form {
    fn of(basic: Basic) -> Self {
        match value_of(basic) {
            MPI_LONG => Self::Shortened {
                native: 8,
                external: 4,
                signed: true,
            },
            MPI_UNSIGNED_LONG => Self::Shortened {
                native: 8,
                external: 4,
                signed: false,
            },
            MPI_WCHAR => Self::Shortened {
                native: 4,
                external: 2,
                signed: false,
            },
            MPI_LONG_DOUBLE | MPI_C_LONG_DOUBLE_COMPLEX | MPI_CXX_LONG_DOUBLE_COMPLEX
                if cfg!(target_arch = "x86_64") =>
            {
                Self::Extended
            }
            MPI_C_FLOAT_COMPLEX
            | MPI_CXX_FLOAT_COMPLEX
            | MPI_C_DOUBLE_COMPLEX
            | MPI_CXX_DOUBLE_COMPLEX
            | MPI_C_LONG_DOUBLE_COMPLEX
            | MPI_CXX_LONG_DOUBLE_COMPLEX
            | MPI_COMPLEX
            | MPI_DOUBLE_COMPLEX
            | MPI_COMPLEX4
            | MPI_COMPLEX8
            | MPI_COMPLEX16
            | MPI_COMPLEX32 => Self::Reversed(usize::from(basic.size()) / 2),
            _ => Self::Reversed(basic.size().into()),
        }
    }

    /// Bytes of a number here and there.
    const fn sizes(self) -> [usize; 2] {
        match self {
            Self::Reversed(size) => [size; 2],
            Self::Shortened {
                native, external, ..
            } => [native, external],
            Self::Extended => [16; 2],
        }
    }

    fn encode(self, native: &[u8], external: &mut Vec<u8>) {
        match self {
            Self::Reversed(_) => external.extend(in_order(native)),
            Self::Shortened { external: size, .. } => {
                let word: Vec<u8> = in_order(native).collect();
                external.extend_from_slice(&word[word.len() - size..]);
            }
            Self::Extended => {
                let value = X87::from_bits(read(native));
                external.extend_from_slice(&Quad::from(value).to_bits().to_be_bytes());
            }
        }
    }

    fn decode(self, external: &[u8], native: &mut Vec<u8>) {
        match self {
            Self::Reversed(_) => native.extend(in_order(external)),
            Self::Shortened {
                native: size,
                signed,
                ..
            } => {
                let is_negative = signed && external[0] >> 7 == 1;
                let fill = if is_negative { 0xff } else { 0 };
                let mut word = vec![fill; size - external.len()];
                word.extend_from_slice(external);
                native.extend(in_order(&word));
            }
            Self::Extended => {
                let value = Quad::from_bits(read(&in_order(external).collect::<Vec<_>>()));
                native.extend_from_slice(&X87::from(value).to_bits().to_ne_bytes());
            }
        }
    }
}

/// The bytes of a number of this machine from the highest on, or the reverse.
fn in_order(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let len = bytes.len();
    let is_little = cfg!(target_endian = "little");
    (0..len).map(move |i| bytes[if is_little { len - 1 - i } else { i }])
}

/// A number of 16 bytes of this machine.
fn read(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word.copy_from_slice(bytes);
    u128::from_ne_bytes(word)
}

/// Bytes in external32 of one instance.
pub(super) fn size(signature: &Signature) -> u64 {
    let mut size = 0u64;
    signature.visit(&mut |basic, times| {
        let [native, external] = Form::of(basic).sizes();
        let numbers = u64::from(basic.size()) / native as u64 * times;
        size = size.saturating_add(numbers.saturating_mul(external as u64));
    });
    size
}

/// The numbers of `count` instances, from and to packed bytes, by `convert` and the index of the sizes of the first.
fn converted(
    signature: &Signature,
    count: u64,
    from: &[u8],
    side: usize,
    convert: fn(Form, &[u8], &mut Vec<u8>),
) -> Vec<u8> {
    let (mut rest, mut into) = (from, Vec::with_capacity(from.len()));
    for _ in 0..count {
        signature.visit(&mut |basic, times| {
            let form = Form::of(basic);
            let sizes = form.sizes();
            let numbers = usize::from(basic.size()) / sizes[0] * times as usize;
            let (these, others) = rest.split_at(numbers * sizes[side]);
            rest = others;
            for number in these.chunks_exact(sizes[side]) {
                convert(form, number, &mut into);
            }
        });
    }
    into
}

/// The packed bytes of `count` instances in external32.
pub(super) fn encoded(signature: &Signature, count: u64, native: &[u8]) -> Vec<u8> {
    converted(signature, count, native, 0, Form::encode)
}

/// The packed bytes of `count` instances of this machine, from those in external32.
pub(super) fn decoded(signature: &Signature, count: u64, external: &[u8]) -> Vec<u8> {
    converted(signature, count, external, 1, Form::decode)
}
