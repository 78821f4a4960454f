//! The kind and the hint of each error, for a person.

use std::borrow::Cow;

use setpoint_audit::AuditFailure;
use setpoint_audit::log::LogError;
use setpoint_history::HistoryError;
use setpoint_history::cloud_events::export::ExportError;
use setpoint_history::cloud_events::import::ImportError;
use setpoint_history::fork::ForkError;
use setpoint_history::import::TakeInError;
use setpoint_journal::JournalError;
use setpoint_memory::MemoryFailure;
use setpoint_memory::store::MemoryError;
use setpoint_model::cassette::TapeError;
use setpoint_own_files::is_refusal;
use setpoint_protocol::text::error_chain;
use setpoint_runtime::RuntimeError;
use setpoint_runtime::organisation::AuditTrouble;

use super::ErrorKind as Kind;
use crate::config::ConfigError;
use crate::program::ProgramError;

/// Hint for an older journal that was restored.
pub(crate) const PUT_BACK_HINT: &str = "restore the newer journal if there is a copy; otherwise check with \
                                        `setpoint tasks show` what a task would repeat, and resume it with `setpoint tasks resume --force TASK`";

/// Hint for a file below the data directory that is not one of Setpoint's own.
pub(crate) const NOT_OURS_HINT: &str =
    "`setpoint doctor` checks the whole data directory; --data-dir names another one";

/// Hint for a failure that should not happen.
const JOURNAL_HINT: &str = "the journal keeps the task's steps; `setpoint doctor` checks it";

/// Returns kind and hint of an error.
#[must_use]
pub fn of_runtime(error: &RuntimeError) -> (Kind, &'static str) {
    match error {
        RuntimeError::Journal(error) => of_journal(error),
        RuntimeError::Append(error) => of_journal(error),
        RuntimeError::History(error) => of_history(error),
        RuntimeError::Goal(_) => (Kind::Usage, "state what is to be done, in a sentence or two"),
        RuntimeError::Ended(_) => (Kind::Usage, "`setpoint tasks show` shows how it ended"),
        RuntimeError::HeldElsewhere { .. } => {
            (Kind::Usage, "wait for that process, or stop it: its tasks can then be resumed")
        }
        RuntimeError::PutBack { .. } => (Kind::Usage, PUT_BACK_HINT),
        RuntimeError::OtherModels { unlike, .. } if unlike.is_for_money => {
            (Kind::Configuration, "resume it with the models that it was opened with")
        }
        RuntimeError::OtherModels { .. } => (
            Kind::Configuration,
            "restore the model and its key, or name the model to continue with: `--model NAME`",
        ),
        RuntimeError::WasPlayed { .. } => {
            (Kind::Usage, "`setpoint tasks resume --replay FILE TASK` continues from the recording")
        }
        RuntimeError::WasNotPlayed { .. } => {
            (Kind::Usage, "`setpoint tasks resume TASK`, without --replay, continues with the models")
        }
        RuntimeError::Refused { .. } => (Kind::Usage, "`setpoint tasks show` shows what the task waits for"),
        RuntimeError::Divergence(_) | RuntimeError::Broken { .. } | RuntimeError::ShuttingDown => {
            (Kind::Internal, JOURNAL_HINT)
        }
    }
}

/// Returns kind and hint of a failure to replay or read a task.
fn of_history(error: &HistoryError) -> (Kind, &'static str) {
    match error {
        HistoryError::Journal(error) => of_journal(error),
        HistoryError::Append(error) => of_journal(error),
        HistoryError::Pruned { .. } => {
            (Kind::Usage, "`setpoint tasks show TASK` shows what is left: the goal and the result")
        }
        HistoryError::Fork(ForkError::Parts { .. }) => (
            Kind::Usage,
            "fork at an earlier record, or with the models and settings that the task was opened with",
        ),
        HistoryError::Fork(ForkError::Workspace { .. }) => (
            Kind::Usage,
            "the fork gets a copy of the task's workspace: remove from that folder what the fork does not need \
                 or cannot read, and check that the disk has room for the copy",
        ),
        HistoryError::Fork(_) => (Kind::Usage, "`setpoint replay TASK` shows its records with their numbers"),
        HistoryError::Export(ExportError::LineTooLong { .. } | ExportError::TooLarge) => (
            Kind::Usage,
            "replay it where it is, or copy the data directory as a whole: the journal reads tasks of any size",
        ),
        HistoryError::NoReplay { .. } => (
            Kind::Internal,
            "its records come from another program, or the machines changed without a new logic version",
        ),
        HistoryError::Unreadable { .. } | HistoryError::Export(_) => (Kind::Internal, JOURNAL_HINT),
    }
}

/// Returns kind and hint of a failure to start the program.
#[must_use]
pub fn of_program(error: &ProgramError) -> (Kind, Cow<'static, str>) {
    let (kind, hint) = match error {
        ProgramError::Cassette(TapeError::Exists { .. }) => {
            (Kind::Configuration, "name a file that does not exist yet, or move that one away")
        }
        ProgramError::Cassette(_) => (Kind::Configuration, "`setpoint run --record FILE` makes a recording"),
        ProgramError::Choice(error) => return (Kind::Configuration, Cow::Owned(error.hint())),
        ProgramError::Runtime(error) => of_runtime(error),
        ProgramError::History(error) => of_history(error),
        ProgramError::Settings(_) => (
            Kind::Usage,
            "write it with or without its section, such as `--set delta=0.2` or `--set controller.delta=0.2`",
        ),
        ProgramError::Config(ConfigError::Foreign { .. } | ConfigError::Lifted { .. }) => (
            Kind::Configuration,
            "if you want it, set it in your own configuration file, which `setpoint config path` names first, or \
                 with --set; otherwise remove the line",
        ),
        ProgramError::Config(_) => (Kind::Configuration, "`setpoint config path` shows which files are read"),
        ProgramError::NoHome(_) => {
            (Kind::Configuration, "set HOME to an absolute path, or name a directory with --data-dir")
        }
        ProgramError::NotText { .. } => (
            Kind::Configuration,
            "rename it, or choose another: --data-dir names the data directory, `cd` changes the working directory",
        ),
        ProgramError::NoData { .. } => {
            (Kind::Usage, "--data-dir names the directory of the tasks; `setpoint run` creates one")
        }
        ProgramError::Exported { source: TakeInError::File(ImportError::Newer { .. }), .. } => {
            (Kind::Usage, "it was written by a newer setpoint; use that one")
        }
        ProgramError::Exported { source: TakeInError::File(ImportError::NotExported), .. } => {
            (Kind::Usage, "`setpoint tasks export TASK --output FILE` writes such a file")
        }
        ProgramError::Exported { .. } => (
            Kind::Usage,
            "export the task again where it was run: `setpoint tasks export TASK --output FILE`",
        ),
        ProgramError::OpenFile { .. } => (
            Kind::Usage,
            "name a task by its id, or the beginning or the end of it, or a file that `setpoint tasks export` wrote",
        ),
        ProgramError::Place { .. } => (Kind::Configuration, NOT_OURS_HINT),
        ProgramError::Cwd(_) => (Kind::Configuration, "change to a directory that exists"),
        ProgramError::Journal(error) => of_journal(error),
        ProgramError::Audit(error) => (Kind::Configuration, audit_hint(error)),
        ProgramError::AuditedElsewhere => (
            Kind::Usage,
            "wait until that process has ended, or end it: a task that runs, or `setpoint audit follow`",
        ),
        ProgramError::Undoing(_) => (
            Kind::Internal,
            "nothing was put back; the old contents are in the folder `contents` there, each under its hash",
        ),
        ProgramError::Memory(error) => of_store(error),
        ProgramError::Thinking { .. } | ProgramError::ThinkingTooLong { .. } => {
            (Kind::Configuration, "correct the file, or move it away")
        }
    };
    (kind, Cow::Borrowed(hint))
}

/// Returns the hint for a failure of the Auditor.
#[must_use]
pub fn audit_hint(failure: &AuditFailure) -> &'static str {
    match failure {
        AuditFailure::Log(LogError::NoSpace { .. }) => {
            "make room on the disk; then the Auditor continues, and misses nothing"
        }
        AuditFailure::Log(LogError::Damaged { .. }) => {
            "`setpoint audit verify` shows what is wrong; the next process that audits sets the log aside"
        }
        AuditFailure::Log(LogError::Io { source, .. }) if is_refusal(source) => {
            "the Auditor continues where it stopped once the file is corrected"
        }
        AuditFailure::Log(_) => "make sure that only you can read and write the audit directory and its key",
        AuditFailure::Journal(_) => "`setpoint doctor` checks the journal",
    }
}

/// Describes for a person why the Auditor stopped.
#[must_use]
pub fn audit_trouble(trouble: &AuditTrouble) -> String {
    let failed = trouble.failure.as_ref().map(|failure| {
        let (error, hint) = (error_chain(failure.as_ref()), audit_hint(failure));
        format!("the Auditor cannot work, and catches up later: {error} ({hint})")
    });
    trouble.put_back.clone().into_iter().chain(failed).collect::<Vec<_>>().join("; ")
}

/// Returns kind and hint of a failure of memory.
#[must_use]
pub fn of_memory(error: &MemoryFailure) -> (Kind, &'static str) {
    match error {
        MemoryFailure::Store(error) => of_store(error),
        MemoryFailure::Journal(error) => of_journal(error),
        MemoryFailure::Act(error) => of_journal(error),
        MemoryFailure::TooManyFacts { .. } => {
            (Kind::Usage, "`setpoint memory rules` lists them; `setpoint memory forget ID` makes room")
        }
        MemoryFailure::Fact { .. } => (Kind::Usage, "say it in other words, or in several facts"),
        MemoryFailure::NoProposal { .. } => {
            (Kind::Usage, "`setpoint memory approve` lists what waits for approval")
        }
        MemoryFailure::TooManyLines { .. } => {
            (Kind::Usage, "split the file; existing records are not imported twice")
        }
        MemoryFailure::Skill { .. } => (Kind::Usage, "name a folder that is writable and has room"),
        MemoryFailure::Lock { .. } | MemoryFailure::Panicked | MemoryFailure::Crowded { .. } => {
            (Kind::Internal, "try again; `setpoint doctor` checks the data directory")
        }
    }
}

pub(crate) fn of_store(error: &MemoryError) -> (Kind, &'static str) {
    match error {
        MemoryError::NoSpace { .. } => (
            Kind::Internal,
            "make room on the disk; nothing is lost: memory reads the missing records from the journal later",
        ),
        MemoryError::Locked { .. } => {
            (Kind::Internal, "wait for the other process, or end it, and try again")
        }
        MemoryError::ReadOnly { .. } => (
            Kind::Configuration,
            "make the folder `memory` in the data directory writable, or choose another with --data-dir",
        ),
        MemoryError::FormatTooNew { .. } => (
            Kind::Configuration,
            "use the newer setpoint, or move the folder `memory` away: it is then rebuilt from the journal",
        ),
        MemoryError::Damaged { .. } => {
            (Kind::Internal, "move the folder `memory` away: it is then rebuilt from the journal")
        }
        MemoryError::Unknown { .. } | MemoryError::NoId { .. } | MemoryError::SeveralIds { .. } => {
            (Kind::Usage, "`setpoint memory list` shows the records with their ids")
        }
        MemoryError::Io { source, .. } if is_refusal(source) => (Kind::Configuration, NOT_OURS_HINT),
        MemoryError::Io { .. } => (
            Kind::Configuration,
            "make the folder `memory` in the data directory writable, or choose another with --data-dir",
        ),
        MemoryError::TooMany { .. } | MemoryError::Storage { .. } => {
            (Kind::Internal, "check that the data directory is writable and the disk has room")
        }
    }
}

fn of_journal(error: &JournalError) -> (Kind, &'static str) {
    let kind = match error {
        JournalError::UnknownTask { .. } | JournalError::NotFound { .. } => Kind::Unknown,
        JournalError::Ambiguous { .. } | JournalError::PruneBeside { .. } => Kind::Usage,
        JournalError::ReadOnly { .. }
        | JournalError::CreateDir { .. }
        | JournalError::NotAJournal { .. }
        | JournalError::FormatTooNew { .. } => Kind::Configuration,
        JournalError::Io { source, .. } if is_refusal(source) => Kind::Configuration,
        _ => Kind::Internal,
    };
    (kind, journal_hint(error))
}

/// Returns the hint for a journal that cannot be used.
#[must_use]
pub fn journal_hint(error: &JournalError) -> &'static str {
    match error {
        JournalError::FormatTooNew { .. } => {
            "it was written by a newer setpoint; use that one, or another data directory (--data-dir)"
        }
        JournalError::LostTail { .. } => {
            "records are missing at its end; keep a copy, then run `setpoint doctor` to find the place"
        }
        JournalError::HeadMismatch { .. }
        | JournalError::Damaged { .. }
        | JournalError::ChainBroken { .. } => {
            "it is damaged: keep a copy; `setpoint doctor` names the places, and undamaged tasks can be read and exported"
        }
        JournalError::NotAJournal { .. } => {
            "the place of the journal holds something else; choose another data directory (--data-dir)"
        }
        JournalError::Locked { .. } => {
            "another program has locked the database; wait for it, or choose another data directory (--data-dir)"
        }
        JournalError::ReadOnly { .. } => {
            "the data directory is read-only; choose another with --data-dir or SETPOINT_DATA_DIR"
        }
        JournalError::Io { source, .. } | JournalError::CreateDir { source, .. } if is_refusal(source) => {
            NOT_OURS_HINT
        }
        JournalError::NoSpace { .. } => "the disk is full; make room and run `setpoint tasks resume`",
        JournalError::UnknownTask { .. } | JournalError::NotFound { .. } => {
            "`setpoint tasks list` shows the tasks there are"
        }
        JournalError::PruneBeside { .. } => {
            "wait until the task has ended, or cancel it with `setpoint tasks cancel`; nothing was pruned"
        }
        JournalError::PruneOvertaken => "try again when no task runs; nothing was pruned",
        JournalError::Ambiguous { .. } => {
            "give more of the id; `setpoint tasks list` shows the tasks there are"
        }
        _ => {
            "check that the data directory is writable and the disk has room, or choose another with --data-dir or SETPOINT_DATA_DIR"
        }
    }
}
