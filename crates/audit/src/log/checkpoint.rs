//! A checkpoint: the signed head of the log at one size.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::log::hex::{Hash, Hex, PublicKey};
use crate::log::limits::CHECKPOINT_BYTES_MAX;

/// Prefix of the signed bytes, so that a signature of something else cannot pass for one of a checkpoint.
const DOMAIN: &[u8] = b"setpoint audit log checkpoint 2\n";
/// The prefix for checkpoints with a tree root.
const DOMAIN_WITH_ROOT: &[u8] = b"setpoint audit log checkpoint 1\n";

/// The number of entries, the hash of the last one, and a signature of both.
///
/// The hash of an entry covers all entries before it, so nothing else has to be signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Number of entries.
    pub size: u64,
    /// Root of the Merkle tree over the entries, in checkpoints of versions that built one. It is signed, but
    /// compared with nothing, because `chain` covers the same entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<Hash>,
    /// Hash of the last entry.
    pub chain: Hash,
    /// When it was signed, in microseconds since 1970 (UTC), by the caller's clock.
    pub at_us: i64,
    /// The key of the signature.
    pub key: PublicKey,
    /// Hash of the previous checkpoint's line, [`Hash::NONE`] for the first one.
    pub previous: Hash,
    signature: Hex<64>,
}

impl Checkpoint {
    pub(crate) fn sign(size: u64, chain: Hash, at_us: i64, previous: Hash, key: &SigningKey) -> Self {
        let (public, signature) = (public_half(key), Hex([0; 64]));
        let mut checkpoint = Self { size, root: None, chain, at_us, key: public, previous, signature };
        checkpoint.signature = Hex(key.sign(&checkpoint.signed_bytes()).to_bytes());
        checkpoint
    }

    /// Returns whether the key signed exactly this. Refuses keys of small order, with which one signature fits many
    /// texts.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        VerifyingKey::from_bytes(&self.key.0).is_ok_and(|key| {
            key.verify_strict(&self.signed_bytes(), &Signature::from_bytes(&self.signature.0)).is_ok()
        })
    }

    /// Returns its line, without the line end.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a line without its end. Returns `None` for everything that [`Checkpoint::line`] does not write, byte
    /// for byte: one form per checkpoint gives one hash per checkpoint.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Self> {
        if line.len() > CHECKPOINT_BYTES_MAX {
            return None;
        }
        let checkpoint: Self = serde_json::from_slice(line).ok()?;
        (checkpoint.size > 0 && checkpoint.line().as_bytes() == line).then_some(checkpoint)
    }

    /// Returns the hash that the next checkpoint names as its predecessor.
    #[must_use]
    pub fn hash(&self) -> Hash {
        hash_of_line(self.line().as_bytes())
    }

    /// Returns everything but the signature, each field with a fixed width. Each form has its own prefix, so two
    /// different checkpoints never give the same bytes.
    fn signed_bytes(&self) -> Vec<u8> {
        let numbers = [self.size.to_le_bytes(), self.at_us.to_le_bytes()].concat();
        let (domain, root) = match &self.root {
            None => (DOMAIN, [].as_slice()),
            Some(root) => (DOMAIN_WITH_ROOT, root.0.as_slice()),
        };
        [domain, &numbers, root, &self.chain.0, &self.key.0, &self.previous.0].concat()
    }
}

/// Returns the hash of a checkpoint's line.
pub(crate) fn hash_of_line(line: &[u8]) -> Hash {
    Hex(blake3::derive_key("setpoint audit log 2026 line of a checkpoint", line))
}

pub(crate) fn public_half(key: &SigningKey) -> PublicKey {
    Hex(key.verifying_key().to_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn checkpoint() -> Checkpoint {
        let key = SigningKey::from_bytes(&[7; 32]);
        Checkpoint::sign(1_000, hash(b"chain"), 1_790_000_000_000_000, Hash::NONE, &key)
    }

    /// Signs a checkpoint as a version with a tree did.
    fn with_root() -> Checkpoint {
        let line = r#"{"size":1000,"root":"92a2b787a06d7272df43eaf87acc3b9c1d315d79d599d61c285983483e431998","chain":"ed2314e8b37e504072414a91c8c56aaccfb48f5d3aac7ac45ccf275f2984ebee","at_us":1790000000000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"6612928656b8e72113fe2cd699609d3539c9fe4da4a147817137dc86067bac92d3a46999defce22d9707c52b26aab42153366330ed068147bf039c54a998d808"}"#;
        Checkpoint::parse(line.as_bytes()).unwrap()
    }

    fn hash(bytes: &[u8]) -> Hash {
        Hex(*blake3::hash(bytes).as_bytes())
    }

    #[test]
    fn a_signature_covers_every_field() {
        let changes: [fn(&mut Checkpoint); 7] = [
            |one| one.size += 1,
            |one| one.root = Some(hash(b"another")),
            |one| one.chain = hash(b"another"),
            |one| one.at_us = -one.at_us,
            |one| one.key = Hex([1; 32]),
            |one| one.previous = hash(b"another"),
            |one| one.signature.0[40] ^= 1,
        ];
        for good in [checkpoint(), with_root()] {
            assert!(good.is_signed());
            for change in changes {
                let mut changed = good.clone();
                change(&mut changed);
                assert!(!changed.is_signed(), "{changed:?}");
            }
        }
    }

    /// A signature of one form is not valid for the other: a root can be neither removed nor added.
    #[test]
    fn a_checkpoint_cannot_change_its_form() {
        for root in [hash(b"root"), Hash::NONE] {
            assert!(!Checkpoint { root: Some(root), ..checkpoint() }.is_signed());
        }
        assert!(!Checkpoint { root: None, ..with_root() }.is_signed());
    }

    /// With a key of small order one signature fits every text.
    #[test]
    fn a_key_of_small_order_signs_nothing() {
        let mut forged = checkpoint();
        forged.key = Hex(std::array::from_fn(|n| u8::from(n == 0)));
        forged.signature = Hex(std::array::from_fn(|n| u8::from(n == 0)));
        assert!(!forged.is_signed());
    }

    #[test]
    fn a_line_has_one_form() {
        let good = checkpoint();
        let line = good.line();
        assert_eq!(Checkpoint::parse(line.as_bytes()), Some(good));
        for bad in [
            line.replace(r#"{"size""#, r#"{ "size""#),
            line.replace("1000", "1e3"),
            line.replace("1000", "0"),
            line.replace(r#""at_us""#, r#""x":1,"at_us""#),
            line.replace('f', "F"),
            line.replace(r#""chain":""#, r#""chain":"\u0061"#),
            line.replace(r#""chain":""#, r#""root":null,"chain":""#),
            format!("{line} "),
            format!("{line}{}", " ".repeat(CHECKPOINT_BYTES_MAX)),
            String::new(),
        ] {
            assert_eq!(Checkpoint::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    /// Signed checkpoints outlive the program: a change of the encoding must fail here first.
    #[test]
    fn the_encoding_is_pinned() {
        let text = |one: &Checkpoint| {
            let signed: String = one.signed_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{}\n{}\n{signed}", one.line(), one.hash())
        };
        expect_test::expect![[r#"
            {"size":1000,"chain":"ed2314e8b37e504072414a91c8c56aaccfb48f5d3aac7ac45ccf275f2984ebee","at_us":1790000000000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"1039678db0805d92790c0403946a4ee921aaae805e15a43737e0fa4af2d9b00bed43a0f221211303c257036550239f10e43c5606bf9ae372c75074bcb8196401"}
            3f52c98d537048243e87e51f40764095c8791d66322192c295c4321d6d5e12e6
            736574706f696e74206175646974206c6f6720636865636b706f696e7420320ae80300000000000000e025dafe5b0600ed2314e8b37e504072414a91c8c56aaccfb48f5d3aac7ac45ccf275f2984ebeeea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c0000000000000000000000000000000000000000000000000000000000000000"#]].assert_eq(&text(&checkpoint()));
        expect_test::expect![[r#"
            {"size":1000,"root":"92a2b787a06d7272df43eaf87acc3b9c1d315d79d599d61c285983483e431998","chain":"ed2314e8b37e504072414a91c8c56aaccfb48f5d3aac7ac45ccf275f2984ebee","at_us":1790000000000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"6612928656b8e72113fe2cd699609d3539c9fe4da4a147817137dc86067bac92d3a46999defce22d9707c52b26aab42153366330ed068147bf039c54a998d808"}
            876424813a73d10fd07a6144718063d6d21455cb922e11d574681e4b5f88fe93
            736574706f696e74206175646974206c6f6720636865636b706f696e7420310ae80300000000000000e025dafe5b060092a2b787a06d7272df43eaf87acc3b9c1d315d79d599d61c285983483e431998ed2314e8b37e504072414a91c8c56aaccfb48f5d3aac7ac45ccf275f2984ebeeea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c0000000000000000000000000000000000000000000000000000000000000000"#]].assert_eq(&text(&with_root()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert_eq!(Checkpoint::parse(&bytes), None);
        }

        #[test]
        fn a_changed_line_is_not_a_signed_checkpoint(at in 0usize..500, byte in any::<u8>()) {
            let mut line = checkpoint().line().into_bytes();
            let at = at % line.len();
            prop_assume!(line[at] != byte);
            line[at] = byte;
            prop_assert!(Checkpoint::parse(&line).is_none_or(|changed| !changed.is_signed()));
        }
    }
}
