//! The program's ends towards the world: stdin, stdout, stderr, the terminal and its signals.
//!
//! Everything that a command reads or writes goes through an [`Io`], so that tests can stand in for a terminal.

mod out;
mod process;
pub mod terminal;

use std::io::BufRead;

use jiff::tz::TimeZone;
use tokio::sync::mpsc;

pub use self::out::Out;
pub use self::terminal::{Key, Listening, Size, Terminal};

/// Starts listening for interrupts (Ctrl-C, SIGTERM); until then they end the process as usual.
pub type Interrupts = Box<dyn FnMut() -> std::io::Result<mpsc::Receiver<()>> + Send>;

/// The ends.
pub struct Io {
    /// stdin.
    pub input: Box<dyn BufRead + Send>,
    /// stdout.
    pub out: Out,
    /// stderr.
    pub err: Out,
    /// The terminal behind stdin and stderr.
    pub terminal: Box<dyn Terminal>,
    /// Interrupts.
    pub interrupts: Interrupts,
    /// Whether stdin is a terminal.
    pub is_input_terminal: bool,
    /// Whether the terminal can move its cursor.
    pub can_redraw: bool,
    /// Where clock times are shown for.
    pub zone: TimeZone,
}

impl Io {
    /// Whether a person can be asked: they see the question and can type the answer.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.is_input_terminal && self.err.is_terminal
    }

    /// Columns for what is laid out on stdout.
    #[must_use]
    pub fn out_columns(&self) -> usize {
        let terminal = if self.out.is_terminal { self.terminal.size() } else { None };
        terminal.map_or(COLUMNS_WITHOUT_TERMINAL, |size| usize::from(size.columns))
    }
}

/// Columns for what is laid out where there is no terminal.
const COLUMNS_WITHOUT_TERMINAL: usize = 120;
