//! What is shown on stderr while a task runs.

use std::collections::BTreeMap;

use setpoint_protocol::CallId;

use super::screen::Screen;
use crate::io::{Io, Size};
use crate::state::ViewState;
use crate::text::{Line, Tone};
use crate::view::{Look, view};

/// Lines of the terminal that the view leaves free: the cursor's own.
const LINES_FREE: usize = 1;
/// The size that is assumed where a terminal does not tell.
const SIZE: Size = Size { columns: 80, lines: 24 };
/// Calls whose streamed text is counted.
const STREAMED_MAX: usize = 64;

/// What is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// The live view, redrawn in place.
    Live,
    /// One line for what happens.
    Plain {
        /// Whether roles are named and the loss is told by its parts.
        names_roles: bool,
    },
    /// Nothing.
    Nothing,
}

/// What is shown, and where.
#[derive(Debug)]
pub(crate) struct Display {
    show: Show,
    screen: Screen,
    /// Characters that models have streamed, by ask.
    streamed: BTreeMap<CallId, usize>,
}

impl Display {
    pub(crate) fn new(show: Show) -> Self {
        Display { show, screen: Screen::default(), streamed: BTreeMap::new() }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.show == Show::Live
    }

    /// Whether lines are written, and then whether they name roles.
    pub(crate) fn plain(&self) -> Option<bool> {
        match self.show {
            Show::Plain { names_roles } => Some(names_roles),
            Show::Live | Show::Nothing => None,
        }
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.show == Show::Nothing
    }

    /// A model wrote more text: only how much is shown, for that it is alive.
    pub(crate) fn progress(&mut self, call: CallId, text: &str) {
        if self.streamed.len() >= STREAMED_MAX && !self.streamed.contains_key(&call) {
            self.streamed.pop_first();
        }
        *self.streamed.entry(call).or_default() += text.chars().count();
    }

    /// Draws the view, where there is one to draw.
    pub(crate) fn draw(&mut self, io: &mut Io, state: &ViewState, clock_ms: u64) {
        if self.show != Show::Live {
            return;
        }
        let size = size(io);
        // The last column stays free: some terminals wrap a line as soon as it is full.
        let columns = usize::from(size.columns).saturating_sub(1);
        let look = Look {
            columns,
            lines: Some(usize::from(size.lines).saturating_sub(LINES_FREE + 1)),
            clock_ms,
            is_ascii: io.err.is_ascii,
            zone: io.zone.clone(),
        };
        let mut lines = view(state, &look);
        if let Some(line) = self.streaming(state) {
            lines.push(line.clip(columns));
        }
        let painted = lines.iter().map(|line| (io.err.paint(line), line.width())).collect();
        let text = self.screen.frame(painted, usize::from(size.columns));
        // A view that cannot be drawn must not end the task; the result is still told.
        drop(io.err.write_text(&text));
    }

    /// Takes the view away, so that lines can be written that stay.
    pub(crate) fn clear(&mut self, io: &mut Io) {
        let text = self.screen.clear(usize::from(size(io).columns));
        drop(io.err.write_text(&text));
    }

    fn streaming(&self, state: &ViewState) -> Option<Line> {
        let is_open = |call: &CallId| state.asks.open().any(|(open, _)| open == call);
        let (_, chars) = self.streamed.iter().rev().find(|(call, _)| is_open(call))?;
        Some(Line::new().and(Tone::Dim, &format!("{chars} characters written so far")))
    }
}

/// The terminal's size.
pub(crate) fn size(io: &Io) -> Size {
    io.terminal.size().unwrap_or(SIZE)
}
