//! Checksums of files of any size, in constant memory.

use std::io::{self, Read};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256, Sha512};

use super::open;
use crate::halt::Halt;

const BLOCK_BYTES: usize = 128 * 1024;

/// How a checksum is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Algorithm {
    /// What `sha256sum` prints.
    #[default]
    Sha256,
    /// What `sha512sum` prints.
    Sha512,
    /// What `b3sum` prints; much faster.
    Blake3,
}

impl Algorithm {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha512 => "sha512",
            Algorithm::Blake3 => "blake3",
        }
    }
}

/// A checksum in hexadecimal, and the number of bytes it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileHash {
    pub(crate) hex: String,
    pub(crate) bytes: u64,
}

/// Returns the checksum of a regular file.
///
/// # Errors
/// The error of the system, or `Interrupted` if it was halted.
pub(crate) fn file(path: &Path, algorithm: Algorithm, halt: &Halt) -> io::Result<FileHash> {
    stream(&mut open::regular(path, halt)?, algorithm, halt, |_| {})
}

/// Returns the checksum of a reader's content, passing each block to `each`.
pub(crate) fn stream(
    reader: &mut impl Read,
    algorithm: Algorithm,
    halt: &Halt,
    mut each: impl FnMut(&[u8]),
) -> io::Result<FileHash> {
    let mut hasher = Hasher::new(algorithm);
    let mut block = vec![0; BLOCK_BYTES];
    let mut bytes = 0;
    loop {
        if halt.reached() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let got = match reader.read(&mut block) {
            Ok(0) => return Ok(FileHash { hex: hasher.finish(), bytes }),
            Ok(got) => block.get(..got).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += got.len() as u64;
        hasher.update(got);
        each(got);
    }
}

/// Returns the checksum of a byte slice.
pub(crate) fn of(bytes: &[u8], algorithm: Algorithm) -> String {
    let mut hasher = Hasher::new(algorithm);
    hasher.update(bytes);
    hasher.finish()
}

enum Hasher {
    Sha256(Sha256),
    Sha512(Box<Sha512>),
    Blake3(Box<blake3::Hasher>),
}

impl Hasher {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Sha256 => Hasher::Sha256(Sha256::new()),
            Algorithm::Sha512 => Hasher::Sha512(Box::default()),
            Algorithm::Blake3 => Hasher::Blake3(Box::default()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Sha256(hasher) => hasher.update(bytes),
            Hasher::Sha512(hasher) => hasher.update(bytes),
            Hasher::Blake3(hasher) => drop(hasher.update(bytes)),
        }
    }

    fn finish(self) -> String {
        match self {
            Hasher::Sha256(hasher) => hex(&hasher.finalize()),
            Hasher::Sha512(hasher) => hex(&hasher.finalize()),
            Hasher::Blake3(hasher) => hasher.finalize().to_hex().to_string(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_checksums() {
        assert_eq!(
            of(b"abc", Algorithm::Sha256),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            of(b"", Algorithm::Blake3),
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
        );
    }

    #[test]
    fn a_file_is_hashed_block_by_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big");
        let content: Vec<u8> = (0..=255).cycle().take(3 * BLOCK_BYTES + 17).collect();
        std::fs::write(&path, &content).unwrap();
        for algorithm in [Algorithm::Sha256, Algorithm::Sha512, Algorithm::Blake3] {
            let hashed = file(&path, algorithm, &Halt::default()).unwrap();
            assert_eq!(hashed, FileHash { hex: of(&content, algorithm), bytes: content.len() as u64 });
        }
    }
}
