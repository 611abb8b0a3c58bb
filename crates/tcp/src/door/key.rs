//! The key of a job, and proofs of knowing it.

use std::fmt;

/// Chance that is used once.
pub type Nonce = [u8; 16];

/// What the ranks of a job know and nobody else.
#[derive(Clone)]
pub struct JobKey([u8; blake3::KEY_LEN]);

impl JobKey {
    /// The key of the job that shares `secret`, of any length. It is as hard to guess as that is.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self(blake3::derive_key("oxmpi tcp 2026 job key", secret))
    }

    /// The proof of knowing this key that `role` gives about `said`.
    #[must_use]
    pub(super) fn proof(&self, role: Role, said: &[&[u8]]) -> Proof {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&[role as u8]);
        for part in said {
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

/// Who gives a proof: that of one side is none of the other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Caller = 1,
    Host = 2,
}

/// Shows that its maker knows a key. Compared in constant time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof(blake3::Hash);

impl Proof {
    /// Size in bytes.
    pub const LEN: usize = blake3::OUT_LEN;

    /// Its bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; Self::LEN] {
        self.0.as_bytes()
    }

    /// What somebody says is a proof.
    #[must_use]
    pub(super) fn claimed(bytes: [u8; Self::LEN]) -> Self {
        Self(blake3::Hash::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_depends_on_all() {
        let key = JobKey::new(b"secret");
        let proof = key.proof(Role::Host, &[b"ab", b"c"]);
        assert_eq!(proof, Proof::claimed(*proof.bytes()));
        assert_ne!(proof, key.proof(Role::Caller, &[b"ab", b"c"]));
        assert_ne!(proof, key.proof(Role::Host, &[b"ab", b"d"]));
        assert_ne!(
            proof,
            JobKey::new(b"Secret").proof(Role::Host, &[b"ab", b"c"])
        );
        assert_eq!(format!("{key:?}"), "JobKey(..)", "a key is not printed");
    }
}
