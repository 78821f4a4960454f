//! Changes to the journal, with or without its chains recomputed, and to the log.

use super::*;

fn audited(tasks: u64) -> (Home, Journal) {
    let home = Home::new();
    let journal = home.journal();
    (0..tasks).for_each(|n| task(&journal, n, false));
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.stop(NOW).unwrap();
    (home, journal)
}

/// Changes the journal directly in its database.
fn damage(home: &Home, journal: &Journal, sql: &str) -> Journal {
    journal.close().unwrap();
    let conn = rusqlite::Connection::open(home.path("journal").join("journal.db")).unwrap();
    assert!(conn.execute(sql, []).unwrap() > 0);
    drop(conn);
    home.journal()
}

fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|finding| finding.kind).collect()
}

const BODY_OF_17: &str = r#"UPDATE record SET body = CAST('{"raw_input":"c0unt"}' AS BLOB) WHERE pos = 17"#;

#[test]
fn a_damaged_row_is_a_finding_and_reading_continues_after_it() {
    let (home, journal) = audited(2);
    (2..4).for_each(|n| task(&journal, n, false));
    let journal = damage(&home, &journal, BODY_OF_17);
    let fit = verify_journal(&home.path("audit"), &journal).unwrap();
    assert_eq!((fit.misfits.len(), fit.not_noted), (1, 9), "what is not noted yet is looked at, too");
    assert_eq!(fit.misfits[0].entry, None);

    let mut keeper = home.keeper(&journal);
    let findings = catch_up(&mut keeper);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.kind, finding.records.as_slice()), (FindingKind::JournalDamaged, [17].as_slice()));
    assert_eq!(keeper.position(), 20);
    assert_eq!(kinds(&keeper.missed(later(9_000_000)).unwrap()), [], "its task is followed no further");
    keeper.stop(NOW).unwrap();
    let looked = look(&home.path("audit"), &journal, "q", NOW).unwrap();
    assert_eq!((looked.unread, looked.report.position), (None, 20));
    let fit = verify_journal(&home.path("audit"), &journal).unwrap();
    assert_eq!((fit.misfits.len(), fit.rows, fit.not_noted), (1, 19, 0));

    // The next process logs nothing again, whether or not the state was stored.
    for is_known in [true, false] {
        if !is_known {
            std::fs::remove_file(home.path("audit").join("auditor.json")).unwrap();
        }
        let mut keeper = home.keeper(&journal);
        task(&journal, if is_known { 5 } else { 6 }, true);
        assert_eq!(kinds(&catch_up(&mut keeper)), [ODD]);
        keeper.stop(NOW).unwrap();
    }
    assert_eq!(kinds(&home.findings()), [FindingKind::JournalDamaged, ODD, ODD]);
}

/// Rows are gone, the opening of a task among them.
#[test]
fn missing_rows_are_skipped_and_no_role_is_accused() {
    for sql in [
        "DELETE FROM record WHERE pos = 16",
        "DELETE FROM record WHERE pos BETWEEN 12 AND 18",
        "DELETE FROM record WHERE pos BETWEEN 15 AND 20",
        "UPDATE record SET kind = 'X' WHERE pos BETWEEN 11 AND 25",
    ] {
        let (home, journal) = audited(2);
        (2..6).for_each(|n| task(&journal, n, n == 5));
        let journal = damage(&home, &journal, sql);
        let mut keeper = home.keeper(&journal);
        let mut found = kinds(&catch_up(&mut keeper));
        assert_eq!(found.pop(), Some(ODD), "{sql}");
        found.dedup();
        assert_eq!(found, [FindingKind::JournalDamaged], "{sql}");
        assert_eq!(keeper.position(), 30);
        keeper.stop(NOW).unwrap();
        let fit = verify_journal(&home.path("audit"), &journal).unwrap();
        assert!(!fit.misfits.is_empty() && fit.not_noted == 0, "{sql}: {fit:?}");
    }
}

/// Rows that were damaged after the audit are reported when they must be read again.
#[test]
fn damage_to_audited_rows_is_reported_when_they_are_read_again() {
    let home = Home::new();
    let journal = home.journal();
    task_of(&journal, 1, &rows(false)[..3], false);
    (2..6).for_each(|n| task(&journal, n, false));
    let mut keeper = home.keeper(&journal);
    assert_eq!(catch_up(&mut keeper), []);
    keeper.stop(NOW).unwrap();
    // The opening of the task that continues, and of one that has ended.
    let journal = damage(&home, &journal, "UPDATE record SET kind = 'X' WHERE pos IN (1, 4)");
    std::fs::remove_file(home.path("audit").join("auditor.json")).unwrap();
    let mut keeper = home.keeper(&journal);
    let head = journal.head(TaskId::mint("count", 1).as_str()).unwrap();
    let mut submission = Submission::new(&head);
    for ((from, to, kind, body), seq) in rows(false).into_iter().zip(1..).skip(3) {
        submission.push(row(seq, from, to, kind, body)).unwrap();
    }
    submission.close(NOW.as_micros());
    journal.append(submission).unwrap();
    assert_eq!(kinds(&catch_up(&mut keeper)), [FindingKind::JournalDamaged; 2]);
    assert_eq!(keeper.position(), 25);
    keeper.stop(NOW).unwrap();
    assert_eq!(home.findings().len(), 2);
}

/// An entry needs no key. One that says that the log started again does not make a changed journal the right one.
#[test]
fn an_added_log_entry_does_not_excuse_a_changed_journal() {
    let other = Home::new();
    let theirs = other.journal();
    (0..9).for_each(|n| task(&theirs, 100 + n, false));
    theirs.close().unwrap();

    let (home, journal) = audited(3);
    journal.close().unwrap();
    std::fs::remove_dir_all(home.path("journal")).unwrap();
    std::fs::rename(other.path("journal"), home.path("journal")).unwrap();
    let forged = r#"{"entry":"begun","at":"2026-11-23T08:30:00Z","version":"0.1.0","after":0}"#;
    chain_on(&home.path("audit").join("log"), forged);
    let journal = home.journal();
    let is_sound = || verify_journal(&home.path("audit"), &journal).unwrap().misfits.is_empty();
    assert!(!is_sound());
    let mut keeper = home.keeper(&journal);
    assert_eq!(catch_up(&mut keeper), []);
    keeper.stop(NOW).unwrap();
    assert_eq!(kinds(&home.findings()), [FindingKind::JournalLoss]);
    assert!(!is_sound(), "nor once the Auditor has gone on");
    let against = log::TrustAnchors { export: Some(home.path("exported")), key: None };
    assert!(log::verify(&home.path("audit"), &against).unwrap().is_sound(), "the log itself is whole");
}

fn chain_on(log: &Path, json: &str) {
    let text = file(log);
    let mut last = text.lines().last().unwrap().splitn(3, ' ');
    let seq = last.next().unwrap().parse::<u64>().unwrap() + 1;
    let before = blake3::Hash::from_hex(last.next().unwrap()).unwrap();
    let mut bytes = vec![0];
    bytes.extend_from_slice(&seq.to_le_bytes());
    bytes.extend_from_slice(before.as_bytes());
    bytes.extend_from_slice(json.as_bytes());
    std::fs::write(log, format!("{text}{seq} {} {json}\n", blake3::hash(&bytes).to_hex())).unwrap();
}

/// Another journal, as long as the audited one or longer.
#[test]
fn a_journal_that_was_replaced_is_noticed_at_once() {
    for tasks in [3, 4, 40] {
        let (home, journal) = audited(3);
        journal.close().unwrap();
        std::fs::remove_dir_all(home.path("journal")).unwrap();
        let journal = home.journal();
        (0..tasks).for_each(|n| task(&journal, 50 + n, false));
        assert_eq!(seen(&home, &journal).lifetime.tasks, tasks, "whoever looks sees this one alone");
        let mut keeper = home.keeper(&journal);
        assert_eq!(catch_up(&mut keeper), []);
        assert_eq!(told(keeper.report("q", NOW)).lifetime.tasks, tasks);
        keeper.stop(NOW).unwrap();
        assert_eq!(kinds(&home.findings()), [FindingKind::JournalLoss], "{tasks}");
        let fit = verify_journal(&home.path("audit"), &journal).unwrap();
        assert!(!fit.misfits.is_empty() && fit.rows == tasks * 5 && fit.not_noted == 0, "{fit:?}");
        let mut keeper = home.keeper(&journal);
        assert_eq!(catch_up(&mut keeper), [], "once");
        keeper.stop(NOW).unwrap();
        assert_eq!(home.findings().len(), 1);
    }
}

/// A task that was read is gone from the journal; the rest is there.
#[test]
fn a_missing_task_does_not_stop_the_search_for_others() {
    let home = Home::new();
    let journal = home.journal();
    task_of(&journal, 1, &rows(false)[..3], false);
    task_of(&journal, 2, &rows(false)[..3], true);
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.stop(NOW).unwrap();
    let journal = damage(&home, &journal, "UPDATE task SET id = 'gone-0000000000000009' WHERE tid = 1");
    let mut keeper = home.keeper(&journal);
    let found = keeper.missed(later(30_000)).unwrap();
    assert_eq!(kinds(&found), [FindingKind::JournalLoss, FindingKind::FinalResult]);
    assert_eq!(keeper.missed(later(60_000)).unwrap(), []);
}

/// The process is killed before it has stored its state.
#[test]
fn the_state_of_another_journal_is_not_used() {
    let home = Home::new();
    let mut journal = home.journal();
    (0..6).for_each(|n| task(&journal, n, false));
    task_of(&journal, 99, &rows(false)[..3], false);
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.stop(NOW).unwrap();
    for round in 1..=2 {
        journal.close().unwrap();
        std::fs::remove_dir_all(home.path("journal")).unwrap();
        journal = home.journal();
        (0..40).for_each(|n| task(&journal, 100 * round + n, n < 3));
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        let expected = told(keeper.report("q", NOW));
        let counted: Vec<_> =
            expected.lifetime.findings.iter().map(|counted| (counted.kind, counted.count)).collect();
        assert_eq!(counted, [(ODD, 3), (FindingKind::JournalLoss, 1)]);
        assert_eq!(seen(&home, &journal), expected, "whoever only looks");
        drop(keeper);
        let mut keeper = home.keeper(&journal);
        assert_eq!(catch_up(&mut keeper), []);
        assert_eq!(keeper.missed(later(30_000)).unwrap(), []);
        assert_eq!(told(keeper.report("q", NOW)), expected);
    }
    let losses = home.findings().iter().filter(|finding| finding.kind == FindingKind::JournalLoss).count();
    assert_eq!(losses, 2, "each is said, in the same words");
}

/// Killed after the log was put aside, before the first entry of the new one.
#[test]
fn the_next_process_reports_a_log_that_was_put_aside() {
    let (home, journal) = audited(6);
    let log = home.path("audit").join("log");
    std::fs::write(&log, file(&log).replacen("stopped", "stapped", 1)).unwrap();
    drop(home.keeper(&journal));
    assert_eq!(home.findings(), []);
    for _ in 0..2 {
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        keeper.stop(NOW).unwrap();
        assert_eq!(kinds(&home.findings()), [FindingKind::AuditLogDamaged]);
    }
    // Or before the mark of the new one.
    for name in ["log", "checkpoints", "auditor.json"] {
        drop(std::fs::remove_file(home.path("audit").join(name)));
    }
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.stop(NOW).unwrap();
    assert_eq!(kinds(&home.findings()), [FindingKind::AuditLogDamaged]);
}

/// From the first look on something is signed: `verify` with the right key finds nothing wrong.
#[test]
fn a_log_that_was_just_begun_is_signed() {
    let home = Home::new();
    let journal = home.journal();
    task(&journal, 1, false);
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.tick(NOW).unwrap();
    let against = |key| log::TrustAnchors { key, ..log::TrustAnchors::default() };
    let alone = log::verify(&home.path("audit"), &against(None)).unwrap();
    let with_key = log::verify(&home.path("audit"), &against(alone.key)).unwrap();
    assert!(alone.key.is_some() && with_key.is_sound(), "{:?}", with_key.findings);
}

/// Another journal with recomputed chains and the same tasks, one of which differs.
#[test]
fn a_journal_with_recomputed_chains_does_not_fit_the_log() {
    let (home, journal) = audited(40);
    journal.close().unwrap();
    std::fs::remove_dir_all(home.path("journal")).unwrap();
    let forged = home.journal();
    for n in 0..40 {
        let mut rows = rows(false);
        if n == 25 {
            rows[1].3 = r#"{"raw_input":"coUnt"}"#;
        }
        task_of(&forged, n, &rows, true);
    }
    forged.verify_task(TaskId::mint("count", 25).as_str()).unwrap();
    let fit = verify_journal(&home.path("audit"), &forged).unwrap();
    let [misfit] = fit.misfits.as_slice() else { panic!("{fit:?}") };
    assert!(misfit.after < 127 && 127 <= misfit.to, "{misfit:?}");
    assert!(misfit.to - misfit.after <= 64);
}

#[test]
fn a_journal_that_lost_rows_is_audited_from_its_first_row() {
    let (home, journal) = audited(3);
    journal.close().unwrap();
    std::fs::remove_dir_all(home.path("journal")).unwrap();
    let journal = home.journal();
    task(&journal, 7, true);
    let fit = verify_journal(&home.path("audit"), &journal).unwrap();
    assert!(!fit.misfits.is_empty());

    let mut keeper = home.keeper(&journal);
    assert_eq!(catch_up(&mut keeper).len(), 1);
    let kinds: Vec<FindingKind> = home.findings().iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::JournalLoss, ODD]);
    assert_eq!(told(keeper.report("q", NOW)).lifetime.tasks, 1, "what it knew was of another journal");
    keeper.stop(NOW).unwrap();
    let fit = verify_journal(&home.path("audit"), &journal).unwrap();
    assert_eq!((fit.rows, fit.not_noted), (5, 0));
    assert!(!fit.misfits.is_empty(), "the rows of the other one are not there, and that stays so");
}

#[test]
fn a_cut_or_changed_log_is_put_aside_and_reported() {
    for cut in [true, false] {
        let (home, journal) = audited(3);
        let log = home.path("audit").join("log");
        let text = file(&log);
        let changed = if cut {
            text.lines().take(1).map(|line| format!("{line}\n")).collect()
        } else {
            // Opening reads on from the newest checkpoint: a change before it is found by the verification.
            let (before, last) = text.rsplit_once("\"digest\":\"").unwrap();
            format!("{before}\"digest\":\"0{last}")
        };
        std::fs::write(&log, changed).unwrap();
        let seen = log::verify(&home.path("audit"), &log::TrustAnchors::default()).unwrap();
        assert!(!seen.is_sound());
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        keeper.stop(NOW).unwrap();
        let kinds: Vec<FindingKind> = home.findings().iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::AuditLogDamaged], "cut: {cut}");
        home.notes_everything(&journal, 15);
        assert!(home.path("audit").join("log.aside-1").exists());
        let against = log::TrustAnchors { export: Some(home.path("exported")), key: None };
        let seen = log::verify(&home.path("audit"), &against).unwrap();
        assert!(seen.is_sound(), "{:?}", seen.findings);
    }
}

/// While the log takes no entries, reading stops; then it continues where it stopped.
#[test]
fn a_log_that_cannot_be_written_loses_nothing() {
    let home = Home::new();
    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    task(&journal, 1, true);
    catch_up(&mut keeper);
    keeper.seal(NOW).unwrap();
    // Another process writes to the log, so this one may not.
    let log = home.path("audit").join("log");
    let whole = file(&log);
    std::fs::write(&log, format!("{whole}x")).unwrap();
    task(&journal, 2, true);
    keeper.catch_up(100, NOW).unwrap_err();
    keeper.catch_up(100, NOW).unwrap_err();
    drop(keeper);
    std::fs::write(&log, whole).unwrap();
    let mut keeper = home.keeper(&journal);
    assert_eq!(catch_up(&mut keeper).len(), 1);
    keeper.stop(NOW).unwrap();
    assert_eq!(home.findings().len(), 2);
    home.notes_everything(&journal, 10);
}

#[test]
fn a_place_that_cannot_be_used_is_named() {
    let home = Home::new();
    let journal = home.journal();
    std::fs::write(home.path("audit"), "a file").unwrap();
    let error = Keeper::open(&home.place(), &journal, NOW).unwrap_err();
    assert!(matches!(error, setpoint_audit::AuditFailure::Log(log::LogError::Io { .. })), "{error}");
    std::fs::remove_file(home.path("audit")).unwrap();
    let place = AuditPlace { key: Some(home.path("nowhere/key")), ..home.place() };
    Keeper::open(&place, &journal, NOW).unwrap_err();
    // Auditing continues if an export cannot be written.
    let place = AuditPlace { export: Some(home.path("nowhere/exported")), ..home.place() };
    task(&journal, 1, true);
    let mut keeper = Keeper::open(&place, &journal, NOW).unwrap().unwrap();
    assert_eq!(catch_up(&mut keeper).len(), 1);
    keeper.stop(NOW).unwrap();
    // The next checkpoint brings what is missing.
    std::fs::create_dir(home.path("nowhere")).unwrap();
    task(&journal, 2, false);
    let mut keeper = Keeper::open(&place, &journal, NOW).unwrap().unwrap();
    catch_up(&mut keeper);
    keeper.stop(NOW).unwrap();
    assert_eq!(file(&home.path("nowhere/exported")), file(&home.path("audit/checkpoints")));
}

/// A changed line in the middle of the log is found by the verification, and does not stop auditing.
#[test]
fn a_changed_line_in_the_middle_does_not_stop_auditing() {
    let (home, journal) = audited(60);
    let log = home.path("audit").join("log");
    // Its first line cannot be parsed.
    std::fs::write(&log, file(&log).replacen("1 ", "x ", 1)).unwrap();
    std::fs::remove_file(home.path("audit").join("auditor.json")).unwrap();
    task(&journal, 100, true);
    let mut keeper = home.keeper(&journal);
    assert_eq!(kinds(&catch_up(&mut keeper)), [ODD]);
    keeper.stop(NOW).unwrap();
    assert_eq!(seen(&home, &journal).lifetime.tasks, 61);
    assert!(!log::verify(&home.path("audit"), &log::TrustAnchors::default()).unwrap().is_sound());
}

/// The end of the log is sound, but an entry that is needed lies before it.
#[test]
fn damage_to_a_needed_log_line_is_not_blamed_on_the_journal() {
    for (old, new) in
        [("\"entry\":\"report\"", "\"entry\":\"rep\u{7f}rt\""), ("\"digest\":\"", "\"digest\":\"0")]
    {
        let home = Home::new();
        let journal = home.journal();
        (0..3).for_each(|n| task(&journal, n, n == 1));
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        assert!(keeper.tick(later(300_000)).unwrap().1.is_some());
        keeper.stop(later(300_001)).unwrap();
        let log = home.path("audit").join("log");
        let text = file(&log);
        let (before, after) = text.rsplit_once(old).unwrap();
        // The same number of bytes, or the end would not be where the checkpoint says.
        let (_, after) = after.split_at(new.len() - old.len());
        let changed = format!("{before}{new}{after}");
        assert_eq!((changed.len(), changed != text), (text.len(), true));
        std::fs::write(&log, changed).unwrap();
        let mut keeper = home.keeper(&journal);
        assert_eq!(kinds(&catch_up(&mut keeper)), [ODD]);
        keeper.stop(NOW).unwrap();
        assert_eq!(kinds(&home.findings()), [FindingKind::AuditLogDamaged, ODD], "{old}");
        assert_eq!(setpoint_audit::put_aside(&home.path("audit")).unwrap().len(), 1);
        home.notes_everything(&journal, 15);
    }
}
