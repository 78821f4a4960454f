//! A checksum for the entries that no chain covers, so that a flipped bit in a task, a lease, a command or a
//! cursor is detected.

/// Bytes that are enough for most entries.
const BYTES_USUAL: usize = 256;

/// Collects the columns of one entry; numbers have a fixed width and texts are preceded by their length.
/// They are hashed in one buffer, which is several times faster than many small pieces.
pub(crate) struct Sum(Vec<u8>);

impl Sum {
    pub(crate) fn of(table: &'static str) -> Self {
        let mut sum = Self(Vec::with_capacity(BYTES_USUAL));
        sum.add_bytes(table.as_bytes());
        sum
    }

    pub(crate) fn int(mut self, value: i64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn optional_int(mut self, value: Option<i64>) -> Self {
        self.0.push(u8::from(value.is_some()));
        self.int(value.unwrap_or(0))
    }

    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        self.add_bytes(value);
        self
    }

    pub(crate) fn optional_text(mut self, value: Option<&str>) -> Self {
        self.0.push(u8::from(value.is_some()));
        self.bytes(value.unwrap_or("").as_bytes())
    }

    pub(crate) fn value(self) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(&self.0).as_bytes();
        i64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    fn add_bytes(&mut self, value: &[u8]) {
        self.0.extend_from_slice(&(value.len() as u64).to_le_bytes());
        self.0.extend_from_slice(value);
    }
}
