//! Damaged images of a journal directory: either the damage is reported with its place, or every record reads back
//! unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use setpoint_journal::{
    CommandState, Fragment, HeadState, Journal, JournalError, JournalFile, JournalOptions, LeaseTerms,
    NewCommand, Row, Task, TaskFilter,
};
use tempfile::TempDir;

use super::loss::copy_files;
use crate::common::{all_rows, first_rows, open, open_task, quick_dir, rows_behind};

const FILES: [&str; 3] = ["journal.db", "journal.db-wal", "head"];
const CUTS_PER_FILE: usize = 40;
/// Variable that multiplies the number of flips and cuts, for a long run.
const FACTOR: &str = "SETPOINT_TEST_DAMAGE_FACTOR";

/// The content of a journal, as its readers return it.
#[derive(Debug, PartialEq)]
struct Content {
    rows: Vec<Row>,
    by_task: Vec<Vec<Row>>,
    tasks: Vec<Task>,
    fragments: Vec<Option<Vec<u8>>>,
    commands: Vec<Option<CommandState>>,
    waiting: usize,
    cursors: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    RefusedAtOpening(&'static str),
    ReportedByOpening,
    ReportedByVerification,
    NothingChanged,
}

/// A journal directory with one damage in one of its files.
struct Case<'a> {
    image: &'a Image,
    file: &'static str,
    how: String,
    bytes: Vec<u8>,
}

struct Image {
    name: &'static str,
    files: BTreeMap<&'static str, Vec<u8>>,
    content: Content,
}

/// Counts by image, file, kind of damage and verdict.
type Counts<'a> = BTreeMap<(&'a str, &'a str, &'a str, Verdict), usize>;

#[test]
fn every_damaged_image_is_reported_or_reads_back_unchanged() {
    let images = [closed_image(), killed_image()];
    let [closed, killed] = &images;
    let mut cases = Vec::new();
    cases.extend(damages(closed, "journal.db", 240));
    cases.extend(damages(killed, "journal.db", 40));
    cases.extend(damages(killed, "journal.db-wal", 120));
    cases.extend(damages(killed, "head", 40));
    assert!(cases.len() >= 240, "{}", cases.len());

    let next = AtomicUsize::new(0);
    let counts: Mutex<Counts<'_>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = judge(case);
                    let kind = if case.how.starts_with("flip") { "flip" } else { "cut" };
                    *counts
                        .lock()
                        .unwrap()
                        .entry((case.image.name, case.file, kind, verdict))
                        .or_default() += 1;
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    for ((image, file, kind, verdict), count) in &counts {
        println!("{image:7} {file:15} {kind:5} {count:4} {verdict:?}");
    }
    assert_eq!(counts.values().sum::<usize>(), cases.len());
    // The damages must have an effect: most images must differ in their content.
    let harmless: usize = counts
        .iter()
        .filter(|((.., verdict), _)| *verdict == Verdict::NothingChanged)
        .map(|(_, count)| count)
        .sum();
    assert!(harmless * 2 < cases.len(), "{harmless} of {} images were harmless", cases.len());
}

/// Creates a journal with every kind of entry, all in the database.
fn closed_image() -> Image {
    let dir = quick_dir();
    let journal = open(&dir);
    for name in NAMES {
        fill(&journal, name, 30);
    }
    journal.close().unwrap();
    Image::of("closed", &dir)
}

/// Creates a journal with one part in the database and the rest in the log, as a killed process leaves it.
fn killed_image() -> Image {
    let dir = quick_dir();
    let journal = open(&dir);
    fill(&journal, NAMES[0], 30);
    journal.close().unwrap();
    let journal = open(&dir);
    fill(&journal, NAMES[1], 6);
    let copy = quick_dir();
    copy_files(dir.path(), copy.path());
    Image::of("killed", &copy)
}

const NAMES: [&str; 2] = ["first", "second"];

impl Image {
    fn of(name: &'static str, dir: &TempDir) -> Self {
        let read_file = |file| Some((file, fs::read(dir.path().join(file)).ok()?));
        let files = FILES.into_iter().filter_map(read_file).collect();
        let journal = open(dir);
        let report = journal.verify().unwrap();
        assert!(report.is_sound(), "{:?}", report.damages);
        let content = read(&journal).unwrap();
        assert!(content.rows.len() > 300 && content.waiting == 2 && content.tasks.len() == 8);
        Self { name, files, content }
    }
}

fn fill(journal: &Journal, name: &str, rounds: u64) {
    let mut heads = Vec::new();
    for n in 0..3 {
        let mut first = first_rows(&format!("{name}-{n}"), 2);
        first.attach(Fragment::new(prompt(name, n)).unwrap()).unwrap();
        heads.push(journal.append(first).unwrap().head);
    }
    for round in 0..rounds {
        for head in &mut heads {
            *head = journal.append(rows_behind(head, 1 + (round % 5))).unwrap().head;
        }
    }
    for kind in ["taken", "waiting"] {
        let command = NewCommand { kind: kind.to_owned(), body: vec![7; 90], at_us: 1 };
        journal.push_command(heads[0].task(), command).unwrap();
    }
    let mut taking = rows_behind(&heads[0], 1);
    taking.take_command(journal.waiting_commands(heads[0].task()).unwrap()[0].id).unwrap();
    journal.append(taking).unwrap();
    let terms = LeaseTerms { owner: "host pid 1 start 2".to_owned(), now_us: 5, ttl_ms: 9 };
    journal.acquire_lease(heads[1].task(), &terms).unwrap();
    let mut last = rows_behind(&heads[2], 1);
    last.close(9);
    journal.append(last).unwrap();
    journal.advance_cursor(name, journal.last_pos().unwrap()).unwrap();
    open_task(journal, &format!("{name}-last"), 1);
}

fn prompt(name: &str, n: u64) -> Vec<u8> {
    format!("fragment {name} {n} ").repeat(200).into_bytes()
}

fn read(journal: &Journal) -> Result<Content, JournalError> {
    let tasks = journal.list_tasks(TaskFilter::Any, 100)?;
    let by_task = tasks.iter().map(|task| journal.rows(&task.id, 1).collect()).collect::<Result<_, _>>()?;
    let hashes = NAMES.iter().flat_map(|name| (0..3).map(|n| Fragment::hash_of(&prompt(name, n))));
    Ok(Content {
        rows: all_rows(journal)?,
        by_task,
        tasks,
        fragments: hashes.map(|hash| journal.fragment(&hash)).collect::<Result<_, _>>()?,
        commands: (1..=5).map(|id| journal.command_state(id)).collect::<Result<_, _>>()?,
        waiting: journal.pending_commands(0, 100)?.len(),
        cursors: NAMES.iter().map(|name| journal.cursor(name)).collect::<Result<_, _>>()?,
    })
}

/// Spreads flips and cuts evenly over a file, so that every region is covered; the database's header more
/// densely.
fn damages<'a>(image: &'a Image, file: &'static str, flips: usize) -> Vec<Case<'a>> {
    let bytes = &image.files[file];
    let factor = std::env::var(FACTOR).map_or(1, |factor| factor.parse().unwrap());
    let (flips, cuts) = (flips * factor, CUTS_PER_FILE * factor);
    let case = |how, bytes| Case { image, file, how, bytes };
    let mut cases = Vec::new();
    // Step sizes that hit every bit of a byte.
    let spread = (0..flips).map(|n| n * (bytes.len() * 8 / flips) + n % 8);
    for bit in (0..100 * 8).step_by((13 / factor).max(1)).chain(spread) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        cases.push(case(format!("flip of bit {bit} of {file}"), flipped));
    }
    for n in 0..cuts {
        let length = n * bytes.len() / cuts + n % 3;
        cases.push(case(format!("cut of {file} at {length}"), bytes[..length].to_vec()));
    }
    cases
}

fn judge(case: &Case<'_>) -> Verdict {
    let Case { image, file, how, bytes } = case;
    let dir = quick_dir();
    for (name, sound) in &image.files {
        fs::write(dir.path().join(name), if name == file { bytes } else { sound }).unwrap();
    }
    let journal = match Journal::open(dir.path(), &JournalOptions::default()) {
        Ok(journal) => journal,
        Err(error) => return Verdict::RefusedAtOpening(place(&error, how)),
    };
    no_row_is_wrong(&journal, &image.content, how);
    let content = read(&journal);
    let report = journal.verify().unwrap_or_else(|error| panic!("{how}: {error:?}"));
    if matches!(journal.open_report().head, HeadState::Damaged { .. } | HeadState::Absent) {
        assert_eq!(content.unwrap(), image.content, "{how}");
        assert!(report.damages.iter().all(|damage| damage.file == JournalFile::Head), "{how}");
        return Verdict::ReportedByOpening;
    }
    if !report.is_sound() {
        return Verdict::ReportedByVerification;
    }
    match content {
        Ok(content) => assert!(content == image.content, "{how}: something changed, and nobody said so"),
        Err(error) => panic!("{how}: verified, but {error:?}"),
    }
    Verdict::NothingChanged
}

/// Checks that every returned row is the row that was written at its position, whatever else is damaged.
fn no_row_is_wrong(journal: &Journal, sound: &Content, how: &str) {
    let mut pos = 0;
    while let Ok(page) = journal.rows_after(pos, 50) {
        for row in &page {
            assert_eq!(Some(row), sound.rows.get(usize::try_from(row.pos).unwrap() - 1), "{how}");
        }
        match page.last() {
            Some(last) => pos = last.pos,
            None => break,
        }
    }
    let mut kinds: Vec<&str> = sound.rows.iter().map(|row| &*row.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let some = std::array::from_fn(|n| kinds[n % kinds.len()]);
    let mut pos = 0;
    while let Ok(page) = journal.rows_of_kinds_after(pos, some, 50) {
        for row in &page {
            assert_eq!(Some(row), sound.rows.get(usize::try_from(row.pos).unwrap() - 1), "{how}");
        }
        match page.last() {
            Some(last) => pos = last.pos,
            None => break,
        }
    }
    for row in sound.tasks.iter().flat_map(|task| journal.rows(&task.id, 1)).map_while(Result::ok) {
        assert_eq!(Some(&row), sound.rows.get(usize::try_from(row.pos).unwrap() - 1), "{how}");
    }
}

/// Checks that a refusal names its place.
fn place(error: &JournalError, how: &str) -> &'static str {
    match error {
        JournalError::LostTail { head_pos, last_pos, .. } if head_pos > last_pos => "LostTail",
        JournalError::HeadMismatch { pos: 1.., .. } => "HeadMismatch",
        JournalError::Damaged { damage, .. } if !damage.to_string().is_empty() => "Damaged",
        JournalError::FormatTooNew { found, known, .. } if found > known => "FormatTooNew",
        other => panic!("{how}: {other:?}"),
    }
}
