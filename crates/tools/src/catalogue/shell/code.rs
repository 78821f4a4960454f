//! `run_code`: runs a program that a call gives as text, on the same way as a command that is not known to only read.
//!
//! The text is one argument of the interpreter: no shell reads it, and modules of the working directory can be imported.

use std::borrow::Cow;

use setpoint_protocol::gate::Cause;

use super::answer::{self, CommandEffects};
use super::sandboxed::Line;
use super::{Shell, seconds};
use crate::approval::{Gate, Plan};
use crate::catalogue::prelude::*;
use crate::host::Host;
use crate::process::env::{self, Programs};

/// Maximum bytes of a program. The kernel takes arguments of up to 128 KiB.
pub const CODE_BYTES_MAX: usize = 100 * 1024;

pub(crate) struct RunCode(Shell);

impl RunCode {
    pub(crate) fn new(host: &Host) -> Self {
        RunCode(Shell::new(host))
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    #[serde(alias = "python3")]
    Python,
    #[serde(alias = "javascript")]
    Node,
}

impl Language {
    /// Returns the name of the interpreter.
    const fn program(self) -> &'static str {
        match self {
            Language::Python => "python3",
            Language::Node => "node",
        }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Its language.
    language: Language,
    /// The program, at most 100 KiB.
    code: String,
    /// Seconds until it is stopped: 1 to 600, 60 if not given.
    timeout_s: Option<u64>,
}

impl Typed for RunCode {
    type Input = Input;
    const NAME: &'static str = "run_code";
    const ABOUT: &'static str = "Runs a Python or Node program given as text, in the working directory; needs no quoting. A \
         person is asked first.";
    const GIVES: &'static str = "exit code, output; /exit_code /stdout /stderr";
    const CLASS: CapabilityClass = CapabilityClass::Run;
    const EFFECT: Effect = Effect::Unsafe;

    fn about(&self) -> Cow<'static, str> {
        if self.0.host.sandbox().is_none() {
            return Self::ABOUT.into();
        }
        "Runs a Python or Node program given as text, in the working directory; needs no quoting. It runs in the sandbox, \
         as `shell` does."
            .into()
    }

    fn target(&self, input: &Input, _: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(input.language.program())
            .content("code", &input.code)
            .with("timeout_s", input.timeout_s.filter(|seconds| *seconds != super::TIMEOUT_S_DEFAULT)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let seconds = seconds(input.timeout_s)?;
        if input.code.len() > CODE_BYTES_MAX || input.code.contains('\0') {
            let reason = format!("it must be at most {CODE_BYTES_MAX} bytes without a NUL character");
            return Err(ToolError::parameter("code", reason));
        }
        let line = self.line(&input, ctx)?;
        let cwd = ctx.place().surroundings.cwd;
        let can_sandbox = ctx.surroundings.has_sandbox && self.0.host.sandbox().is_some();
        let gate = Gate::new(ctx);
        gate.check_command(&line.text)?;
        let cause = Some(Cause::Command("what it does cannot be known before it runs".to_owned()));
        let plan = Plan { cause, ..gate.plan(Self::NAME, line.text.clone(), []) };
        let house = super::house::Surroundings::new(&cwd, ctx);
        let allowed = ctx
            .blocking(move |_| {
                house.check(&plan.command)?;
                gate.check(&plan)
            })
            .await;
        match allowed {
            Err(ToolError::Approval(need)) if can_sandbox => {
                return self.0.in_sandbox(*need, line, cwd, seconds, ctx).await;
            }
            allowed => allowed?,
        }
        let job = self.0.job_in_view(&line, cwd.clone(), seconds, ctx);
        let (ended, changes) = self.0.run_plain(job, Some(&cwd), ctx).await?;
        // Nothing confined it, so what it did elsewhere is not known.
        let side_effect = SideEffect::Irreversible;
        let after =
            CommandEffects { side_effect, changes, is_about_elsewhere: true, ..CommandEffects::default() };
        Ok(answer::answer(&ended, seconds, ctx.limits.output_bytes_max, &cwd, after))
    }
}

impl RunCode {
    /// Returns what runs, if the machine has the interpreter.
    fn line(&self, input: &Input, ctx: &ToolCtx) -> Result<Line, ToolError> {
        let name = input.language.program();
        let env = env::for_task(self.0.host.env(), &ctx.surroundings, Programs::System);
        if env::find_program(name, &env).is_none() {
            let hint =
                "; this machine has no such program, so do it with another language or tool".to_owned();
            return Err(ToolError::Missing { name: name.to_owned(), hint });
        }
        let args = match input.language {
            Language::Python => vec!["-c".into(), input.code.as_str().into()],
            Language::Node => vec![format!("--eval={}", input.code).into()],
        };
        let text = format!("run with {name} this program:\n{}", input.code);
        // By its name: the sandbox may show another one than the first of this machine.
        Ok(Line { tool: Self::NAME, text, program: name.into(), args, executes: Vec::new() })
    }
}
