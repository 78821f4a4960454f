//! Hints for a person when the runtime itself ends a task, worded by the program around it.

/// The hints that the runtime records with its faults. The runtime knows no command line, so the defaults name no
/// command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    /// A machine failed, or its journal does not replay.
    pub defect: &'static str,
    /// The time limit was reached.
    pub deadline: &'static str,
}

impl Default for Hints {
    fn default() -> Self {
        Hints {
            defect: "this is a defect of the program; please report it",
            deadline: "allow more time, or state a smaller goal",
        }
    }
}
