use std::error::Error as _;
use std::os::unix::fs::symlink;

use setpoint_protocol::tool::Secret;

use super::*;

fn surroundings() -> Surroundings {
    Surroundings {
        cwd: "/project".to_owned(),
        home: "/people/ada".to_owned(),
        vars: [("OUT".to_owned(), "/out".to_owned())].into(),
        ..Surroundings::default()
    }
}

fn file(text: &str) -> ApprovalFile {
    ApprovalFile::parse(text, "approve.txt", &surroundings()).unwrap()
}

fn need(command: &str, writes: &[&str], deletes: &[&str]) -> ApprovalNeed {
    let texts = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    ApprovalNeed {
        command: command.to_owned(),
        cwd: None,
        writes: texts(writes),
        deletes: texts(deletes),
        hosts: vec![],
        reason: "why".to_owned(),
        digest: "ab".repeat(32),
        scope: None,
        after: Vec::new(),
        secrets: Vec::new(),
        rule: None,
        facts: None,
        preview: None,
    }
}

fn check(text: &str, need: &ApprovalNeed, expected: Decision) {
    assert_eq!(file(text).decide(need), expected, "{text:?} {need:?}");
}

const NO: Decision = Decision::Refuse { line: None };

#[test]
fn a_path_allows_everything_below_it() {
    let text = "# build products\n\npath build\npath ~/notes\npath $OUT/*.csv\n";
    check(text, &need("x", &["/project/build/a/b"], &[]), Decision::Allow { line: 3 });
    check(text, &need("x", &["/project/build"], &["/people/ada/notes/x"]), Decision::Allow { line: 3 });
    check(text, &need("x", &[], &["/out/a.csv"]), Decision::Allow { line: 5 });
    check(text, &need("x", &["/project/builds"], &[]), NO);
    check("path my \"photos\"", &need("x", &["/project/my \"photos\"/a"], &[]), Decision::Allow { line: 1 });
    check(text, &need("x", &["/project"], &[]), NO);
    check(text, &need("x", &["/out/sub/a.csv"], &[]), NO);
    check(text, &need("x", &["/project/build/a", "/project/src/a"], &[]), NO);
    check(text, &need("x", &["/project/build/a"], &["/project/src/a"]), NO);
}

#[test]
fn a_need_without_paths_is_not_allowed_by_a_path() {
    check("path /", &need("python3 script.py", &[], &[]), NO);
    check("path /", &need("rm x", &[], &["/project/x"]), Decision::Allow { line: 1 });
}

#[test]
fn a_host_line_allows_only_what_connects_to_that_host() {
    let connects =
        |host: &str| ApprovalNeed { hosts: vec![host.to_owned()], ..need("GET https://x/", &[], &[]) };
    let text = "host Docs.Example.org.\nhost *.example.net\nhost [0::1]\nhost bücher.example\ndeny host evil.example.net";
    for (host, line) in [
        ("docs.example.org", 1),
        ("a.example.net", 2),
        ("a.b.example.net", 2),
        ("[::1]", 3),
        ("xn--bcher-kva.example", 4),
    ] {
        check(text, &connects(host), Decision::Allow { line });
    }
    check(text, &connects("evil.example.net"), Decision::Refuse { line: Some(5) });
    for host in [
        "example.org",
        "x.docs.example.org",
        "docs.example.org.evil.test",
        "example.net",
        "badexample.net",
        ".example.net",
    ] {
        check(text, &connects(host), NO);
    }
    let two = ApprovalNeed { hosts: vec!["docs.example.org".into(), "b.test".into()], ..connects("") };
    check(text, &two, NO);
    let writes = ApprovalNeed { hosts: vec!["docs.example.org".into()], ..need("x", &["/project/x"], &[]) };
    check(text, &writes, NO);
    check("path /\nhost docs.example.org", &writes, NO);
    check("path /", &connects("docs.example.org"), NO);
    check(text, &need("curl https://docs.example.org/", &[], &[]), NO);
}

#[test]
fn a_host_line_allows_nothing_after_the_task_has_read_keys() {
    let read = ApprovalNeed {
        hosts: vec!["docs.example.org".into()],
        secrets: vec![Secret::File(".env".into())],
        ..need("GET https://docs.example.org/", &[], &[])
    };
    check("host docs.example.org", &read, NO);
    // These name the request itself.
    check("command GET https://docs.example.org/", &read, Decision::Allow { line: 1 });
    check(&format!("command {}", read.digest), &read, Decision::Allow { line: 1 });
}

#[test]
fn what_contains_a_key_is_allowed_by_its_digest_alone() {
    let sent = ApprovalNeed {
        hosts: vec!["docs.example.org".into()],
        rule: Some(SecretSent),
        ..need("GET https://docs.example.org/?k=x", &[], &[])
    };
    check("host docs.example.org\ncommand GET https://docs.example.org/?k=x", &sent, NO);
    check(&format!("command {}", sent.digest), &sent, Decision::Allow { line: 1 });
    check("deny host docs.example.org", &sent, Decision::Refuse { line: Some(1) });
}

#[test]
fn commands_are_matched_exactly() {
    let text =
        "command make install\ncommand ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB";
    check(text, &need("make install", &[], &[]), Decision::Allow { line: 1 });
    check(text, &need(" make install\n", &[], &[]), Decision::Allow { line: 1 });
    check(text, &need("anything with that digest", &[], &[]), Decision::Allow { line: 2 });
    check("command cafe", &need("cafe", &[], &[]), Decision::Allow { line: 1 });
    check("command make", &need("make install", &[], &[]), NO);
    check("command make  install", &need("make install", &[], &[]), NO);
    check("command grep '#' x", &need("grep '#' x", &[], &[]), Decision::Allow { line: 1 });
    // Part of a word to a shell: another file.
    for blank in ["\u{2028}", "\u{a0}", "\u{3000}", "\r", "\u{85}", "\u{c}"] {
        check("command sh ./x.sh", &need(&format!("sh ./x.sh{blank}"), &[], &[]), NO);
        let refused = Decision::Refuse { line: Some(1) };
        check("deny command sh ./x.sh", &need(&format!("sh ./x.sh{blank}"), &[], &[]), refused);
    }
}

#[test]
fn a_command_elsewhere_is_allowed_only_by_digest() {
    let elsewhere = ApprovalNeed { cwd: Some("/project/sub".to_owned()), ..need("sh ./x.sh", &[], &[]) };
    check("command sh ./x.sh", &elsewhere, NO);
    check(&format!("command {}", elsewhere.digest), &elsewhere, Decision::Allow { line: 1 });
    check(
        &format!("command {}\ndeny command sh ./x.sh", elsewhere.digest),
        &elsewhere,
        Decision::Refuse { line: Some(2) },
    );
}

#[test]
fn deny_overrides_allow_in_any_order() {
    for text in ["path /project\ndeny path /project/.git", "deny path /project/.git\npath /project"] {
        let at = if text.starts_with("deny") { 1 } else { 2 };
        let line = Some(at);
        check(text, &need("x", &["/project/.git/config"], &[]), Decision::Refuse { line });
        // Deleting a folder also deletes the denied path below it.
        check(text, &need("x", &[], &["/project"]), Decision::Refuse { line });
        check(text, &need("x", &["/project/a", "/project/.git"], &[]), Decision::Refuse { line });
        check(text, &need("x", &["/project/.gitignore"], &[]), Decision::Allow { line: 3 - at });
    }
    let text = "command rm -r /project\ndeny path /project/keep/*.txt\ndeny command rm -rf /";
    check(text, &need("rm -r /project", &[], &["/project"]), Decision::Refuse { line: Some(2) });
    check(text, &need("x", &["/project/keep/a.txt/b"], &[]), Decision::Refuse { line: Some(2) });
    check(text, &need("rm -rf /", &[], &[]), Decision::Refuse { line: Some(3) });
}

#[test]
fn a_denied_command_is_refused_wherever_it_runs() {
    let text = "command true; make evil\n# no\ndeny command make evil\ndeny command ls | tee out\ncommand make evil x";
    let line = |command: &str, line| check(text, &need(command, &[], &[]), Decision::Refuse { line });
    for command in
        ["true; make evil", "make evil;true", "sh -c 'make \"evil\"'", "ls\nmake evil", "echo $(make evil)"]
    {
        line(command, Some(3));
    }
    // What is more than a simple command is denied to the letter.
    line("ls | tee out", Some(4));
    line("ls |  tee out", None);
    line("make evil2", None);
    check(text, &need("make evil x", &[], &[]), Decision::Allow { line: 5 });
}

#[test]
fn an_empty_file_refuses_everything() {
    check("", &need("x", &["/a"], &[]), NO);
    check("# path /\n", &need("x", &["/a"], &[]), NO);
}

#[test]
fn an_invalid_line_is_reported_with_its_number() {
    for (text, line, said) in [
        ("path a\nallow path b", 2, "understand \"allow\": a line"),
        ("path", 1, "find a path, command or host after `path`"),
        ("\n\ndeny command ", 3, "find a path, command or host after `command`"),
        ("deny", 1, "understand \"\": a line"),
        ("path $NOPE/x", 1, "find the path"),
        ("path /a/[", 1, "read the pattern"),
        ("path \"my photos\"", 1, "use a path in quotes"),
        ("deny path 'a'", 1, "use a path in quotes"),
        ("command d2e400fb53f4", 1, "use a digest of 12 digits"),
        ("host", 1, "find a path, command or host after `host`"),
        ("host https://example.org", 1, "use \"https://example.org\" as a host"),
        ("deny host example.org:443", 1, "use \"example.org:443\" as a host"),
        ("host example.*", 1, "use \"example.*\" as a host"),
        ("host *", 1, "use \"*\" as a host"),
        ("deny host *.0.0.1", 1, "use `*.` before 0.0.0.1"),
        ("deny host *.[::1]", 1, "use `*.` before [::1]"),
        ("deny path /not-there/../sub", 1, "follow `..` after"),
        ("deny path /s*/../sub", 1, "follow `..` after"),
        ("deny path secret # never", 1, "use a comment after a path"),
    ] {
        let error = ApprovalFile::parse(text, "f", &surroundings()).unwrap_err();
        assert_eq!(error.to_string(), format!("read f:{line}"), "{text:?}");
        let source = error.source().unwrap().to_string();
        assert!(source.starts_with(said), "{source}");
    }
}

/// A line that is read means something: its path has one form, and so has its host.
#[test]
fn unusual_forms_of_a_line_hold() {
    for path in
        ["secret/", "./secret", "//project//secret/.", "$PWD/secret", "~+/secret", "/usr/../project/secret"]
    {
        let line = format!("path /\ndeny path {path}");
        check(&line, &need("x", &["/project/secret/f"], &[]), Decision::Refuse { line: Some(2) });
        check(&line, &need("x", &["/project/secrets"], &[]), Decision::Allow { line: 1 });
    }
    for host in ["LOCALHOST.", "127.1", "0x7f.0.0.1", "127.0.0.1."] {
        let at = if host.starts_with('L') { "localhost" } else { "127.0.0.1" };
        let connects = ApprovalNeed { hosts: vec![at.to_owned()], ..need("GET x", &[], &[]) };
        check(&format!("deny host {host}"), &connects, Decision::Refuse { line: Some(1) });
    }
}

#[test]
fn a_denied_host_is_denied_by_its_address_too() {
    for (line, host, is_denied) in [
        ("localhost", "127.0.0.1", true),
        ("localhost", "127.9.9.9", true),
        ("localhost", "[::1]", true),
        ("localhost", "[::ffff:127.0.0.1]", true),
        ("127.0.0.1", "[::ffff:7f00:1]", true),
        ("localhost", "128.0.0.1", false),
        ("127.0.0.1", "127.0.0.2", false),
        ("*.localhost", "127.0.0.1", false),
    ] {
        let connects = ApprovalNeed { hosts: vec![host.to_owned()], ..need("GET x", &[], &[]) };
        let decision =
            if is_denied { Decision::Refuse { line: Some(1) } } else { Decision::Allow { line: 2 } };
        check(&format!("deny host {line}\nhost {host}"), &connects, decision);
    }
    // An allowing line goes by the name alone.
    let connects = ApprovalNeed { hosts: vec!["127.0.0.1".to_owned()], ..need("GET x", &[], &[]) };
    check("host localhost", &connects, NO);
}

#[test]
fn links_in_a_line_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(folder.path()).unwrap();
    std::fs::create_dir(root.join("real")).unwrap();
    symlink("real", root.join("alias")).unwrap();
    let real = root.join("real/new.txt");
    for line in [format!("path {}/alias", root.display()), format!("path {}/alias/*.txt", root.display())] {
        check(&line, &need("x", &[real.to_str().unwrap()], &[]), Decision::Allow { line: 1 });
    }
}

#[test]
fn files_over_a_limit_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("approve");
    std::fs::write(&path, "path /a\n").unwrap();
    let read = ApprovalFile::read(&path, &surroundings()).unwrap();
    let decision = read.decide(&need("x", &["/a"], &[]));
    assert_eq!(read.signature(decision), format!("file:{}:1", path.display()));
    assert_eq!(read.signature(NO), "headless");
    assert!(matches!(
        ApprovalFile::read(&folder.path().join("none"), &surroundings()),
        Err(ApprovalFileError::Read { .. })
    ));
    std::fs::write(&path, [0xff]).unwrap();
    assert!(matches!(ApprovalFile::read(&path, &surroundings()), Err(ApprovalFileError::NoText { .. })));
    std::fs::write(&path, vec![b'\n'; 1024 * 1024 + 1]).unwrap();
    assert!(matches!(ApprovalFile::read(&path, &surroundings()), Err(ApprovalFileError::TooLarge { .. })));
    std::fs::write(&path, "path a\n".repeat(APPROVAL_RULES_MAX + 1)).unwrap();
    assert!(matches!(ApprovalFile::read(&path, &surroundings()), Err(ApprovalFileError::TooMany { .. })));
}

/// A line within what another one forbids is fine; the very same is an error in the file.
#[test]
fn a_file_does_not_allow_and_forbid_the_same() {
    let read = |text: &str| super::parse::parse(text, "f", &surroundings());
    for text in [
        "path /a/b\ndeny path /a/./b/",
        "# no\ndeny host x.org\nhost X.org",
        "command make\npath /a\ndeny command make",
        "path /a/*.txt\ndeny path /a/*.txt",
    ] {
        let refused = read(text).unwrap_err();
        let ApprovalFileError::Line { source: LineError::Contradiction(other), line, .. } = &refused else {
            panic!("{text}: {refused:?}")
        };
        assert!(other < line && refused.to_string().contains("f:"), "{text}");
    }
    for text in ["path /a\ndeny path /a/b", "host x.org\ndeny host *.x.org", "path /a\npath /a"] {
        assert!(read(text).is_ok(), "{text}");
    }
}

#[test]
fn a_denied_path_matches_any_mention_in_a_command() {
    let text = "command cp x build/keep/y\ncommand python3 -c \"open('build/keep','w')\"\ncommand make build\ndeny path build/keep";
    for command in ["cp x build/keep/y", "python3 -c \"open('build/keep','w')\""] {
        check(text, &need(command, &[], &[]), Decision::Refuse { line: Some(4) });
    }
    check(text, &need("make build", &[], &[]), Decision::Allow { line: 3 });
}
