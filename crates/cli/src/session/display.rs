//! What is shown on stderr while a task runs.

use std::collections::BTreeMap;

use setpoint_protocol::CallId;

use super::screen::Screen;
use crate::io::{Io, Size};
use crate::state::ViewState;
use crate::text::{Line, Tone};
use crate::view::{Look, view};

/// Lines of the terminal that the view leaves free, for the cursor.
const LINES_FREE: usize = 1;
/// The size assumed if the terminal does not report one.
const SIZE: Size = Size { columns: 80, lines: 24 };
/// At most this many calls have their streamed text counted.
const STREAMED_MAX: usize = 64;

/// What is shown on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// The live view, redrawn in place.
    Live,
    /// One line per event.
    Plain {
        /// Whether roles are named and the loss is shown with its parts.
        names_roles: bool,
    },
    /// Nothing.
    Nothing,
}

/// The display on stderr.
#[derive(Debug)]
pub(crate) struct Display {
    show: Show,
    screen: Screen,
    /// The number of characters that models have streamed, per call.
    streamed: BTreeMap<CallId, usize>,
}

impl Display {
    pub(crate) fn new(show: Show) -> Self {
        Display { show, screen: Screen::default(), streamed: BTreeMap::new() }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.show == Show::Live
    }

    /// Returns whether lines name roles; `None` if no lines are written.
    pub(crate) fn plain(&self) -> Option<bool> {
        match self.show {
            Show::Plain { names_roles } => Some(names_roles),
            Show::Live | Show::Nothing => None,
        }
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.show == Show::Nothing
    }

    /// Counts streamed text. Only its length is shown, as a sign that the model is working.
    pub(crate) fn progress(&mut self, call: CallId, text: &str) {
        if self.streamed.len() >= STREAMED_MAX && !self.streamed.contains_key(&call) {
            self.streamed.pop_first();
        }
        *self.streamed.entry(call).or_default() += text.chars().count();
    }

    /// Draws the live view, if that is what is shown.
    pub(crate) fn draw(&mut self, io: &mut Io, state: &ViewState, clock_ms: u64) {
        if self.show != Show::Live {
            return;
        }
        let size = size(io);
        // The last column stays free, because some terminals wrap a line as soon as it is full.
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
        // The task must not end because the view cannot be drawn; its result is still printed.
        drop(io.err.write_text(&text));
    }

    /// Removes the view, so that lines can be written that stay.
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

/// Returns the terminal's size.
pub(crate) fn size(io: &Io) -> Size {
    io.terminal.size().unwrap_or(SIZE)
}
