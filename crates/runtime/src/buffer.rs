//! The buffers that requests hold while their operations are under way.

/// What a request borrows and gives back: the slice of a send or of a receive, nothing, or the input and the
/// output of a collective. Sealed.
pub trait Buffer: sealed::HoldBuffer {}

impl<B: sealed::HoldBuffer> Buffer for B {}

pub(crate) mod sealed {
    /// A buffer as its request holds it. A receive's buffer is held as an address: a unique reference must
    /// not exist, or move, beside the one through which the message is written.
    #[allow(
        unnameable_types,
        reason = "the trait is sealed: callers name `Buffer`, never this"
    )]
    pub trait HoldBuffer: Sized {
        /// The held form.
        type Held;

        /// The buffer, lent for a time.
        type Lent<'a>
        where
            Self: 'a;

        /// Gives the buffer back.
        ///
        /// # Safety
        /// `held` was made of a buffer of this type, whose operation has completed.
        unsafe fn back(held: Self::Held) -> Self;

        /// Lends the buffer.
        ///
        /// # Safety
        /// `held` was made of a buffer of this type, which no operation uses meanwhile.
        unsafe fn lend<'a>(held: &'a mut Self::Held) -> Self::Lent<'a>
        where
            Self: 'a;
    }

    impl<'buf, T> HoldBuffer for &'buf [T] {
        type Held = Self;

        type Lent<'a>
            = &'a [T]
        where
            'buf: 'a;

        unsafe fn back(held: Self) -> Self {
            held
        }

        unsafe fn lend<'a>(held: &'a mut Self) -> &'a [T]
        where
            'buf: 'a,
        {
            held
        }
    }

    impl<'buf, T> HoldBuffer for &'buf mut [T] {
        type Held = *mut [T];

        type Lent<'a>
            = &'a mut [T]
        where
            'buf: 'a;

        unsafe fn back(held: *mut [T]) -> Self {
            // SAFETY: made of such a reference, which no other code has used since; and the operation has
            // completed, as the caller promises.
            unsafe { &mut *held }
        }

        unsafe fn lend<'a>(held: &'a mut *mut [T]) -> &'a mut [T]
        where
            'buf: 'a,
        {
            // SAFETY: as above; and it is lent no longer than its holder.
            unsafe { &mut **held }
        }
    }

    impl HoldBuffer for () {
        type Held = ();
        type Lent<'a> = ();

        unsafe fn back((): ()) {}

        unsafe fn lend<'a>((): &'a mut ())
        where
            (): 'a,
        {
        }
    }

    impl<B: HoldBuffer> HoldBuffer for Option<B> {
        type Held = Option<B::Held>;

        type Lent<'a>
            = Option<B::Lent<'a>>
        where
            B: 'a;

        unsafe fn back(held: Option<B::Held>) -> Self {
            // SAFETY: the caller's promise, for the buffer if there is one.
            held.map(|held| unsafe { B::back(held) })
        }

        unsafe fn lend<'a>(held: &'a mut Option<B::Held>) -> Option<B::Lent<'a>>
        where
            B: 'a,
        {
            // SAFETY: the caller's promise, for the buffer if there is one.
            held.as_mut().map(|held| unsafe { B::lend(held) })
        }
    }

    impl<B: HoldBuffer, C: HoldBuffer> HoldBuffer for (B, C) {
        type Held = (B::Held, C::Held);

        type Lent<'a>
            = (B::Lent<'a>, C::Lent<'a>)
        where
            (B, C): 'a;

        unsafe fn back((first, second): (B::Held, C::Held)) -> Self {
            // SAFETY: the caller's promise, for each of them.
            let first = unsafe { B::back(first) };
            // SAFETY: as above.
            let second = unsafe { C::back(second) };
            (first, second)
        }

        unsafe fn lend<'a>(
            (first, second): &'a mut (B::Held, C::Held),
        ) -> (B::Lent<'a>, C::Lent<'a>)
        where
            (B, C): 'a,
        {
            // SAFETY: the caller's promise, for each of them.
            let first = unsafe { B::lend(first) };
            // SAFETY: as above.
            let second = unsafe { C::lend(second) };
            (first, second)
        }
    }
}
