//! A reading of a text that leaves characters out, and the search for pieces of secrets in it.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::escape;

/// Bytes with which a match must begin. Fewer would match everywhere.
const ANCHOR_BYTES: usize = 8;
/// Bytes between two anchors of a form, so that every piece of [`PIECE_BYTES_MIN`] bytes holds an anchor.
const ANCHOR_STEP: usize = PIECE_BYTES_MIN - ANCHOR_BYTES + 1;
/// Minimum bytes of a piece that counts as a secret. A shorter secret is found whole or not at all.
const PIECE_BYTES_MIN: usize = 12;
/// Half of a secret counts as a piece; of a long one, this many bytes.
const PIECE_BYTES_MAX: usize = 16;
/// Consecutive bytes that may be left out inside a piece; more of them end it.
const GAP_BYTES_MAX: u32 = 64;
/// Maximum bytes at the end of a text that may be the beginning of a secret.
const OPEN_BYTES_MAX: usize = 32 * 1024;
/// Byte that ends every piece: no form holds it.
const BARRIER: u8 = 0xff;

/// A reading, and the forms that are searched for in it.
#[derive(Default)]
pub(crate) struct View {
    is_hex: bool,
    forms: Vec<Form>,
    anchors: Vec<Anchor>,
    search: Option<AhoCorasick>,
}

struct Form {
    bytes: Vec<u8>,
    secret: usize,
}

/// A position in a form at which a match may begin.
struct Anchor {
    form: usize,
    at: usize,
}

/// The bytes of a text that the reading keeps, and the place of each in the text.
#[derive(Default)]
struct Reading {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl View {
    /// Creates a view that leaves out whitespace and NUL, which wrapped lines, `od -c` and UTF-16 put between characters, and
    /// decodes escapes (`%2D`, `\u002d`, `&amp;`).
    pub(crate) fn text() -> Self {
        View::default()
    }

    /// Creates a view that leaves out all but hexadecimal digits and reads them in lower case.
    pub(crate) fn hex() -> Self {
        View { is_hex: true, ..View::default() }
    }

    /// Adds a form of the secret with this number: as this view reads it, and as it is. A secret may look like an escape
    /// itself (`100%25`), which is decoded only where no other encoding is around it.
    pub(crate) fn add(&mut self, form: &[u8], secret: usize) {
        let as_it_is = form.iter().copied().filter_map(text_byte).collect();
        for bytes in [self.read(form).bytes, as_it_is] {
            let is_known = self.forms.iter().any(|known| known.secret == secret && known.bytes == bytes);
            if bytes.len() >= ANCHOR_BYTES && !bytes.contains(&BARRIER) && !is_known {
                self.forms.push(Form { bytes, secret });
            }
        }
    }

    /// Builds the search.
    pub(crate) fn built(mut self) -> Self {
        let mut patterns = Vec::new();
        for (number, form) in self.forms.iter().enumerate() {
            for at in (0..=form.bytes.len() - ANCHOR_BYTES).step_by(ANCHOR_STEP) {
                patterns.extend(form.bytes.get(at..at + ANCHOR_BYTES));
                self.anchors.push(Anchor { form: number, at });
            }
        }
        // Building fails only beyond size limits of its own, far above those of this crate.
        self.search = AhoCorasick::new(patterns).ok().filter(|_| !self.forms.is_empty());
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.search.is_none()
    }

    /// Returns the ranges of pieces of secrets in the text, with the number of the secret.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<(Range<usize>, usize)> {
        let Some(search) = &self.search else { return Vec::new() };
        let reading = self.read(text);
        let mut found: Vec<(Range<usize>, usize)> = Vec::new();
        let mut covered = 0;
        for hit in search.find_overlapping_iter(&reading.bytes) {
            // Skip hits inside a found piece: they add nothing, and repetitive text has many.
            if hit.end() <= covered {
                continue;
            }
            let Some((piece, secret)) = self.grown(&reading.bytes, hit.start(), hit.pattern().as_usize())
            else {
                continue;
            };
            covered = covered.max(piece.end);
            let first = reading.places.get(piece.start);
            let last = reading.places.get(piece.end - 1);
            if let (Some(first), Some(last)) = (first, last) {
                found.push((first.start..last.end, secret));
            }
        }
        found
    }

    /// Returns the longest piece around an anchor, if it is long enough.
    fn grown(&self, text: &[u8], start: usize, pattern: usize) -> Option<(Range<usize>, usize)> {
        let anchor = self.anchors.get(pattern)?;
        let form = self.forms.get(anchor.form)?;
        let (before, rest) = form.bytes.split_at_checked(anchor.at)?;
        let (text_before, text_rest) = text.split_at_checked(start)?;
        let same = |(a, b): &(&u8, &u8)| a == b;
        let left = before.iter().rev().zip(text_before.iter().rev()).take_while(same).count();
        let right = rest.iter().zip(text_rest).take_while(same).count();
        let half = (form.bytes.len() / 2).clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
        let is_enough = left + right >= half.min(form.bytes.len());
        is_enough.then_some((start - left..start + right, form.secret))
    }

    /// Returns where the longest end of the text begins that is a part of a form and may go on after the text, if it has
    /// at least `bytes_min` bytes.
    pub(crate) fn open_end(&self, text: &[u8], bytes_min: usize) -> Option<usize> {
        let cut = if self.is_hex { 0 } else { escape::cut_off(text) };
        let whole = text.get(text.len().saturating_sub(OPEN_BYTES_MAX)..text.len() - cut)?;
        let reading = self.read(whole);
        let common = |form: &Form| {
            let same = |(a, b): &(&u8, &u8)| a == b;
            let length = |end| {
                let form = form.bytes.get(..end).unwrap_or_default().iter().rev();
                form.zip(reading.bytes.iter().rev()).take_while(same).count()
            };
            (1..form.bytes.len()).map(length).max().unwrap_or(0)
        };
        let length = self.forms.iter().map(common).max().filter(|length| *length >= bytes_min.max(1));
        let first = length.and_then(|length| reading.places.get(reading.places.len() - length));
        let open = first.map(|first| text.len() - cut - whole.len() + first.start);
        open.or((cut > 0).then_some(text.len() - cut))
    }

    fn read(&self, text: &[u8]) -> Reading {
        let mut reading = Reading::default();
        let mut gap = 0;
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            let escaped =
                if self.is_hex { None } else { escape::decoded(text.get(at..).unwrap_or_default()) };
            if let Some((decoded, length)) = escaped {
                for byte in decoded.iter().filter_map(|byte| text_byte(*byte)) {
                    gap = 0;
                    reading.push(byte, at..at + length);
                }
                at += length;
                continue;
            }
            let kept = if self.is_hex { reading.hex_digit(*byte, at) } else { text_byte(*byte) };
            let place = at..at + 1;
            at += 1;
            match kept {
                Some(byte) => {
                    gap = 0;
                    reading.push(byte, place);
                }
                None => {
                    gap += 1;
                    if gap == GAP_BYTES_MAX {
                        reading.push(BARRIER, place);
                    }
                }
            }
        }
        reading
    }
}

/// Returns the byte; `None` if the reading leaves it out.
fn text_byte(byte: u8) -> Option<u8> {
    (!byte.is_ascii_whitespace() && byte != 0).then_some(byte)
}

impl Reading {
    fn push(&mut self, byte: u8, place: Range<usize>) {
        if byte != BARRIER || self.bytes.last() != Some(&BARRIER) {
            self.bytes.push(byte);
            self.places.push(place);
        }
    }

    /// Returns the digit in lower case; `None` for separators between the digits of a dump (`73 6b`, `73:6b`, `\x73`,
    /// `0x73,`, `%73`); a barrier for anything else.
    fn hex_digit(&mut self, byte: u8, place: usize) -> Option<u8> {
        match byte {
            b'0'..=b'9' | b'a'..=b'f' => Some(byte),
            b'A'..=b'F' => Some(byte.to_ascii_lowercase()),
            b'x' | b'X' => {
                // Drop a `0` right before the `x` as the prefix `0x`, but keep the last digit of a byte: `\x70\x72`.
                if self.bytes.last() == Some(&b'0')
                    && self.places.last().is_some_and(|last| last.end == place)
                {
                    self.bytes.pop();
                    self.places.pop();
                }
                None
            }
            b':' | b',' | b'-' | b'\\' | b'%' | 0 => None,
            _ if byte.is_ascii_whitespace() => None,
            _ => Some(BARRIER),
        }
    }
}
