//! Hashes, keys and signatures: bytes written as lower-case hexadecimal digits.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// `N` bytes, written as twice as many digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hex<const N: usize>(pub [u8; N]);

/// A BLAKE3 hash.
pub type Hash = Hex<32>;
/// The key that signatures are checked with.
pub type PublicKey = Hex<32>;

impl Hash {
    /// The hash that stands for the one before the first.
    pub const NONE: Hash = Hex([0; 32]);
}

impl<const N: usize> Hex<N> {
    /// Parses exactly two lower-case digits per byte; returns `None` for anything else.
    #[must_use]
    pub fn parse(digits: impl AsRef<[u8]>) -> Option<Self> {
        let (pairs, rest) = digits.as_ref().as_chunks::<2>();
        if pairs.len() != N || !rest.is_empty() {
            return None;
        }
        let mut bytes = [0; N];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Hex(bytes))
    }

    /// Appends the digits. Written by hand, because formatting takes longer than hashing, and a log has millions of
    /// entries.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for byte in self.0 {
            out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = <&str>::deserialize(deserializer)?;
        Hex::parse(digits).ok_or_else(|| de::Error::custom("other digits are expected"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_in_one_form() {
        let hash: Hash = Hex(std::array::from_fn(|n| (n * 37) as u8));
        let mut digits = Vec::new();
        hash.write(&mut digits);
        assert_eq!(Hash::parse(&digits), Some(hash));
        assert_eq!(digits, hash.to_string().as_bytes());
        let upper = hash.to_string().to_uppercase();
        for bad in [upper.as_bytes(), &digits[1..], b"", &[&digits, b"00".as_slice()].concat()] {
            assert_eq!(Hash::parse(bad), None);
        }
    }
}
