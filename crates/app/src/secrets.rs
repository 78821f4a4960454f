//! The values of the configured secrets, read once when the program starts.
//!
//! A value that cannot be read is not an error of the program: no task may need it. A call that refers to it learns why.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use setpoint_own_files::own::{self, Access};
use setpoint_scrub::SECRET_BYTES_MIN;
use setpoint_tools::secrets::{Secret, Secrets};

use crate::config::{Config, SecretSettings, SecretSource};

/// Largest file of a secret, in bytes.
const SECRET_FILE_BYTES_MAX: u64 = 16 * 1024;
/// Bits of a file's mode that let others than its owner use it.
const OTHERS: u32 = 0o077;

/// Why the value of a secret cannot be read. Its text does not contain the value.
#[derive(Debug, thiserror::Error)]
enum SecretFault {
    #[error("the environment variable {0} is not set")]
    NotSet(String),
    #[error("its file {path} cannot be read: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("the mode of its file {path} is {mode:o}, and only its owner may have access (chmod 600)")]
    Open { path: String, mode: u32 },
    #[error("its file {path} has more than {SECRET_FILE_BYTES_MAX} bytes")]
    TooLarge { path: String },
    #[error("it is not text in UTF-8")]
    NoText,
    #[error(
        "it has fewer than {SECRET_BYTES_MIN} bytes, so it could not be kept out of records: use a longer one"
    )]
    TooShort,
}

/// Reads the secrets. Paths begin at `home` (`~/`) or at the configuration directory.
pub(crate) fn read(config: &Config, env: &BTreeMap<String, String>, directory: &Path) -> Secrets {
    let secret = |settings: SecretSettings| {
        let value = match &settings.source {
            SecretSource::Env(name) => {
                let value = env.get(name).filter(|value| !value.is_empty());
                value.cloned().ok_or_else(|| SecretFault::NotSet(name.clone()))
            }
            SecretSource::File(path) => of_file(&place(path, env, directory)),
        };
        let value = value.map(SecretString::from).and_then(|value| {
            let is_long = value.expose_secret().trim().len() >= SECRET_BYTES_MIN;
            if is_long { Ok(value) } else { Err(SecretFault::TooShort) }
        });
        (settings.name, Secret { value: value.map_err(|fault| fault.to_string()), servers: settings.servers })
    };
    Secrets::new(config.secrets().into_iter().map(secret).collect())
}

/// Returns the files of secrets, which no tool may read.
pub(crate) fn files(config: &Config, env: &BTreeMap<String, String>, directory: &Path) -> Vec<PathBuf> {
    let file = |source| match source {
        SecretSource::File(path) => Some(place(&path, env, directory)),
        SecretSource::Env(_) => None,
    };
    config.secrets().into_iter().filter_map(|settings| file(settings.source)).collect()
}

fn place(path: &str, env: &BTreeMap<String, String>, directory: &Path) -> PathBuf {
    match (path.strip_prefix("~/"), env.get("HOME")) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => directory.join(path),
    }
}

/// Reads a file of this user that no other user may use. The line end that an editor adds is not part of the value.
fn of_file(path: &Path) -> Result<String, SecretFault> {
    let shown = || path.display().to_string();
    let unreadable = |source| SecretFault::Unreadable { path: shown(), source };
    let file = own::open(path, Access::Read).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o7777;
    if mode & OTHERS != 0 {
        return Err(SecretFault::Open { path: shown(), mode });
    }
    let mut bytes = Vec::new();
    file.take(SECRET_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > SECRET_FILE_BYTES_MAX {
        return Err(SecretFault::TooLarge { path: shown() });
    }
    let text = String::from_utf8(bytes).map_err(|_| SecretFault::NoText)?;
    let bare = text.strip_suffix('\n').unwrap_or(&text);
    Ok(bare.strip_suffix('\r').unwrap_or(bare).to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;
    use crate::config::Sources;

    fn read_one(source: &str, env: &[(&str, &str)], directory: &Path) -> Result<String, String> {
        let key = if source.starts_with('/') || source.contains('.') { "file" } else { "env" };
        let flag = (format!("secrets.one.{key}"), source.to_owned(), "--set".to_owned());
        let config = Config::load(&Sources { flags: vec![flag], ..Sources::default() }).unwrap();
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let secrets = read(&config, &env, directory);
        let value = secrets.values().next().map(|(_, value)| value.expose_secret().to_owned());
        value.ok_or_else(|| secrets.faults().map(|(_, fault)| fault.to_owned()).collect())
    }

    #[test]
    fn a_file_of_this_user_alone_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.txt");
        let get = |name: &str| read_one(name, &[("HOME", folder.path().to_str().unwrap())], folder.path());
        fs::write(&path, "the-value-of-it\n").unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let told = get("key.txt").unwrap_err();
            assert!(told.contains(&format!("is {mode:o}, and only its owner may have access")), "{told}");
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(get("key.txt").as_deref(), Ok("the-value-of-it"));
        }
        assert_eq!(get("~/key.txt").as_deref(), Ok("the-value-of-it"));
        assert_eq!(get(path.to_str().unwrap()).as_deref(), Ok("the-value-of-it"));
        assert!(get("no.txt").unwrap_err().contains("cannot be read"));
        std::os::unix::fs::symlink(&path, folder.path().join("link.txt")).unwrap();
        assert!(get("link.txt").unwrap_err().contains("a symbolic link"));
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        for (content, why) in [
            ("x".repeat(SECRET_FILE_BYTES_MAX as usize + 1).into_bytes(), "more than 16384 bytes"),
            (vec![0xff; 20], "not text"),
            (b"short\n".to_vec(), "fewer than 8 bytes"),
        ] {
            fs::write(&path, content).unwrap();
            let told = get("key.txt").unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn a_variable_is_read_or_named() {
        let get = |env: &[(&str, &str)]| read_one("MY_KEY", env, Path::new("/"));
        assert_eq!(get(&[("MY_KEY", "the-value-of-it")]).as_deref(), Ok("the-value-of-it"));
        assert_eq!(get(&[]).unwrap_err(), "the environment variable MY_KEY is not set");
        assert!(get(&[("MY_KEY", "short")]).unwrap_err().contains("fewer than 8 bytes"));
    }
}
