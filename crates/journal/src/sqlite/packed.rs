//! How bytes are stored in a column: as they are, or deflated if that takes less space.
//!
//! Hashes cover the bytes as they were submitted. Only this file knows whether they are deflated: readers
//! above [`crate::store`] do not see it.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};

/// Shorter bytes are not deflated. The bodies of an accepted task of the embedded brain, 70 kB, shrink to 28 kB with 9
/// calls; from 512 bytes on it would be 26 kB with 15, which cost a task with memory up to 0.6 ms more.
const BYTES_MIN: usize = 2_048;
/// The form is stored in the bits of the column `format` above those of the row's own format.
const FORM_SHIFT: u32 = 16;
/// Mask for the bits of the row's own format.
const FORMAT_BITS: i64 = (1 << FORM_SHIFT) - 1;

/// Number of [`Form::Pruned`], for statements.
pub(super) const PRUNED: i64 = 2;

/// The form in which a body is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The bytes themselves.
    Plain,
    /// Raw deflate.
    Deflated,
    /// No bytes: the row was pruned.
    Pruned,
}

impl Form {
    /// Returns the value of the column `format`.
    pub(super) fn with(self, format: u16) -> i64 {
        let form = match self {
            Form::Plain => 0,
            Form::Deflated => 1,
            Form::Pruned => PRUNED,
        };
        i64::from(format) | form << FORM_SHIFT
    }

    /// Splits the value of the column `format`; `None` if no form has this value.
    pub(super) fn split(column: i64) -> Option<(Form, u16)> {
        let form = match column >> FORM_SHIFT {
            0 => Form::Plain,
            1 => Form::Deflated,
            PRUNED => Form::Pruned,
            _ => return None,
        };
        Some((form, u16::try_from(column & FORMAT_BITS).ok()?))
    }

    /// Returns the original bytes; `None` if they cannot be read, or are more than `max`.
    pub(super) fn open(self, stored: &[u8], max: usize) -> Option<Vec<u8>> {
        match self {
            Form::Plain => Some(stored.to_vec()),
            Form::Deflated => inflated(stored, max),
            Form::Pruned => stored.is_empty().then(Vec::new),
        }
    }
}

/// Deflates bytes. Reused from one body to the next, because its tables are large.
#[derive(Default)]
pub(super) struct Packer(Option<Compress>);

impl Packer {
    /// Returns the bytes to store. Uses the fastest level: the best one saves a further 7 % for three times the time.
    pub(super) fn pack<'b>(&mut self, bytes: &'b [u8]) -> (Form, Cow<'b, [u8]>) {
        self.deflated(bytes)
            .map_or((Form::Plain, Cow::Borrowed(bytes)), |packed| (Form::Deflated, packed.into()))
    }

    /// Returns the deflated bytes; `None` if that saves less than an eighth.
    fn deflated(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if bytes.len() < BYTES_MIN {
            return None;
        }
        let deflate = self.0.get_or_insert_with(|| Compress::new(Compression::fast(), false));
        deflate.reset();
        let mut packed = vec![0; bytes.len() - bytes.len() / 8];
        let status = deflate.compress(bytes, &mut packed, FlushCompress::Finish).ok()?;
        if status != Status::StreamEnd {
            return None;
        }
        packed.truncate(usize::try_from(deflate.total_out()).ok()?);
        packed.shrink_to_fit();
        Some(packed)
    }
}

/// Returns the inflated bytes; `None` if `stored` is not a deflate stream, or holds more than `max`.
pub(super) fn inflated(stored: &[u8], max: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(stored.len().saturating_mul(4).min(max));
    let limit = u64::try_from(max).ok()?.saturating_add(1);
    DeflateDecoder::new(stored).take(limit).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= max).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_bytes_read_back(bytes in proptest::collection::vec(0u8..5, 0..4_000), noise in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            let mut packer = Packer::default();
            for bytes in [bytes, noise] {
                let (form, stored) = packer.pack(&bytes);
                prop_assert!(stored.len() <= bytes.len());
                prop_assert_eq!(form.open(&stored, bytes.len()), Some(bytes.clone()));
                prop_assert_eq!(Form::split(form.with(7)), Some((form, 7)));
            }
        }
    }

    #[test]
    fn only_long_bytes_that_shrink_are_deflated() {
        let mut packer = Packer::default();
        assert_eq!(packer.pack(&[b'a'; BYTES_MIN - 1]).0, Form::Plain);
        let (form, stored) = packer.pack(&[b'a'; 100_000]);
        assert!(form == Form::Deflated && stored.len() < 1_000, "{}", stored.len());
        let mut noise = [0; 4_000];
        blake3::Hasher::new().finalize_xof().fill(&mut noise);
        assert_eq!(packer.pack(&noise).0, Form::Plain);
    }

    #[test]
    fn inflating_stops_at_the_allowed_size() {
        let bytes = vec![0; 1 << 20];
        let mut packer = Packer::default();
        let (form, stored) = packer.pack(&bytes);
        assert_eq!(form.open(&stored, bytes.len() - 1), None);
        assert_eq!(Form::Deflated.open(b"no deflate stream", 1_000), None);
        assert_eq!(Form::split(9 << FORM_SHIFT), None);
        assert_eq!(Form::split(-1), None);
    }
}
