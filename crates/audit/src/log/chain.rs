//! The hash that ties every entry to the one before it, and makes it a leaf of the tree.

use std::fmt;

/// A blake3 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

/// Digits of a hash as hexadecimal text.
pub(crate) const HASH_DIGITS: usize = 64;

/// What stands before an entry's bytes when it is hashed: the prefix of a leaf, the number, the hash before it.
const LEAF_HEAD_BYTES: usize = 1 + 8 + 32;

impl Hash {
    /// Nothing came before.
    pub const NONE: Hash = Hash([0; 32]);

    /// The hash that these 64 lower-case hexadecimal digits say.
    #[must_use]
    pub fn parse(digits: &[u8]) -> Option<Self> {
        hex_bytes::<32>(digits).map(Self)
    }

    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    pub(crate) fn derive(context: &str, bytes: &[u8]) -> Self {
        Self(blake3::derive_key(context, bytes))
    }

    pub(crate) fn digits(&self) -> [u8; HASH_DIGITS] {
        let mut digits = [0; HASH_DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&HEX[usize::from(byte)]);
        }
        digits
    }
}

/// The two digits of every byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Bytes as lower-case hexadecimal text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that lower-case hexadecimal digits say, where there are exactly as many as that.
pub(crate) fn hex_bytes<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// What the first entry of a log is chained to. `continued` is the hash of the checkpoint that the log continues,
/// [`Hash::NONE`] where it continues none. Another domain than entries, so that no entry can imitate it.
pub(crate) fn start(continued: &Hash) -> Hash {
    Hash::derive("setpoint audit log 2026 start of a log", &continued.0)
}

/// Hashes entries; it keeps the bytes that it hashes, so that each is hashed in one piece: the hasher is several
/// times quicker with one than with many small ones.
#[derive(Debug, Default)]
pub(crate) struct Chainer {
    bytes: Vec<u8>,
}

impl Chainer {
    /// The hash of an entry: blake3 of 0x00, its number, the hash before it and its bytes. The prefix is that of a
    /// leaf in RFC 6962, so this hash is the leaf: each entry is hashed once.
    pub(crate) fn hash(&mut self, seq: u64, previous: &Hash, entry: &[u8]) -> Hash {
        self.bytes.clear();
        self.bytes.reserve(LEAF_HEAD_BYTES + entry.len());
        self.bytes.push(0x00);
        self.bytes.extend_from_slice(&seq.to_le_bytes());
        self.bytes.extend_from_slice(&previous.0);
        self.bytes.extend_from_slice(entry);
        Hash::of(&self.bytes)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.0;
        write!(out, "{a:02x}{b:02x}{c:02x}{d:02x}…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_previous_and_every_byte_count() {
        let mut chainer = Chainer::default();
        let start = start(&Hash::NONE);
        let mut seen = vec![
            chainer.hash(1, &start, b"{}"),
            chainer.hash(2, &start, b"{}"),
            chainer.hash(1, &Hash::NONE, b"{}"),
            chainer.hash(1, &start, b"{ }"),
            chainer.hash(1, &start, b""),
            super::start(&Hash([1; 32])),
            start,
        ];
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    #[test]
    fn digits_say_the_hash_and_nothing_else_does() {
        let hash = Hash(std::array::from_fn(|n| (n * 37) as u8));
        assert_eq!(Hash::parse(&hash.digits()), Some(hash));
        assert_eq!(hash.digits(), *hash.to_string().as_bytes());
        assert_eq!(hex(&hash.0), hash.to_string());
        let upper = hash.to_string().to_uppercase();
        for bad in [upper.as_bytes(), &hash.digits()[1..], b"", &[hash.digits().as_slice(), b"00"].concat()] {
            assert_eq!(Hash::parse(bad), None);
        }
    }
}
