//! A checksum over a row's columns, to detect a flipped bit.

/// Initial capacity, which is enough for most rows.
const BYTES_USUAL: usize = 640;

/// Collects the columns of one row; numbers have a fixed width and bytes follow their length. They are hashed in one
/// piece, which is several times faster than many small ones.
pub(crate) struct Seal(Vec<u8>);

impl Seal {
    pub(crate) fn of(table: &'static str) -> Self {
        Self(Vec::with_capacity(BYTES_USUAL)).bytes(table.as_bytes())
    }

    pub(crate) fn int(mut self, value: i64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn optional_int(mut self, value: Option<i64>) -> Self {
        self.0.push(u8::from(value.is_some()));
        self.int(value.unwrap_or(0))
    }

    pub(crate) fn real(mut self, value: f64) -> Self {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        self.0.extend_from_slice(&(value.len() as u64).to_le_bytes());
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn optional_bytes(mut self, value: Option<&[u8]>) -> Self {
        self.0.push(u8::from(value.is_some()));
        self.bytes(value.unwrap_or_default())
    }

    /// Returns the checksum as stored in the database.
    pub(crate) fn value(self) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(&self.0).as_bytes();
        i64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}
