//! [`JobKey`], and proofs that a side of a handshake knows it.

use std::fmt;

/// Random bytes that are used for one handshake only.
pub type Nonce = [u8; 16];

/// A secret that the ranks of one job share.
#[derive(Clone)]
pub struct JobKey([u8; blake3::KEY_LEN]);

impl JobKey {
    /// The key of the job that shares `secret`, of any length. It is as hard to guess as `secret`.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self(blake3::derive_key("oxmpi tcp 2026 job key", secret))
    }

    /// The proof that `role` knows this key, bound to the `messages` so far.
    #[must_use]
    pub(super) fn proof(&self, role: Role, messages: &[&[u8]]) -> Proof {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&[role as u8]);
        for part in messages {
            hasher.update(part);
        }
        Proof(hasher.finalize())
    }
}

impl fmt::Debug for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JobKey(..)")
    }
}

/// The side that gives a proof: a proof of one side is invalid for the other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Client = 1,
    Server = 2,
}

/// Shows that its sender knows a key. Compared in constant time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof(blake3::Hash);

impl Proof {
    /// Size in bytes.
    pub const LEN: usize = blake3::OUT_LEN;

    /// The bytes to send.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; Self::LEN] {
        self.0.as_bytes()
    }

    /// A proof that was received, to compare with the right one.
    #[must_use]
    pub(super) fn claimed(bytes: [u8; Self::LEN]) -> Self {
        Self(blake3::Hash::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_depends_on_key_role_and_messages() {
        let key = JobKey::new(b"secret");
        let proof = key.proof(Role::Server, &[b"ab", b"c"]);
        assert_eq!(proof, Proof::claimed(*proof.bytes()));
        assert_ne!(proof, key.proof(Role::Client, &[b"ab", b"c"]));
        assert_ne!(proof, key.proof(Role::Server, &[b"ab", b"d"]));
        assert_ne!(
            proof,
            JobKey::new(b"Secret").proof(Role::Server, &[b"ab", b"c"])
        );
        assert_eq!(format!("{key:?}"), "JobKey(..)", "a key is not printed");
    }
}
