//! Whether a command may act outside the task's folders, where they do not show it: over a network, on the system, in
//! other folders.
//!
//! This is decided by the command's text. A program can do more than its text shows; but then a person allowed it, and
//! what was observed in the task's folders stays true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use setpoint_command_line::{is_plain, mentions, places, words};

use crate::approval::resolve;
use crate::place::Place;
use crate::show;

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
/// Parts of program text by which a program connects to an address that it names.
const CONNECTING: &[&str] = &[
    "HTTP::Tiny",
    "LWP",
    "Net::HTTP",
    "aiohttp",
    "axios",
    "curl",
    "fetch(",
    "http.client",
    "http.get",
    "http.request",
    "https.get",
    "https.request",
    "httpx",
    "open-uri",
    "requests",
    "socket",
    "urllib.request",
    "urlopen",
    "urlretrieve",
    "wget",
];
/// Characters of a word that are shown.
const SHOWN_CHARS: usize = 80;
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

/// What of a command needs something that the sandbox does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    /// A program that acts over a network, on the system or on other programs, by its name.
    Program(String),
    /// An address that a program would connect to.
    Address(String),
    /// A place that the sandbox does not show.
    Place(String),
}

impl Beyond {
    pub(super) fn why(&self) -> String {
        let shown = |text: &str| {
            let line = show::line(text);
            match line.char_indices().nth(SHOWN_CHARS) {
                Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
                None => line,
            }
        };
        match self {
            Self::Program(name) => {
                format!("`{}` needs a network or acts on other programs", shown(name))
            }
            Self::Address(text) => format!("`{}` names a host", shown(text)),
            Self::Place(text) => format!("`{}` names a place that the sandbox does not show", shown(text)),
        }
    }
}

/// Returns whether the command, with these programs, may act outside `roots`.
pub(super) fn acts(command: &str, programs: &[String], roots: &[PathBuf], cwd: &Path, place: &Place) -> bool {
    acting_program(command, programs).is_some()
        || command.contains("://")
        || is_about(command, roots, cwd, place)
}

/// Returns the program of a command that acts over a network, on the system or on other programs.
fn acting_program(command: &str, programs: &[String]) -> Option<String> {
    let words: Vec<&str> = command.split(is_between).filter(|word| !word.is_empty()).collect();
    let has = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    };
    let is_acting = |program: &&String| ACTING.split_whitespace().any(|name| name == *program);
    let acting = programs.iter().find(is_acting).filter(|_| !BUILDING.iter().any(|phrase| has(phrase)));
    let reaching = REACHING.iter().find(|word| programs.iter().any(|name| name == "git") && has(word));
    acting.cloned().or_else(|| reaching.map(|word| format!("git {word}")))
}

/// Returns the address that a program of the command would connect to: a word that is one, or one in the text of a program
/// that connects. An address alone is a text like others, and a program that wants one all the same fails in the sandbox.
fn address(command: &str) -> Option<String> {
    if !command.contains("://") || is_plain(command) {
        return None;
    }
    let is_scheme =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    let is_address = |word: &String| {
        let scheme = word.split_once("://").map(|(before, _)| before.rsplit('=').next().unwrap_or_default());
        scheme.is_some_and(|scheme| !scheme.is_empty() && is_scheme(scheme))
            && !word.contains(char::is_whitespace)
    };
    let connects = || CONNECTING.iter().any(|part| command.contains(part));
    let named = || {
        command.split(|c: char| c.is_whitespace() || "'\"`(),".contains(c)).find(|part| part.contains("://"))
    };
    let word = words(command).into_iter().find(is_address);
    word.or_else(|| named().filter(|_| connects()).map(str::to_owned))
}

/// Returns whether the command's text names a place outside `roots`.
pub(super) fn is_about(command: &str, roots: &[PathBuf], cwd: &Path, place: &Place) -> bool {
    let is_there = |path: &Path| path.exists() || path.parent().is_some_and(Path::is_dir);
    let mentioned = mentions(command, &place.surroundings.home, &place.known_variables());
    place_among(&mentioned, command, roots, cwd, is_there).is_some()
}

/// Returns what of a command keeps it from running in the sandbox. There `/tmp` is the command's own, and only what is there
/// already on this machine, in `/tmp` or `/` itself, is a place that it does not have.
pub(super) fn beyond_sandbox(
    command: &str,
    programs: &[String],
    roots: &[PathBuf],
    cwd: &Path,
    place: &Place,
) -> Option<Beyond> {
    let (acting, programs) = without_tellings(command, programs);
    let program = acting_program(&acting, &programs).map(Beyond::Program);
    let address = || address(command).map(Beyond::Address);
    program.or_else(address).or_else(|| place_beyond_sandbox(command, roots, cwd, place))
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

/// Returns the place that a command would miss in the sandbox. A name that is not in the root folder is rather a part of a
/// pattern, as in `s/a /b /`; the root folder in the sandbox takes no new file.
pub(super) fn place_beyond_sandbox(
    command: &str,
    roots: &[PathBuf],
    cwd: &Path,
    place: &Place,
) -> Option<Beyond> {
    let is_for_new = |folder: &Path| !["/", "/tmp"].map(Path::new).contains(&folder) && folder.is_dir();
    let is_there = |path: &Path| path.exists() || path.parent().is_some_and(is_for_new);
    let among = |command: &str, base: &Path| {
        let named = places(command, &place.surroundings.home, &place.known_variables());
        place_among(&named, command, roots, base, is_there)
    };
    let (mut base, mut rest, mut found) = (cwd.to_path_buf(), command, None);
    while let Some((step, after)) =
        rest.split_once("&&").filter(|(step, after)| is_simple(step) && is_chain(after))
    {
        found = found.or_else(|| among(step, &base));
        base = entered(step).map_or(base.clone(), |folder| resolve::way(&base.join(folder)).end);
        rest = after;
    }
    // A later `cd` may go back to where the command started.
    let is_moved = words(rest).iter().any(|word| ["cd", "pushd", "popd"].contains(&word.as_str()));
    found = found.or_else(|| among(rest, &base)).or_else(|| among(rest, cwd).filter(|_| is_moved));
    found.map(Beyond::Place)
}

/// Returns whether a part of a command has no quotes, variables, redirections or operators.
fn is_simple(step: &str) -> bool {
    step.chars().all(|c| c.is_ascii_alphanumeric() || " _-./+,@%=:".contains(c))
}

/// Returns whether each part of a command runs only if the one before it succeeded, in the same shell.
fn is_chain(command: &str) -> bool {
    !command.replace("&&", "").contains([';', '&', '|', '(', '{', '`', '\n'])
}

/// Returns the folder that a simple command changes to.
fn entered(step: &str) -> Option<&str> {
    match step.split_whitespace().collect::<Vec<_>>()[..] {
        ["cd", folder] if !folder.starts_with('-') => Some(folder),
        _ => None,
    }
}

/// Returns one of these texts that is a place outside `roots`; `is_there` tells whether a path can be meant. A name that does
/// not exist, in a folder that does not exist, is not a path.
fn place_among(
    texts: &BTreeSet<String>,
    command: &str,
    roots: &[PathBuf],
    cwd: &Path,
    is_there: impl Fn(&Path) -> bool,
) -> Option<String> {
    let real: Vec<PathBuf> = roots.iter().map(|root| resolve::fully(root)).collect();
    let is_elsewhere = |text: &&String| {
        let path = cwd.join(text);
        let leads_out = text.starts_with('/') || path.components().any(|part| part.as_os_str() == "..");
        leads_out && !is_harmless(text, command) && {
            // What the command makes, and then changes to, is missing yet.
            let path = if cwd.is_dir() { resolve::fully(&path) } else { resolve::way(&path).end };
            is_there(&path) && !real.iter().any(|root| path.starts_with(root))
        }
    };
    texts.iter().find(is_elsewhere).cloned()
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
            acting_program(&acting, &programs).is_some()
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
