//! What an accumulate does to elements of a target (MPI 5.0, section 12.3.4): [`Accumulation`].

use super::AccessKind;
use crate::bytes::{source, target};
use crate::error::{Error, Result};
use crate::operation::{ElementKind, KindReduction, Op};
use oxmpi_coll::choice::Reproducible;

/// An operation of an accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccumulateOp {
    /// A predefined operation of reductions.
    Predefined(Op),
    /// The origin's element (`MPI_REPLACE`).
    Replace,
    /// The target's element: an atomic read (`MPI_NO_OP`).
    NoOp,
}

impl From<Op> for AccumulateOp {
    fn from(op: Op) -> Self {
        Self::Predefined(op)
    }
}

/// An operation on elements of a kind, as origin and target know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accumulation {
    pub(crate) kind: ElementKind,
    code: Code,
}

#[derive(Clone, Copy, Debug)]
enum Code {
    Predefined(Op, KindReduction),
    Replace,
    NoOp,
    /// The operands are what must be there, and what is stored then.
    CompareSwap,
}

/// The numbers of the operations that are not predefined, after those.
const REPLACE: usize = Op::ALL.len();
const NO_OP: usize = REPLACE + 1;
const COMPARE_SWAP: usize = NO_OP + 1;

impl Accumulation {
    /// The operation on elements of `kind`.
    ///
    /// # Errors
    /// [`Error::Operation`](crate::Error::Operation) when the kind does not have it.
    pub(crate) fn new(kind: ElementKind, op: AccumulateOp) -> Result<Self> {
        let code = match op {
            AccumulateOp::Predefined(op) => {
                let resolved = kind.resolve(op, Reproducible::Off)?;
                Code::Predefined(op, resolved.combine)
            }
            AccumulateOp::Replace => Code::Replace,
            AccumulateOp::NoOp => Code::NoOp,
        };
        Ok(Self { kind, code })
    }

    /// A comparison with the first operand, and a swap with the second.
    ///
    /// # Errors
    /// [`Error::Operation`] for elements that are no integers, truth values or bytes.
    pub(crate) const fn compare_swap(kind: ElementKind) -> Result<Self> {
        use ElementKind::*;
        match kind {
            I8 | I16 | I32 | I64 | I128 | U8 | U16 | U32 | U64 | Logical8 | Logical16
            | Logical32 | Logical64 | Logical128 | Byte => {
                let code = Code::CompareSwap;
                Ok(Self { kind, code })
            }
            _ => Err(Error::Operation {
                op: "compare_and_swap",
                element: "elements other than integers, truth values and bytes",
            }),
        }
    }

    /// Its number on the wire.
    pub(crate) fn number(&self) -> u64 {
        let position = |is: &dyn Fn(usize) -> bool, len| (0..len).find(|&at| is(at)).unwrap_or(len);
        let code = match self.code {
            Code::Predefined(op, _) => position(&|at| Op::ALL[at] == op, Op::ALL.len()),
            Code::Replace => REPLACE,
            Code::NoOp => NO_OP,
            Code::CompareSwap => COMPARE_SWAP,
        };
        let kinds = ElementKind::ALL;
        let kind = position(&|at| kinds[at] == self.kind, kinds.len());
        (kind as u64) << 8 | code as u64
    }

    /// The reverse of [`Accumulation::number`], of a number that a peer sent.
    pub(crate) fn of_number(number: u64) -> Option<Self> {
        let kind = *ElementKind::ALL.get(usize::try_from(number >> 8).ok()?)?;
        match number as usize & 0xff {
            REPLACE => Self::new(kind, AccumulateOp::Replace).ok(),
            NO_OP => Self::new(kind, AccumulateOp::NoOp).ok(),
            COMPARE_SWAP => Self::compare_swap(kind).ok(),
            at => Self::new(kind, AccumulateOp::Predefined(*Op::ALL.get(at)?)).ok(),
        }
    }

    /// Where an element has a gap in memory that its packed bytes have not, and how many bytes: C aligns an `int` after a
    /// `short`.
    const fn gap(&self) -> Option<(usize, usize)> {
        match self.kind {
            ElementKind::ShortInt => Some((2, 2)),
            _ => None,
        }
    }

    /// Bytes in memory of an element that is combined alone, as it has a gap.
    pub(crate) const fn padded_size(&self) -> Option<u64> {
        match self.gap() {
            Some((_, gap)) => Some((self.kind.size() + gap) as u64),
            None => None,
        }
    }

    /// Packed bytes of the elements that take `len` bytes of memory: of one, if it has a gap.
    pub(crate) const fn packed(&self, len: u64) -> u64 {
        match self.gap() {
            Some((_, gap)) => len.saturating_sub(gap as u64),
            None => len,
        }
    }

    /// The elements in `memory`, packed.
    pub(crate) fn pack(&self, memory: &mut Vec<u8>) {
        if let Some((at, gap)) = self.gap() {
            memory.drain(at..at + gap);
        }
    }

    /// What it does to memory, for those who look for conflicts.
    pub(crate) fn access_kind(&self) -> AccessKind {
        AccessKind::Accumulate((self.number() >> 8) as u8)
    }

    /// How many bytes of operands there are for so many packed bytes of a target.
    pub(crate) const fn operands(&self, len: u64) -> u64 {
        match self.code {
            Code::NoOp => 0,
            Code::CompareSwap => len.saturating_mul(2),
            Code::Predefined(..) | Code::Replace => len,
        }
    }

    /// As [`Accumulation::suits`], of bytes in memory.
    pub(crate) fn suits_memory(&self, operands: u64, len: u64) -> bool {
        let is_one = self.padded_size().is_none_or(|padded| len == padded);
        is_one && self.suits(operands, self.packed(len))
    }

    /// Whether so many bytes of operands and packed bytes of a target are whole elements, as many as there should be.
    pub(crate) fn suits(&self, operands: u64, len: u64) -> bool {
        let size = self.kind.size() as u64;
        let whole = match self.code {
            Code::CompareSwap => len == size,
            _ => len.is_multiple_of(size),
        };
        whole && operands == self.operands(len)
    }

    /// Changes the elements of `memory`. Whether it has written any.
    pub(crate) fn apply(&self, operands: &[u8], memory: &mut [u8]) -> bool {
        let Some((at, gap)) = self.gap() else {
            return self.apply_packed(operands, memory);
        };
        let (first, rest) = memory.split_at_mut(at);
        let rest = &mut rest[gap..];
        let mut packed = [&*first, &*rest].concat();
        let changed = self.apply_packed(operands, &mut packed);
        first.copy_from_slice(&packed[..at]);
        rest.copy_from_slice(&packed[at..]);
        changed
    }

    fn apply_packed(&self, operands: &[u8], into: &mut [u8]) -> bool {
        match &self.code {
            Code::NoOp => return false,
            Code::Replace => into.copy_from_slice(operands),
            Code::CompareSwap => {
                let (expected, new) = operands.split_at(into.len());
                if into != expected {
                    return false;
                }
                into.copy_from_slice(new);
            }
            // SAFETY: whole elements of the kind, as `suits` says; two slices do not overlap.
            Code::Predefined(_, combine) => unsafe {
                combine.combine(source(operands), target(into));
            },
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_there_and_back() {
        let mut known = 0;
        for &kind in ElementKind::ALL {
            let predefined = Op::ALL.map(AccumulateOp::Predefined);
            let others = [AccumulateOp::Replace, AccumulateOp::NoOp];
            let all = predefined.into_iter().chain(others);
            let all = all.filter_map(|op| Accumulation::new(kind, op).ok());
            for one in all.chain(Accumulation::compare_swap(kind)) {
                let back = Accumulation::of_number(one.number()).expect("it is known");
                assert_eq!((back.kind, back.number()), (kind, one.number()));
                known += 1;
            }
        }
        assert!(known > 100, "{known}");
        for number in [COMPARE_SWAP as u64 + 1, 0xff, 1 << 20, u64::MAX] {
            assert!(Accumulation::of_number(number).is_none(), "{number}");
        }
    }

    #[test]
    fn elements_are_changed_as_said() {
        let sum = AccumulateOp::Predefined(Op::SUM);
        let sum = Accumulation::new(ElementKind::U8, sum).unwrap();
        let mut bytes = [1, 2];
        assert!(sum.suits(2, 2) && !sum.suits(1, 2) && sum.apply(&[10, 20], &mut bytes));
        assert_eq!(bytes, [11, 22]);
        let swap = Accumulation::compare_swap(ElementKind::U16).unwrap();
        assert!(!swap.apply(&[1, 2, 3, 4], &mut bytes) && swap.suits(4, 2) && !swap.suits(4, 4));
        assert!(swap.apply(&[11, 22, 3, 4], &mut bytes));
        assert_eq!(bytes, [3, 4]);
        let least = AccumulateOp::Predefined(Op::MINLOC);
        let least = Accumulation::new(ElementKind::ShortInt, least).unwrap();
        let mut pair = [5, 0, 0xaa, 0xbb, 7, 0, 0, 0];
        assert!(least.suits_memory(6, 8) && !least.suits_memory(12, 16) && least.suits(12, 12));
        assert!(least.apply(&[3, 0, 9, 0, 0, 0], &mut pair));
        assert_eq!(pair, [3, 0, 0xaa, 0xbb, 9, 0, 0, 0], "the gap stays");
        let mut packed = pair.to_vec();
        least.pack(&mut packed);
        assert_eq!(packed, [3, 0, 9, 0, 0, 0]);
        let read = Accumulation::new(ElementKind::U8, AccumulateOp::NoOp).unwrap();
        assert!(read.suits(0, 2) && !read.apply(&[], &mut bytes));
        let store = Accumulation::new(ElementKind::U8, AccumulateOp::Replace).unwrap();
        assert!(store.apply(&[7, 8], &mut bytes) && bytes == [7, 8]);
    }
}
