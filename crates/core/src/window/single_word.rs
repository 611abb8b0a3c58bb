//! Accumulates of one word of a rank of this node: the short path of counters and locks of programs.

use oxmpi_os::RawBytes;
use oxmpi_os::atomic::{load, store};
use oxmpi_wire::{Atomic, Bytes, Width};

use super::super::operation::{ElementKind, Op};
use super::super::threading::Threading;
use super::super::window_state::AccumulateOp;
use super::Window;
use super::target::WindowRange;

/// An operation on an element that is a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordOp {
    width: Width,
    step: Step,
    /// How many operands it reads.
    operands: usize,
}

/// As the [`Atomic`] of that name, and additions of floats.
#[derive(Clone, Copy, Debug)]
enum Step {
    Fetch,
    Swap,
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
    SignedMin,
    SignedMax,
    CompareSwap,
    AddF32,
    AddF64,
}

impl WordOp {
    /// The operation on elements of `kind`, if they are words and it is a short one.
    #[inline]
    pub(super) fn new(kind: ElementKind, op: AccumulateOp) -> Option<Self> {
        use ElementKind::{F32, F64, I32, I64, U32, U64};
        let (is_signed, is_integer) = match kind {
            I32 | I64 => (true, true),
            U32 | U64 => (false, true),
            F32 | F64 => (true, false),
            _ => return None,
        };
        let step = match op {
            AccumulateOp::Replace => Step::Swap,
            AccumulateOp::NoOp => Step::Fetch,
            AccumulateOp::Predefined(Op::SUM) => match kind {
                F32 => Step::AddF32,
                F64 => Step::AddF64,
                _ => Step::Add,
            },
            AccumulateOp::Predefined(_) if !is_integer => return None,
            AccumulateOp::Predefined(op) => match (op, is_signed) {
                (Op::BAND, _) => Step::And,
                (Op::BOR, _) => Step::Or,
                (Op::BXOR, _) => Step::Xor,
                (Op::MIN, true) => Step::SignedMin,
                (Op::MAX, true) => Step::SignedMax,
                (Op::MIN, false) => Step::Min,
                (Op::MAX, false) => Step::Max,
                _ => return None,
            },
        };
        Some(Self {
            width: Width::of_bytes(kind.size() as u64)?,
            step,
            operands: usize::from(op != AccumulateOp::NoOp),
        })
    }

    /// A comparison with the first operand, and a swap with the second.
    #[inline]
    pub(super) fn compare_swap(kind: ElementKind) -> Option<Self> {
        use ElementKind::{I32, I64, U32, U64};
        matches!(kind, I32 | I64 | U32 | U64).then_some(())?;
        Some(Self {
            width: Width::of_bytes(kind.size() as u64)?,
            step: Step::CompareSwap,
            operands: 2,
        })
    }

    /// The word after the operation.
    #[inline]
    fn after(self, old: u64, [first, second]: [u64; 2]) -> u64 {
        let atomic = match self.step {
            Step::AddF32 => {
                let sum = f32::from_bits(old as u32) + f32::from_bits(first as u32);
                return sum.to_bits().into();
            }
            Step::AddF64 => return (f64::from_bits(old) + f64::from_bits(first)).to_bits(),
            Step::Fetch => Atomic::Fetch,
            Step::Swap => Atomic::Swap(first),
            Step::Add => Atomic::Add(first),
            Step::And => Atomic::And(first),
            Step::Or => Atomic::Or(first),
            Step::Xor => Atomic::Xor(first),
            Step::Min => Atomic::Min(first),
            Step::Max => Atomic::Max(first),
            Step::SignedMin => Atomic::SignedMin(first),
            Step::SignedMax => Atomic::SignedMax(first),
            Step::CompareSwap => Atomic::CompareSwap {
                expected: first,
                new: second,
            },
        };
        atomic.apply(old, self.width)
    }

    /// The operands in these bytes, if they are as many words.
    #[inline]
    fn operands(self, from: &RawBytes) -> Option<[u64; 2]> {
        let mut operands = [0; 2];
        if self.operands > 0 {
            let start = words(from, self.width, self.operands)?;
            for (at, operand) in operands[..self.operands].iter_mut().enumerate() {
                let place = start.wrapping_add(at * self.width.bytes() as usize);
                // SAFETY: one of the aligned words, which are valid by the contract of `RawBytes`.
                *operand = unsafe { load(place, self.width) };
            }
        }
        Some(operands)
    }
}

/// The first of so many aligned words.
#[inline]
fn words(bytes: &RawBytes, width: Width, count: usize) -> Option<*mut u8> {
    let (start, size) = (bytes.start(), width.bytes() as usize);
    let has_all = !bytes.has_gaps() && bytes.len() == (count * size) as u64;
    (has_all && start.addr().is_multiple_of(size)).then_some(start)
}

impl<A: Threading> Window<A> {
    /// Combines one word, if it is in the memory of an open target that is mapped here, and nobody else combines its block
    /// now. `None`: nothing is done.
    #[inline]
    pub(super) fn combine_word(
        &self,
        op: Option<WordOp>,
        (from, before): (&RawBytes, Option<&RawBytes>),
        range: &WindowRange<'_>,
    ) -> Option<()> {
        let op = op?;
        let operands = op.operands(from)?;
        let before = match before {
            Some(before) => Some(words(before, op.width, 1)?),
            None => None,
        };
        let (near, at) = self.open_near(range, op.width.bytes())?;
        let place = near.word(at, op.width)?;
        let (locks, block) = (near.words().locks(), near.words().block_of(at));
        locks.lock_block(block, self.me).ok()?;
        // SAFETY: an aligned word of the mapped memory.
        let old = unsafe { load(place, op.width) };
        let new = op.after(old, operands);
        if new != old {
            // SAFETY: as above.
            unsafe { store(place, op.width, new) };
        }
        locks.unlock_block(block);
        if let Some(before) = before {
            // SAFETY: an aligned word, which is valid by the contract of `RawBytes`.
            unsafe { store(before, op.width, old) };
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::window_state::Accumulation;
    use super::*;

    /// As the operation on any number of elements.
    #[test]
    fn a_word_is_changed_as_elements_are() {
        const WORDS: [u64; 6] = [0, 1, 7, 0x3fc0_0000_4080_0000, 1 << 63, u64::MAX];
        let mut short = 0;
        let others = [AccumulateOp::Replace, AccumulateOp::NoOp];
        for &kind in ElementKind::ALL {
            let all = Op::ALL.map(AccumulateOp::Predefined).into_iter();
            let all = all.chain(others).filter_map(|op| {
                let slow = Accumulation::new(kind, op);
                WordOp::new(kind, op).map(|word| (word, slow.expect("the kind has it")))
            });
            let swap = WordOp::compare_swap(kind);
            let swap = swap.map(|word| (word, Accumulation::compare_swap(kind).expect("integers")));
            for (word, slow) in all.chain(swap) {
                short += 1;
                for old in WORDS {
                    for operands in WORDS.iter().flat_map(|&a| WORDS.map(|b| [a, b])) {
                        let size = kind.size();
                        let bytes = |word: u64| word.to_ne_bytes()[..size].to_vec();
                        let given = operands[..word.operands].iter().flat_map(|&w| bytes(w));
                        let mut element = bytes(old);
                        slow.apply(&given.collect::<Vec<u8>>(), &mut element);
                        let old = word.width.truncate(old);
                        let after = bytes(word.after(old, operands));
                        assert_eq!(
                            after, element,
                            "{word:?} of {kind:?}, {old:#x} {operands:x?}"
                        );
                    }
                }
            }
        }
        assert_eq!(short, 4 * 9 + 2 * 3, "integers, and floats");
    }
}
