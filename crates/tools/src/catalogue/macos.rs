//! `applescript` and `shortcuts`: macOS automation through the system's own programs. The effects of a script cannot be
//! known, so each call needs a person's consent.

use std::ffi::OsString;

use setpoint_protocol::Any;
use setpoint_protocol::gate::Cause;
use setpoint_protocol::tool::ErrorKind;

use super::shell;
use crate::approval::{Gate, Plan};
use crate::catalogue::prelude::*;
use crate::host::Host;
use crate::process::env::{self, Programs};
use crate::process::{self, Ending, Job};

/// Maximum bytes of each stream that the facts hold.
const FACTS_STREAM_BYTES_MAX: usize = 24 * 1024;

/// A program of the system that runs a script or shortcut.
struct Runner {
    host: Host,
    program: &'static str,
}

pub(crate) struct AppleScript(Runner);
pub(crate) struct Shortcuts(Runner);

impl AppleScript {
    /// Returns the tool on macOS, otherwise `None`.
    pub(crate) fn new(host: &Host) -> Option<Self> {
        Runner::new("osascript", host).map(AppleScript)
    }
}

impl Shortcuts {
    /// Returns the tool on macOS, otherwise `None`.
    pub(crate) fn new(host: &Host) -> Option<Self> {
        Runner::new("shortcuts", host).map(Shortcuts)
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ScriptInput {
    /// The AppleScript.
    script: String,
    /// Seconds until it is stopped: 1 to 600, 60 if not given.
    timeout_s: Option<u64>,
}

impl Typed for AppleScript {
    type Input = ScriptInput;
    const NAME: &'static str = "applescript";
    const ABOUT: &'static str =
        "Runs an AppleScript, to work with the applications of this Mac. Needs a person's consent.";
    const GIVES: &'static str = "what the script gives back";
    const CLASS: CapabilityClass = CapabilityClass::Run;
    const EFFECT: Effect = Effect::Unsafe;

    fn target(&self, input: &ScriptInput, _: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(input.script.trim()).with("timeout_s", input.timeout_s))
    }

    async fn run(&self, input: ScriptInput, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let args = ["-e".into(), OsString::from(&input.script)];
        self.0.run(Self::NAME, &input.script, args.into(), input.timeout_s, ctx).await
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ShortcutInput {
    /// The shortcut's name.
    name: String,
    /// A file that it gets as input.
    input: Option<String>,
    /// Seconds until it is stopped: 1 to 600, 60 if not given.
    timeout_s: Option<u64>,
}

impl Typed for Shortcuts {
    type Input = ShortcutInput;
    const NAME: &'static str = "shortcuts";
    const ABOUT: &'static str = "Runs one of the person's shortcuts on this Mac. Needs a person's consent.";
    const GIVES: &'static str = "what the shortcut gives back";
    const CLASS: CapabilityClass = CapabilityClass::Run;
    const EFFECT: Effect = Effect::Unsafe;

    fn target(&self, input: &ShortcutInput, place: &Place) -> Result<Target, ToolError> {
        let file = input.input.as_deref().map(|file| place.path("input", file)).transpose()?;
        Ok(Target::new(&input.name)
            .with("input", file.map(|file| crate::show::path(&file)))
            .with("timeout_s", input.timeout_s))
    }

    async fn run(&self, input: ShortcutInput, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let mut args: Vec<OsString> = vec!["run".into()];
        let mut command = format!("run the shortcut {:?}", input.name);
        if let Some(file) = &input.input {
            let file = ctx.existing("input", file)?;
            command.push_str(&format!(" with {}", crate::show::path(&file)));
            args.extend(["--input-path".into(), file.into()]);
        }
        args.extend(["--".into(), OsString::from(&input.name)]);
        self.0.run(Self::NAME, &command, args, input.timeout_s, ctx).await
    }
}

impl Runner {
    fn new(name: &'static str, host: &Host) -> Option<Self> {
        if host.os() != "macos" {
            return None;
        }
        host.has_program(name).then(|| Runner { host: host.clone(), program: name })
    }

    async fn run(
        &self,
        tool: &'static str,
        command: &str,
        args: Vec<OsString>,
        timeout_s: Option<u64>,
        ctx: &ToolCtx,
    ) -> Result<ToolAnswer, ToolError> {
        let seconds = shell::seconds(timeout_s)?;
        let gate = Gate::new(ctx);
        let cause = Some(Cause::Command("what it does cannot be known before it runs".to_owned()));
        gate.check(&Plan { cause, ..gate.plan(tool, command.to_owned(), []) })?;
        let program = self.host.program(self.program, ctx)?;
        let job = Job {
            program: program.path().to_path_buf(),
            args,
            cwd: ctx.place().surroundings.cwd,
            env: env::for_task(self.host.env(), &ctx.surroundings, Programs::System),
            ms_max: seconds * 1_000,
            output_bytes_max: ctx.limits.output_bytes_max / 3,
            is_bounded: false,
            watch: None,
        };
        let ended = process::run(job, &self.host, &ctx.cancel)
            .await
            .map_err(|source| ToolError::file("start", program.path(), source))?;
        let (exit_code, error_kind) = match ended.ending {
            Ending::Exit(0) => (Some(0), None),
            Ending::Exit(code) => (Some(code), Some(ErrorKind::Exit)),
            Ending::Signal(_) => (None, Some(ErrorKind::Signal)),
            Ending::TimedOut => (None, Some(ErrorKind::Timeout)),
            // Only commands in the sandbox are looked at.
            Ending::Cancelled | Ending::Excess(_) => return Err(ToolError::Cancelled),
        };
        let stream_bytes_max = ctx.limits.output_bytes_max / 3;
        let mut text = ended.stdout.text(stream_bytes_max);
        if !ended.stderr.is_empty() {
            text.push_str(&format!("\n[errors]\n{}", ended.stderr.text(stream_bytes_max)));
        }
        if ended.ending == Ending::TimedOut {
            text = format!("TIMED OUT after {seconds} s; output so far:\n{text}");
        }
        let facts = json!({
            "exit_code": exit_code,
            "stdout": ended.stdout.text(FACTS_STREAM_BYTES_MAX),
            "stderr": ended.stderr.text(FACTS_STREAM_BYTES_MAX),
            "timed_out": ended.ending == Ending::TimedOut,
        });
        let facts = Some(Any(facts));
        let ok = error_kind.is_none();
        let side_effect = SideEffect::Irreversible;
        Ok(ToolAnswer { ok, error_kind, exit_code, text, facts, side_effect, ..ToolAnswer::default() })
    }
}
