//! What an interrupt means, by what the program is doing. Pure.

/// What the program is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No task runs.
    #[default]
    Idle,
    /// A task runs.
    Running,
    /// A task runs, and a person is being asked.
    Asking,
    /// A task was told to stop and has not ended yet.
    Cancelling,
    /// Nothing is waited for any more.
    Left,
}

/// What is to be done about an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an interrupt that nothing comes of is what people complain about"]
pub enum Act {
    /// Tell the task to stop, and wait for its end.
    Cancel,
    /// Close the question without an answer, then as `Cancel`.
    CloseAndCancel,
    /// Leave now; the task can be taken up again.
    Leave,
    /// Nothing: leaving is under way.
    Nothing,
}

/// The one place where interrupts are counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interruption {
    phase: Phase,
}

impl Interruption {
    /// What the program is doing.
    #[must_use]
    pub const fn phase(self) -> Phase {
        self.phase
    }

    /// A task runs now.
    pub fn started(&mut self) {
        self.phase = Phase::Running;
    }

    /// A person is being asked. A task that is being cancelled asks nothing.
    pub fn asked(&mut self) {
        if self.phase == Phase::Running {
            self.phase = Phase::Asking;
        }
    }

    /// The question is answered, or closed.
    pub fn answered(&mut self) {
        if self.phase == Phase::Asking {
            self.phase = Phase::Running;
        }
    }

    /// The task has ended.
    pub fn ended(&mut self) {
        if self.phase != Phase::Left {
            self.phase = Phase::Idle;
        }
    }

    /// Ctrl-C, or its like.
    pub fn interrupt(&mut self) -> Act {
        let (next, act) = match self.phase {
            Phase::Idle | Phase::Cancelling => (Phase::Left, Act::Leave),
            Phase::Running => (Phase::Cancelling, Act::Cancel),
            Phase::Asking => (Phase::Cancelling, Act::CloseAndCancel),
            Phase::Left => (Phase::Left, Act::Nothing),
        };
        self.phase = next;
        act
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_phase_knows_what_every_happening_means() {
        type Happening = (&'static str, fn(&mut Interruption) -> String);
        let happenings: [Happening; 5] = [
            ("started", |i| {
                i.started();
                String::new()
            }),
            ("asked", |i| {
                i.asked();
                String::new()
            }),
            ("answered", |i| {
                i.answered();
                String::new()
            }),
            ("ended", |i| {
                i.ended();
                String::new()
            }),
            ("interrupt", |i| format!(" {:?}", i.interrupt())),
        ];
        let mut table = String::new();
        for phase in [Phase::Idle, Phase::Running, Phase::Asking, Phase::Cancelling, Phase::Left] {
            for (name, happens) in happenings {
                let mut machine = Interruption { phase };
                let act = happens(&mut machine);
                table.push_str(&format!("{phase:?} {name} → {:?}{act}\n", machine.phase()));
            }
        }
        expect![[r#"
            Idle started → Running
            Idle asked → Idle
            Idle answered → Idle
            Idle ended → Idle
            Idle interrupt → Left Leave
            Running started → Running
            Running asked → Asking
            Running answered → Running
            Running ended → Idle
            Running interrupt → Cancelling Cancel
            Asking started → Running
            Asking asked → Asking
            Asking answered → Running
            Asking ended → Idle
            Asking interrupt → Cancelling CloseAndCancel
            Cancelling started → Running
            Cancelling asked → Cancelling
            Cancelling answered → Cancelling
            Cancelling ended → Idle
            Cancelling interrupt → Left Leave
            Left started → Running
            Left asked → Left
            Left answered → Left
            Left ended → Left
            Left interrupt → Left Nothing
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn two_interrupts_always_leave_a_running_task() {
        let mut machine = Interruption::default();
        machine.started();
        machine.asked();
        assert_eq!(machine.interrupt(), Act::CloseAndCancel);
        machine.answered();
        assert_eq!(machine.interrupt(), Act::Leave);
    }
}
