//! Measures: numbers that are aggregated over tasks.

use crate::attribute::Attribute;

/// A quantity that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instrument {
    /// Tokens of an attempt, input and output separately.
    Tokens,
    /// Duration of an attempt, in seconds.
    OperationSeconds,
    /// Parts of the loss at the end of a task.
    Loss,
    /// Rounds of a task.
    Rounds,
    /// Duration of a task in seconds, waits for people included.
    TaskSeconds,
    /// Number of tasks that ended.
    Tasks,
}

/// One measured number.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Quantity that was measured.
    pub instrument: Instrument,
    /// Measured value, in the instrument's unit.
    pub value: f64,
    /// Attributes of the measured thing.
    pub attributes: Vec<Attribute>,
}

impl Instrument {
    /// All instruments.
    pub const ALL: [Instrument; 6] = [
        Instrument::Tokens,
        Instrument::OperationSeconds,
        Instrument::Loss,
        Instrument::Rounds,
        Instrument::TaskSeconds,
        Instrument::Tasks,
    ];

    /// Returns the name. Names with `gen_ai.` are those of the conventions (see [`crate::attribute`]).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Instrument::Tokens => "gen_ai.client.token.usage",
            Instrument::OperationSeconds => "gen_ai.client.operation.duration",
            Instrument::Loss => "setpoint.task.loss",
            Instrument::Rounds => "setpoint.task.rounds",
            Instrument::TaskSeconds => "setpoint.task.duration",
            Instrument::Tasks => "setpoint.tasks",
        }
    }

    /// Returns the unit, in UCUM notation.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Instrument::Tokens => "{token}",
            Instrument::OperationSeconds | Instrument::TaskSeconds => "s",
            Instrument::Loss => "1",
            Instrument::Rounds => "{round}",
            Instrument::Tasks => "{task}",
        }
    }

    /// Returns a description of one sentence.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Instrument::Tokens => "Tokens of questions to models and of their answers",
            Instrument::OperationSeconds => "Time that an attempt of a question to a model took",
            Instrument::Loss => "Loss at the end of a task, by its parts",
            Instrument::Rounds => "Rounds of a task",
            Instrument::TaskSeconds => "Time from a goal to its end, waits for people included",
            Instrument::Tasks => "Tasks that ended, by outcome",
        }
    }

    /// Returns the upper bounds of a histogram's buckets; `None` for a counter. Instruments of the conventions have the bounds
    /// of the conventions.
    #[must_use]
    pub const fn bounds(self) -> Option<&'static [f64]> {
        match self {
            Instrument::Tokens => Some(&[
                1.0,
                4.0,
                16.0,
                64.0,
                256.0,
                1_024.0,
                4_096.0,
                16_384.0,
                65_536.0,
                262_144.0,
                1_048_576.0,
                4_194_304.0,
                16_777_216.0,
                67_108_864.0,
            ]),
            Instrument::OperationSeconds => Some(&[
                0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
            ]),
            Instrument::Loss => Some(&[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
            Instrument::Rounds => Some(&[1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 13.0, 21.0]),
            Instrument::TaskSeconds => {
                Some(&[0.1, 0.5, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 86_400.0])
            }
            Instrument::Tasks => None,
        }
    }
}
