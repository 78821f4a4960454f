//! What decides when no person is asked: approval files and the level of the run; and lines of such a file that a person
//! allows for a task.

use std::path::Path;

use setpoint_machine::gate::sends;
use setpoint_protocol::gate::{Cause, Facts, Rule, Stage};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_tools::approval_file::{ApprovalFile, ApprovalFileError, Decision, Denials};
use setpoint_tools::servers::ServedFiles;

/// How level L3 signs what it allows.
const AUTONOMOUS: &str = "level L3";

/// Decides about calls instead of a person.
pub struct Policy {
    decides: Box<dyn Fn(&ApprovalNeed) -> Word + Send + Sync>,
    is_autonomous: bool,
}

impl Policy {
    /// Returns the policy that decides so.
    #[must_use]
    pub fn new(decides: impl Fn(&ApprovalNeed) -> Word + Send + Sync + 'static) -> Self {
        Policy { decides: Box::new(decides), is_autonomous: false }
    }

    /// Returns the policy of level L3, for a container or a virtual machine: `file` decides first, and what it has no line
    /// for is allowed. Left to a person are calls that contain a key and may send it, whatever may send something once the task
    /// has read keys, commands that nothing confines, and files that act outside the sandbox by themselves: no level gives up
    /// the sandbox and the gate together.
    #[must_use]
    pub fn autonomous(file: Option<Policy>) -> Self {
        Policy::autonomous_but_for(file, ServedFiles::default())
    }

    /// As [`Policy::autonomous`]; also left to a person are changes of what a server runs that nothing confines.
    #[must_use]
    pub fn autonomous_but_for(file: Option<Policy>, served: ServedFiles) -> Self {
        let is_served = move |need: &ApprovalNeed| {
            need.writes.iter().chain(&need.deletes).any(|path| served.reason(Path::new(path)).is_some())
        };
        let decides =
            move |need: &ApprovalNeed| match file.as_ref().map_or(Word::Silent, |file| file.decide(need)) {
                Word::Silent if !is_left_to_a_person(need) && !is_served(need) => {
                    Word::Allow(AUTONOMOUS.to_owned())
                }
                word => word,
            };
        Policy { decides: Box::new(decides), is_autonomous: true }
    }

    /// Decides about a call.
    pub fn decide(&self, need: &ApprovalNeed) -> Word {
        (self.decides)(need)
    }

    /// Returns whether this is level L3, at which the needs of a plan are not asked about either.
    #[must_use]
    pub const fn is_autonomous(&self) -> bool {
        self.is_autonomous
    }
}

/// Returns whether level L3 does not decide about it. Without the facts, which older journals lack, nothing is known.
fn is_left_to_a_person(need: &ApprovalNeed) -> bool {
    let is_confined =
        |facts: &Facts| !matches!(facts.cause, Some(Cause::Command(_))) || facts.stage == Stage::Ran;
    let may_send = |facts: &Facts| facts.stage != Stage::Ran && facts.cause.as_ref().is_some_and(sends);
    need.rule.is_none_or(|rule| rule == Rule::SecretSent)
        || need.facts.as_deref().is_some_and(|facts| facts.acts_outside.is_some())
        || !need.facts.as_deref().is_some_and(is_confined)
        || (!need.secrets.is_empty() && need.facts.as_deref().is_none_or(may_send))
}

/// A decision, signed `file:<path>:<line>` or with the level.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision must be applied to have an effect"]
pub enum Word {
    /// A line or the level allows the call.
    Allow(String),
    /// A line denies the call.
    Deny(String),
    /// No line matches.
    Silent,
}

/// Reads an approval file, and sets its lines that deny.
///
/// # Errors
/// If the file cannot be read, or a line is invalid.
pub(crate) fn read(
    file: &Path,
    surroundings: &Surroundings,
    denials: &Denials,
) -> Result<Policy, ApprovalFileError> {
    let file = ApprovalFile::read(file, surroundings)?;
    denials.set(file.clone());
    Ok(Policy::new(move |need| {
        let decision = file.decide(need);
        match decision {
            Decision::Allow { .. } => Word::Allow(file.signature(decision)),
            Decision::Refuse { line: Some(_) } => Word::Deny(file.signature(decision)),
            Decision::Refuse { line: None } => Word::Silent,
        }
    }))
}

/// Maximum lines that are offered for one call.
const WIDER_MAX: usize = 4;

/// Returns a line of an approval file as a person who is to allow it for a task must see it, with links followed; `None`
/// if it allows nothing, or more than one sees: patterns, hosts by their ending, the working or the home directory.
#[must_use]
pub fn shown_line(line: &str, surroundings: &Surroundings) -> Option<String> {
    let shown = parsed(&[line.to_owned()], surroundings)?.shown_line()?;
    // What is written down must mean the same when it is read again.
    (parsed(std::slice::from_ref(&shown), surroundings)?.shown_line().as_ref() == Some(&shown))
        .then_some(shown)
}

/// Returns a line that a plan says it needs, as [`shown_line`] does. `None` also for a path that other programs execute or obey
/// (`~/.bashrc`, `.git/hooks`), and for a command that executes files (`sh new.sh`): what is written there acts later, so a
/// person has to see the content first.
#[must_use]
pub fn plan_line(line: &str, surroundings: &Surroundings) -> Option<String> {
    let shown = shown_line(line, surroundings)?;
    (!parsed(std::slice::from_ref(&shown), surroundings)?.acts_by_what_is_written()).then_some(shown)
}

/// Returns the first of these lines that allows the call, if they do. A path covers itself alone: what is below it may be
/// obeyed by other programs.
#[must_use]
pub fn allowing<'l>(
    lines: &'l [String],
    need: &ApprovalNeed,
    surroundings: &Surroundings,
) -> Option<&'l str> {
    match parsed(lines, surroundings)?.decide_exactly(need) {
        Decision::Allow { line } => lines.get(line.checked_sub(1)?).map(String::as_str),
        Decision::Refuse { .. } => None,
    }
}

/// Returns lines that allow the call and others like it: every URL of its hosts, or whatever is done to its paths. Empty if
/// no such line covers the call.
#[must_use]
pub fn wider(need: &ApprovalNeed, surroundings: &Surroundings) -> Vec<String> {
    let mut lines: Vec<String> = need.hosts.iter().map(|host| format!("host {host}")).collect();
    lines.extend(need.writes.iter().chain(&need.deletes).map(|path| format!("path {path}")));
    lines.sort();
    lines.dedup();
    let is_shown = |line: &String| shown_line(line, surroundings).as_ref() == Some(line);
    let are_plain = lines.len() <= WIDER_MAX && lines.iter().all(is_shown);
    if are_plain && allowing(&lines, need, surroundings).is_some() { lines } else { Vec::new() }
}

/// Reads these lines as an approval file; `None` if one of them is not a rule.
fn parsed(lines: &[String], surroundings: &Surroundings) -> Option<ApprovalFile> {
    let are_single = !lines.is_empty() && lines.iter().all(|line| !line.contains(['\n', '\r']));
    let text = lines.join("\n");
    if are_single { ApprovalFile::parse(&text, "", surroundings).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::tool::Secret;

    use super::*;

    fn surroundings() -> Surroundings {
        Surroundings { cwd: "/w".to_owned(), home: "/home/ada".to_owned(), ..Surroundings::default() }
    }

    fn need(command: &str, hosts: &[&str], writes: &[&str]) -> ApprovalNeed {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
        ApprovalNeed {
            command: command.to_owned(),
            cwd: None,
            writes: owned(writes),
            deletes: Vec::new(),
            hosts: owned(hosts),
            reason: String::new(),
            digest: "d".repeat(64),
            scope: None,
            after: Vec::new(),
            secrets: Vec::new(),
            rule: None,
            facts: None,
            preview: None,
        }
    }

    #[test]
    fn level_l3_leaves_keys_and_the_unconfined_to_a_person() {
        let because = |rule: Rule, cause: Option<Cause>, stage: Stage| ApprovalNeed {
            rule: Some(rule),
            facts: Some(Box::new(Facts { cause, stage, ..Facts::default() })),
            ..need("touch x", &[], &["/w/x"])
        };
        let command = || Some(Cause::Command("it may change something".to_owned()));
        let host = || Some(Cause::Connects { host: "a.org".to_owned(), sends: Vec::new() });
        let after_a_key =
            |need: ApprovalNeed| ApprovalNeed { secrets: vec![Secret::File(".env".to_owned())], ..need };
        let outside = |need: ApprovalNeed| {
            let facts = Facts { acts_outside: Some("/usr/bin/ls".to_owned()), ..*need.facts.unwrap() };
            ApprovalNeed { facts: Some(Box::new(facts)), ..need }
        };
        let allowed = Word::Allow("level L3".to_owned());
        let level = Policy::autonomous(None);
        for (asked, word) in [
            (because(Rule::Obeyed, None, Stage::Plain), &allowed),
            (because(Rule::Obeyed, command(), Stage::Ran), &allowed),
            (because(Rule::Network, host(), Stage::Plain), &allowed),
            (after_a_key(because(Rule::SecretRead, host(), Stage::Plain)), &Word::Silent),
            (after_a_key(because(Rule::Network, host(), Stage::Plain)), &Word::Silent),
            (after_a_key(because(Rule::Obeyed, None, Stage::Plain)), &allowed),
            (after_a_key(because(Rule::Obeyed, command(), Stage::Ran)), &allowed),
            (because(Rule::SecretSent, host(), Stage::Plain), &Word::Silent),
            (because(Rule::NotReadOnly, command(), Stage::Plain), &Word::Silent),
            (because(Rule::OutsideSandbox, command(), Stage::Outside), &Word::Silent),
            (because(Rule::OutsideSandbox, command(), Stage::Unmade("none".to_owned())), &Word::Silent),
            (outside(because(Rule::Elsewhere, None, Stage::Plain)), &Word::Silent),
            (outside(because(Rule::Obeyed, command(), Stage::Ran)), &Word::Silent),
            // Of an older journal.
            (need("touch x", &[], &["/w/x"]), &Word::Silent),
        ] {
            assert_eq!(level.decide(&asked), *word, "{:?} {:?}", asked.rule, asked.facts);
        }
        // What a file decides, it decides here too.
        let file = Policy::new(|_| Word::Deny("file:a:1".to_owned()));
        let denied = Policy::autonomous(Some(file)).decide(&because(Rule::Obeyed, None, Stage::Plain));
        assert_eq!(denied, Word::Deny("file:a:1".to_owned()));
    }

    #[test]
    fn what_is_offered_beside_one_call_covers_others_like_it() {
        for (hosts, writes, lines) in [
            (&["a.org"][..], &[][..], &["host a.org"][..]),
            (&[], &["/w/docs/.github/ci.yml", "/w/x"], &["path /w/docs/.github/ci.yml", "path /w/x"]),
            // A command that names nothing has nothing wider than itself.
            (&[], &[], &[]),
            (&["a.org"], &["/w/x/y"], &[]),
            (&[], &["/w/a/1", "/w/b/1", "/w/c/1", "/w/d/1", "/w/e/1"], &[]),
            // A pattern would cover something else, and these would cover all there is.
            (&[], &["/w/[a]/x"], &[]),
            (&[], &["/w/a\nhost evil.org/x"], &[]),
            (&[], &["/w"], &[]),
            (&[], &["/home"], &[]),
        ] {
            let need = need("do it", hosts, writes);
            assert_eq!(wider(&need, &surroundings()), lines, "{hosts:?} {writes:?}");
        }
        // What is below a path may be obeyed by other programs.
        let lines = ["path /w/docs".to_owned()];
        let allows = |path: &str| allowing(&lines, &need("x", &[], &[path]), &surroundings()).is_some();
        assert_eq!((allows("/w/docs"), allows("/w/docs/.envrc"), allows("/w/doc")), (true, false, false));
    }

    #[test]
    fn a_line_is_shown_as_it_is_meant_or_not_at_all() {
        for (line, shown) in [
            ("host docs.rs", Some("host docs.rs")),
            ("path ~/notes", Some("path /home/ada/notes")),
            ("path /usr/../etc/hosts", Some("path /etc/hosts")),
            ("path not-there/../../etc/hosts", None),
            ("command make install", Some("command make install")),
            ("path /", None),
            ("path .", None),
            ("path ~", None),
            ("path build/..", None),
            ("path **", None),
            ("host *.com", None),
            ("deny host docs.rs", None),
            ("# host docs.rs", None),
            ("", None),
            ("anything", None),
            ("host a.org\nhost b.org", None),
        ] {
            assert_eq!(shown_line(line, &surroundings()).as_deref(), shown, "{line:?}");
        }
        for line in
            ["~/.bashrc", ".git/hooks/pre-commit", ".git/config", "AGENTS.md", "/etc/hosts", "/usr/bin/x"]
        {
            let line = format!("path {line}");
            assert!(shown_line(&line, &surroundings()).is_some(), "{line}");
            assert_eq!(plan_line(&line, &surroundings()), None, "{line}");
        }
        for line in [
            "command sh new.sh",
            "command make install",
            "command python3 -m tool",
            "command ./x",
            "command cd sub && bash -c './x'",
            "command npm run go",
            "command cargo build",
        ] {
            assert!(shown_line(line, &surroundings()).is_some(), "{line}");
            assert_eq!(plan_line(line, &surroundings()), None, "{line}");
        }
        for line in ["path /w/docs/a.md", "path /srv/out", "host docs.rs", "command pip download six"] {
            assert_eq!(plan_line(line, &surroundings()).as_deref(), Some(line));
        }
        let lines = ["# nothing".to_owned(), "command make".to_owned()];
        assert_eq!(allowing(&lines, &need("make", &[], &[]), &surroundings()), Some("command make"));
        assert_eq!(allowing(&lines, &need("make x", &[], &[]), &surroundings()), None);
    }
}
