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
/// Devices that hold nothing of the machine.
const STREAMS: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Programs that connect to a server and do nothing else with it.
const CLIENTS: &str = "curl wget nc ncat netcat telnet socat";
/// Maximum words of a command that are looked up; one with more counts as following links.
const MENTIONED_MAX: usize = 2_000;
/// The hosts of a loopback interface, as a URL names them.
const LOOPBACK: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// Returns whether the command's text names a host of the loopback interface, and no URL of another host.
pub(super) fn is_about_loopback(command: &str) -> bool {
    let is_local = |url: &str| {
        let authority = url.split(|c: char| c.is_whitespace() || "/?#'\"\\);&|,".contains(c)).next();
        let port = LOOPBACK.iter().find_map(|host| authority?.strip_prefix(host));
        // Anything else may be another host: `localhost.example.org`, `localhost:1@example.org`.
        port.is_some_and(|port| {
            port.is_empty()
                || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    LOOPBACK.iter().any(|host| command.contains(host)) && command.split("://").skip(1).all(is_local)
}

/// Returns whether a program only connects to a server.
pub(super) fn is_client(program: &str) -> bool {
    CLIENTS.split_whitespace().any(|name| name == program)
}

/// Returns whether the command, with these programs, may act outside `roots`.
pub(super) fn acts(command: &str, programs: &[String], roots: &[PathBuf], cwd: &Path, place: &Place) -> bool {
    has_acting_words(command, programs) || is_about(command, roots, cwd, place)
}

/// Returns whether the command's words show that it acts over a network, on the system or on other programs.
fn has_acting_words(command: &str, programs: &[String]) -> bool {
    let words: Vec<&str> = command.split(is_between).filter(|word| !word.is_empty()).collect();
    let has = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    };
    let is_acting = |program: &String| ACTING.split_whitespace().any(|name| name == program);
    let is_building = BUILDING.iter().any(|phrase| has(phrase));
    let reaches = programs.iter().any(|program| program == "git") && REACHING.iter().any(|word| has(word));
    (programs.iter().any(is_acting) && !is_building) || reaches || command.contains("://")
}

/// Returns whether the command's text names a place outside `roots`.
pub(super) fn is_about(command: &str, roots: &[PathBuf], cwd: &Path, place: &Place) -> bool {
    names_a_place(command, roots, cwd, place, |path| path.exists() || path.parent().is_some_and(Path::is_dir))
}

/// Like [`acts`], for a command that could run in the sandbox: there `/tmp` is the command's own, and only what is there
/// already on this machine, in `/tmp` or `/` itself, is a place that it does not have.
pub(super) fn acts_out_of_sandbox(
    command: &str,
    programs: &[String],
    roots: &[PathBuf],
    cwd: &Path,
    place: &Place,
) -> bool {
    let (acting, programs) = without_tellings(command, programs);
    has_acting_words(&acting, &programs) || is_out_of_sandbox(command, roots, cwd, place)
}

/// Returns a command without its parts that only ask a program for its version or its options (`npm --version`), and the
/// programs of the rest. The sandbox holds for such a part too, so a part that does more only fails.
fn without_tellings(command: &str, programs: &[String]) -> (String, Vec<String>) {
    let told = |part: &str| match part.split_whitespace().collect::<Vec<_>>()[..] {
        [program, "--version" | "--help"] => Some(program.to_owned()),
        _ => None,
    };
    let is_end = |c| matches!(c, ';' | '&' | '|' | '\n');
    let (tellings, rest): (Vec<&str>, Vec<&str>) =
        command.split(is_end).partition(|part| told(part).is_some());
    let told: Vec<String> = tellings.into_iter().filter_map(told).collect();
    let rest = rest.join(";");
    let is_left = |program: &&String| !told.contains(program) || rest.contains(program.as_str());
    let programs = programs.iter().filter(is_left).cloned().collect();
    (rest, programs)
}

/// Like [`is_about`], for a command in the sandbox. A name that is not in the root folder is rather a part of a pattern, as
/// in `s/a /b /`; the root folder in the sandbox takes no new file.
pub(super) fn is_out_of_sandbox(command: &str, roots: &[PathBuf], cwd: &Path, place: &Place) -> bool {
    let is_for_new = |folder: &Path| !["/", "/tmp"].map(Path::new).contains(&folder) && folder.is_dir();
    let is_there = |path: &Path| path.exists() || path.parent().is_some_and(is_for_new);
    names_a_place(command, roots, cwd, place, is_there)
}

/// Returns whether the command's text names a place outside `roots`; `is_there` tells whether a path can be meant. A
/// name that does not exist, in a folder that does not exist, is not a path.
fn names_a_place(
    command: &str,
    roots: &[PathBuf],
    cwd: &Path,
    place: &Place,
    is_there: impl Fn(&Path) -> bool,
) -> bool {
    let real: Vec<PathBuf> = roots.iter().map(|root| resolve::fully(root)).collect();
    let is_elsewhere = |text: &String| {
        let path = cwd.join(text);
        let leads_out = text.starts_with('/') || path.components().any(|part| part.as_os_str() == "..");
        leads_out && !is_harmless(text, command) && {
            let path = resolve::fully(&path);
            is_there(&path) && !real.iter().any(|root| path.starts_with(root))
        }
    };
    mentions(command, &place.surroundings.home, &place.known_variables()).iter().any(is_elsewhere)
}

/// Returns whether a word of the command names a link, or something that one leads to.
pub(super) fn follows_links(command: &str, cwd: &Path, place: &Place) -> bool {
    let mentioned = mentions(command, &place.surroundings.home, &place.known_variables());
    let leads_on = |text: &String| !is_harmless(text, command) && place.follows_links(&cwd.join(text));
    mentioned.len() > MENTIONED_MAX || mentioned.iter().any(leads_on)
}

fn is_harmless(text: &str, command: &str) -> bool {
    // `..//` ends a pattern with dots and its empty replacement, as in `s/T..:..//`.
    let is_sign = text.bytes().all(|byte| byte == b'/')
        || (text.ends_with("//") && text.bytes().all(|byte| matches!(byte, b'.' | b'/')));
    (is_sign && !has_word(command, text))
        || STREAMS.contains(&text)
        || PROGRAMS.iter().any(|folder| text.starts_with(folder))
}

/// Returns whether this is a word of the shell command. In a quoted script or a here-document, `/` and `//` are signs.
fn has_word(command: &str, wanted: &str) -> bool {
    let shell = command.split("<<").next().unwrap_or_default();
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in shell.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, _) if is_between(c) => words.push(String::new()),
            _ => words.iter_mut().next_back().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.iter().any(|word| word == wanted)
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || ";&|()".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_a_program_for_its_version_acts_nowhere() {
        let acts = |command: &str, programs: &[&str]| {
            let programs: Vec<String> = programs.iter().map(|name| (*name).to_owned()).collect();
            let (acting, programs) = without_tellings(command, &programs);
            has_acting_words(&acting, &programs)
        };
        for (command, programs) in [
            ("npm --version", &["npm"][..]),
            ("node --version && npm --version", &["node", "npm"]),
            ("docker --help | head -5", &["docker", "head"]),
            ("pip --version; pip3 --version\nls", &["pip", "pip3", "ls"]),
        ] {
            assert!(!acts(command, programs), "{command}");
        }
        for (command, programs) in [
            ("npm --version; npm install", &["npm"][..]),
            ("npm install --version", &["npm"]),
            ("npm --version install", &["npm"]),
            ("npm --help && curl example.org", &["npm", "curl"]),
            ("sudo npm --version", &["sudo", "npm"]),
            ("echo --version | npm publish", &["echo", "npm"]),
        ] {
            assert!(acts(command, programs), "{command}");
        }
    }
}
