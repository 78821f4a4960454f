//! Follows one task until it ends or is interrupted: shows it and asks its questions.
//!
//! While a task is followed, nothing else writes to stderr or reads keys. Reading order: this file (the
//! loop), dialogue and `line_edit` (questions), screen and plain (progress).

mod answering;
pub(crate) mod dialogue;
mod display;
mod line_edit;
mod plain;
pub(crate) mod screen;
pub(crate) mod stray;
mod stream;

use std::collections::BTreeSet;
use std::time::Duration;

use setpoint_app::approvals::Policy;
use setpoint_app::{Error, ErrorKind, Event, Organisation};
use setpoint_protocol::record::Record;
use setpoint_protocol::{CallId, TaskId};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

use self::dialogue::Dialogue;
pub(crate) use self::display::{Display, Show};
use self::stream::Stream;
use crate::io::{Io, Key, Listening};
use crate::state::{ApplyOutcome, ViewState};

/// Milliseconds between two updates of the view.
const REDRAW_MS: u64 = 100;

/// How a task is followed.
pub(crate) struct FollowOptions<'m> {
    /// Decides about approvals before a person is asked.
    pub(crate) policy: Option<&'m Policy>,
    /// Whether a person can be asked.
    pub(crate) is_interactive: bool,
    /// What is shown while the task runs.
    pub(crate) show: Show,
    /// Whether records are written to stdout as they arrive.
    pub(crate) is_stream: bool,
}

/// Follows a task until it ends, and returns its state; `None` if the person presses Ctrl-C. An interrupted task stops
/// and can be resumed.
///
/// # Errors
/// If the process that drives the task gives it up, or stdout cannot be written to.
pub(crate) async fn follow(
    io: &mut Io,
    organisation: &dyn Organisation,
    state: ViewState,
    mut events: mpsc::Receiver<Event>,
    interrupts: &mut mpsc::Receiver<()>,
    manner: FollowOptions<'_>,
) -> Result<Option<ViewState>, Error> {
    let mut session = Session::new(organisation, state, manner);
    let mut ticks = tokio::time::interval(Duration::from_millis(REDRAW_MS));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while !session.state.is_ended() {
        session.attend(io).await?;
        if session.state.is_ended() {
            break;
        }
        let is_drawn = session.display.is_live() && session.asking.is_none();
        tokio::select! {
            event = events.recv() => session.event(io, event).await?,
            Some(()) = interrupts.recv() => break,
            key = next_key(&mut session.asking) => match key {
                Some(Key::Interrupt) => break,
                key => session.key(io, key).await?,
            },
            _ = ticks.tick(), if is_drawn => session.draw(io),
        }
    }
    session.close_question(io, None);
    session.draw(io);
    Ok(Some(session.state).filter(ViewState::is_ended))
}

/// A question that is on the screen now.
struct ActiveQuestion {
    dialogue: Dialogue,
    listening: Listening,
}

/// Returns the next key, or waits forever if no question is asked. `None` if no further key will come.
async fn next_key(asking: &mut Option<ActiveQuestion>) -> Option<Key> {
    match asking {
        Some(asking) => asking.listening.keys.recv().await,
        None => std::future::pending().await,
    }
}

struct Session<'m> {
    organisation: &'m dyn Organisation,
    task: TaskId,
    state: ViewState,
    manner: FollowOptions<'m>,
    display: Display,
    stream: Stream,
    asking: Option<ActiveQuestion>,
    /// Questions that are answered, although the record of the answer may not have arrived yet.
    answered: BTreeSet<CallId>,
    /// When the last record came, so that the task's clock can be advanced on the screen.
    pulse: Instant,
}

impl<'m> Session<'m> {
    fn new(organisation: &'m dyn Organisation, state: ViewState, manner: FollowOptions<'m>) -> Self {
        Session {
            organisation,
            task: state.task.clone(),
            state,
            display: Display::new(manner.show),
            manner,
            stream: Stream::default(),
            asking: None,
            answered: BTreeSet::new(),
            pulse: Instant::now(),
        }
    }

    async fn event(&mut self, io: &mut Io, event: Option<Event>) -> Result<(), Error> {
        match event {
            Some(Event::Records { records, closed }) => {
                for record in records.iter() {
                    if self.take(io, record)? == ApplyOutcome::Gap {
                        self.catch_up(io).await?;
                        break;
                    }
                }
                if closed && !self.state.is_ended() {
                    return Err(Error::new(
                        ErrorKind::Internal,
                        "the task has ended, but its result cannot be read",
                    )
                    .hint(format!("`setpoint tasks export {}` gives its records as they are", self.task)));
                }
                Ok(())
            }
            Some(Event::Progress { call, text }) => {
                self.display.progress(call, &text);
                Ok(())
            }
            Some(Event::Lagged) => self.catch_up(io).await,
            Some(Event::Released(error)) => {
                self.catch_up(io).await?;
                if self.state.is_ended() { Ok(()) } else { Err(self.resumable(error)) }
            }
            None => {
                self.catch_up(io).await?;
                let gone = "the task stopped sending its records before it ended";
                let gone = Error::new(ErrorKind::Internal, gone);
                if self.state.is_ended() { Ok(()) } else { Err(self.resumable(gone)) }
            }
        }
    }

    /// Reads missed records from the journal.
    async fn catch_up(&mut self, io: &mut Io) -> Result<(), Error> {
        for record in self.organisation.records(&self.task).await? {
            // The journal returns records in order; a gap in them cannot be filled by waiting.
            let _: ApplyOutcome = self.take(io, &record)?;
        }
        Ok(())
    }

    fn take(&mut self, io: &mut Io, record: &Record) -> Result<ApplyOutcome, Error> {
        let applied = self.state.apply(record);
        if applied != ApplyOutcome::New {
            return Ok(applied);
        }
        self.pulse = Instant::now();
        if self.manner.is_stream {
            let event = self.stream.event(&self.task, record);
            io.out.json(&event).map_err(|error| self.resumable(error))?;
        }
        if let Some(names_roles) = self.display.plain()
            && let Some(line) = plain::line(&self.state, record, names_roles)
        {
            self.print(io, &[line]);
        }
        Ok(applied)
    }

    fn resumable(&self, error: Error) -> Error {
        error.hint(format!("`setpoint tasks resume {}` resumes the task", self.task))
    }

    /// Returns the task's clock now. It stops while the task waits only for people.
    fn clock_ms(&self) -> u64 {
        let stands = self.state.is_ended() || self.state.asks.is_only_people();
        let since = if stands { 0 } else { self.pulse.elapsed().as_millis() };
        self.state.clock_ms.saturating_add(u64::try_from(since).unwrap_or(u64::MAX))
    }

    fn draw(&mut self, io: &mut Io) {
        let clock_ms = self.clock_ms();
        self.display.draw(io, &self.state, clock_ms);
    }
}
