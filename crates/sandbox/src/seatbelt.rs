//! A policy as a profile of Seatbelt, the sandbox of macOS: text for `sandbox-exec -p`.
//!
//! This only writes the text. Nothing runs under it yet. Every rule allows something and none takes anything back: what is
//! closed within an open folder is left out of the rule that opens it. So the order of the rules means nothing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::policy::{Access, Folder, Policy};

/// What programs need of the system, with links resolved, as Seatbelt compares paths. None of it has keys or passwords.
const SYSTEM: &[&str] = &[
    "/Applications/Xcode.app/Contents/Developer",
    "/Library/Apple",
    "/Library/Developer",
    "/Library/Frameworks",
    "/Library/Java",
    "/System",
    "/bin",
    "/nix/store",
    "/opt",
    "/private/etc/ssl",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/var/select",
    "/sbin",
    "/usr",
];
/// Files that are read beside those folders.
const FILES: &[&str] = &[
    "/dev/random",
    "/dev/urandom",
    "/private/etc/group",
    "/private/etc/hosts",
    "/private/etc/localtime",
    "/private/etc/passwd",
    "/private/etc/protocols",
    "/private/etc/services",
    "/private/etc/shells",
];
/// Devices that are read and written.
const DEVICES: &[&str] = &["/dev/dtracehelper", "/dev/null", "/dev/zero"];

/// Why a policy has no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeatbeltError {
    /// Seatbelt allows or refuses a change; it cannot keep it apart.
    #[error("changes in {} are to be kept apart, which takes Linux with namespaces", .0.display())]
    KeptApart(PathBuf),
    /// A path cannot be written into a profile.
    #[error("the path {0:?} has characters that cannot be written into a profile; rename the folder")]
    Path(PathBuf),
    /// A name of files that other programs obey cannot be written into a profile.
    #[error("the name {0:?} has other characters than letters, digits, `.`, `_` and `-`; leave it out")]
    Name(String),
}

/// Returns the profile of a policy that was [checked](Policy::checked), with links in its paths resolved. `tmp` is an
/// empty folder of the program's own, to which its `TMPDIR` points. In folders that may be changed, nothing with a
/// hidden part in its path is created or changed, and nothing with one of the names `obeyed`, in any case of letters.
///
/// # Errors
/// If a folder's changes are to be kept apart, or a path or name cannot be written.
pub fn profile(policy: &Policy, tmp: &Path, obeyed: &[&str]) -> Result<String, SeatbeltError> {
    let is_in_hidden = |path: &Path| policy.hidden.iter().any(|hidden| path.starts_with(hidden));
    let folders: Vec<&Folder> = policy.folders.iter().filter(|one| !is_in_hidden(&one.path)).collect();
    let (mut readable, mut writable) = (String::new(), String::new());
    for folder in &folders {
        let open = Open { folder: &folder.path, all: &folders, hidden: &policy.hidden };
        let _ = write!(readable, "\n    {}", open.filter(&[])?);
        match &folder.access {
            Access::Read => {}
            Access::Write => {
                let _ = write!(writable, "\n    {}", open.filter(&guards(&folder.path, obeyed)?)?);
            }
            Access::Keep { .. } | Access::Discard => {
                return Err(SeatbeltError::KeptApart(folder.path.clone()));
            }
        }
    }
    let own = format!("\n    (subpath {})", quoted(tmp)?);
    let system: String = SYSTEM.iter().map(|path| format!("\n    (subpath \"{path}\")")).collect();
    let literals = |paths: &[&str]| -> String {
        paths.iter().map(|path| format!("\n    (literal \"{path}\")")).collect()
    };
    let (files, devices) = (literals(FILES), literals(DEVICES));
    let above = above(folders.iter().map(|one| one.path.as_path()).chain([tmp]))?;
    Ok(format!(
        r#"(version 1)
(deny default)
; Programs, and what they read.
(allow process-fork)
(allow process-exec{system}{readable}{own})
(allow file-read*{system}{files}{devices}{readable}{own})
; The names of the folders above those, which programs ask for to find where they are.
(allow file-read-metadata{above})
(allow file-read-data (literal "/"))
; What they change.
(allow file-write*{writable}{own})
(allow file-write-data{devices})
; Themselves, and what they started.
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
; Names of users and groups.
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
; This machine and no other.
(allow network-bind (local ip "localhost:*"))
(allow network-inbound (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
"#
    ))
}

/// A folder that is opened, without what is closed or has a rule of its own below it.
struct Open<'p> {
    folder: &'p Path,
    all: &'p [&'p Folder],
    hidden: &'p [PathBuf],
}

impl Open<'_> {
    /// Returns the filter of its rule, with more conditions.
    fn filter(&self, conditions: &[String]) -> Result<String, SeatbeltError> {
        let is_below = |path: &&Path| path.starts_with(self.folder) && *path != self.folder;
        let inner = self.all.iter().map(|one| one.path.as_path());
        let closed: BTreeSet<&Path> =
            inner.chain(self.hidden.iter().map(PathBuf::as_path)).filter(is_below).collect();
        let mut filter = format!("(subpath {})", quoted(self.folder)?);
        if closed.is_empty() && conditions.is_empty() {
            return Ok(filter);
        }
        filter.insert_str(0, "(require-all ");
        for path in closed {
            let _ = write!(filter, "\n        (require-not (subpath {}))", quoted(path)?);
        }
        for condition in conditions {
            let _ = write!(filter, "\n        {condition}");
        }
        Ok(filter + ")")
    }
}

/// Returns the conditions under which files in a folder are changed: those that other programs obey are not.
fn guards(folder: &Path, obeyed: &[&str]) -> Result<Vec<String>, SeatbeltError> {
    let below = format!("^{}/(.*/)?", pattern(folder)?);
    let mut guards = vec![format!("(require-not (regex #\"{below}[.]\"))")];
    for name in obeyed {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(SeatbeltError::Name((*name).to_owned()));
        }
        // Names on this system do not differ by case.
        let any_case = |c: char| match (c.to_ascii_lowercase(), c.to_ascii_uppercase()) {
            ('.', _) => "[.]".to_owned(),
            (lower, upper) if lower != upper => format!("[{lower}{upper}]"),
            (c, _) => c.to_string(),
        };
        let name: String = name.chars().map(any_case).collect();
        guards.push(format!("(require-not (regex #\"{below}{name}(/|$)\"))"));
    }
    Ok(guards)
}

/// Returns a pattern that matches the path. Whatever could mean something in a pattern stands for any text without `/`: it
/// then matches neighbours of the folder too, which closes more and opens nothing.
fn pattern(path: &Path) -> Result<String, SeatbeltError> {
    let mut pattern = String::new();
    let mut is_any = false;
    for c in written(path)?.chars() {
        let is_plain = c.is_ascii_alphanumeric() || matches!(c, '/' | '_');
        if is_plain {
            pattern.push(c);
        } else if !is_any {
            pattern.push_str("[^/]+");
        }
        is_any = !is_plain;
    }
    Ok(pattern)
}

/// Returns filters for the folders above all of these.
fn above<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<String, SeatbeltError> {
    let all: BTreeSet<&Path> = paths.flat_map(|path| path.ancestors().skip(1)).collect();
    all.into_iter().map(|path| Ok(format!("\n    (literal {})", quoted(path)?))).collect()
}

/// Returns the path as a string of a profile.
fn quoted(path: &Path) -> Result<String, SeatbeltError> {
    let mut quoted = "\"".to_owned();
    for c in written(path)?.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    Ok(quoted + "\"")
}

/// Control characters could end a line or a comment, and what is not UTF-8 cannot be written at all.
fn written(path: &Path) -> Result<&str, SeatbeltError> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    text.ok_or_else(|| SeatbeltError::Path(path.to_path_buf()))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::policy::Limits;

    fn policy(folders: &[(&str, Access)], hidden: &[&str]) -> Policy {
        Policy {
            beside: None,
            folders: folders
                .iter()
                .map(|(path, access)| Folder { path: path.into(), access: access.clone() })
                .collect(),
            hidden: hidden.iter().map(PathBuf::from).collect(),
            home: "/home/ada".into(),
            cwd: folders[0].0.into(),
            limits: Limits::default(),
        }
        .checked()
        .unwrap()
    }

    fn written(policy: &Policy, obeyed: &[&str]) -> Result<String, SeatbeltError> {
        profile(policy, Path::new("/private/tmp/own"), obeyed)
    }

    #[test]
    fn a_policy_becomes_a_profile() {
        let policy = policy(
            &[
                ("/home/ada/my work", Access::Write),
                ("/home/ada/my work/vendor", Access::Read),
                ("/home/ada/.cargo", Access::Read),
            ],
            &["/home/ada/my work/keys", "/home/ada/.cargo/credentials.toml", "/home/ada/.setpoint"],
        );
        let text = written(&policy, &["AGENTS.md"]).unwrap();
        // What every profile has is left out here; another test looks at it.
        let own: Vec<&str> = text
            .lines()
            .filter(|line| !SYSTEM.iter().any(|path| line.contains(&format!("\"{path}\""))))
            .collect();
        expect![[r#"
            (version 1)
            (deny default)
            ; Programs, and what they read.
            (allow process-fork)
            (allow process-exec
                (require-all (subpath "/home/ada/.cargo")
                    (require-not (subpath "/home/ada/.cargo/credentials.toml")))
                (require-all (subpath "/home/ada/my work")
                    (require-not (subpath "/home/ada/my work/keys"))
                    (require-not (subpath "/home/ada/my work/vendor")))
                (subpath "/home/ada/my work/vendor")
                (subpath "/private/tmp/own"))
            (allow file-read*
                (literal "/dev/random")
                (literal "/dev/urandom")
                (literal "/private/etc/group")
                (literal "/private/etc/hosts")
                (literal "/private/etc/localtime")
                (literal "/private/etc/passwd")
                (literal "/private/etc/protocols")
                (literal "/private/etc/services")
                (literal "/private/etc/shells")
                (literal "/dev/dtracehelper")
                (literal "/dev/null")
                (literal "/dev/zero")
                (require-all (subpath "/home/ada/.cargo")
                    (require-not (subpath "/home/ada/.cargo/credentials.toml")))
                (require-all (subpath "/home/ada/my work")
                    (require-not (subpath "/home/ada/my work/keys"))
                    (require-not (subpath "/home/ada/my work/vendor")))
                (subpath "/home/ada/my work/vendor")
                (subpath "/private/tmp/own"))
            ; The names of the folders above those, which programs ask for to find where they are.
            (allow file-read-metadata
                (literal "/")
                (literal "/home")
                (literal "/home/ada")
                (literal "/home/ada/my work")
                (literal "/private")
                (literal "/private/tmp"))
            (allow file-read-data (literal "/"))
            ; What they change.
            (allow file-write*
                (require-all (subpath "/home/ada/my work")
                    (require-not (subpath "/home/ada/my work/keys"))
                    (require-not (subpath "/home/ada/my work/vendor"))
                    (require-not (regex #"^/home/ada/my[^/]+work/(.*/)?[.]"))
                    (require-not (regex #"^/home/ada/my[^/]+work/(.*/)?[aA][gG][eE][nN][tT][sS][.][mM][dD](/|$)")))
                (subpath "/private/tmp/own"))
            (allow file-write-data
                (literal "/dev/dtracehelper")
                (literal "/dev/null")
                (literal "/dev/zero"))
            ; Themselves, and what they started.
            (allow signal (target same-sandbox))
            (allow process-info* (target same-sandbox))
            (allow sysctl-read)
            ; Names of users and groups.
            (allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
            ; This machine and no other.
            (allow network-bind (local ip "localhost:*"))
            (allow network-inbound (local ip "localhost:*"))
            (allow network-outbound (remote ip "localhost:*"))"#]]
        .assert_eq(&own.join("\n"));
    }

    #[test]
    fn the_system_is_read_and_never_changed() {
        let text = written(&policy(&[("/w", Access::Write)], &[]), &[]).unwrap();
        let rule = |operation: &str| {
            let rules: Vec<&str> = text.split("\n(").filter(|rule| rule.starts_with(operation)).collect();
            assert_eq!(rules.len(), 1, "{operation}");
            rules[0]
        };
        for path in SYSTEM {
            let filter = format!("(subpath \"{path}\")");
            assert!(
                rule("allow file-read*").contains(&filter) && rule("allow process-exec").contains(&filter)
            );
            assert!(!rule("allow file-write*").contains(&filter), "{path}");
        }
        // Nothing is taken back, so no rule can be in the wrong place.
        assert_eq!(text.matches("(deny").collect::<Vec<_>>().len(), 1);
    }

    #[test]
    fn a_folder_in_a_hidden_place_stays_closed() {
        let policy = policy(&[("/w", Access::Write), ("/w/keys/more", Access::Write)], &["/w/keys"]);
        let text = written(&policy, &[]).unwrap();
        assert!(text.contains("(require-not (subpath \"/w/keys\"))"), "{text}");
        assert!(!text.contains("(subpath \"/w/keys/more\")\n") && !text.contains("^/w/keys/more"), "{text}");
    }

    #[test]
    fn what_cannot_be_held_has_no_profile() {
        let keep = Access::Keep { layer: "/layer".into() };
        for access in [keep, Access::Discard] {
            let error = written(&policy(&[("/w", access)], &[]), &[]).unwrap_err();
            assert_eq!(error, SeatbeltError::KeptApart("/w".into()));
        }
        let write = |path: &str| written(&policy(&[(path, Access::Write)], &[]), &[]);
        for path in ["/w\n(allow default)", "/w\r", "/w\u{85}x", "/w\u{7f}"] {
            assert_eq!(write(path), Err(SeatbeltError::Path(path.into())));
        }
        let bytes = Path::new(OsStr::from_bytes(b"/w\xff"));
        let plain = policy(&[("/w", Access::Read)], &[]);
        assert_eq!(profile(&plain, bytes, &[]), Err(SeatbeltError::Path(bytes.into())));
        for name in ["", "a b", "a\"b", "a/b", "a*", "é"] {
            assert_eq!(
                written(&plain, &[name]),
                Ok(written(&plain, &[]).unwrap()),
                "nothing is changed there"
            );
            let changed = policy(&[("/w", Access::Write)], &[]);
            assert_eq!(written(&changed, &[name]), Err(SeatbeltError::Name(name.to_owned())));
        }
    }

    /// Reads a profile as Scheme does: returns its strings, without patterns and comments, and how deep its parentheses
    /// are at the end.
    fn read(text: &str) -> (Vec<String>, i64) {
        let (mut strings, mut depth) = (Vec::new(), 0);
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                ';' => drop(letters.by_ref().find(|letter| *letter == '\n')),
                '(' => depth += 1,
                ')' => depth -= 1,
                '#' => {
                    assert_eq!(letters.next(), Some('"'));
                    let _ = letters.by_ref().find(|letter| *letter == '"');
                }
                '"' => {
                    let mut string = String::new();
                    while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                        string.push(if letter == '\\' { letters.next().unwrap() } else { letter });
                    }
                    strings.push(string);
                }
                _ => {}
            }
            assert!(depth >= 0);
        }
        (strings, depth)
    }

    proptest! {
        #[test]
        fn any_path_is_written_as_itself_or_refused(name in "[a-c\"\\\\()#;.^$*+?\\[\\] 'é\u{1}\n\t-]{1,12}") {
            prop_assume!(name != "." && name != "..");
            let path = format!("/w/{name}");
            let result = written(&policy(&[(&path, Access::Write)], &[&format!("{path}/in")]), &[]);
            if name.chars().any(char::is_control) {
                prop_assert_eq!(result, Err(SeatbeltError::Path(path.into())));
                return Ok(());
            }
            let text = result.unwrap();
            let (strings, depth) = read(&text);
            prop_assert_eq!(depth, 0);
            // Twice to be read and executed, once to be changed, without what is hidden in it.
            let count = |wanted: &str| strings.iter().filter(|string| *string == wanted).count();
            prop_assert_eq!((count(&path), count(&format!("{path}/in"))), (3, 3));
            let others = read(&written(&policy(&[("/w/x", Access::Write)], &["/w/x/in"]), &[]).unwrap()).0;
            prop_assert_eq!(strings.len(), others.len());
            // A pattern has no character that could end it or its folder's part.
            let pattern = text.split("(regex #\"").nth(1).unwrap().split('"').next().unwrap();
            let folder = pattern.strip_prefix('^').unwrap().strip_suffix("/(.*/)?[.]").unwrap();
            prop_assert!(regex(folder, &path), "{folder} {path}");
        }
    }

    /// Whether a pattern of plain characters and `[^/]+` matches all of a text.
    fn regex(pattern: &str, text: &str) -> bool {
        match pattern.split_once("[^/]+") {
            None => pattern == text,
            Some((plain, rest)) => text.strip_prefix(plain).is_some_and(|text| {
                let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
                let ends =
                    ends.filter(|end| text.is_char_boundary(*end) && !text.split_at(*end).0.contains('/'));
                ends.into_iter().any(|end| regex(rest, text.split_at(end).1))
            }),
        }
    }
}
