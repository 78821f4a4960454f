//! The answer of a command that ran.

use std::path::Path;

use serde_json::json;
use setpoint_protocol::Any;
use setpoint_protocol::tool::{ErrorKind, ExecutedFile, SandboxTier, SideEffect, ToolAnswer};

use super::traces::Changes;
use crate::process::{Ending, Excess, ProgramEnd};
use crate::show;

/// Maximum bytes of stdout that the facts hold.
const FACTS_STDOUT_BYTES_MAX: usize = 160 * 1024;
/// Maximum bytes of stderr that the facts hold.
const FACTS_STDERR_BYTES_MAX: usize = 8 * 1024;
/// Bytes of the lines around the output.
pub(super) const FRAME_BYTES: usize = 512;

/// The observed effects of a command.
#[derive(Debug, Default)]
pub(super) struct CommandEffects {
    pub(super) created: Vec<String>,
    pub(super) executed: Vec<ExecutedFile>,
    pub(super) side_effect: SideEffect,
    /// What confined it.
    pub(super) tier: SandboxTier,
    /// Changes where the task works; `None` for a read-only command, or if they could not be observed.
    pub(super) changes: Option<Changes>,
    /// Whether the command's text names a place outside the task's folders. Observing those folders cannot vouch for
    /// its output later.
    pub(super) is_about_elsewhere: bool,
}

pub(super) fn answer(
    ended: &ProgramEnd,
    seconds: u64,
    output_bytes_max: usize,
    cwd: &Path,
    after: CommandEffects,
) -> ToolAnswer {
    let stream_bytes_max = output_bytes_max.saturating_sub(FRAME_BYTES) / 2;
    let (exit_code, error_kind) = outcome(ended.ending);
    let mut text = headline(ended.ending, seconds);
    if ended.stdout.is_empty() && ended.stderr.is_empty() {
        text.push_str("\n(it printed nothing)");
    }
    if !ended.stdout.is_empty() {
        text.push('\n');
        text.push_str(&ended.stdout.text(stream_bytes_max));
    }
    if !ended.stderr.is_empty() {
        text.push_str(if text.ends_with('\n') { "[errors]\n" } else { "\n[errors]\n" });
        text.push_str(&ended.stderr.text(stream_bytes_max));
    }
    if ended.left_behind > 0 {
        let processes = show::count(ended.left_behind as u64, "process", "processes");
        text.push_str(&format!("\n[{processes} that it left running in the background was stopped]"));
    }
    if let Some(line) = after.changes.as_ref().and_then(|changes| changes.line(cwd)) {
        text.push_str(if text.ends_with('\n') { "" } else { "\n" });
        text.push_str(&line);
    }
    let mut facts = json!({
        "exit_code": exit_code,
        "stdout": ended.stdout.text(FACTS_STDOUT_BYTES_MAX),
        "stderr": ended.stderr.text(FACTS_STDERR_BYTES_MAX),
        "timed_out": ended.ending == Ending::TimedOut,
        "complete": ended.stdout.total <= FACTS_STDOUT_BYTES_MAX as u64
            && ended.stderr.total <= FACTS_STDERR_BYTES_MAX as u64,
    });
    if let Some(changes) = &after.changes {
        changes.add_to(&mut facts);
    }
    if after.is_about_elsewhere {
        facts["elsewhere"] = true.into();
    }
    ToolAnswer {
        ok: error_kind.is_none(),
        error_kind,
        exit_code,
        text,
        facts: Some(Any(facts)),
        executed_files: after.executed,
        created: after.created,
        side_effect: after.side_effect,
        tier: Some(after.tier),
        ..ToolAnswer::default()
    }
}

fn outcome(ending: Ending) -> (Option<i32>, Option<ErrorKind>) {
    match ending {
        Ending::Exit(0) => (Some(0), None),
        Ending::Exit(126) => (Some(126), Some(ErrorKind::Permission)),
        Ending::Exit(127) => (Some(127), Some(ErrorKind::MissingTool)),
        Ending::Exit(code) => (Some(code), Some(ErrorKind::Exit)),
        Ending::Signal(_) => (None, Some(ErrorKind::Signal)),
        Ending::TimedOut => (None, Some(ErrorKind::Timeout)),
        Ending::Cancelled => (None, Some(ErrorKind::Interrupted)),
        Ending::Excess(Excess::Disk(_)) => (None, Some(ErrorKind::Storage)),
        Ending::Excess(Excess::Machine(_)) => (None, Some(ErrorKind::Other)),
        // The same command would reach it again.
        Ending::Excess(_) => (None, Some(ErrorKind::Blocked)),
    }
}

/// Returns the first line. On success it has no digit, so that the first number of the text is the first number of the
/// output.
fn headline(ending: Ending, seconds: u64) -> String {
    match ending {
        Ending::Exit(0) => "exit code zero".to_owned(),
        Ending::Exit(126) => "exit code 126: the program may not be run".to_owned(),
        Ending::Exit(127) => "exit code 127: there is no such program".to_owned(),
        Ending::Exit(code @ 129..=159) => {
            format!("exit code {code}: a part of it was ended by signal {}", code - 128)
        }
        Ending::Exit(code) => format!("exit code {code}"),
        Ending::Signal(signal) => format!("ended by signal {signal}"),
        Ending::TimedOut => {
            format!("TIMED OUT after {seconds} s: it and everything it started was stopped. Output so far:")
        }
        Ending::Cancelled => "cancelled".to_owned(),
        Ending::Excess(excess) => {
            format!(
                "ENDED with everything it started: {excess}. Nothing that it changed is kept. Output so far:"
            )
        }
    }
}
