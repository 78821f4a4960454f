//! What a person can do where the runtime itself ends a task, in the words of the program around it.

/// Hints that the runtime records with the faults it reports. It knows no command line, so these name no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    /// A machine failed, or its journal does not replay.
    pub defect: &'static str,
    /// The time is up.
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
