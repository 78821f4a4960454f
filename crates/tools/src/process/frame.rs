//! The reports of a keeper to the runtime.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::run::Ending;

/// Bytes per report.
pub(super) const BYTES: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The program exited with this code.
    Exit(i32),
    /// A signal ended the program.
    Signal(i32),
    /// The program could not be started; the system's error code.
    NotStarted(i32),
    /// No descendant is left; the number of processes that were killed. The last report.
    Over(i32),
}

impl Frame {
    /// Converts the exit status of a program.
    pub(super) fn of(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => Frame::Exit(code),
            None => Frame::Signal(status.signal().unwrap_or(0)),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let (kind, value) = match self {
            Frame::Exit(code) => (b'e', code),
            Frame::Signal(signal) => (b's', signal),
            Frame::NotStarted(code) => (b'n', code),
            Frame::Over(killed) => (b'o', killed),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [kind, a, b, c, d]
    }

    pub(super) fn of_bytes([kind, a, b, c, d]: [u8; BYTES]) -> Option<Self> {
        let value = i32::from_le_bytes([a, b, c, d]);
        match kind {
            b'e' => Some(Frame::Exit(value)),
            b's' => Some(Frame::Signal(value)),
            b'n' => Some(Frame::NotStarted(value)),
            b'o' => Some(Frame::Over(value)),
            _ => None,
        }
    }
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => Ending::Exit(code),
            None => Ending::Signal(status.signal().unwrap_or(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_round_trip() {
        for frame in [Frame::Exit(255), Frame::Signal(9), Frame::NotStarted(-1), Frame::Over(i32::MAX)] {
            assert_eq!(Frame::of_bytes(frame.to_bytes()), Some(frame));
        }
        assert_eq!(Frame::of_bytes([0; BYTES]), None);
    }
}
