//! The state of the program: its checks of models, files, journal, memory and tools.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde::Serialize;
use setpoint_audit::log::{TrustAnchors, verify};
use setpoint_audit::{AuditFailure, PutBack, concerns_any, put_aside, put_back};
use setpoint_journal::{Journal, JournalOptions};
use setpoint_memory::store::{MemoryError, Options as StoreOptions, Store};
use setpoint_own_files::own;
use setpoint_protocol::text::error_chain;
use setpoint_telemetry::task::Content;

use crate::error::hints::{PUT_BACK_HINT, audit_hint, journal_hint, of_program, of_store};
use crate::models::choose::ModelChoice;
use crate::models::choose::PLAYBOOK;
use crate::program::{Program, is_none};
use crate::surroundings::{Directories, is_installed};

/// The state of a checked thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Good,
    /// Works, with something that a person should know.
    Note,
    /// Does not work.
    Bad,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The checked thing.
    pub subject: Cow<'static, str>,
    pub state: Health,
    /// What the check found.
    pub finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Description of the embedded brain.
pub(crate) const EMBEDDED: &str = "the embedded brain answers from playbooks; it is not a language model";
/// How to use a language model instead.
pub(crate) const EMBEDDED_HINT: &str =
    "`setpoint playbooks` lists the goals it knows; `setpoint init` looks for language models";

/// Programs that some tools need, with what is missing without them.
const WANTED: &[(&str, &str)] =
    &[("sh", "the shell tool cannot run commands"), ("git", "the git report cannot be made")];

/// Checks the models, the playbooks, the data directory, the journal, memory, telemetry and the programs.
#[must_use]
pub fn examine(program: &Program) -> Vec<Diagnosis> {
    let mut found = models(program);
    found.extend([playbooks(program), data_directory(program)]);
    found.push(journal(&program.directories));
    found.push(memory(&program.directories.memory()));
    found.push(audit(program));
    found.push(telemetry(program));
    found.push(program.examine_sandbox());
    for (name, loss) in WANTED {
        found.push(if is_installed(name, program.path()) {
            good("program", format!("{name} is installed"))
        } else {
            bad("program", format!("{name} is not on the PATH: {loss}"), format!("install {name}"))
        });
    }
    found
}

fn models(program: &Program) -> Vec<Diagnosis> {
    let chosen = match program.chosen_models() {
        Ok(chosen) => chosen,
        Err(error) => return vec![bad("models", error_chain(&error), error.hint())],
    };
    if chosen.iter().all(|one| one.name == PLAYBOOK) {
        return vec![note("models", EMBEDDED, EMBEDDED_HINT)];
    }
    let one =
        |one: &ModelChoice| good("models", format!("{} is {}, by {}", one.slot.key(), one.name, one.origin));
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
            "`setpoint playbooks check` shows them all; the others work",
        ),
    }
}

fn data_directory(program: &Program) -> Diagnosis {
    let data = &program.directories.data;
    let shown = data.display();
    if !data.exists() {
        return match can_be_made(data) {
            Ok(()) => good("data directory", format!("{shown} does not exist yet and will be created")),
            Err(error) => bad(
                "data directory",
                format!("{shown} cannot be created: {error}"),
                "choose another with --data-dir or SETPOINT_DATA_DIR",
            ),
        };
    }
    if let Err(error) = program.check_places() {
        return bad("data directory", error_chain(&error), of_program(&error).1);
    }
    match tempfile_in(data) {
        Ok(()) => good("data directory", format!("{shown} is writable")),
        Err(error) => bad(
            "data directory",
            format!("{shown} is not writable: {error}"),
            "choose another with --data-dir or SETPOINT_DATA_DIR",
        ),
    }
}

/// What to do about a damaged journal.
const JOURNAL_KEEP_HINT: &str = "keep a copy of the data directory; undamaged tasks can be read and exported";
/// Maximum tasks that one finding names.
const TASKS_NAMED_MAX: usize = 5;

fn fragments_missing(missing: &BTreeMap<String, u64>) -> Diagnosis {
    let pieces: u64 = missing.values().sum();
    let named: Vec<&str> = missing.keys().take(TASKS_NAMED_MAX).map(String::as_str).collect();
    let more = missing.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let (word, are) = if pieces == 1 { ("piece", "is") } else { ("pieces", "are") };
    bad(
        "journal",
        format!("{pieces} {word} of prompts {are} missing, of {}{more}", named.join(", ")),
        "these tasks replay, but what their models were asked cannot be shown; put back a copy of the journal if there is one",
    )
}

fn journal(directories: &Directories) -> Diagnosis {
    let dir = &directories.journal();
    if is_none(dir.symlink_metadata()) {
        // The Auditor makes its log when it has read a row.
        if is_none(directories.audit().join("log").symlink_metadata()) {
            return good("journal", "there is none yet");
        }
        return bad("journal", "it is gone: there is an audit log of one", PUT_BACK_HINT);
    }
    let journal = match Journal::open(dir, &JournalOptions::default()) {
        Ok(journal) => journal,
        Err(error) => return bad("journal", error_chain(&error), journal_hint(&error)),
    };
    match journal.verify() {
        Ok(report) if report.damages.is_empty() => {
            // A log that cannot be read is reported below.
            let put_back = put_back(&directories.audit(), &journal).unwrap_or_default();
            // An empty journal has no task to be concerned about: what it held is lost.
            let is_emptied = report.tasks == 0;
            let is_of_note = |found: &PutBack| is_emptied || concerns_any(found, &journal).unwrap_or(true);
            if let Some(put_back) = put_back.filter(is_of_note) {
                let what =
                    if is_emptied { "the journal was emptied" } else { "an older journal was restored" };
                let finding = format!("{what}: {}", put_back.why);
                return bad("journal", finding, PUT_BACK_HINT);
            }
            match setpoint_history::fragments::missing(&journal) {
                Ok(missing) if missing.is_empty() => {}
                Ok(missing) => return fragments_missing(&missing),
                Err(error) => return bad("journal", error_chain(&error), JOURNAL_KEEP_HINT),
            }
            let tasks = if report.tasks == 1 { "task" } else { "tasks" };
            let records = if report.rows == 1 { "record" } else { "records" };
            let counts = format!("{} {tasks}, {} {records}", report.tasks, report.rows);
            let pruned = match report.pruned {
                0 => String::new(),
                pruned => format!(" ({pruned} of them pruned)"),
            };
            good("journal", format!("{counts}{pruned}, all chains are intact"))
        }
        Ok(report) => {
            let places: Vec<String> = report.damages.iter().take(5).map(ToString::to_string).collect();
            bad(
                "journal",
                format!("{} damaged places: {}", report.damages.len(), places.join("; ")),
                JOURNAL_KEEP_HINT,
            )
        }
        Err(error) => bad("journal", error_chain(&error), journal_hint(&error)),
    }
}

/// Checks memory for consistency. A damaged memory is set aside by the next program that opens it.
fn memory(dir: &Path) -> Diagnosis {
    if is_none(dir.symlink_metadata()) {
        return good("memory", "there is none yet");
    }
    let failed = |error: MemoryError| bad("memory", error_chain(&error), of_store(&error).1);
    let (store, report) = match Store::open(dir, &StoreOptions::default()) {
        Ok(opened) => opened,
        Err(error) => return failed(error),
    };
    match store.check(setpoint_runtime::clock::now()) {
        Ok(checked) => {
            let records = if checked.records == 1 { "record" } else { "records" };
            let counts = format!("{} {records}, all checksums match", checked.records);
            match report.aside {
                None => good("memory", counts),
                Some((aside, what)) => note(
                    "memory",
                    format!("it was damaged ({what}) and is rebuilt; the old one is in {}", aside.display()),
                    "check or delete the old one: the next task reads the journal again",
                ),
            }
        }
        Err(error) => failed(error),
    }
}

/// Checks the audit log for consistency; `setpoint audit verify` checks more.
fn audit(program: &Program) -> Diagnosis {
    let place = program.audit_place();
    if is_none(place.dir.symlink_metadata()) {
        return good("audit", "there is no log yet");
    }
    let failed = |error: AuditFailure| bad("audit", error_chain(&error), audit_hint(&error));
    if let Err(error) = place.check() {
        return failed(error);
    }
    match verify(&place.dir, &TrustAnchors::default()) {
        Ok(seen) if seen.is_sound() => match put_aside(&place.dir) {
            Ok(aside) if aside.is_empty() => good(
                "audit",
                format!("{} entries of the log fit together, {} are signed", seen.entries, seen.sealed),
            ),
            Ok(_) => bad(
                "audit",
                "an earlier log was damaged and is set aside",
                "`setpoint audit verify` names it; move it away after checking it",
            ),
            Err(error) => failed(error.into()),
        },
        Ok(seen) => {
            let first = seen.findings.first().map(ToString::to_string).unwrap_or_default();
            let hint = "`setpoint audit verify` shows all that is wrong; keep the folder `audit` unchanged to find the cause";
            bad("audit", format!("the log was changed after it was written: {first}"), hint)
        }
        Err(error) => failed(error.into()),
    }
}

/// Checks where telemetry goes and whether it is accepted there. Tasks run without it, so a failure is only a note.
fn telemetry(program: &Program) -> Diagnosis {
    let plan = match program.telemetry() {
        Ok(Some(plan)) => plan,
        Ok(None) => return good("telemetry", "off: nothing is sent anywhere"),
        Err(error) => {
            return note(
                "telemetry",
                error_chain(&error),
                "correct `telemetry.otlp_endpoint`; tasks run without telemetry",
            );
        }
    };
    let with = match plan.content {
        Content::Omitted => "",
        Content::Exported => ", with the text of goals, answers and tool results",
    };
    match plan.reach() {
        Ok(()) => good("telemetry", format!("{}{with}; the collector accepts it", plan.shown())),
        Err(error) => note(
            "telemetry",
            format!("{}{with}, but the collector does not accept it: {}", plan.shown(), error_chain(&error)),
            "start the collector, or turn off what it does not accept: OTEL_METRICS_EXPORTER=none sends only spans",
        ),
    }
}

/// Checks whether a directory can be created, by creating the missing directories and removing them again: permissions
/// alone do not decide that.
fn can_be_made(dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    let made = std::fs::create_dir_all(dir);
    for dir in missing {
        // Fails harmlessly if it was not created, or if another process uses it by now.
        drop(std::fs::remove_dir(dir));
    }
    made
}

fn tempfile_in(dir: &Path) -> io::Result<()> {
    let probe = dir.join(format!(".probe-{}", std::process::id()));
    match own::create_new(&probe) {
        Ok(_) => std::fs::remove_file(&probe),
        // Left behind by an earlier process with this number, so the directory is writable.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

pub(crate) fn good(subject: impl Into<Cow<'static, str>>, finding: impl Into<String>) -> Diagnosis {
    Diagnosis { subject: subject.into(), state: Health::Good, finding: finding.into(), hint: None }
}

pub(crate) fn note(
    subject: impl Into<Cow<'static, str>>,
    finding: impl Into<String>,
    hint: impl Into<String>,
) -> Diagnosis {
    Diagnosis { state: Health::Note, hint: Some(hint.into()), ..good(subject, finding) }
}

pub(crate) fn bad(
    subject: impl Into<Cow<'static, str>>,
    finding: impl Into<String>,
    hint: impl Into<String>,
) -> Diagnosis {
    Diagnosis { state: Health::Bad, ..note(subject, finding, hint) }
}

#[cfg(test)]
mod tests;
