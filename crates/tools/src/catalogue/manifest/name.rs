//! Tells the checksum algorithm from a manifest's name.

use std::path::Path;

use crate::files::hash::Algorithm;

/// A checksum algorithm, as a manifest's name gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedAlgorithm {
    /// A supported algorithm.
    Known(Algorithm),
    /// An unsupported algorithm, by its name.
    Other(&'static str),
}

const WORDS: &[(&str, NamedAlgorithm)] = &[
    ("sha256", NamedAlgorithm::Known(Algorithm::Sha256)),
    ("sha512", NamedAlgorithm::Known(Algorithm::Sha512)),
    ("blake3", NamedAlgorithm::Known(Algorithm::Blake3)),
    ("b3", NamedAlgorithm::Known(Algorithm::Blake3)),
    ("md5", NamedAlgorithm::Other("MD5")),
    ("sha1", NamedAlgorithm::Other("SHA-1")),
    ("sha224", NamedAlgorithm::Other("SHA-224")),
    ("sha384", NamedAlgorithm::Other("SHA-384")),
    ("b2", NamedAlgorithm::Other("BLAKE2")),
    ("blake", NamedAlgorithm::Other("BLAKE2")),
    ("blake2", NamedAlgorithm::Other("BLAKE2")),
    ("blake2b", NamedAlgorithm::Other("BLAKE2")),
    ("blake2s", NamedAlgorithm::Other("BLAKE2")),
];

/// Returns the algorithm that a manifest's name gives: as a part between dots (`x.md5`, `sha1.txt`) or as a word with
/// `sum` (`MD5SUMS`, `release-b2sums.txt`). The last one counts: `b2sums.sha256` has SHA-256.
pub(super) fn named_algorithm(manifest: &Path) -> Option<NamedAlgorithm> {
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
        let (sha256, sha512) =
            (Some(NamedAlgorithm::Known(Algorithm::Sha256)), Some(NamedAlgorithm::Known(Algorithm::Sha512)));
        for (name, expected) in [
            ("dist.sha256", sha256),
            ("b2-backup.sha256", sha256),
            ("md5.sha256", sha256),
            ("SHA512SUMS", sha512),
            ("x.md5", Some(NamedAlgorithm::Other("MD5"))),
            ("x.sha1.txt", Some(NamedAlgorithm::Other("SHA-1"))),
            ("release-b2sums.txt", Some(NamedAlgorithm::Other("BLAKE2"))),
            ("sums.txt", None),
            ("b2-backup.txt", None),
            ("checksums", None),
        ] {
            assert_eq!(named_algorithm(Path::new(name)), expected, "{name}");
        }
    }
}
