//! `tasks fork`: a new task that goes on from a point of another one, to its end.

use setpoint_client::{ClientError, Fork as ForkWish, Organisation};

use super::pursue::{exit_of, interrupts, is_interactive, left, policy, pursue, show, tell, tell_notices};
use super::shut_down;
use crate::exit::Exit;
use crate::host::{ApprovalPolicy, Host};
use crate::invocation::{Fork, GlobalOptions};
use crate::io::Io;
use crate::report;
use crate::session::Manner;
use crate::state::ViewState;

pub(super) async fn fork(
    fork: &Fork,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let policy = policy(fork.approve.as_deref(), host)?;
    tell_notices(host, io);
    let organisation = host.open().await?;
    let ended = start(&*organisation, fork, policy.as_deref(), options, io).await;
    shut_down(&organisation).await;
    ended
}

async fn start(
    organisation: &dyn Organisation,
    fork: &Fork,
    policy: Option<&dyn ApprovalPolicy>,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let from = organisation.resolve(&fork.task).await?;
    // Before the task is there: from its first moment on an interrupt cancels it.
    let mut interrupts = interrupts(io)?;
    let wish = ForkWish { from, at: fork.at, set: fork.set.clone() };
    let (made, events) = organisation.fork(&wish).await?;
    if !options.is_quiet {
        let told = format!(
            "{} goes on from record {} of {}; what was done before it is not done again, and the files are as they are now, not \
             as they were then",
            made.task, made.from.seq, made.from.task
        );
        report::note(io, &told);
    }
    // Events come from now on; what was before is in the journal.
    let records = organisation.records(&made.task).await?;
    let state = ViewState::of(made.task.clone(), &records);
    let manner = Manner {
        policy,
        is_interactive: is_interactive(options, io),
        show: show(options, io),
        is_stream: false,
    };
    let Some(state) = pursue(io, organisation, state, events, &mut interrupts, manner).await? else {
        return Ok(left(io, &made.task, options));
    };
    tell(io, &state, options.is_json)?;
    Ok(exit_of(&state))
}
