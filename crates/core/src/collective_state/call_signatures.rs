//! The signatures of calls, which ranks compare before a collective where the setting `coll_check` asks for
//! it.

use std::fmt;

use oxmpi_coll::catalog::{Call, Collective};

use super::area::Area;
use super::buffers::Buffers;
use crate::bytes::target;

/// What is the same in the calls of all ranks: the collective, the root, the bytes of the vector or block
/// where all ranks know them, and whether the operation commutes.
type Signature = [u64; 4];

/// The signatures of all ranks' calls.
#[derive(Debug)]
pub(crate) struct CallSignatures(Vec<Signature>);

impl CallSignatures {
    pub(crate) fn on(call: &Call) -> Self {
        let length = match call.collective.has_known_length() {
            true => call.bytes(),
            false => 0,
        };
        let collective = call.collective as u64;
        let mut all = vec![[0; 4]; call.size as usize];
        all[call.rank as usize] = [
            collective,
            call.root.into(),
            length,
            call.commutative.into(),
        ];
        Self(all)
    }

    /// The collective by which the ranks exchange their signatures.
    pub(crate) fn exchange(&mut self, rank: u32) -> (Call, Buffers) {
        let (size, bytes) = (self.0.len() as u32, size_of::<Signature>() as u64);
        let call = Call::allgather(rank, size, bytes).with_in_place(true);
        let output = Area::Whole(target(&mut self.0));
        (call, Buffers::new(Area::empty(), output))
    }

    /// The first rank whose signature differs from that of rank 0, and both as text.
    pub(crate) fn difference(&self) -> Option<(usize, [SignatureText<'_>; 2])> {
        let first = &self.0[0];
        let rank = self.0.iter().position(|one| one != first)?;
        Some((rank, [SignatureText(first), SignatureText(&self.0[rank])]))
    }
}

/// Formats a signature.
pub(crate) struct SignatureText<'a>(&'a Signature);

impl fmt::Display for SignatureText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &[collective, root, bytes, commutative] = self.0;
        let named = |one: &Collective| *one as u64 == collective;
        let Some(collective) = Collective::ALL.into_iter().find(named) else {
            return f.write_str("no collective");
        };
        write!(f, "{collective}")?;
        if collective.has_root() {
            write!(f, " with root {root}")?;
        }
        if collective.has_known_length() && collective != Collective::Barrier {
            write!(f, " of {bytes} B")?;
        }
        match commutative {
            0 => f.write_str(" by an operation that does not commute"),
            _ => Ok(()),
        }
    }
}
