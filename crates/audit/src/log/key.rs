//! The signing key in its file. It is made once, and never replaced.

use std::io::Read;
use std::path::Path;

use ed25519_dalek::SigningKey;
use setpoint_own_files::named;
use zeroize::Zeroizing;

use crate::log::chain::{hex, hex_bytes};
use crate::log::checkpoint::PublicKey;
use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::limits::KEY_FILE_BYTES_MAX;

/// Reads the key. Where there is none it makes one if that is allowed; a file that is there is never written to. Outside the
/// log's directory a person has named it, and may have named a link.
pub(crate) fn load(path: &Path, dir: &Path, may_make: bool) -> Result<SigningKey> {
    let is_own = path.parent() == Some(dir);
    let file = match if is_own { files::open(path) } else { named::open(path) } {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return match path.parent().map(Path::canonicalize) {
                _ if !may_make => Err(LogError::KeyMissing { path: path.to_path_buf() }),
                Some(Ok(directory)) if !is_own => make(&directory.join(path.file_name().unwrap_or_default())),
                _ => make(path),
            };
        }
        Err(error) => return Err(LogError::io(path, error)),
    };
    if let Some(mode) = files::exposed(&file).map_err(|error| LogError::io(path, error))? {
        return Err(LogError::KeyExposed { path: path.to_path_buf(), mode });
    }
    // All of it at once: a buffer that grows would leave pieces of the key behind.
    let mut text = Zeroizing::new(Vec::with_capacity(KEY_FILE_BYTES_MAX + 1));
    file.take(KEY_FILE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| LogError::io(path, error))?;
    parse(&text).map_err(|why| LogError::KeyDamaged { path: path.to_path_buf(), why })
}

/// The file says the public half too, so that a digit that changed is not taken for another key.
fn parse(text: &[u8]) -> std::result::Result<SigningKey, &'static str> {
    const FORM: &str =
        "it is not `secret`, 64 hexadecimal digits, `public` and 64 more; restore it from a copy";
    let mut lines = text.strip_suffix(b"\n").ok_or(FORM)?.split(|byte| *byte == b'\n');
    let mut field = |name: &[u8]| {
        let digits = lines.next()?.strip_prefix(name)?.strip_prefix(b" ")?;
        hex_bytes::<32>(digits).map(Zeroizing::new)
    };
    let (secret, public) = (field(b"secret").ok_or(FORM)?, field(b"public").ok_or(FORM)?);
    if lines.next().is_some() {
        return Err(FORM);
    }
    let key = SigningKey::from_bytes(&secret);
    if key.verifying_key().to_bytes() != *public {
        return Err("its secret and its public half do not belong together; restore it from a copy");
    }
    Ok(key)
}

fn make(path: &Path) -> Result<SigningKey> {
    let mut secret = Zeroizing::new([0; 32]);
    getrandom::fill(secret.as_mut_slice()).map_err(|source| LogError::Random { source })?;
    let key = SigningKey::from_bytes(&secret);
    let digits = Zeroizing::new(hex(secret.as_slice()));
    let text = Zeroizing::new(format!("secret {}\npublic {}\n", *digits, PublicKey::of(&key)));
    // Whole or not at all: a half-written key would be a damaged one for ever.
    files::replace(path, text.as_bytes(), files::Durable::Yes)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        assert!(matches!(load(&path, dir.path(), false), Err(LogError::KeyMissing { .. })));
        let made = load(&path, dir.path(), true).unwrap();
        assert_eq!(load(&path, dir.path(), true).unwrap(), made);
        let other = load(&dir.path().join("other"), dir.path(), true).unwrap();
        assert_ne!(made, other);
    }

    #[test]
    fn a_damaged_key_is_told_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        load(&path, dir.path(), true).unwrap();
        let good = std::fs::read_to_string(&path).unwrap();
        let flipped =
            if good.contains('5') { good.replacen('5', "6", 1) } else { good.replacen('0', "1", 1) };
        for bad in ["", "secret", good.trim_end(), &flipped, &format!("{good}{good}"), &"x".repeat(10_000)] {
            std::fs::write(&path, bad).unwrap();
            let error = load(&path, dir.path(), true).unwrap_err();
            assert!(matches!(error, LogError::KeyDamaged { .. }), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        load(&path, dir.path(), true).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o620, 0o601] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = load(&path, dir.path(), true).unwrap_err();
            assert!(matches!(error, LogError::KeyExposed { mode: found, .. } if found == mode), "{error}");
        }
    }
}
