//! One line of an approval file.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use globset::GlobMatcher;
use setpoint_protocol::tool::ApprovalNeed;

use super::denied::DeniedPath;

/// What a shell ignores around a command.
const SHELL_BLANKS: [char; 3] = [' ', '\t', '\n'];

/// The effect of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Allow,
    Deny,
}

/// The subject of a line.
#[derive(Clone, Debug)]
pub(super) enum About {
    /// A path and everything below it.
    Below(PathBuf),
    /// Paths that match the glob.
    Matching(GlobMatcher),
    /// This command, given as text or as the digest of the need.
    Command(String),
    /// This host, or those whose names end with a dot and this one.
    Host { name: String, is_below: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) line: usize,
    pub(super) word: Word,
    pub(super) about: About,
    /// The path of a line that denies one.
    pub(super) denied: Option<DeniedPath>,
    /// The simple command of a line that denies one, in normal form, with the number of its words.
    pub(super) simple: Option<(String, usize)>,
}

impl About {
    /// Returns whether both are about the very same.
    pub(super) fn is_same(&self, other: &About) -> bool {
        match (self, other) {
            (About::Below(one), About::Below(other)) => one == other,
            (About::Matching(one), About::Matching(other)) => one.glob() == other.glob(),
            (About::Command(one), About::Command(other)) => one == other,
            (About::Host { name: one, is_below: below }, About::Host { name: other, is_below }) => {
                one == other && below == is_below
            }
            _ => false,
        }
    }
}

impl Rule {
    /// Returns whether the line names this need. A command's text applies in the person's working directory: elsewhere it may
    /// run something else, so there only a denial matches.
    pub(super) fn names(&self, need: &ApprovalNeed) -> bool {
        match &self.about {
            About::Command(_) => {
                let is_meant = need.cwd.is_none() || self.word == Word::Deny;
                (is_meant && self.is_text(&need.command)) || self.has_digest_of(need)
            }
            About::Below(_) | About::Matching(_) | About::Host { .. } => false,
        }
    }

    /// Returns whether the line denies one of the commands that a text runs.
    pub(super) fn denies_one_of(&self, commands: &BTreeSet<String>) -> bool {
        self.simple.as_ref().is_some_and(|(text, _)| commands.contains(text))
    }

    /// Returns whether the line is about the command of this text. To a shell, other blanks at an end are part of a word:
    /// with one, `sh ./x.sh` runs another file. A denial is about that one, too.
    pub(super) fn is_text(&self, command: &str) -> bool {
        let bare = match self.word {
            Word::Deny => command.trim(),
            Word::Allow => command.trim_matches(SHELL_BLANKS),
        };
        matches!(&self.about, About::Command(text) if text == bare)
    }

    /// Returns whether the line names this need by its digest.
    pub(super) fn has_digest_of(&self, need: &ApprovalNeed) -> bool {
        matches!(&self.about, About::Command(text) if text.eq_ignore_ascii_case(&need.digest))
    }

    /// Returns whether the line is about this host, written as needs write it.
    pub(super) fn admits(&self, host: &str) -> bool {
        match &self.about {
            About::Host { name, is_below: false } => host == name,
            About::Host { name, is_below: true } => {
                host.strip_suffix(name.as_str()).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
            }
            About::Below(_) | About::Matching(_) | About::Command(_) => false,
        }
    }

    /// Returns whether a line that denies is about this host, also if it is written as another form of its address.
    pub(super) fn denies_host(&self, host: &str) -> bool {
        self.admits(host) || address(host).is_some_and(|address| self.denies_address(address))
    }

    /// Returns whether a line that denies is about this address; `localhost` is every address of the machine itself.
    pub(super) fn denies_address(&self, of_host: IpAddr) -> bool {
        let About::Host { name, is_below: false } = &self.about else { return false };
        let of_host = of_host.to_canonical();
        if name == "localhost" { of_host.is_loopback() } else { address(name) == Some(of_host) }
    }

    /// Returns whether the line covers a touched path and everything below it.
    pub(super) fn covers(&self, path: &Path) -> bool {
        match &self.about {
            About::Below(folder) => path.starts_with(folder),
            About::Matching(glob) => glob.is_match(path),
            About::Command(_) | About::Host { .. } => false,
        }
    }
}

/// Returns the address that a host is, if it is not a name.
fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok().map(|address: IpAddr| address.to_canonical())
}
