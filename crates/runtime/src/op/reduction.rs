//! Converts operations on elements to operations on ranges of bytes, as the core calls them.

use std::marker::PhantomData;

use oxmpi_coll::choice::Reproducible;
use oxmpi_coll::plan::Side;
use oxmpi_core::{
    Custom, Element, Error, Op, OperandOrder, OwnedOperation, Predefined, ResolvedReduction,
    Result, elementwise,
};
use oxmpi_os::RawBytes;

use crate::data::Data;

/// Combines elements of type `T` in a reduction: an [`Op`], or a function by [`Op::commutative`] or
/// [`Op::ordered`]. Sealed.
///
/// ```
/// # use oxmpi::{ExactSum, Op, ValueLoc, World};
/// # let world = World::init()?;
/// # let (comm, residual) = (world.comm(), 0.5);
/// let worst = comm.allreduce(&ValueLoc::new(residual, comm.rank() as u64), Op::MAXLOC)?;
/// println!("rank {} has {}", worst.index(), worst.value());
///
/// // A million terms, spread over the ranks: the result does not depend on how many there are.
/// let terms = (comm.rank()..1_000_000).step_by(comm.size());
/// let mine: ExactSum = terms.map(|n| 1.0 / (1 + n * n) as f64).collect();
/// let all = comm.allreduce(&mine, Op::SUM)?;
/// assert_eq!(all.value().to_bits(), 2.076673047468081_f64.to_bits());
///
/// // The composition of x -> a x + b on all ranks, the last one's applied first.
/// let compose = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a * c, a * d + b];
/// let mut all = [[0; 2]];
/// comm.allreduce_into(&[[2, 1]], &mut all, Op::ordered(compose))?;
/// # Ok::<(), oxmpi::Error>(())
/// ```
pub trait Reduction<T: Data>: sealed::ResolveReduction<T> {}

impl<T: Data, R: sealed::ResolveReduction<T>> Reduction<T> for R {}

#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `Reduction`, never what is here"
)]
pub(crate) mod sealed {
    use super::{Data, PhantomData, RawBytes, Reproducible, ResolvedReduction, Result, Side};

    /// An operation on bytes.
    pub trait Combine {
        /// Whether it calls a function of the program.
        const BY_PROGRAM: bool;

        /// Combines the elements of `from` into those of `into`; `from` is the operand on `side`.
        fn combine(&self, from: RawBytes, into: RawBytes, side: Side);
    }

    /// Resolves an operation for an element type and the required reproducibility.
    pub trait ResolveReduction<T: Data> {
        /// The operation on bytes.
        type Combine: Combine;

        /// The operation on bytes, whose results are as reproducible as `preference` asks.
        ///
        /// # Errors
        /// When the type does not have the operation, or it cannot be that reproducible.
        fn resolve(self, preference: Reproducible) -> Result<ResolvedReduction<Self::Combine>>;
    }

    /// The operation of a collective that does not reduce.
    #[derive(Clone, Copy, Debug)]
    pub enum NoReduction {}

    /// An operation by a function of the program.
    #[derive(Clone, Copy, Debug)]
    pub struct CustomCombine<T, F>(pub(in crate::op) F, pub(in crate::op) PhantomData<fn(T)>);
}

pub(crate) use sealed::{Combine, NoReduction};
use sealed::{CustomCombine, ResolveReduction};

/// The operation as the core calls it.
pub(crate) fn on_bytes<C: Combine>(own: C) -> impl Fn(RawBytes, RawBytes, Side) {
    move |from, into, side| own.combine(from, into, side)
}

/// The operation as the core owns it.
pub(crate) fn owned_operation<C: Combine + Send + 'static>(own: C) -> OwnedOperation {
    match C::BY_PROGRAM {
        true => OwnedOperation::by_program(on_bytes(own)),
        false => OwnedOperation::predefined(on_bytes(own)),
    }
}

impl Combine for NoReduction {
    const BY_PROGRAM: bool = false;

    fn combine(&self, _: RawBytes, _: RawBytes, _: Side) {
        match *self {}
    }
}

impl<T: Element> ResolveReduction<T> for Op {
    type Combine = Predefined<T>;

    fn resolve(self, preference: Reproducible) -> Result<ResolvedReduction<Predefined<T>>> {
        Predefined::resolve(self, preference)
    }
}

impl<T: Data> Combine for Predefined<T> {
    const BY_PROGRAM: bool = false;

    fn combine(&self, from: RawBytes, into: RawBytes, _: Side) {
        // SAFETY: the core calls operations only with parts of the call's own buffers.
        unsafe { self.combine(from, into) };
    }
}

impl<T: Data, F: Fn(T, T) -> T> ResolveReduction<T> for Custom<F> {
    type Combine = CustomCombine<T, F>;

    fn resolve(self, preference: Reproducible) -> Result<ResolvedReduction<CustomCombine<T, F>>> {
        if preference == Reproducible::Ranks {
            let op = "an operation of the program's own";
            return Err(Error::Reproducible { op });
        }
        Ok(ResolvedReduction {
            kind: match self.is_commutative() {
                true => OperandOrder::Commutative,
                false => OperandOrder::Ordered,
            },
            combine: CustomCombine(self.into_combine(), PhantomData),
            widening: None,
        })
    }
}

impl<T: Data, F: Fn(T, T) -> T> Combine for CustomCombine<T, F> {
    const BY_PROGRAM: bool = true;

    fn combine(&self, from: RawBytes, into: RawBytes, side: Side) {
        // SAFETY: the core calls operations only with parts of the call's own buffers, of elements of `T`.
        let combine = unsafe { elementwise(&self.0) };
        combine(from, into, side);
    }
}
