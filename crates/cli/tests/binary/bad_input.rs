//! A person's mistakes: configuration, approvals, playbooks. Each is reported with what to do about it, before
//! anything is written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::task::{GOAL, Trial};
use crate::support::{Came, Home};

/// Asserts a usage or configuration error: reported on stderr with a hint, nothing on stdout, nothing
/// written.
fn assert_refused(home: &Home, came: &Came, said: &[&str]) {
    assert_eq!((came.code, came.out.as_str()), (2, ""), "{came:#?}");
    assert!(came.err.starts_with("error: ") && came.err.contains("\nhint: "), "{came:#?}");
    // Each cause continues one sentence, so "failed to" occurs only once.
    assert!(came.err.matches("failed to").count() <= 1, "{came:#?}");
    for part in said {
        assert!(came.err.contains(part), "{part:?} is not in {came:#?}");
    }
    assert!(!came.err.contains('\u{1b}'), "{came:#?}");
    assert!(!home.data().exists(), "{came:#?}");
}

#[test]
fn a_value_that_cannot_be_used_is_named_with_key_file_and_line() {
    for (content, line, key, said) in [
        ("[controller]\nalpha = 1\nrho = 2.5\n", 3, "controller.rho", "from 0 to"),
        ("[controller]\ndelta = \"near\"\n", 2, "controller.delta", "a finite number"),
        ("[controller]\nmax_replans = 0\n", 2, "controller.max_replans", "from 1 to"),
        ("[controller]\nmax_replans = -1\n", 2, "controller.max_replans", "a whole number"),
        ("[controller]\nlaw = \"murphy\"\n", 2, "controller.law", "reference"),
        ("[controller]\ntime_budget_ms = \"soon\"\n", 2, "controller.time_budget_ms", "milliseconds"),
        ("[controller]\nurgency = \"much\"\n", 2, "controller.urgency", "one of words, sets"),
        ("\n\n[controller]\ndetla = 1\n", 4, "controller.detla", "did you mean `controller.delta`?"),
        ("delta = 1\n", 1, "delta", "did you mean `controller.delta`?"),
        ("[run]\npreview_plan = 1\n", 2, "run.preview_plan", "true or false"),
        ("[budgets]\ncalls = 1.5\n", 2, "budgets.calls", "a whole number"),
        ("controller = 7\n", 1, "controller", "there is no key"),
    ] {
        let home = Home::new();
        // In the user's configuration and in the project's.
        for path in [home.config().join("setpoint.toml"), home.work().join("setpoint.toml")] {
            fs::write(&path, content).unwrap();
            let place = format!("{}:{line}", path.canonicalize().unwrap().display());
            let short = format!("{}:{line}", path.display());
            let came = home.run(&["run", GOAL]);
            assert_refused(&home, &came, &[&format!("`{key}`"), said]);
            assert!(came.err.contains(&place) || came.err.contains(&short), "{place}: {came:#?}");
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn an_invalid_configuration() {
    type Make = fn(&Path);
    let files: [(Make, &str); 6] = [
        (|path| fs::write(path, "[controller\ndelta = 1").unwrap(), "setpoint.toml:1: "),
        (|path| fs::write(path, b"# fine\nlaw = \"\xff\"\n").unwrap(), "setpoint.toml:2: it is not UTF-8"),
        (
            |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            "it is a pipe, and only regular files are used",
        ),
        (|path| fs::create_dir(path).unwrap(), "directory"),
        (|path| symlink(path, path).unwrap(), "symbolic links"),
        (|path| fs::write(path, vec![b'#'; (1 << 20) + 1]).unwrap(), "1048576"),
    ];
    for (make, said) in files {
        let home = Home::new();
        let path = home.config().join("setpoint.toml");
        make(&path);
        for line in [&["run", GOAL][..], &["doctor"], &["config"]] {
            assert_refused(&home, &home.run(line), &["setpoint.toml", said]);
        }
    }
}

#[test]
fn an_invalid_approval_file() {
    let home = Home::new();
    Trial::new().reads("there.txt", "1").write(&home);
    let text = |content: &[u8]| home.file("consent", content).to_str().unwrap().to_owned();
    for (file, said) in [
        (home.work().join("gone").to_str().unwrap().to_owned(), "gone"),
        (home.work().to_str().unwrap().to_owned(), "directory"),
        (text(b"path .\n\n# a comment\nallow everything\n"), "consent:4"),
    ] {
        let came = home.run(&["run", "--approve", &file, GOAL]);
        assert_refused(&home, &came, &["failed to read", said]);
    }
    for (content, said) in
        [(&b"command\n"[..], "consent:1"), (b"path a\npath [\n", "consent:2"), (b"path \xff\n", "UTF-8")]
    {
        let came = home.run(&["run", "--approve", &text(content), GOAL]);
        assert_refused(&home, &came, &["failed to read", said]);
    }
}

/// A broken playbook is reported and left out; the others work.
#[test]
fn a_broken_playbook_does_not_stop_the_others() {
    let home = Home::new();
    Trial::new().reads("there.txt", "1").write(&home);
    home.playbook("broken", "name = \"broken\"\n[[approach]\n");
    fs::write(home.playbooks().join("bytes.toml"), b"name = \"\xff\"").unwrap();
    fs::create_dir(home.playbooks().join("folder.toml")).unwrap();
    let came = home.run(&["playbooks", "check"]);
    assert_eq!(came.code, 2, "{came:#?}");
    for part in ["broken.toml:2: ", "bytes.toml: ", "folder.toml: "] {
        assert!(came.out.contains(part), "{part}: {came:#?}");
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    assert!(doctor.out.contains("3 of them cannot be used"), "{doctor:#?}");
    assert_eq!(home.run(&["run", GOAL]).code, 0);
}
