//! What every command receives: the options that hold for all commands, and the program that it runs in.

use setpoint_protocol::Timestamp;

use crate::host::Host;
use crate::options::Options;

/// The program as a command sees it.
pub struct App<'h> {
    /// The options that hold for every command.
    pub options: Options,
    /// The program.
    pub host: &'h dyn Host,
}

impl App<'_> {
    /// Returns the current time.
    pub(crate) fn now(&self) -> Timestamp {
        self.host.now()
    }
}
