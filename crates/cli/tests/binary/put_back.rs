//! An older journal that was restored: approved effects since then are not repeated unless a person says so.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};

use crate::support::held::{self, Held};
use crate::support::{Came, Home, shell};

/// What the command writes when the test lets it go on; it waits for nothing else.
const WORD: &[u8] = b"word\n";

/// A task that has ended, and a journal from before its end.
struct PutBack {
    held: Held,
    task: String,
    _reader: File,
}

impl PutBack {
    fn new() -> Self {
        let held = Held::new(held::COMMAND);
        let mut killed = held.home.command(&["run", held::GOAL, "--approve", "approve"]).spawn().unwrap();
        let mut alive = held.running();
        killed.kill().unwrap();
        killed.wait().unwrap();
        // At the end of the pipe, no process of the command is left.
        alive.read_to_string(&mut String::new()).unwrap();
        // The command writes to this pipe first, which waits for a reader.
        let reader =
            File::options().read(true).write(true).open(held.home.work().join("here/alive")).unwrap();
        shell(&held.home.data(), "cp -a journal older");
        let listed = held.home.run(&["tasks", "list", "--json"]).json();
        let task = listed[0]["task_id"].as_str().unwrap().to_owned();
        let mut world = PutBack { held, task, _reader: reader };
        world.held.go.write_all(WORD).unwrap();
        // Force has no effect on a current journal.
        let resumed = world.held.home.run(&["tasks", "resume", "--force", "--approve", "approve"]);
        assert_eq!((resumed.code, world.held.written().as_str()), (0, "word\n"), "{resumed:#?}");
        let log = fs::read_to_string(world.held.home.data().join("audit/log")).unwrap();
        assert!(!log.contains("forced"), "{log}");
        shell(&world.held.home.data(), "rm -r journal && mv older journal");
        world
    }

    /// Resumes the task.
    fn resume(&mut self, options: &[&str]) -> Came {
        let line = [&["tasks", "resume", &self.task, "--approve", "approve"], options].concat();
        self.held.home.run(&line)
    }
}

#[test]
fn process_an_older_journal_is_not_resumed_without_force() {
    let mut world = PutBack::new();
    let written = world.held.written();
    let home = &world.held.home;
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    assert!(
        doctor.out.contains("an older journal was restored: the audit log notes rows up to"),
        "{doctor:#?}"
    );
    let listed = home.run(&["tasks", "list"]);
    assert!(listed.code == 0 && listed.err.contains("warning: an older journal was restored"), "{listed:#?}");
    // On the first look the Auditor notices it and begins another log; the refusal stays.
    for _ in 0..2 {
        let refused = world.resume(&[]);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:#?}");
        assert!(
            refused.err.contains("would repeat what it did") && refused.err.contains("--force"),
            "{refused:#?}"
        );
        let all = world.held.home.run(&["tasks", "resume", "--approve", "approve"]);
        assert_eq!(all.code, 2, "{all:#?}");
    }
    assert_eq!(world.held.written(), written, "nothing was done again");
    let home = &world.held.home;
    assert_eq!(home.run(&["doctor"]).code, 1);
    assert!(home.run(&["tasks", "list"]).err.contains("warning: an older journal"));
    // The task itself finds out whether the command must run again: it looks first.
    world.held.go.write_all(WORD).unwrap();
    let forced = world.resume(&["--force"]);
    assert_eq!(forced.code, 0, "{forced:#?}");
    let home = &world.held.home;
    let log = fs::read_to_string(home.data().join("audit/log")).unwrap();
    assert!(log.contains(r#""entry":"forced""#) && log.contains(&world.task), "{log}");
    // No task is left that it concerns.
    assert_eq!(home.run(&["tasks", "list"]).err, "");
    assert_eq!(home.run(&["doctor"]).code, 0);
}

/// Without an audit log nothing tells that the journal is an older one. A run that notices it says so once.
#[test]
fn process_an_older_journal_without_audit_log_is_resumed() {
    let mut world = PutBack::new();
    let count = |world: &PutBack| {
        let came = world.held.home.run(&["run", "count the lines of code in . by language"]);
        assert_eq!(came.code, 0, "{came:#?}");
        came.err.contains("warning: the journal is not the one that was audited before (")
    };
    assert_eq!([count(&world), count(&world)], [true, false]);
    fs::remove_dir_all(world.held.home.data().join("audit")).unwrap();
    assert_eq!(world.held.home.run(&["tasks", "list"]).err, "");
    world.held.go.write_all(WORD).unwrap();
    let resumed = world.resume(&[]);
    assert_eq!(resumed.code, 0, "{resumed:#?}");
}

#[test]
fn process_an_emptied_journal_is_noticed() {
    let home = Home::new();
    fs::write(home.work().join("a.txt"), "1\n2\n").unwrap();
    let ran = home.run(&["run", "how many lines has a.txt"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let says = |after: &str, what: &str| {
        shell(&home.data(), after);
        let doctor = home.run(&["doctor"]);
        assert!(doctor.code == 1 && doctor.out.contains(what), "{doctor:#?}");
    };
    says("rm journal/*", "the journal was emptied: the audit log notes rows up to");
    says("rm -r journal", "it is gone: there is an audit log of one");
}

#[test]
fn process_an_audit_log_that_was_cut_stays_a_failure() {
    let home = Home::new();
    fs::write(home.work().join("a.txt"), "1\n2\n").unwrap();
    let ran = home.run(&["run", "how many lines has a.txt"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    shell(&home.data(), "head -n 2 audit/log > cut && mv cut audit/log");
    assert_eq!(home.run(&["audit", "report"]).code, 0);
    let doctor = home.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.out.contains("an earlier log was damaged"), "{doctor:#?}");
    shell(&home.data(), "rm audit/log.aside-1");
    assert_eq!(home.run(&["doctor"]).code, 0);
}
