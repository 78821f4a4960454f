//! `sandbox`: tries a command on a view of the working directory, or says what the sandbox holds here.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;

use clap::Args;
use serde_json::{Value, json};
use setpoint_app::Error;
use setpoint_app::sandbox::{Change, ChangeKind, Entry, SandboxReport, Tried, show};

use crate::text::{Line, Tone};
use crate::{App, Exit, Io};

/// At most this many changes are listed for a person.
const LISTED_MAX: usize = 40;

/// Try a command: show what it would change here, and keep nothing
///
/// The command sees this folder, the programs of the system and nothing else: no other files, no network, no other
/// process. What it changes is listed and discarded. Setpoint exits with the exit code of the command.
#[derive(Args, Debug)]
pub struct Sandbox {
    /// Show what the sandbox holds on this machine, and what a command would see
    #[arg(long)]
    explain: bool,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND", required_unless_present = "explain")]
    command: Vec<OsString>,
}

impl Sandbox {
    pub(super) fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let (options, desk) = (&app.options, app.host.desk());
        if self.explain {
            let report = desk.sandbox()?;
            io.out.show(options, &report, || explained(&report))?;
            return Ok(Exit::DONE);
        }
        let is_json = options.is_json;
        let tried = tokio::task::block_in_place(|| desk.try_command(&self.command, is_json))?;
        if is_json {
            io.out.json(&value(&tried))?;
        } else if !options.is_quiet {
            // The command's own output is what counts.
            drop(io.err.lines(&lines(&tried)));
        }
        Ok(exit(&tried))
    }
}

/// Returns the exit code of the command; that of a shell if a signal ended it.
fn exit(tried: &Tried) -> Exit {
    let status = tried.status;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Exit::of_program(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

fn value(tried: &Tried) -> Value {
    let change = |change: &Change| {
        let bytes = match change.entry {
            Entry::File(bytes) => Some(bytes),
            _ => None,
        };
        json!({
            "path": show::path(&change.path),
            "change": verb(change.kind),
            "entry": noun(change.entry),
            "bytes": bytes,
        })
    };
    json!({
        "exit_code": tried.status.code(),
        "signal": tried.status.signal(),
        "changes": tried.changes.list.iter().map(change).collect::<Value>(),
        "is_cut": tried.changes.is_cut,
    })
}

fn lines(tried: &Tried) -> Vec<Line> {
    let list = &tried.changes.list;
    if list.is_empty() {
        return vec![Line::new().and(Tone::Dim, "it changed no content and no permissions here")];
    }
    let count = if list.len() == 1 { "1 change".to_owned() } else { format!("{} changes", list.len()) };
    let mut lines = vec![Line::new().and(Tone::Strong, &format!("{count}, not kept:"))];
    let outermost = outermost(list);
    for (change, below) in outermost.iter().take(LISTED_MAX) {
        let size = match change.entry {
            _ if change.kind == ChangeKind::Permissions => " (permissions)".to_owned(),
            Entry::File(bytes) if change.kind != ChangeKind::Removed => format!(" ({})", show::amount(bytes)),
            Entry::File(_) => String::new(),
            Entry::Folder if *below > 0 => format!("/ and {below} below"),
            Entry::Folder if change.kind == ChangeKind::Removed => "/ and all below".to_owned(),
            Entry::Folder => "/".to_owned(),
            Entry::Link => " (link)".to_owned(),
            Entry::Other => " (socket, pipe or device)".to_owned(),
        };
        let tone = if change.kind == ChangeKind::Removed { Tone::Care } else { Tone::Plain };
        lines.push(
            Line::new()
                .and(
                    tone,
                    &format!("  {:8} ", if is_changed(change.kind) { "changed" } else { verb(change.kind) }),
                )
                .and(Tone::Name, &show::path_line(&change.path))
                .and(Tone::Dim, &size),
        );
    }
    let more = outermost.len().saturating_sub(LISTED_MAX);
    if more > 0 || tried.changes.is_cut {
        let at_least = if tried.changes.is_cut { "at least " } else { "" };
        lines.push(Line::new().and(Tone::Dim, &format!("  and {at_least}{more} more; `--json` lists all")));
    }
    lines
}

/// Returns the changes that lie in no new folder, each with the number of those in it. They are in order of paths.
fn outermost(list: &[Change]) -> Vec<(&Change, usize)> {
    let mut outermost: Vec<(&Change, usize)> = Vec::new();
    for change in list {
        match outermost.last_mut() {
            Some((folder, below))
                if folder.kind == ChangeKind::Created
                    && folder.entry == Entry::Folder
                    && change.path.starts_with(&folder.path)
                    && change.path != folder.path =>
            {
                *below += 1;
            }
            _ => outermost.push((change, 0)),
        }
    }
    outermost
}

fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Removed => "removed",
        ChangeKind::Created => "created",
        ChangeKind::Changed => "changed",
        ChangeKind::Permissions => "permissions",
    }
}

fn is_changed(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Changed | ChangeKind::Permissions)
}

fn noun(entry: Entry) -> &'static str {
    match entry {
        Entry::File(_) => "file",
        Entry::Folder => "folder",
        Entry::Link => "link",
        Entry::Other => "other",
    }
}

fn explained(report: &SandboxReport) -> Vec<Line> {
    let tier = report.tier.unwrap_or("none");
    let tone = if report.missing.is_empty() { Tone::Good } else { Tone::Care };
    let mut lines = vec![Line::new().and(Tone::Plain, "sandbox: ").and(tone, tier)];
    for missing in &report.missing {
        lines.push(Line::plain(&format!("  {} does not hold here: {}", missing.tier, missing.why)));
        lines.push(Line::new().and(Tone::Care, "  hint: ").and(Tone::Plain, missing.hint));
    }
    let policy = &report.policy;
    if let Some(why) = &report.refused {
        lines.push(Line::new().and(Tone::Care, "no command can run here: ").and(Tone::Plain, why));
        lines.push(Line::new().and(Tone::Care, "  hint: ").and(Tone::Plain, "run it in a folder of its own"));
        return lines;
    }
    lines.push(Line::plain("a command here sees:"));
    for folder in &policy.folders {
        let what = if folder.path == policy.cwd { "a view; changes are discarded" } else { "read only" };
        lines.push(
            Line::plain("  ")
                .and(Tone::Name, &folder.path.to_string_lossy())
                .and(Tone::Dim, &format!("  {what}")),
        );
    }
    for path in &policy.hidden {
        lines.push(
            Line::plain("  ").and(Tone::Name, &path.to_string_lossy()).and(Tone::Dim, "  appears empty"),
        );
    }
    lines.push(Line::plain(
        "  the programs of the system, a /tmp and a home folder of its own; no network, no other process",
    ));
    let limits = policy.limits;
    lines.push(Line::plain(&format!(
        "limits: {} processes, {} data bytes each, {} bytes per file, {} bytes for temporary files",
        limits.processes, limits.data_bytes, limits.file_bytes, limits.scratch_bytes
    )));
    lines
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use setpoint_app::sandbox::Changes;

    use super::*;

    fn tried(status: i32, changes: &[(&str, ChangeKind, Entry)]) -> Tried {
        let change = |(path, kind, entry): &(&str, ChangeKind, Entry)| Change {
            path: path.into(),
            kind: *kind,
            entry: *entry,
        };
        let list = changes.iter().map(change).collect();
        Tried {
            status: ExitStatus::from_raw(status),
            changes: Changes { list, unkept: Vec::new(), is_cut: false },
        }
    }

    fn shown(tried: &Tried) -> String {
        lines(tried).iter().map(|line| line.paint(false)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn changes_are_listed_and_counted() {
        let one = tried(
            0,
            &[
                ("a.txt", ChangeKind::Removed, Entry::File(7)),
                ("d", ChangeKind::Created, Entry::Folder),
                ("d/n.txt", ChangeKind::Created, Entry::File(2)),
                ("e\n", ChangeKind::Created, Entry::File(2)),
                ("l", ChangeKind::Changed, Entry::Link),
                ("m", ChangeKind::Permissions, Entry::File(2)),
                ("r", ChangeKind::Removed, Entry::Folder),
            ],
        );
        assert_eq!(
            shown(&one),
            "7 changes, not kept:\n  removed  a.txt\n  created  d/ and 1 below\n  created  e\\n (2 bytes)\n  changed  l (link)\n  \
             changed  m (permissions)\n  removed  r/ and all below"
        );
        assert_eq!(shown(&tried(0, &[])), "it changed no content and no permissions here");
        let many: Vec<_> = (0..50).map(|_| ("x", ChangeKind::Changed, Entry::Link)).collect();
        assert!(shown(&tried(0, &many)).ends_with("\n  and 10 more; `--json` lists all"));
    }

    #[test]
    fn the_exit_code_is_the_commands() {
        for (status, code) in [(0, 0), (3 << 8, 3), (15, 143)] {
            assert_eq!(exit(&tried(status, &[])).code(), code);
        }
    }
}
