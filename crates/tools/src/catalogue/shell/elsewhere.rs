//! Whether a command may act outside the task's folders, where they do not show it: over a network, on the system, in
//! other folders.
//!
//! This is decided by the command's text. A program can do more than its text shows; but then a person allowed it, and
//! what was observed in the task's folders stays true.

use std::path::{Path, PathBuf};

use setpoint_command_line::mentions;

use crate::approval::resolve;
use crate::place::Place;

/// Programs that act over a network, on the system or on other programs.
const ACTING: &str = "\
    curl wget ssh scp sftp rsync ftp nc ncat netcat telnet socat mail sendmail \
    docker podman kubectl helm terraform ansible ansible-playbook vagrant aws gcloud az gh glab heroku \
    psql mysql mariadb redis-cli mongo mongosh sqlcmd \
    systemctl service initctl kill pkill killall crontab at batch mount umount ip iptables ufw sysctl modprobe \
    apt apt-get dpkg yum dnf pacman apk brew snap pip pip3 pipx uv npm npx yarn pnpm gem cargo-install twine \
    useradd usermod userdel passwd chpasswd sudo doas su";
/// Commands that run tests and builds through a program in [`ACTING`].
const BUILDING: &[&str] =
    &["npm test", "npm run", "npm exec", "npx", "yarn test", "yarn run", "pnpm test", "pnpm run", "uv run"];
/// Subcommands of Git that reach another repository.
const REACHING: &[&str] = &["push", "fetch", "pull", "clone", "remote", "submodule", "send-email"];
/// Folders of programs, which a command names to run them.
const PROGRAMS: &[&str] = &["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"];
/// Devices that only pass on the command's own input and output.
const STREAMS: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Returns whether the command, with these programs, may act outside `roots`.
pub(super) fn acts(command: &str, programs: &[String], roots: &[PathBuf], cwd: &Path, place: &Place) -> bool {
    let is_between = |c: char| c.is_whitespace() || ";&|()".contains(c);
    let words: Vec<&str> = command.split(is_between).filter(|word| !word.is_empty()).collect();
    let has = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    };
    let is_acting = |program: &String| ACTING.split_whitespace().any(|name| name == program);
    let is_building = BUILDING.iter().any(|phrase| has(phrase));
    let reaches = programs.iter().any(|program| program == "git") && REACHING.iter().any(|word| has(word));
    if (programs.iter().any(is_acting) && !is_building) || reaches || command.contains("://") {
        return true;
    }
    is_about(command, roots, cwd, place)
}

/// Returns whether the command's text names a place outside `roots`.
pub(super) fn is_about(command: &str, roots: &[PathBuf], cwd: &Path, place: &Place) -> bool {
    let real: Vec<PathBuf> = roots.iter().map(|root| resolve::fully(root)).collect();
    let is_elsewhere = |text: &String| {
        let path = cwd.join(text);
        let leads_out = text.starts_with('/') || path.components().any(|part| part.as_os_str() == "..");
        leads_out && !is_harmless(text) && {
            let path = resolve::fully(&path);
            // A name that does not exist, in a folder that does not exist, is not a path.
            let is_path = path.exists() || path.parent().is_some_and(Path::is_dir);
            is_path && !real.iter().any(|root| path.starts_with(root))
        }
    };
    mentions(command, &place.surroundings.home, &place.known_variables()).iter().any(is_elsewhere)
}

fn is_harmless(text: &str) -> bool {
    STREAMS.contains(&text) || PROGRAMS.iter().any(|folder| text.starts_with(folder))
}
