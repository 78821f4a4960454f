//! The signing key's file. Created once and never replaced.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ed25519_dalek::SigningKey;
use setpoint_own_files::named;
use setpoint_own_files::own::{self, Access};
use zeroize::Zeroizing;

use crate::log::checkpoint::public_half;
use crate::log::error::{LogError, Result};
use crate::log::files;
use crate::log::hex::Hex;
use crate::log::limits::KEY_FILE_BYTES_MAX;

/// Reads the key. Creates one if there is none and that is allowed; never writes to an existing file. A key outside
/// the log's directory was named by a person, and may be a link.
pub(crate) fn load(path: &Path, dir: &Path, may_make: bool) -> Result<SigningKey> {
    let is_own = path.parent() == Some(dir);
    match if is_own { own::open(path, Access::Read) } else { named::open(path) } {
        Ok(file) => read(path, file),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(LogError::io(path, error)),
        Err(_) if !may_make => Err(refused(
            path,
            "it is gone, and there is a log that was begun with it; restore it, or move the log's directory away to begin \
             a new one",
        )),
        Err(_) => match path.parent().map(Path::canonicalize) {
            Some(Ok(folder)) if !is_own => make(&folder.join(path.file_name().unwrap_or_default())),
            _ => make(path),
        },
    }
}

fn refused(path: &Path, why: impl Into<String>) -> LogError {
    LogError::Key { path: path.to_path_buf(), why: why.into() }
}

fn read(path: &Path, file: File) -> Result<SigningKey> {
    let mode = file.metadata().map_err(|error| LogError::io(path, error))?.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        let why = format!("its mode is {mode:o}, and only its owner may have access (chmod 600)");
        return Err(refused(path, why));
    }
    // Allocate the whole length at once: a growing buffer would leave pieces of the key in memory.
    let mut text = Zeroizing::new(Vec::with_capacity(KEY_FILE_BYTES_MAX + 1));
    file.take(KEY_FILE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| LogError::io(path, error))?;
    parse(&text).ok_or_else(|| {
        let why = "it is not `secret`, 64 hexadecimal digits, `public` and 64 more that belong to them; restore it from a copy";
        refused(path, why)
    })
}

/// The file also holds the public half, so that a key with a changed digit is recognised as damaged.
fn parse(text: &[u8]) -> Option<SigningKey> {
    let secret = Zeroizing::new(Hex::parse(text.strip_prefix(b"secret ")?.get(..64)?)?.0);
    Some(SigningKey::from_bytes(&secret)).filter(|key| write(key).as_bytes() == text)
}

fn write(key: &SigningKey) -> Zeroizing<String> {
    let secret = Zeroizing::new(key.to_bytes());
    let mut digits = Zeroizing::new(Vec::with_capacity(64));
    Hex(*secret).write(&mut digits);
    Zeroizing::new(format!("secret {}\npublic {}\n", String::from_utf8_lossy(&digits), public_half(key)))
}

fn make(path: &Path) -> Result<SigningKey> {
    let mut secret = Zeroizing::new([0; 32]);
    getrandom::fill(secret.as_mut_slice())
        .map_err(|error| refused(path, format!("the system gives no randomness for a new one: {error}")))?;
    let key = SigningKey::from_bytes(&secret);
    // Write it whole or not at all: a half-written key would stay damaged, because no key is replaced.
    files::replace(path, write(&key).as_bytes()).map_err(|error| LogError::io(path, error))?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        assert!(load(&path, dir.path(), false).unwrap_err().to_string().contains("it is gone"));
        let made = load(&path, dir.path(), true).unwrap();
        assert_eq!(load(&path, dir.path(), true).unwrap(), made);
        let other = load(&dir.path().join("other"), dir.path(), true).unwrap();
        assert_ne!(made, other);
    }

    #[test]
    fn a_damaged_key_is_reported_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        load(&path, dir.path(), true).unwrap();
        let good = std::fs::read_to_string(&path).unwrap();
        let flipped =
            if good.contains('5') { good.replacen('5', "6", 1) } else { good.replacen('0', "1", 1) };
        for bad in ["", "secret", good.trim_end(), &flipped, &format!("{good}{good}"), &"x".repeat(10_000)] {
            std::fs::write(&path, bad).unwrap();
            let error = load(&path, dir.path(), true).unwrap_err();
            assert!(
                matches!(&error, LogError::Key { why, .. } if why.ends_with("restore it from a copy")),
                "{error}"
            );
            assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
        }
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        load(&path, dir.path(), true).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o620, 0o601] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = load(&path, dir.path(), true).unwrap_err();
            let told = format!("its mode is {mode:o}, ");
            assert!(matches!(&error, LogError::Key { why, .. } if why.starts_with(&told)), "{error}");
        }
    }
}
