//! Cuts bytes into pieces, as a network does.

/// Cuts `bytes` into pieces whose sizes follow from `seed`: mostly small ones, some empty.
pub(crate) fn pieces(bytes: &[u8], seed: u8) -> Vec<&[u8]> {
    let mut state = u32::from(seed);
    let mut rest = bytes;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let drawn = state >> 24;
        let size = if drawn < 248 { drawn % 5 } else { drawn };
        let (piece, left) = rest.split_at_checked(size as usize).unwrap_or((rest, &[]));
        pieces.push(piece);
        rest = left;
    }
    pieces
}

/// Cuts `text` likewise, between characters.
pub(crate) fn text_pieces(text: &str, seed: u8) -> Vec<String> {
    let mut found = vec![String::new()];
    let chars: Vec<char> = text.chars().collect();
    let marks = vec![0u8; chars.len()];
    let mut rest = chars.as_slice();
    for piece in pieces(&marks, seed) {
        let (now, left) = rest.split_at_checked(piece.len()).unwrap_or((rest, &[]));
        found.push(now.iter().collect());
        rest = left;
    }
    found
}
