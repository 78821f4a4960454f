//! A checkpoint: what the log was at one size, signed.

use std::fmt;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::Deserialize;

use crate::log::chain::{Hash, hex, hex_bytes};
use crate::log::limits::CHECKPOINT_BYTES_MAX;

/// The bytes that a signature is made over begin with this, so that no signature under something else is one under
/// a checkpoint.
const DOMAIN: &[u8] = b"setpoint audit log checkpoint 1\n";

/// The key that signatures are checked with: 32 bytes, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

/// What the log was when it had this size, and a signature under all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Entries of the log.
    pub size: u64,
    /// Root of the tree over them.
    pub root: Hash,
    /// Hash of the last of them.
    pub chain: Hash,
    /// When it was signed, in microseconds since 1970 (UTC), by the caller's clock.
    pub at_us: i64,
    /// The key of the signature.
    pub key: PublicKey,
    /// Hash of the checkpoint's line before it, [`Hash::NONE`] for the first one.
    pub previous: Hash,
    signature: [u8; 64],
}

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement {
    pub(crate) size: u64,
    pub(crate) root: Hash,
    pub(crate) chain: Hash,
    pub(crate) at_us: i64,
    pub(crate) previous: Hash,
}

impl Checkpoint {
    pub(crate) fn sign(statement: Statement, key: &SigningKey) -> Self {
        let Statement { size, root, chain, at_us, previous } = statement;
        let key_bytes = PublicKey(key.verifying_key().to_bytes());
        let mut checkpoint = Self { size, root, chain, at_us, key: key_bytes, previous, signature: [0; 64] };
        checkpoint.signature = key.sign(&checkpoint.signed_bytes()).to_bytes();
        checkpoint
    }

    /// Whether the signature is the key's under exactly this. Small-order keys, with which one signature fits many
    /// texts, are refused.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        VerifyingKey::from_bytes(&self.key.0).is_ok_and(|key| {
            key.verify_strict(&self.signed_bytes(), &Signature::from_bytes(&self.signature)).is_ok()
        })
    }

    /// Its line, without the end.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { size, root, chain, at_us, key, previous, signature } = self;
        let signature = hex(signature);
        format!(
            r#"{{"size":{size},"root":"{root}","chain":"{chain}","at_us":{at_us},"key":"{key}","previous":"{previous}","signature":"{signature}"}}"#
        )
    }

    /// Reads a line without its end. `None` for everything that [`Checkpoint::line`] does not write, byte for byte:
    /// a checkpoint has one form, so that it has one hash.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Self> {
        if line.len() > CHECKPOINT_BYTES_MAX {
            return None;
        }
        let raw: Raw<'_> = serde_json::from_slice(line).ok()?;
        let checkpoint = Self {
            size: raw.size,
            root: Hash::parse(raw.root.as_bytes())?,
            chain: Hash::parse(raw.chain.as_bytes())?,
            at_us: raw.at_us,
            key: PublicKey::parse(raw.key)?,
            previous: Hash::parse(raw.previous.as_bytes())?,
            signature: hex_bytes(raw.signature.as_bytes())?,
        };
        (checkpoint.size > 0 && checkpoint.line().as_bytes() == line).then_some(checkpoint)
    }

    /// The hash by which the next checkpoint names this one.
    #[must_use]
    pub fn hash(&self) -> Hash {
        hash_of_line(self.line().as_bytes())
    }

    /// Everything but the signature, each field with a fixed width, so that two checkpoints never give the same
    /// bytes.
    fn signed_bytes(&self) -> Vec<u8> {
        let numbers = [self.size.to_le_bytes(), self.at_us.to_le_bytes()].concat();
        [DOMAIN, &numbers, &self.root.0, &self.chain.0, &self.key.0, &self.previous.0].concat()
    }
}

/// The hash of a checkpoint's line.
pub(crate) fn hash_of_line(line: &[u8]) -> Hash {
    Hash::derive("setpoint audit log 2026 line of a checkpoint", line)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw<'l> {
    size: u64,
    root: &'l str,
    chain: &'l str,
    at_us: i64,
    key: &'l str,
    previous: &'l str,
    signature: &'l str,
}

impl PublicKey {
    /// The key of these 64 lower-case hexadecimal digits; `None` for anything else.
    #[must_use]
    pub fn parse(digits: &str) -> Option<Self> {
        hex_bytes(digits.as_bytes()).map(Self)
    }

    pub(crate) fn of(key: &SigningKey) -> Self {
        Self(key.verifying_key().to_bytes())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PublicKey({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn checkpoint() -> Checkpoint {
        let key = SigningKey::from_bytes(&[7; 32]);
        let statement = Statement {
            size: 1_000,
            root: Hash::of(b"root"),
            chain: Hash::of(b"chain"),
            at_us: 1_790_000_000_000_000,
            previous: Hash::NONE,
        };
        Checkpoint::sign(statement, &key)
    }

    #[test]
    fn what_was_signed_is_signed_and_nothing_else_is() {
        let good = checkpoint();
        assert!(good.is_signed());
        let changes: [fn(&mut Checkpoint); 7] = [
            |one| one.size += 1,
            |one| one.root = one.chain,
            |one| one.chain = one.root,
            |one| one.at_us = -one.at_us,
            |one| one.key = PublicKey([1; 32]),
            |one| one.previous = one.root,
            |one| one.signature[40] ^= 1,
        ];
        for change in changes {
            let mut changed = good.clone();
            change(&mut changed);
            assert!(!changed.is_signed(), "{changed:?}");
        }
    }

    /// With a key of small order one signature fits every text.
    #[test]
    fn a_key_of_small_order_signs_nothing() {
        let mut forged = checkpoint();
        forged.key = PublicKey(std::array::from_fn(|n| u8::from(n == 0)));
        forged.signature = std::array::from_fn(|n| u8::from(n == 0));
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
            line.replace(r#""root":""#, r#""root":"\u0061"#),
            format!("{line} "),
            format!("{line}{}", " ".repeat(CHECKPOINT_BYTES_MAX)),
            String::new(),
        ] {
            assert_eq!(Checkpoint::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    /// Signed checkpoints outlive the program: a change of the encoding must be seen here first.
    #[test]
    fn the_encoding_is_pinned() {
        let one = checkpoint();
        let text = format!("{}\n{}\n{}", one.line(), one.hash(), hex(&one.signed_bytes()));
        expect_test::expect![[r#"
            {"size":1000,"root":"92a2b787a06d7272df43eaf87acc3b9c1d315d79d599d61c285983483e431998","chain":"ed2314e8b37e504072414a91c8c56aaccfb48f5d3aac7ac45ccf275f2984ebee","at_us":1790000000000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"6612928656b8e72113fe2cd699609d3539c9fe4da4a147817137dc86067bac92d3a46999defce22d9707c52b26aab42153366330ed068147bf039c54a998d808"}
            876424813a73d10fd07a6144718063d6d21455cb922e11d574681e4b5f88fe93
            736574706f696e74206175646974206c6f6720636865636b706f696e7420310ae80300000000000000e025dafe5b060092a2b787a06d7272df43eaf87acc3b9c1d315d79d599d61c285983483e431998ed2314e8b37e504072414a91c8c56aaccfb48f5d3aac7ac45ccf275f2984ebeeea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c0000000000000000000000000000000000000000000000000000000000000000"#]].assert_eq(&text);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert_eq!(Checkpoint::parse(&bytes), None);
        }

        #[test]
        fn a_changed_line_is_no_signed_checkpoint(at in 0usize..500, byte in any::<u8>()) {
            let mut line = checkpoint().line().into_bytes();
            let at = at % line.len();
            prop_assume!(line[at] != byte);
            line[at] = byte;
            prop_assert!(Checkpoint::parse(&line).is_none_or(|changed| !changed.is_signed()));
        }
    }
}
