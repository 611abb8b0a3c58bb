//! [`Signature`]: the sequence of basic datatypes in a datatype.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use super::fingerprint::Fingerprint;

/// A basic datatype: a number of the face's choice that says which, its bytes and its alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Basic {
    kind: u16,
    size: u16,
    align: u16,
}

impl Basic {
    /// The basic datatype number `kind`. Basic datatypes of one kind have the same size.
    ///
    /// # Panics
    /// If `size` or `align` is 0.
    #[must_use]
    pub const fn new(kind: u16, size: u16, align: u16) -> Self {
        assert!(size > 0 && align > 0, "a basic datatype has bytes");
        Self { kind, size, align }
    }

    /// The number that says which one it is.
    #[must_use]
    pub const fn kind(&self) -> u16 {
        self.kind
    }

    /// Bytes.
    #[must_use]
    pub const fn size(&self) -> u16 {
        self.size
    }

    /// Its address is a multiple of so many bytes in a structure of C.
    #[must_use]
    pub const fn align(&self) -> u16 {
        self.align
    }
}

/// The sequence of basic datatypes in a datatype (its type signature: MPI 5.0, section 5.1), without their places.
///
/// Signatures compare by number of elements, bytes and a fingerprint of the sequence, in O(1): equal sequences are
/// equal, however they are nested; different ones are taken for equal with a probability of about 2^-120.
#[derive(Clone, Debug)]
pub struct Signature {
    bytes: u64,
    elements: u64,
    fingerprint: Fingerprint,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Empty,
    /// Of one kind.
    Uniform(Basic),
    /// One signature over and over.
    Repeated(Arc<Signature>),
    /// Several, one after the other.
    Sequence(Arc<[Part]>),
}

/// A part of a sequence.
#[derive(Clone, Debug)]
struct Part {
    /// Bytes and elements of the parts before it.
    first_byte: u64,
    first_element: u64,
    signature: Signature,
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Signature {}

impl Hash for Signature {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Signature {
    /// No elements.
    pub(super) const EMPTY: Self = Self {
        bytes: 0,
        elements: 0,
        fingerprint: Fingerprint::EMPTY,
        content: Content::Empty,
    };

    /// One element.
    pub(super) const fn basic(basic: Basic) -> Self {
        Self {
            bytes: basic.size as u64,
            elements: 1,
            fingerprint: Fingerprint::of(basic.kind as u64),
            content: Content::Uniform(basic),
        }
    }

    /// Bytes of all elements.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of elements, each of a basic datatype.
    #[must_use]
    pub const fn elements(&self) -> u64 {
        self.elements
    }

    /// What signatures compare by, the same on every machine: elements, bytes, fingerprint.
    #[must_use]
    pub const fn key(&self) -> (u64, u64, [u64; 2]) {
        (self.elements, self.bytes, self.fingerprint.values())
    }

    /// Number of elements in the first `bytes` bytes of the signature over and over, as `MPI_Get_elements` counts
    /// them (MPI 5.0, section 5.1.11). `None` if an element ends beyond them.
    ///
    /// # Cost
    /// O(depth), times the logarithm of the longest list of parts.
    #[must_use]
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if self.bytes == 0 {
            return (bytes == 0).then_some(0);
        }
        let mut whole = (bytes / self.bytes).checked_mul(self.elements)?;
        let (mut signature, mut rest) = (self, bytes % self.bytes);
        loop {
            (signature, rest) = match &signature.content {
                Content::Empty => return Some(whole),
                Content::Uniform(basic) => {
                    let size = u64::from(basic.size);
                    return (rest % size == 0).then_some(whole + rest / size);
                }
                Content::Repeated(unit) => {
                    whole += rest / unit.bytes * unit.elements;
                    (&**unit, rest % unit.bytes)
                }
                Content::Sequence(parts) => {
                    let after = parts.partition_point(|part| part.first_byte <= rest);
                    let part = &parts[after - 1];
                    whole += part.first_element;
                    (&part.signature, rest - part.first_byte)
                }
            };
        }
    }

    /// Number of bytes in the first `elements` elements of the signature over and over. `None` if it exceeds 63 bits,
    /// or there are no elements.
    ///
    /// # Cost
    /// That of [`Signature::elements_in`].
    #[must_use]
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        if self.elements == 0 {
            return (elements == 0).then_some(0);
        }
        let mut whole = (elements / self.elements).checked_mul(self.bytes)?;
        let (mut signature, mut rest) = (self, elements % self.elements);
        loop {
            (signature, rest) = match &signature.content {
                Content::Empty => break,
                Content::Uniform(basic) => {
                    whole = whole.checked_add(rest * u64::from(basic.size))?;
                    break;
                }
                Content::Repeated(unit) => {
                    whole = whole.checked_add(rest / unit.elements * unit.bytes)?;
                    (&**unit, rest % unit.elements)
                }
                Content::Sequence(parts) => {
                    let after = parts.partition_point(|part| part.first_element <= rest);
                    let part = &parts[after - 1];
                    whole = whole.checked_add(part.first_byte)?;
                    (&part.signature, rest - part.first_element)
                }
            };
        }
        i64::try_from(whole).is_ok().then_some(whole)
    }

    /// Calls `with` for the elements in order: for as many at a time as are of one kind and known to be.
    pub fn visit(&self, with: &mut impl FnMut(Basic, u64)) {
        match &self.content {
            Content::Empty => {}
            Content::Uniform(basic) => with(*basic, self.elements),
            Content::Repeated(unit) => {
                for _ in 0..self.elements / unit.elements {
                    unit.visit(with);
                }
            }
            Content::Sequence(parts) => parts.iter().for_each(|part| part.signature.visit(with)),
        }
    }

    /// This signature, `times` times. The elements and bytes fit 63 bits.
    pub(super) fn repeat(self, times: u64) -> Self {
        if times == 0 || self.elements == 0 {
            return Self::EMPTY;
        }
        if times == 1 {
            return self;
        }
        Self {
            bytes: self.bytes * times,
            elements: self.elements * times,
            fingerprint: self.fingerprint.repeat(self.elements, times),
            content: match self.content {
                Content::Sequence(_) => Content::Repeated(Arc::new(self)),
                content => content,
            },
        }
    }

    /// Signatures one after the other. The elements and bytes of all fit 63 bits.
    pub(super) fn sequence(mut list: Vec<Self>) -> Self {
        list.retain(|one| one.elements > 0);
        // The longest one is dissolved, so that each level of sequences halves the number of elements.
        let longest = (0..list.len()).max_by_key(|&i| list[i].elements);
        if let Some(longest) = longest
            && let Content::Sequence(parts) = &list[longest].content
        {
            let parts: Vec<_> = parts.iter().map(|part| part.signature.clone()).collect();
            list.splice(longest..=longest, parts);
        }
        let mut all = Self::EMPTY;
        let mut parts: Vec<Part> = Vec::with_capacity(list.len());
        for next in list {
            match parts.last_mut() {
                Some(last) if last.signature.is_same_kind(&next) => {
                    last.signature = last.signature.clone().then(&next);
                }
                _ => parts.push(Part {
                    first_byte: all.bytes,
                    first_element: all.elements,
                    signature: next.clone(),
                }),
            }
            all = all.then(&next);
        }
        match parts.len() {
            0 => all,
            1 => parts.remove(0).signature,
            _ => Self {
                content: Content::Sequence(parts.into()),
                ..all
            },
        }
    }

    /// Whether both consist of elements of the same kind.
    fn is_same_kind(&self, other: &Self) -> bool {
        matches!((&self.content, &other.content), (Content::Uniform(one), Content::Uniform(other)) if one == other)
    }

    /// The numbers of this signature followed by `next`; the content stays.
    fn then(self, next: &Self) -> Self {
        Self {
            bytes: self.bytes + next.bytes,
            elements: self.elements + next.elements,
            fingerprint: self.fingerprint.then(next.fingerprint, next.elements),
            content: self.content,
        }
    }
}
