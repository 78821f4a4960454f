//! Escapes of single characters: of URLs, of JSON by number, and of HTML.

/// Backslashes before a `u` in JSON within JSON within JSON.
const SLASHES_MAX: usize = 4;
/// Bytes of the longest escape: two units of UTF-16, with all their backslashes.
const ESCAPE_BYTES_MAX: usize = 2 * (SLASHES_MAX + 5);
/// What HTML writes for the characters that it reserves.
const ENTITIES: &[(&[u8], u8)] =
    &[(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&#39;", b'\'')];

/// Decodes an escape at the start of the text: returns the bytes that it means, and how many it takes.
pub(crate) fn decoded(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    match text {
        [b'%', high, low, ..] => Some((vec![hex_digit(*high)? << 4 | hex_digit(*low)?], 3)),
        [b'\\', ..] => {
            let (character, length) = numbered(text)?;
            Some((character.encode_utf8(&mut [0; 4]).as_bytes().to_vec(), length))
        }
        [b'&', ..] => {
            let (entity, byte) = ENTITIES.iter().find(|(entity, _)| text.starts_with(entity))?;
            Some((vec![*byte], entity.len()))
        }
        _ => None,
    }
}

/// Returns how many bytes at the end of the text are an escape that is not whole.
pub(crate) fn cut_off(text: &[u8]) -> usize {
    let from = text.len().saturating_sub(ESCAPE_BYTES_MAX);
    let is_cut = |at: &usize| text.get(*at..).is_some_and(is_begun);
    (from..text.len()).find(is_cut).map_or(0, |at| text.len() - at)
}

/// Returns whether the text is the beginning of an escape, and not a whole one.
fn is_begun(text: &[u8]) -> bool {
    match text {
        [b'%'] => true,
        [b'%', digit] => hex_digit(*digit).is_some(),
        [b'&', ..] => {
            ENTITIES.iter().any(|(entity, _)| entity.starts_with(text) && entity.len() > text.len())
        }
        [b'\\', ..] => match unit(text) {
            Some((first, length)) => {
                let rest = text.get(length..).unwrap_or_default();
                is_high(first) && (rest.is_empty() || rest.starts_with(b"\\") && is_begun(rest))
            }
            None => match without_slashes(text).0 {
                [] => true,
                [b'u', digits @ ..] => {
                    digits.len() < 4 && digits.iter().all(|digit| hex_digit(*digit).is_some())
                }
                _ => false,
            },
        },
        _ => false,
    }
}

/// Decodes a character that JSON writes by its number: `\u002d`, in nested JSON `\\u002d`.
fn numbered(text: &[u8]) -> Option<(char, usize)> {
    let (first, length) = unit(text)?;
    let second = text.get(length..).and_then(unit).filter(|_| is_high(first));
    let units = [Some(first), second.map(|(second, _)| second)].into_iter().flatten();
    let character = char::decode_utf16(units).next()?.ok()?;
    Some((character, length + second.map_or(0, |(_, length)| length)))
}

/// Decodes one unit of UTF-16 that JSON writes by its number.
fn unit(text: &[u8]) -> Option<(u16, usize)> {
    let (rest, slashes) = without_slashes(text);
    let [b'u', digits @ ..] = rest else { return None };
    let digits = digits.get(..4).filter(|_| slashes > 0)?;
    let value = digits.iter().try_fold(0, |value, digit| Some(value << 4 | u16::from(hex_digit(*digit)?)))?;
    Some((value, slashes + 5))
}

fn without_slashes(text: &[u8]) -> (&[u8], usize) {
    let slashes = text.iter().take(SLASHES_MAX).take_while(|byte| **byte == b'\\').count();
    (text.get(slashes..).unwrap_or_default(), slashes)
}

/// Returns whether the unit is the first of two.
fn is_high(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
