//! Memory, instructions, audit logs and exported tasks that cannot be used, and the reports about them.

use std::fs;
use std::process::Command;

use setpoint_audit::view::{FindingFilter, VerifyOptions};
use setpoint_protocol::message::{AuditQuery, Availability, EndState, FindingKind, MemoryReply};
use setpoint_protocol::topology::Payload;

use super::super::*;
use crate::desk;
use crate::error::{Error, ErrorKind};
use crate::operator::audit::{Audit as _, OperatorAudit};
use crate::testing::{Home, options};

/// Returns a home with a file to find.
fn home() -> Home {
    let home = Home::new();
    fs::create_dir(home.work().join("in")).unwrap();
    fs::write(home.work().join("in/a"), "one").unwrap();
    home
}

fn program(home: &Home, set: &[(&str, &str)]) -> Program {
    home.program(&options(None, set), &[]).unwrap()
}

/// Runs a task that must be accepted, and returns what memory gave to its plan.
async fn run(home: &Home, set: &[(&str, &str)]) -> MemoryReply {
    let program = program(home, set);
    let organisation = program.open().unwrap();
    let goal = "find the three largest files under ./in".to_owned();
    let task = organisation.start(program.new_task(goal, false, None).unwrap()).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!(result.directive, EndState::Accept, "{result:?}");
    let records = organisation.records(&task).unwrap();
    organisation.shutdown().await;
    let reply = records.iter().find_map(|record| match record.message()? {
        Payload::MemoryReply(reply) => Some(reply),
        _ => None,
    });
    reply.unwrap()
}

/// A store of a newer version, and a file in place of the folder.
#[tokio::test(flavor = "multi_thread")]
async fn unusable_memory_is_left_alone_and_named_as_the_reason() {
    let home = home();
    run(&home, &[]).await;
    let (folder, store) = (home.data().join("memory"), home.data().join("memory/memory.db"));
    rusqlite::Connection::open(&store).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&store).unwrap();
    let unusable = async |what: &str| {
        let reply = run(&home, &[]).await;
        assert_eq!(reply.availability, Availability::Unavailable);
        let reason = reply.reason.unwrap();
        assert!(reason.starts_with("failed to ") && reason.contains(what), "{reason}");
        let error = Error::from(program(&home, &[]).open_memory(false).unwrap_err());
        assert!(error.message.contains(what), "{error:?}");
        let found = desk::examine(&program(&home, &[]));
        let memory = found.into_iter().find(|one| one.subject == "memory").unwrap();
        assert!(memory.state == desk::Health::Bad && memory.finding.contains(what), "{memory:?}");
        error.hints
    };
    assert_ne!(unusable("format 99").await.len(), 0);
    assert_eq!(fs::read(&store).unwrap(), before);
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "no folder").unwrap();
    unusable("memory").await;
    // After the repair, it knows what happened meanwhile.
    fs::remove_file(&folder).unwrap();
    let memory = program(&home, &[]).open_memory(false).unwrap().unwrap();
    memory.catch_up().unwrap();
    assert!(memory.store().stats().unwrap().records >= 3);
}

#[test]
fn the_principles_file_is_used_or_the_task_is_refused() {
    let home = home();
    let path = home.config().join("thinking.md");
    let opened = || program(&home, &[]).new_task("x".to_owned(), false, None).map(|new| new.opened.thinking);
    let refusal = || Error::from(opened().unwrap_err()).message;
    fs::write(&path, "Never touch /etc.\n").unwrap();
    assert_eq!(opened().unwrap(), ["Never touch /etc."]);
    fs::write(&path, "law ".repeat(3_000)).unwrap();
    assert!(refusal().contains("thinking.md: it has 11999 characters, and at most 8000"), "{}", refusal());
    // A pipe or an endless file is not read.
    for make in ["mkfifo", "ln -s /dev/zero"] {
        fs::remove_file(&path).unwrap();
        let made = Command::new("sh").arg("-c").arg(format!("{make} {}", path.display())).status();
        assert!(made.unwrap().success());
        let told = refusal();
        assert!(told.contains("thinking.md: it is a ") && told.contains("only regular files"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_or_damaged_audit_log_is_reported_until_repaired() {
    let home = home();
    let exported = home.root().join("exported");
    let set = [("audit.follow", "false"), ("audit.checkpoints", exported.to_str().unwrap())];
    run(&home, &set).await;
    let (place, log) = (home.data().join("audit"), home.data().join("audit/log"));
    assert!(!place.exists());
    let audit = OperatorAudit::new(program(&home, &set));
    let report = async || audit.report(&AuditQuery { query_id: "q".to_owned() }).await.unwrap();
    let verify = async |log_only| {
        let checkpoints = Some(exported.clone());
        audit.verify(&VerifyOptions { checkpoints, log_only, ..VerifyOptions::default() }).await.unwrap()
    };
    let damages = async || {
        let kind = Some(FindingKind::AuditLogDamaged);
        let filter = FindingFilter { kind, task: None, role: None, severity: None, since: None, limit: 9 };
        audit.findings(&filter).await.unwrap().len()
    };
    // What was switched off catches up when it is asked, and reports even if it cannot write.
    fs::create_dir_all(place.join("auditor.json.part")).unwrap();
    let first = report().await;
    assert!(first.report.lifetime.tasks == 1 && first.unwritten.is_some(), "{first:#?}");
    assert_eq!(damages().await, 0);
    fs::remove_dir(place.join("auditor.json.part")).unwrap();
    assert_eq!(report().await.unwritten, None);
    assert!(verify(false).await.is_sound);

    // Another log is begun after a damaged one, which stays a failure until a person has moved it away.
    let whole = fs::read_to_string(&log).unwrap();
    fs::write(&log, whole.replacen("\"rows\"", "\"rOws\"", 1)).unwrap();
    let seen = verify(false).await;
    assert!(!seen.is_sound && seen.log.concat().contains("line"), "{seen:#?}");
    report().await;
    let seen = verify(false).await;
    let aside = "log.aside-1 is a damaged log that was set aside";
    assert!(!seen.is_sound && seen.log.concat().contains(aside), "{seen:#?}");
    assert_eq!(damages().await, 1);
    fs::rename(place.join("log.aside-1"), home.root().join("log.aside-1")).unwrap();
    assert!(verify(false).await.is_sound);

    fs::rename(home.data().join("journal"), home.root().join("journal")).unwrap();
    let seen = verify(false).await;
    assert!(!seen.is_sound && seen.log.is_empty(), "{seen:#?}");
    assert!(seen.journal.concat().contains("0 of "), "{seen:#?}");
    assert!(verify(true).await.is_sound);
    assert_eq!(damages().await, 1);
    let unread = report().await.unread;
    assert!(unread.as_ref().is_some_and(|why| why.contains("its journal is missing")), "{unread:?}");
    fs::rename(home.root().join("journal"), home.data().join("journal")).unwrap();
    assert!(verify(false).await.is_sound);

    // A new log under another key looks sound by itself.
    fs::remove_dir_all(&place).unwrap();
    report().await;
    let itself = audit.verify(&VerifyOptions::default()).await.unwrap();
    assert!(itself.is_sound && !verify(false).await.is_sound);
}

/// Every kind of change is refused with the line and the record.
#[tokio::test]
async fn a_changed_exported_task_is_refused_with_its_place() {
    const EXPORTED: &str = include_str!("../../../../cli/tests/net/tasks/accepted-in-four-rounds.jsonl");
    let home = home();
    let file = home.work().join("task.jsonl");
    let refused = |changed: &str| {
        assert_ne!(changed, EXPORTED);
        fs::write(&file, changed).unwrap();
        let error = Error::from(program(&home, &[]).open_exported(&file).map(drop).unwrap_err());
        assert!(error.kind == ErrorKind::Usage && !error.hints.is_empty(), "{error:?}");
        format!("{}\n{}", error.message, error.hints.concat())
    };
    fs::write(&file, EXPORTED).unwrap();
    program(&home, &[]).open_exported(&file).unwrap();
    let (line, directive) =
        (1..).zip(EXPORTED.lines()).find(|(_, line)| line.contains("setpoint.PlanDirective")).unwrap();
    let seq = serde_json::from_str::<serde_json::Value>(directive).unwrap()["seq"].clone();
    let place = format!("read line {line}, record {seq}: ");
    for (from, to) in [
        ("change_path", "change_patH"),
        ("\"cause\":", "\"cause\":1"),
        ("\"clockms\":\"", "\"clockms\":\"1"),
        ("\"slug\":\"t", "\"slug\":\"T"),
    ] {
        let told = refused(&EXPORTED.replacen(directive, &directive.replacen(from, to, 1), 1));
        assert!(told.contains(&place) && told.contains("changed after it was written"), "{from}: {told}");
    }
    let (cut, _) = EXPORTED.trim_end().rsplit_once('\n').unwrap();
    assert!(refused(&format!("{cut}\n")).contains("read the file to its end: its first line says "));
    assert!(refused(EXPORTED.trim_end()).contains("it is cut off"));
    let newer = EXPORTED.replacen("\"version\":1", "\"version\":9", 1);
    assert!(refused(&newer).contains("written by a newer setpoint"));
    assert!(refused("{}\n").contains("it is not the start of an exported task"));
}
