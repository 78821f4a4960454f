//! What the program says about itself: how everything stands.

use std::borrow::Cow;
use std::path::Path;

use setpoint_audit_log::{Against, verify};
use setpoint_bus::export::Unwritable;
use setpoint_bus::import::ImportError;
use setpoint_journal::{Journal, JournalError, JournalOptions};
use setpoint_memory_store::{MemoryError, Options as StoreOptions, Store};
use setpoint_model::cassette::TapeError;
use setpoint_telemetry::task::Content;

use crate::audit::AuditFailure;
use crate::config::ConfigError;
use crate::error::RuntimeError;
use crate::memory::MemoryFailure;
use crate::models::choose::Chosen;
use crate::models::choose::PLAYBOOK;
use crate::organisation::error_chain;
use crate::program::{Program, ProgramError};
use crate::surroundings::is_installed;
use crate::time_travel::fork::ForkError;
use crate::time_travel::import::TakeInError;

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Good,
    /// Works, with something to know.
    Note,
    /// Does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// What.
    pub subject: Cow<'static, str>,
    /// How it stands.
    pub health: Health,
    /// What was seen.
    pub finding: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What is said of the embedded brain.
pub(crate) const EMBEDDED: &str = "the embedded brain answers, from playbooks; it is no language model";
/// What can be done about it.
pub(crate) const EMBEDDED_HINT: &str =
    "`setpoint playbooks` lists the goals it knows; `setpoint init` looks for language models";

/// Programs that some tools need, and what is lost without them.
const WANTED: &[(&str, &str)] =
    &[("sh", "the shell tool cannot run commands"), ("git", "the git report cannot be made")];

/// Looks at the models, the playbooks, the data directory, the journal, memory, telemetry and the programs.
#[must_use]
pub fn examine(program: &Program) -> Vec<Diagnosis> {
    let mut found = models(program);
    found.extend([playbooks(program), data_directory(&program.directories.data)]);
    found.push(journal(&program.directories.journal()));
    found.push(memory(&program.directories.memory()));
    found.push(audit(&program.directories.audit()));
    found.push(telemetry(program));
    for (name, loss) in WANTED {
        found.push(if is_installed(name, program.path()) {
            good("program", format!("{name} is installed"))
        } else {
            bad("program", format!("{name} is not on the PATH: {loss}"), format!("install {name}"))
        });
    }
    found
}

/// The few kinds of errors at the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The command line, or a named thing that cannot be used so.
    Usage,
    /// A named thing that is not there.
    Unknown,
    /// A configuration or a data directory that cannot be used.
    Configuration,
    /// Everything that should not happen.
    Internal,
}

/// What kind of error this is to a person, and what to do about it.
#[must_use]
pub fn edge_of(error: &RuntimeError) -> (Edge, Option<&'static str>) {
    match error {
        RuntimeError::Journal(error) => edge_of_journal(error),
        RuntimeError::Append(error) => edge_of_journal(error),
        RuntimeError::Goal(_) => (Edge::Usage, Some("state what is to be done, in a sentence or two")),
        RuntimeError::Ended(_) => (Edge::Usage, Some("`setpoint tasks show` shows how it ended")),
        RuntimeError::HeldElsewhere { .. } => {
            (Edge::Usage, Some("wait for that process, or stop it: its tasks can then be resumed"))
        }
        RuntimeError::OtherModels { unlike, .. } if unlike.is_for_money => {
            (Edge::Configuration, Some("resume it with the models that it was opened with"))
        }
        RuntimeError::OtherModels { .. } => (
            Edge::Configuration,
            Some(
                "set the model and its key as they were, or name the one that is to go on with it: `--model NAME`",
            ),
        ),
        RuntimeError::WasPlayed { .. } => {
            (Edge::Usage, Some("`setpoint tasks resume --replay FILE TASK` goes on from the recording"))
        }
        RuntimeError::WasNotPlayed { .. } => {
            (Edge::Usage, Some("`setpoint tasks resume TASK`, without --replay, lets the models go on"))
        }
        RuntimeError::Refused { .. } => {
            (Edge::Usage, Some("`setpoint tasks show` shows what the task waits for"))
        }
        RuntimeError::Fork(ForkError::Parts { .. }) => (
            Edge::Usage,
            Some("fork at an earlier record, or with the models and settings that the task was opened with"),
        ),
        RuntimeError::Fork(ForkError::Workspace { .. }) => (
            Edge::Usage,
            Some(
                "the fork gets a copy of the task's workspace: take out of that folder what the fork does not need or may not read, \
                 and see that there is room beside it",
            ),
        ),
        RuntimeError::Fork(_) => {
            (Edge::Usage, Some("`setpoint replay TASK` shows its records with their numbers"))
        }
        RuntimeError::Settings(_) => (
            Edge::Usage,
            Some(
                "name it bare or as `setpoint config` does, such as `--set delta=0.2` or `--set controller.delta=0.2`",
            ),
        ),
        RuntimeError::Export(Unwritable::LineTooLong { .. } | Unwritable::TooLarge) => (
            Edge::Usage,
            Some(
                "replay it where it is, or copy the data directory as a whole: the journal reads tasks of any size",
            ),
        ),
        RuntimeError::NoReplay { .. } => (
            Edge::Internal,
            Some(
                "another program made its records, or its machines were changed without a new version of their logic",
            ),
        ),
        RuntimeError::Unreadable { .. }
        | RuntimeError::Export(_)
        | RuntimeError::Divergence(_)
        | RuntimeError::Broken { .. }
        | RuntimeError::ShuttingDown => {
            (Edge::Internal, Some("the journal keeps what was done; `setpoint doctor` looks at it"))
        }
    }
}

/// The same for a program that cannot be put together.
#[must_use]
pub fn edge_of_program(error: &ProgramError) -> (Edge, Option<Cow<'static, str>>) {
    let (edge, hint) = match error {
        ProgramError::Cassette(TapeError::Exists { .. }) => {
            (Edge::Configuration, Some("name a file that is not there yet, or move that one away"))
        }
        ProgramError::Cassette(_) => {
            (Edge::Configuration, Some("`setpoint run --record FILE` makes a recording"))
        }
        ProgramError::Choice(error) => return (Edge::Configuration, Some(Cow::Owned(error.hint()))),
        ProgramError::Config(ConfigError::Foreign { .. } | ConfigError::Lifted { .. }) => (
            Edge::Configuration,
            Some(
                "say it yourself if you mean it: in your own configuration file, which `setpoint config path` names first, or \
                 with --set; else take the line out",
            ),
        ),
        ProgramError::Config(_) => {
            (Edge::Configuration, Some("`setpoint config path` shows which files are read"))
        }
        ProgramError::NoHome(_) => {
            (Edge::Configuration, Some("set HOME to an absolute path, or name a directory with --data-dir"))
        }
        ProgramError::NotText { .. } => (
            Edge::Configuration,
            Some(
                "rename it, or choose another: --data-dir names the data directory, `cd` changes the working directory",
            ),
        ),
        ProgramError::NoData { .. } => (
            Edge::Usage,
            Some("--data-dir names where the tasks are; `setpoint run` makes it where it is missing"),
        ),
        ProgramError::Exported { source: TakeInError::File(ImportError::Newer { .. }), .. } => {
            (Edge::Usage, Some("it was written by a newer setpoint; use that one"))
        }
        ProgramError::Exported { source: TakeInError::File(ImportError::NotExported), .. } => {
            (Edge::Usage, Some("`setpoint tasks export TASK --output FILE` writes such a file"))
        }
        ProgramError::Exported { .. } => (
            Edge::Usage,
            Some("export the task again where it was run: `setpoint tasks export TASK --output FILE`"),
        ),
        ProgramError::OpenFile { .. } => (
            Edge::Usage,
            Some(
                "name a task by its id or the beginning of it, or a file that `setpoint tasks export` wrote",
            ),
        ),
        ProgramError::Cwd(_) => (Edge::Configuration, Some("change to a directory that exists")),
        ProgramError::Journal(error) => edge_of_journal(error),
        ProgramError::Memory(error) => edge_of_store(error),
        ProgramError::Thinking { .. } | ProgramError::ThinkingTooLong { .. } => {
            (Edge::Configuration, Some("mend the file, or move it away"))
        }
    };
    (edge, hint.map(Cow::Borrowed))
}

/// The same for memory.
#[must_use]
pub fn edge_of_memory(error: &MemoryFailure) -> (Edge, Option<&'static str>) {
    match error {
        MemoryFailure::Store(error) => edge_of_store(error),
        MemoryFailure::Journal(error) => edge_of_journal(error),
        MemoryFailure::Act(error) => edge_of_journal(error),
        MemoryFailure::TooManyFacts { .. } => {
            (Edge::Usage, Some("`setpoint memory rules` lists them; `setpoint memory forget ID` makes room"))
        }
        MemoryFailure::Fact { .. } => (Edge::Usage, Some("say it in other words, or in several facts")),
        MemoryFailure::NoProposal { .. } => {
            (Edge::Usage, Some("`setpoint memory approve` lists what waits for approval"))
        }
        MemoryFailure::TooManyLines { .. } => {
            (Edge::Usage, Some("split the file; what is there already is not taken twice"))
        }
        MemoryFailure::Skill { .. } => (Edge::Usage, Some("name a folder that may be written and has room")),
        MemoryFailure::Lock { .. } | MemoryFailure::Panicked | MemoryFailure::Crowded { .. } => {
            (Edge::Internal, Some("try again; `setpoint doctor` looks at the data directory"))
        }
    }
}

fn edge_of_store(error: &MemoryError) -> (Edge, Option<&'static str>) {
    match error {
        MemoryError::NoSpace { .. } => (
            Edge::Internal,
            Some("make room on the disk; nothing is lost: the journal holds what memory has not taken in"),
        ),
        MemoryError::Locked { .. } => {
            (Edge::Internal, Some("wait for the other process, or end it, and try again"))
        }
        MemoryError::ReadOnly { .. } => (
            Edge::Configuration,
            Some(
                "make the folder `memory` in the data directory writable, or choose another with --data-dir",
            ),
        ),
        MemoryError::FormatTooNew { .. } => (
            Edge::Configuration,
            Some("use that setpoint; or move the folder `memory` away, and it is made anew from the journal"),
        ),
        MemoryError::Damaged { .. } => {
            (Edge::Internal, Some("move the folder `memory` away, and it is made anew from the journal"))
        }
        MemoryError::Unknown { .. } | MemoryError::NoId { .. } | MemoryError::SeveralIds { .. } => {
            (Edge::Usage, Some("`setpoint memory list` shows the records with their ids"))
        }
        MemoryError::Io { .. } => (
            Edge::Configuration,
            Some(
                "make the folder `memory` in the data directory writable, or choose another with --data-dir",
            ),
        ),
        MemoryError::TooMany { .. } | MemoryError::Storage { .. } => {
            (Edge::Internal, Some("check that the data directory is writable and the disk has room"))
        }
    }
}

fn edge_of_journal(error: &JournalError) -> (Edge, Option<&'static str>) {
    let kind = match error {
        JournalError::UnknownTask { .. } | JournalError::NotFound { .. } => Edge::Unknown,
        JournalError::Ambiguous { .. } => Edge::Usage,
        JournalError::ReadOnly { .. }
        | JournalError::CreateDir { .. }
        | JournalError::NotAJournal { .. }
        | JournalError::FormatTooNew { .. } => Edge::Configuration,
        _ => Edge::Internal,
    };
    (kind, Some(journal_hint(error)))
}

/// What can be done about a journal that cannot be used.
#[must_use]
pub fn journal_hint(error: &JournalError) -> &'static str {
    match error {
        JournalError::FormatTooNew { .. } => {
            "it was written by a newer setpoint; use that one, or another data directory (--data-dir)"
        }
        JournalError::LostTail { .. } => {
            "records are missing at its end; keep a copy, then run `setpoint doctor` for the place"
        }
        JournalError::HeadMismatch { .. }
        | JournalError::Damaged { .. }
        | JournalError::ChainBroken { .. } => {
            "it is damaged: keep a copy; `setpoint doctor` names the places, and undamaged tasks can be read and exported"
        }
        JournalError::NotAJournal { .. } => {
            "something else lies where the journal should be; choose another data directory (--data-dir)"
        }
        JournalError::Locked { .. } => {
            "another program holds the database; wait for it, or choose another data directory (--data-dir)"
        }
        JournalError::ReadOnly { .. } => {
            "the data directory is read-only; choose another with --data-dir or SETPOINT_DATA_DIR"
        }
        JournalError::NoSpace { .. } => "the disk is full; make room and run `setpoint tasks resume`",
        JournalError::UnknownTask { .. } | JournalError::NotFound { .. } => {
            "`setpoint tasks list` shows the tasks there are"
        }
        JournalError::Ambiguous { .. } => {
            "give more of the id; `setpoint tasks list` shows the tasks there are"
        }
        _ => {
            "check that the data directory is writable and the disk has room, or choose another with --data-dir or SETPOINT_DATA_DIR"
        }
    }
}

fn models(program: &Program) -> Vec<Diagnosis> {
    let chosen = match program.chosen_models() {
        Ok(chosen) => chosen,
        Err(error) => return vec![bad("models", error_chain(&error), error.hint())],
    };
    if chosen.iter().all(|one| one.name == PLAYBOOK) {
        return vec![Diagnosis {
            subject: Cow::Borrowed("models"),
            health: Health::Note,
            finding: EMBEDDED.to_owned(),
            hint: Some(EMBEDDED_HINT.to_owned()),
        }];
    }
    let one = |one: &Chosen| good("models", format!("{} is {}, by {}", one.slot.key(), one.name, one.origin));
    chosen.iter().map(one).collect()
}

fn playbooks(program: &Program) -> Diagnosis {
    let (known, broken) = program.playbooks();
    match broken.first() {
        None => good("playbooks", format!("{} playbooks, all in order", known.len())),
        Some(first) => bad(
            "playbooks",
            format!(
                "{} of them cannot be used; the first: {}:{}: {}",
                broken.len(),
                first.file,
                first.line,
                first.reason
            ),
            "`setpoint playbooks check` shows them all; the others work".to_owned(),
        ),
    }
}

fn data_directory(data: &Path) -> Diagnosis {
    let shown = data.display();
    if !data.exists() {
        return match can_be_made(data) {
            Ok(()) => good("data directory", format!("{shown} does not exist yet and will be created")),
            Err(error) => bad(
                "data directory",
                format!("{shown} cannot be created: {error}"),
                "choose another with --data-dir or SETPOINT_DATA_DIR".to_owned(),
            ),
        };
    }
    match tempfile_in(data) {
        Ok(()) => good("data directory", format!("{shown} is writable")),
        Err(error) => bad(
            "data directory",
            format!("{shown} is not writable: {error}"),
            "choose another with --data-dir or SETPOINT_DATA_DIR".to_owned(),
        ),
    }
}

fn journal(dir: &Path) -> Diagnosis {
    if !dir.exists() {
        return good("journal", "there is none yet".to_owned());
    }
    let journal = match Journal::open(dir, &JournalOptions::default()) {
        Ok(journal) => journal,
        Err(error) => return bad("journal", error_chain(&error), journal_hint(&error).to_owned()),
    };
    match journal.verify() {
        Ok(report) if report.damages.is_empty() => {
            let tasks = if report.tasks == 1 { "task" } else { "tasks" };
            let records = if report.rows == 1 { "record" } else { "records" };
            let counts = format!("{} {tasks}, {} {records}", report.tasks, report.rows);
            good("journal", format!("{counts}, every chain holds"))
        }
        Ok(report) => {
            let places: Vec<String> = report.damages.iter().take(5).map(ToString::to_string).collect();
            bad(
                "journal",
                format!("{} damaged places: {}", report.damages.len(), places.join("; ")),
                "keep a copy of the data directory; undamaged tasks can be read and exported".to_owned(),
            )
        }
        Err(error) => bad("journal", error_chain(&error), journal_hint(&error).to_owned()),
    }
}

/// Everything in it is held against itself. A memory that is damaged is put aside by whoever opens it.
fn memory(dir: &Path) -> Diagnosis {
    if !dir.exists() {
        return good("memory", "there is none yet".to_owned());
    }
    let failed = |error: MemoryError| {
        let hint = edge_of_store(&error).1.unwrap_or_default();
        bad("memory", error_chain(&error), hint.to_owned())
    };
    let (store, report) = match Store::open(dir, &StoreOptions::default()) {
        Ok(opened) => opened,
        Err(error) => return failed(error),
    };
    match store.check(crate::clock::now()) {
        Ok(checked) => {
            let records = if checked.records == 1 { "record" } else { "records" };
            let counts = format!("{} {records}, every sum holds", checked.records);
            match report.aside {
                None => good("memory", counts),
                Some((aside, what)) => Diagnosis {
                    subject: Cow::Borrowed("memory"),
                    health: Health::Note,
                    finding: format!(
                        "it was damaged ({what}) and is made anew; what it was is in {}",
                        aside.display()
                    ),
                    hint: Some(
                        "look at it, or delete it: the next task takes the journal in again".to_owned(),
                    ),
                },
            }
        }
        Err(error) => failed(error),
    }
}

/// The Auditor's log is held against itself; `setpoint audit verify` holds it against more.
fn audit(dir: &Path) -> Diagnosis {
    if !dir.exists() {
        return good("audit", "there is no log yet".to_owned());
    }
    match verify(dir, &Against::default()) {
        Ok(seen) if seen.is_sound() => good(
            "audit",
            format!("{} entries of the log fit together, {} are signed", seen.entries, seen.sealed),
        ),
        Ok(seen) => {
            let first = seen.findings.first().map(ToString::to_string).unwrap_or_default();
            let hint = "`setpoint audit verify` says all that is wrong; keep the folder `audit` as it is if you want to know how";
            bad("audit", format!("the log is not as it was written: {first}"), hint.to_owned())
        }
        Err(error) => bad("audit", error_chain(&error), AuditFailure::from(error).hint().to_owned()),
    }
}

/// Where telemetry goes, and whether it is taken there. Tasks run without, so it is never more than a note.
fn telemetry(program: &Program) -> Diagnosis {
    let note = |finding: String, hint: &str| Diagnosis {
        subject: Cow::Borrowed("telemetry"),
        health: Health::Note,
        finding,
        hint: Some(hint.to_owned()),
    };
    let plan = match program.telemetry() {
        Ok(Some(plan)) => plan,
        Ok(None) => return good("telemetry", "off: nothing is sent anywhere".to_owned()),
        Err(error) => {
            return note(error_chain(&error), "mend `telemetry.otlp_endpoint`; tasks run without telemetry");
        }
    };
    let with = match plan.content {
        Content::Left => "",
        Content::Told => ", with what goals, answers and tools say",
    };
    match plan.reach() {
        Ok(()) => good("telemetry", format!("{}{with}; it is taken there", plan.shown())),
        Err(error) => note(
            format!("{}{with}, where it is not taken: {}", plan.shown(), error_chain(&error)),
            "start the collector, or unset what is not wanted: OTEL_METRICS_EXPORTER=none sends spans alone",
        ),
    }
}

/// Permissions alone do not tell, so the directories that are missing are made, and taken away again.
fn can_be_made(dir: &Path) -> std::io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    let made = std::fs::create_dir_all(dir);
    for dir in missing {
        // One that could not be made is not there; one that somebody uses by now is not empty.
        drop(std::fs::remove_dir(dir));
    }
    made
}

fn tempfile_in(dir: &Path) -> std::io::Result<()> {
    let probe = dir.join(format!(".probe-{}", std::process::id()));
    std::fs::write(&probe, b"")?;
    std::fs::remove_file(&probe)
}

fn good(subject: &'static str, finding: String) -> Diagnosis {
    Diagnosis { subject: Cow::Borrowed(subject), health: Health::Good, finding, hint: None }
}

fn bad(subject: &'static str, finding: String, hint: String) -> Diagnosis {
    Diagnosis { subject: Cow::Borrowed(subject), health: Health::Bad, finding, hint: Some(hint) }
}
