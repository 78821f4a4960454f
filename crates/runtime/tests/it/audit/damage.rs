//! What somebody changed: the journal, behind the Auditor's back or with its chains made anew, and the log.

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

#[test]
fn a_damaged_row_is_a_finding_and_ends_the_reading_there() {
    let (home, journal) = audited(2);
    (2..4).for_each(|n| task(&journal, n, false));
    journal.close().unwrap();
    let conn = rusqlite::Connection::open(home.path("journal").join("journal.db")).unwrap();
    let changed = conn
        .execute("UPDATE record SET body = CAST('{\"raw_input\":\"c0unt\"}' AS BLOB) WHERE pos = 17", [])
        .unwrap();
    assert_eq!(changed, 1);
    drop(conn);

    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    let findings = catch_up(&mut keeper);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.kind, finding.records.as_slice()), (FindingKind::JournalDamaged, [17].as_slice()));
    assert!(keeper.is_halted());
    assert_eq!(catch_up(&mut keeper), [], "said once for a place");
    assert_eq!(keeper.position(), 16, "what lies before it is read");
    let unread = look(&home.path("audit"), &journal, "q", NOW).unwrap().unread.unwrap();
    assert!(unread.contains("17"), "{unread}");
}

/// Chains and all: another journal with the same tasks, one of which says something else.
#[test]
fn a_journal_that_was_made_anew_does_not_fit_the_log() {
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
fn a_journal_that_lost_rows_is_read_from_its_beginning_and_that_is_said() {
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
    assert_eq!((fit.rows, fit.misfits.len()), (5, 0), "what the log notes of the other one is passed over");
}

#[test]
fn a_log_that_was_cut_or_changed_is_put_aside_and_that_is_said() {
    for cut in [true, false] {
        let (home, journal) = audited(3);
        let log = home.path("audit").join("log");
        let text = file(&log);
        let changed = if cut {
            text.lines().take(1).map(|line| format!("{line}\n")).collect()
        } else {
            text.replacen("\"after\":0", "\"after\":1", 1)
        };
        std::fs::write(&log, changed).unwrap();
        // Whoever opens it quickly looks at its end alone: the change in the middle is the verification's to find.
        std::fs::remove_file(home.path("audit").join("state")).unwrap();
        let seen = log::verify(&home.path("audit"), &log::Against::default()).unwrap();
        assert!(!seen.is_sound());
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        keeper.stop(NOW).unwrap();
        let kinds: Vec<FindingKind> = home.findings().iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::AuditLogDamaged], "cut: {cut}");
        home.notes_everything(&journal, 15);
        assert!(home.path("audit").join("log.aside-1").exists());
        let against = log::Against { export: Some(home.path("exported")), key: None };
        let seen = log::verify(&home.path("audit"), &against).unwrap();
        assert!(seen.is_sound(), "{:?}", seen.findings);
    }
}

/// A log that takes nothing: reading stops, and goes on where it stopped.
#[test]
fn a_log_that_cannot_be_written_loses_nothing() {
    let home = Home::new();
    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    task(&journal, 1, true);
    catch_up(&mut keeper);
    keeper.seal(NOW).unwrap();
    // Somebody else writes to the log: this one may not any more.
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
fn a_place_that_cannot_be_used_says_what_to_do() {
    let home = Home::new();
    let journal = home.journal();
    std::fs::write(home.path("audit"), "a file").unwrap();
    let error = Keeper::open(&home.place(), &journal, NOW).unwrap_err();
    assert!(!error.hint().is_empty());
    std::fs::remove_file(home.path("audit")).unwrap();
    let place = AuditPlace { key: Some(home.path("nowhere/key")), ..home.place() };
    Keeper::open(&place, &journal, NOW).unwrap_err();
    // An export that cannot be written is no reason not to audit.
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
