//! Which files hold keys, by their names.

/// Names of files that hold keys; lower case.
const NAMES: &[&str] = &[
    ".boto",
    ".dev.vars",
    ".dockercfg",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".passwd-s3fs",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".vault_pass",
    ".vault_password",
    "_netrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "kubeconfig",
    "password.txt",
    "passwords.txt",
    "secret.txt",
    "secrets.json",
    "secrets.toml",
    "secrets.txt",
    "secrets.yaml",
    "secrets.yml",
    "service-account.json",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "token.txt",
    "tokens.txt",
    "vault.yaml",
    "vault.yml",
    "wp-config.php",
];

/// Ends of such names.
const ENDS: &[&str] =
    &[".env", ".jks", ".kdbx", ".key", ".keystore", ".ovpn", ".p12", ".pem", ".pfx", ".ppk", ".tfvars"];

/// Such files that only their folder makes one.
const PATHS: &[&str] = &[".docker/config.json", ".kube/config"];

/// Ends of names that show the form of such a file without the keys.
const SAMPLES: &[&str] = &[".dist", ".example", ".sample", ".template"];

/// Settings that often hold a password among much else, so that the name alone says nothing.
const SETTINGS: &[&str] = &[
    ".gitlab-ci.yml",
    ".yarnrc.yml",
    "application.properties",
    "application.yaml",
    "application.yml",
    "appsettings.json",
    "compose.yaml",
    "compose.yml",
    "config.inc.php",
    "config.ini",
    "config.json",
    "config.php",
    "config.py",
    "database.yml",
    "docker-compose.override.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
    "env",
    "env.txt",
    "google-services.json",
    "gradle.properties",
    "hosts.yml",
    "key.properties",
    "keystore.properties",
    "local.settings.json",
    "local_settings.py",
    "settings.py",
    "settings.xml",
    "values.yaml",
];
/// The same, where only their folder makes them one.
const SETTINGS_PATHS: &[&str] = &[".git/config"];

/// Ends of the names, without `.txt`, of files that hold little but a key if there is one. In a command they are words like
/// others.
const LONE_ENDS: &[&str] = &["credentials", "password", "passwords", "secret", "secrets", "token", "tokens"];

/// Returns whether a file of this path holds keys, by its name.
pub(crate) fn is_key_file(path: &str) -> bool {
    let name = last(path);
    if SAMPLES.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    let is_identity = name.starts_with("id_") && !name.ends_with(".pub") && !name.contains('.');
    name.starts_with(".env.")
        || (is_identity && ["rsa", "dsa", "ecdsa", "ed25519"].iter().any(|kind| name.contains(kind)))
        || NAMES.contains(&name.as_str())
        || ENDS.iter().any(|end| name.ends_with(end))
        || is_at(path, PATHS)
}

/// Returns whether a file of this path may hold passwords among other settings.
pub(super) fn is_settings(path: &str) -> bool {
    SETTINGS.contains(&last(path).as_str()) || is_at(path, SETTINGS_PATHS)
}

/// Returns whether a file of this path may hold a key and little else.
pub(super) fn may_be_key(path: &str) -> bool {
    let name = last(path);
    LONE_ENDS.iter().any(|end| name.strip_suffix(".txt").unwrap_or(&name).ends_with(end))
}

fn last(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase()
}

fn is_at(path: &str, ends: &[&str]) -> bool {
    let path = path.to_lowercase();
    ends.iter().any(|end| path == **end || path.strip_suffix(end).is_some_and(|front| front.ends_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_keys_are_known_by_their_names() {
        for path in [
            ".env",
            "a/.env.local",
            "prod.env",
            "/home/ada/.ssh/id_ed25519",
            "tls/server.PEM",
            "~/.aws/credentials",
            ".netrc",
            "infra/terraform.tfstate",
            "prod.tfvars",
            "wp-config.php",
            "home/.docker/config.json",
            ".envrc",
            "home/.kube/config",
            "office.ovpn",
            "tokens.txt",
            "group_vars/all/vault.yml",
            ".s3cfg",
        ] {
            assert!(is_key_file(path), "{path}");
        }
        for path in [
            ".env.example",
            "id_ed25519.pub",
            "environment.md",
            "src/env.rs",
            "keys.md",
            "id_card.txt",
            "password",
            "config.json",
            "my.docker/config.json",
            "application.properties",
            "",
        ] {
            assert!(!is_key_file(path), "{path}");
        }
        assert!(is_settings("src/main/application.properties") && is_settings("/w/.git/config"));
        assert!(is_settings("app/settings.py") && is_settings(".config/gh/hosts.yml"));
        assert!(is_settings("android/key.properties") && is_settings("local.settings.json"));
        assert!(
            may_be_key("db_password.txt")
                && may_be_key("secrets/db_password")
                && may_be_key(".smbcredentials")
        );
        assert!(!may_be_key("reset_password.py") && !may_be_key("secrets.md") && !may_be_key("tokens.rs"));
        assert!(!is_settings("config") && !is_settings("x.git/config") && !is_settings("Cargo.toml"));
    }
}
