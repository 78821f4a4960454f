//! The program's input and output: stdin, stdout, stderr, the terminal and its signals.
//!
//! Everything that a command reads or writes goes through an [`Io`], so that tests can replace the terminal.

mod out;
mod process;
pub mod terminal;

use std::io::BufRead;

use jiff::tz::TimeZone;
use tokio::sync::mpsc;

pub use self::out::Out;
pub use self::terminal::{Key, Listening, Size, Terminal};

/// Starts listening for interrupts (Ctrl-C, SIGTERM). Before that, they end the process.
pub type Interrupts = Box<dyn FnMut() -> std::io::Result<mpsc::Receiver<()>> + Send>;

/// The program's input and output.
pub struct Io {
    /// stdin.
    pub input: Box<dyn BufRead + Send>,
    /// stdout.
    pub out: Out,
    /// stderr.
    pub err: Out,
    /// The terminal of stdin and stderr.
    pub terminal: Box<dyn Terminal>,
    /// Starts listening for interrupts.
    pub interrupts: Interrupts,
    /// Whether stdin is a terminal.
    pub is_input_terminal: bool,
    /// Whether the terminal can move its cursor.
    pub can_redraw: bool,
    /// The time zone of the reader.
    pub zone: TimeZone,
}

impl Io {
    /// Returns whether a person can be asked: they see the question and can type an answer.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.is_input_terminal && self.err.is_terminal
    }

    /// Returns the columns for output on stdout.
    #[must_use]
    pub fn out_columns(&self) -> usize {
        let terminal = if self.out.is_terminal { self.terminal.size() } else { None };
        terminal.map_or(COLUMNS_WITHOUT_TERMINAL, |size| usize::from(size.columns))
    }
}

/// The columns for output without a terminal.
const COLUMNS_WITHOUT_TERMINAL: usize = 120;
