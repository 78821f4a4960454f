//! Where auditing continues: after a stop, a crash, a lost file, another process, and a full disk.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn it_notes_every_row_once_and_says_every_finding_once() {
    let home = Home::new();
    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    for n in 0..20 {
        task(&journal, n, n % 5 == 0);
    }
    let findings = catch_up(&mut keeper);
    assert_eq!(findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [ODD; 4]);
    assert_eq!(home.findings(), findings);
    let report = told(keeper.report("q", NOW));
    assert_eq!((report.lifetime.tasks, report.lifetime.records, report.position), (20, 100, 100));
    keeper.stop(NOW).unwrap();
    home.notes_everything(&journal, 100);
    for file in std::fs::read_dir(home.path("audit")).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "nobody else's");
    }
    // A process that only asks gets the same report.
    assert_eq!(seen(&home, &journal), report);
    // The next process has nothing to add, and writes nothing.
    let before = home.entries().len();
    let mut keeper = home.keeper(&journal);
    assert_eq!(catch_up(&mut keeper), []);
    assert_eq!(told(keeper.report("q", NOW)), report);
    keeper.stop(NOW).unwrap();
    assert_eq!(home.entries().len(), before);
}

/// A killed process leaves the log at any point, and its state stored at some time before, or never.
#[test]
fn the_next_process_after_a_crash_finds_and_logs_the_same() {
    let calm = Home::new();
    let journal = calm.journal();
    let mut keeper = calm.keeper(&journal);
    let tasks = 24;
    (0..tasks).for_each(|n| task(&journal, n, n % 5 == 0));
    catch_up(&mut keeper);
    let expected = told(keeper.report("q", NOW));
    let said = calm.findings();

    for step in [1, 3, 8] {
        let home = Home::new();
        let journal = home.journal();
        for n in 0..tasks {
            task(&journal, n, n % 5 == 0);
            let mut keeper = home.keeper(&journal);
            let _ = keeper.catch_up(step, NOW).unwrap();
            if n % 4 == 1 {
                keeper.seal(NOW).unwrap();
            }
            // The process ends without a last entry.
        }
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        assert_eq!(told(keeper.report("q", NOW)), expected, "{step} rows at a time");
        assert_eq!(home.findings(), said);
        keeper.stop(NOW).unwrap();
        home.notes_everything(&journal, tasks * 5);
    }
}

#[test]
fn a_lost_damaged_or_foreign_state_is_rebuilt() {
    let home = Home::new();
    let journal = home.journal();
    (0..10).for_each(|n| task(&journal, n, n == 3));
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    let expected = told(keeper.report("q", NOW));
    keeper.stop(NOW).unwrap();
    let path = home.path("audit").join("auditor.json");
    // A process that was killed while it wrote left a part.
    std::fs::write(home.path("audit").join("auditor.json.part"), "{").unwrap();
    let kept = file(&path);
    let other_mark = kept.replacen("\"seq\":", "\"seq\":1", 1);
    let other_version = kept.replacen(env!("CARGO_PKG_VERSION"), "0.0.0", 1);
    // An attacker with access to the directory can change the stored state, but the log notes its digest.
    let edited = kept.replacen("\"tasks\":10", "\"tasks\":11", 1);
    let all = [other_mark, other_version, edited];
    assert!(all.iter().all(|text| *text != kept));
    let all = [None, Some("{"), Some("")].into_iter().chain(all.iter().map(|text| Some(text.as_str())));
    for text in all {
        match text {
            None => std::fs::remove_file(&path).unwrap(),
            Some(text) => std::fs::write(&path, text).unwrap(),
        }
        let mut keeper = home.keeper(&journal);
        assert_eq!(catch_up(&mut keeper), [], "what was said is not said again");
        assert_eq!(told(keeper.report("q", NOW)), expected, "{text:?}");
        keeper.stop(NOW).unwrap();
        assert_eq!(seen(&home, &journal), expected);
    }
    home.notes_everything(&journal, 50);
}

#[test]
fn one_process_audits_and_the_others_look() {
    let home = Home::new();
    let journal = home.journal();
    let mut first = home.keeper(&journal);
    task(&journal, 1, true);
    catch_up(&mut first);
    first.seal(NOW).unwrap();
    task(&journal, 2, false);
    let other = home.journal();
    assert!(Keeper::open(&home.place(), &other, NOW).unwrap().is_none());
    let looked = seen(&home, &other);
    assert_eq!((looked.lifetime.tasks, looked.boundary_violations.len()), (2, 1));
    // The second process continues with what the first one had not read.
    drop(first);
    let mut second = home.keeper(&other);
    assert_eq!(catch_up(&mut second), []);
    second.stop(NOW).unwrap();
    home.notes_everything(&journal, 10);
}

#[test]
fn a_follower_reads_on_after_a_damaged_end_is_repaired() {
    let home = Home::new();
    let journal = home.journal();
    let log = home.path("audit").join("log");
    let mut keeper = home.keeper(&journal);
    task(&journal, 1, true);
    catch_up(&mut keeper);
    let whole = file(&log);
    std::fs::write(&log, format!("{whole}half of a\n")).unwrap();
    let mut follower = Follower::new(home.place(), home.journal());
    assert_eq!(follower.look(NOW).unwrap().0.len(), 2, "who audits, and that the log cannot be read");
    std::fs::write(&log, whole).unwrap();
    task(&journal, 2, true);
    catch_up(&mut keeper);
    let news = follower.look(NOW).unwrap().0;
    assert!(matches!(news.as_slice(), [AuditEvent::Finding(..)]), "{news:?}");
}

/// A batch that did not fit on the disk is taken back from the log's end, and may have been read before that.
#[test]
fn a_follower_reads_on_where_it_could_not_read() {
    let home = Home::new();
    let journal = home.journal();
    let log = home.path("audit").join("log");
    let mut keeper = home.keeper(&journal);
    task(&journal, 1, true);
    catch_up(&mut keeper);
    let mut follower = Follower::new(home.place(), home.journal());
    let notes = |followed: Vec<AuditEvent>| {
        let note = |one| match one {
            AuditEvent::Note(note) => note,
            AuditEvent::Unreadable => "unreadable".to_owned(),
            AuditEvent::Finding(line) => format!("{} {:?}", line.entry, line.finding.kind),
            AuditEvent::Report(_) => "report".to_owned(),
        };
        followed.into_iter().map(note).collect::<Vec<_>>()
    };
    let mut look = || notes(follower.look(NOW).unwrap().0);
    assert_eq!(look(), ["another process audits; this one only follows the log"], "what is there is not new");
    task(&journal, 2, true);
    catch_up(&mut keeper);
    assert_eq!(look(), [format!("4 {ODD:?}")]);
    let whole = file(&log);
    std::fs::write(&log, format!("{whole}half of a\n")).unwrap();
    assert_eq!(look(), ["unreadable"]);
    assert_eq!(look(), [""; 0], "said once");
    std::fs::write(&log, whole).unwrap();
    assert_eq!(look(), [""; 0]);
    task(&journal, 3, true);
    catch_up(&mut keeper);
    assert_eq!(look(), [format!("6 {ODD:?}")]);
    // A log in its place is new from its first entry, however far this one was read.
    std::fs::write(&log, file(&log) + "half of a\n").unwrap();
    assert_eq!(look().len(), 1);
    drop(keeper);
    std::fs::rename(home.path("audit"), home.path("before")).unwrap();
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.stop(NOW).unwrap();
    assert_eq!(look(), [2, 4, 5].map(|seq| format!("{seq} {ODD:?}")));
}

/// Several threads write the journal as fast as they can, while it is read.
#[test]
fn no_row_is_missed_while_the_journal_is_written_at_full_speed() {
    const WRITERS: u64 = 4;
    const TASKS: u64 = 250;
    let home = Home::new();
    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    let mut findings = 0;
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let journal = journal.clone();
                scope.spawn(move || (0..TASKS).for_each(|n| task(&journal, writer * TASKS + n, n % 10 == 0)))
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            findings += keeper.catch_up(300, NOW).unwrap().findings.len();
        }
    });
    findings += catch_up(&mut keeper).len();
    assert_eq!(findings as u64, WRITERS * TASKS / 10);
    keeper.stop(NOW).unwrap();
    home.notes_everything(&journal, WRITERS * TASKS * 5);
    assert_eq!(seen(&home, &journal).lifetime.tasks, WRITERS * TASKS);
}

#[test]
fn a_report_is_due_every_five_minutes_of_activity() {
    let home = Home::new();
    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    task(&journal, 1, true);
    catch_up(&mut keeper);
    assert_eq!(keeper.tick(later(299_999)).unwrap().1, None);
    let report = keeper.tick(later(300_000)).unwrap().1.unwrap();
    assert_eq!(
        (report.trigger.as_str(), report.tasks_observed, report.boundary_violations.len()),
        ("interval", 1, 1)
    );
    assert!(home.entries().contains(&LogEntry::Report(Box::new(report))));
    assert_eq!(keeper.tick(later(900_000)).unwrap().1, None, "nothing happened since");
    // A process that only asks still sees the closed window, and changes nothing.
    let asked = keeper.report("q-7", later(900_001));
    assert_eq!((asked.trigger.as_str(), asked.tasks_observed), ("q-7", 1));
    keeper.stop(later(900_002)).unwrap();
    let keeper = home.keeper(&journal);
    assert_eq!(keeper.report("q-7", later(900_001)), asked, "windows and totals survive a restart");
}

#[test]
fn stalled_tasks_and_missing_ends_are_found() {
    let home = Home::new();
    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    let unfinished = rows(false);
    task_of(&journal, 1, &unfinished[..3], false);
    task_of(&journal, 2, &unfinished[..3], true);
    assert_eq!(catch_up(&mut keeper), []);
    let kinds = |findings: Vec<Finding>| findings.iter().map(|one| one.kind).collect::<Vec<_>>();
    assert_eq!(kinds(keeper.tick(later(30_000)).unwrap().0), [FindingKind::FinalResult]);
    assert_eq!(kinds(keeper.tick(later(599_000)).unwrap().0), []);
    assert_eq!(kinds(keeper.tick(later(630_000)).unwrap().0), [FindingKind::TaskStalled]);
    assert_eq!(kinds(keeper.tick(later(900_000)).unwrap().0), [], "said once");
    assert_eq!(home.findings().len(), 2);
}

/// A task whose rows are not read yet is not stalled.
#[test]
fn no_task_looks_stalled_because_the_auditor_is_late() {
    let home = Home::new();
    let journal = home.journal();
    let all = rows(false);
    (1..=40).for_each(|n| task_of(&journal, n, &all[..2], false));
    for n in 1..=40 {
        let head = journal.head(TaskId::mint("count", n).as_str()).unwrap();
        let mut submission = Submission::new(&head);
        for ((from, to, kind, body), seq) in all.iter().zip(1..).skip(2) {
            submission.push(row(seq, from, to, kind, body)).unwrap();
        }
        submission.close(NOW.as_micros());
        journal.append(submission).unwrap();
    }
    let mut keeper = home.keeper(&journal);
    let hour = later(3_600_000);
    let mut reports = 0;
    for look in 1..=8 {
        let caught = keeper.catch_up(25, hour).unwrap();
        assert_eq!(caught.is_behind, look < 8);
        let (missed, report) = keeper.tick(hour.plus_millis(look * 30_000)).unwrap();
        assert_eq!(missed, []);
        reports += usize::from(report.is_some());
    }
    assert_eq!(reports, 1, "on all of it, once it is read");
    assert_eq!(home.findings(), []);
}

/// The log is cut anywhere in its last lines, as by a power cut: findings are found again, and none is logged
/// twice.
#[test]
fn a_log_without_its_last_lines_loses_no_finding() {
    let home = Home::new();
    let journal = home.journal();
    (0..6).for_each(|n| task(&journal, n, n % 2 == 0));
    let mut keeper = home.keeper(&journal);
    let said = catch_up(&mut keeper);
    assert_eq!(said.len(), 3);
    drop(keeper);
    let log = home.path("audit").join("log");
    let whole = std::fs::read(&log).unwrap();
    for cut in (1..whole.len()).step_by(5) {
        std::fs::write(&log, &whole[..whole.len() - cut]).unwrap();
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        drop(keeper);
        assert_eq!(home.findings(), said, "{cut} bytes");
    }
    home.notes_everything(&journal, 30);
}

#[test]
fn a_stalled_task_is_reported_once_if_the_state_is_lost() {
    let home = Home::new();
    let journal = home.journal();
    task_of(&journal, 1, &rows(false)[..3], false);
    task_of(&journal, 2, &rows(false)[..3], true);
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    assert_eq!(keeper.tick(later(700_000)).unwrap().0.len(), 2);
    keeper.stop(later(700_000)).unwrap();
    std::fs::remove_file(home.path("audit").join("auditor.json")).unwrap();
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    assert_eq!(keeper.tick(later(1_700_000)).unwrap().0, []);
    assert_eq!(keeper.report("q", NOW).lifetime.findings.len(), 2, "and is counted");
    assert_eq!(home.findings().len(), 2);
}

/// One process may begin to rebuild the state, and another one finish.
#[test]
fn a_stalled_task_is_reported_once_if_rebuilding_is_interrupted() {
    for is_updated in [false, true] {
        let home = Home::new();
        let journal = home.journal();
        task_of(&journal, 1, &rows(false)[..3], false);
        task_of(&journal, 2, &rows(false)[..3], true);
        (3..20).for_each(|n| task(&journal, n, false));
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        assert_eq!(keeper.tick(later(700_000)).unwrap().0.len(), 2);
        task(&journal, 30, false);
        catch_up(&mut keeper);
        keeper.stop(later(700_000)).unwrap();
        let path = home.path("audit").join("auditor.json");
        match is_updated {
            false => std::fs::remove_file(&path).unwrap(),
            true => {
                let other = file(&path).replacen(env!("CARGO_PKG_VERSION"), "0.0.0", 1);
                std::fs::write(&path, other).unwrap();
            }
        }
        for process in 1..=6 {
            let mut keeper = home.keeper(&journal);
            assert_eq!(keeper.catch_up(25, NOW).unwrap().is_behind, process < 4);
            keeper.stop(later(800_000)).unwrap();
        }
        let mut keeper = home.keeper(&journal);
        catch_up(&mut keeper);
        assert_eq!(keeper.tick(later(1_700_000)).unwrap().0, []);
        assert_eq!((home.findings().len(), keeper.report("q", NOW).lifetime.findings.len()), (2, 2));
    }
}

/// Both processes are killed; the second one stored its state before it looked for stalled tasks.
#[test]
fn a_stalled_task_is_reported_once_whenever_the_state_is_stored() {
    let home = Home::new();
    let journal = home.journal();
    task_of(&journal, 1, &rows(false)[..3], false);
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.seal(NOW).unwrap();
    assert_eq!(keeper.missed(later(700_000)).unwrap().len(), 1);
    catch_up(&mut keeper);
    drop(keeper);
    task(&journal, 2, false);
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    keeper.seal(NOW).unwrap();
    drop(keeper);
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    assert_eq!(keeper.tick(later(1_700_000)).unwrap().0, []);
}

/// However many open tasks precede it in the order of names.
#[test]
fn a_closed_task_without_an_end_is_found_among_many_open_ones() {
    let home = Home::new();
    let journal = home.journal();
    let begun = &rows(false)[..2];
    (0..600).for_each(|n| task_of(&journal, n, begun, n % 100 == 99));
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    let found: usize = (1..=3).map(|look| keeper.tick(later(look * 30_000)).unwrap().0.len()).sum();
    assert_eq!(found, 6);
}

/// The state is rebuilt in parts, by several processes.
#[test]
fn rebuilding_the_state_continues_where_it_was_stopped() {
    let home = Home::new();
    let journal = home.journal();
    (0..20).for_each(|n| task(&journal, n, n % 5 == 0));
    let mut keeper = home.keeper(&journal);
    catch_up(&mut keeper);
    let expected = told(keeper.report("q", NOW));
    keeper.stop(NOW).unwrap();
    std::fs::remove_file(home.path("audit").join("auditor.json")).unwrap();
    let before = home.entries().len();
    for process in 1..=4 {
        let mut keeper = home.keeper(&journal);
        assert_eq!(keeper.catch_up(25, NOW).unwrap().is_behind, process < 4);
        assert_eq!((keeper.position(), keeper.tick(later(9_000_000)).unwrap().0), (process * 25, vec![]));
        keeper.stop(NOW).unwrap();
    }
    assert_eq!(seen(&home, &journal), expected);
    let written =
        3 * "begun stopped known".split(' ').count() + "begun report known stopped known".split(' ').count();
    assert_eq!(home.entries().len(), before + written, "no row and no finding, but a report that was due");
}

#[test]
fn a_clock_that_is_set_back_delays_nothing() {
    let home = Home::new();
    let journal = home.journal();
    let mut keeper = Keeper::open(&home.place(), &journal, later(86_400_000)).unwrap().unwrap();
    task_of(&journal, 1, &rows(false)[..3], true);
    catch_up(&mut keeper);
    assert_eq!(keeper.tick(NOW).unwrap().0.len(), 1);
    assert!(home.path("audit").join("auditor.json").exists(), "sealed");
}

/// A backlog of an hour is read within minutes, and gives one report.
#[test]
fn a_backlog_gives_one_report_per_five_minutes_of_reading() {
    let home = Home::new();
    let journal = home.journal();
    for n in 0..6 {
        let mut submission = Submission::new(&TaskHead::start(TaskId::mint("count", n).as_str()).unwrap());
        let at_us = later(n * 600_000).as_micros();
        let opening =
            TaskOpening { opened_at_us: at_us, logic_version: 1, title: "count".to_owned(), lease: None };
        submission.open(opening).unwrap();
        for ((from, to, kind, body), seq) in rows(false).into_iter().zip(1..) {
            submission.push(NewRow { at_us, ..row(seq, from, to, kind, body) }).unwrap();
        }
        journal.append(submission).unwrap();
    }
    let mut keeper = home.keeper(&journal);
    let mut reports = Vec::new();
    for look in 1..=6 {
        let now = later(9_000_000 + look * 30_000);
        let caught = keeper.catch_up(5, now).unwrap();
        assert_eq!(caught.is_behind, look < 6);
        reports.extend(keeper.tick(now).unwrap().1);
    }
    let [report] = reports.as_slice() else { panic!("{reports:#?}") };
    assert_eq!(report.tasks_observed, 2, "more than five minutes of the journal's time");
    // The rest of it is in the next report.
    let report = keeper.tick(later(9_360_000)).unwrap().1.unwrap();
    assert_eq!(report.tasks_observed, 4);
}
