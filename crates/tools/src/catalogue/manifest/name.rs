//! Tells the checksum algorithm from a manifest's name.

use std::path::Path;

use crate::files::hash::Algorithm;

/// A checksum algorithm, as a manifest's name gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A supported algorithm.
    Known(Algorithm),
    /// An unsupported algorithm, by its name.
    Other(&'static str),
}

const WORDS: &[(&str, Said)] = &[
    ("sha256", Said::Known(Algorithm::Sha256)),
    ("sha512", Said::Known(Algorithm::Sha512)),
    ("blake3", Said::Known(Algorithm::Blake3)),
    ("b3", Said::Known(Algorithm::Blake3)),
    ("md5", Said::Other("MD5")),
    ("sha1", Said::Other("SHA-1")),
    ("sha224", Said::Other("SHA-224")),
    ("sha384", Said::Other("SHA-384")),
    ("b2", Said::Other("BLAKE2")),
    ("blake", Said::Other("BLAKE2")),
    ("blake2", Said::Other("BLAKE2")),
    ("blake2b", Said::Other("BLAKE2")),
    ("blake2s", Said::Other("BLAKE2")),
];

/// Returns the algorithm that a manifest's name gives: as a part between dots (`x.md5`, `sha1.txt`) or as a word with
/// `sum` (`MD5SUMS`, `release-b2sums.txt`). The last one counts: `b2sums.sha256` has SHA-256.
pub(super) fn said(manifest: &Path) -> Option<Said> {
    let name = manifest.file_name()?.to_string_lossy().to_lowercase();
    let of = |word: &str| WORDS.iter().find(|(known, _)| *known == word).map(|(_, said)| *said);
    let of_sums = |word: &str| word.strip_suffix("sums").or_else(|| word.strip_suffix("sum")).and_then(of);
    name.rsplit('.').find_map(|part| {
        of(part).or_else(|| part.rsplit(|c: char| !c.is_ascii_alphanumeric()).find_map(of_sums))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_the_algorithm() {
        let (sha256, sha512) = (Some(Said::Known(Algorithm::Sha256)), Some(Said::Known(Algorithm::Sha512)));
        for (name, expected) in [
            ("dist.sha256", sha256),
            ("b2-backup.sha256", sha256),
            ("md5.sha256", sha256),
            ("SHA512SUMS", sha512),
            ("x.md5", Some(Said::Other("MD5"))),
            ("x.sha1.txt", Some(Said::Other("SHA-1"))),
            ("release-b2sums.txt", Some(Said::Other("BLAKE2"))),
            ("sums.txt", None),
            ("b2-backup.txt", None),
            ("checksums", None),
        ] {
            assert_eq!(said(Path::new(name)), expected, "{name}");
        }
    }
}
