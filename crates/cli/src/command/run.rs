//! `run`: one goal to its end.

use setpoint_client::{ClientError, ErrorKind, Goal, Organisation};
use tokio::sync::mpsc;

use super::confirm::Word;
use super::pursue::{
    Tell, exit_of, interrupts, is_interactive, left, policy, pursue, show, tell, tell_notices,
};
use super::{leave, memory};
use crate::exit::Exit;
use crate::host::{ApprovalPolicy, Host};
use crate::invocation::{Cassette, GlobalOptions, Run};
use crate::io::Io;
use crate::render::result;
use crate::session::{Manner, Show};
use crate::source;
use crate::state::ViewState;

/// Everything that can be wrong with the command line is found before a data directory is touched.
pub(super) async fn run(
    run: &Run,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let is_interactive = is_interactive(options, io);
    if run.is_plan_shown && !is_interactive {
        return Err(ClientError::new(ErrorKind::Usage, "`--plan` needs a terminal to show the plan on")
            .hint("leave `--plan` out, or run it on a terminal without `--json`"));
    }
    let raw_input = source::read(&run.goal, &source::GOAL, &mut io.input)?;
    let policy = policy(run.approve.as_deref(), host)?;
    let goal =
        Goal { raw_input, interactive: is_interactive, preview_plan: run.is_plan_shown.then_some(true) };
    tell_notices(host, io);
    // With a recording no model is asked, so nothing can be sent to one.
    if is_interactive
        && !matches!(options.cassette, Some(Cassette::Replay(_)))
        && memory::ask(&[], options, host, io).await == Some(Word::Left)
    {
        return Ok(Exit::CANCELLED);
    }
    let organisation = host.open().await?;
    let mut interrupts = interrupts(io)?;
    let ended = start(&*organisation, goal, policy.as_deref(), run, options, &mut interrupts, io).await;
    leave(&organisation, &mut interrupts, io).await;
    ended
}

async fn start(
    organisation: &dyn Organisation,
    goal: Goal,
    policy: Option<&dyn ApprovalPolicy>,
    run: &Run,
    options: &GlobalOptions,
    interrupts: &mut mpsc::Receiver<()>,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let is_interactive = goal.interactive;
    let (task, events) = organisation.start(goal).await?;
    // On one terminal, records and a view would write over one another.
    let is_mixed = run.is_stream && io.out.is_terminal;
    let show = if is_mixed { Show::Nothing } else { show(options, io) };
    let manner = Manner { policy, is_interactive, show, is_stream: run.is_stream };
    let state = ViewState::new(task.clone());
    let Some(state) = pursue(io, organisation, state, events, interrupts, manner).await? else {
        return Ok(left(io, &task, options));
    };
    if options.is_json || !run.is_stream {
        let what = if run.is_output_only { Tell::Output } else { Tell::of(options) };
        tell(io, &state, what)?;
    } else if !options.is_quiet {
        // stdout carries the records, the last of which is the result.
        io.err.lines(&result::brief(&state))?;
    }
    Ok(exit_of(&state))
}
