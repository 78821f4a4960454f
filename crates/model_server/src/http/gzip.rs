//! Compresses a body whose long part repeats one block: the block is compressed once.
//!
//! A full flush ends on a byte boundary and resets the dictionary, so the same compressed block can be sent any number
//! of times. The checksum at the end is correct, so decompressing everything succeeds.

use std::io;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use super::response::Piece;

/// Magic, method, no flags, no time, no extra, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// An empty last block.
const END: [u8; 2] = [3, 0];

/// Compresses the pieces of a body.
pub(crate) fn compressed(pieces: Vec<Piece>) -> io::Result<Vec<Piece>> {
    let mut all = vec![Piece::Bytes(HEADER.to_vec())];
    let mut sum = Crc::new();
    // A wire may repeat the long text; its block is compressed once.
    let mut known: Option<(Vec<u8>, Vec<u8>)> = None;
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => {
                sum.update(&bytes);
                all.push(Piece::Bytes(flushed(&bytes)?));
            }
            Piece::Repeat { block, times } => {
                sum.combine(&repeated(&block, times));
                let compressed = match known.take() {
                    Some((same, compressed)) if same == block => compressed,
                    _ => flushed(&block)?,
                };
                all.push(Piece::Repeat { block: compressed.clone(), times });
                known = Some((block, compressed));
            }
        }
    }
    let mut end = END.to_vec();
    end.extend(sum.sum().to_le_bytes());
    end.extend(sum.amount().to_le_bytes());
    all.push(Piece::Bytes(end));
    Ok(all)
}

/// Returns the checksum of a block that is repeated `times` times, by doubling.
fn repeated(block: &[u8], times: u64) -> Crc {
    let mut doubled = Crc::new();
    doubled.update(block);
    let mut sum = Crc::new();
    let mut left = times;
    while left > 0 {
        if left % 2 == 1 {
            sum.combine(&doubled);
        }
        left /= 2;
        if left > 0 {
            let mut half = Crc::new();
            half.combine(&doubled);
            doubled.combine(&half);
        }
    }
    sum
}

fn flushed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut compress = Compress::new(Compression::default(), false);
    let mut out = Vec::with_capacity(bytes.len() / 2 + 64);
    loop {
        let taken = usize::try_from(compress.total_in()).unwrap_or(usize::MAX);
        let rest = bytes.get(taken..).unwrap_or_default();
        let status = compress.compress_vec(rest, &mut out, FlushCompress::Full)?;
        let is_all_taken = usize::try_from(compress.total_in()).unwrap_or(usize::MAX) >= bytes.len();
        // Remaining room means that all output was written.
        if is_all_taken && out.len() < out.capacity() {
            return Ok(out);
        }
        if status == Status::StreamEnd {
            return Err(io::Error::other("the compression ended early"));
        }
        out.reserve(out.capacity().max(64));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn compressed_bodies_round_trip_with_a_valid_checksum() {
        let block = vec![b'a'; 70_000];
        let pieces = vec![
            Piece::Bytes(b"begin ".to_vec()),
            Piece::Repeat { block: block.clone(), times: 13 },
            Piece::Bytes(Vec::new()),
            Piece::Bytes(b" end".to_vec()),
        ];
        let bytes: Vec<u8> = compressed(pieces)
            .unwrap()
            .into_iter()
            .flat_map(|piece| match piece {
                Piece::Bytes(bytes) => bytes,
                Piece::Repeat { block, times } => block.repeat(usize::try_from(times).unwrap()),
            })
            .collect();
        assert!(bytes.len() < 20_000, "{}", bytes.len());
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).unwrap();
        assert_eq!(text, [b"begin ".to_vec(), block.repeat(13), b" end".to_vec()].concat());
    }
}
