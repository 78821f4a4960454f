//! Asks the person a task's questions, one after the other, and passes the answers on.

use setpoint_app::Error;
use setpoint_protocol::topology::Payload;

use super::dialogue::{Decision, Dialogue, Step, decide};
use super::display::size;
use super::{ActiveQuestion, Session, screen};
use crate::io::{Io, Key};
use crate::state::asks::Question;
use crate::text::{Line, Tone};

impl Session<'_> {
    /// Answers the questions that need no person, and asks the person the next one.
    pub(super) async fn attend(&mut self, io: &mut Io) -> Result<(), Error> {
        self.drop_moot_question(io);
        while self.asking.is_none() {
            let next = self.state.questions().find(|question| !self.answered.contains(&question.call()));
            let Some(question) = next.cloned() else { return Ok(()) };
            match decide(&question, &self.state, self.manner.policy, self.manner.is_interactive) {
                Decision::Say(payload, lines) => {
                    self.print(io, &lines);
                    self.answer(io, &question, payload).await?;
                }
                Decision::Ask => self.ask(io, question).await?,
            }
        }
        Ok(())
    }

    /// Handles a key; `None` means that no further key will come.
    pub(super) async fn key(&mut self, io: &mut Io, key: Option<Key>) -> Result<(), Error> {
        let Some(asking) = &mut self.asking else { return Ok(()) };
        let step = match &key {
            Some(key) => asking.dialogue.key(key),
            None => {
                // The terminal is gone, so no further question can be asked.
                self.manner.is_interactive = false;
                self.close_question(io, Some("the terminal was closed"));
                return Ok(());
            }
        };
        match step {
            Step::Ignored if key == Some(Key::Resize) => self.show_input(io),
            Step::Ignored => {}
            Step::Changed => self.show_input(io),
            Step::Printed(lines) => {
                self.replace_input(io, &lines);
                self.show_input(io);
            }
            Step::Answered { echo, payload } => {
                let call = asking.dialogue.call();
                self.replace_input(io, &[echo]);
                self.stop_listening();
                let question = self.state.questions().find(|question| question.call() == call).cloned();
                if let Some(question) = question {
                    self.answer(io, &question, payload).await?;
                }
            }
        }
        Ok(())
    }

    /// Closes the question without an answer and shows `why`.
    pub(super) fn close_question(&mut self, io: &mut Io, why: Option<&str>) {
        if self.asking.is_none() {
            return;
        }
        let line = why.map(|why| Line::new().and(Tone::Dim, &format!("({why})")));
        self.replace_input(io, line.as_slice());
        self.stop_listening();
    }

    /// Prints a line for the person that stays.
    pub(super) fn say_to_person(&mut self, io: &mut Io, text: &str) {
        self.print(io, &[Line::new().and(Tone::Care, text)]);
    }

    /// Prints lines that stay, above the view.
    pub(super) fn print(&mut self, io: &mut Io, lines: &[Line]) {
        if self.display.is_silent() && !self.manner.is_interactive {
            return;
        }
        self.display.clear(io);
        let is_raw = self.asking.is_some();
        let end = if is_raw || self.display.is_live() { "\r\n" } else { "\n" };
        if is_raw {
            drop(io.err.write_text(&screen::erase_line()));
        }
        let text: String = lines.iter().map(|line| io.err.paint(line) + end).collect();
        // The task must not end because a line cannot be shown.
        drop(io.err.write_text(&text));
        if is_raw {
            self.show_input(io);
        }
    }

    async fn ask(&mut self, io: &mut Io, question: Question) -> Result<(), Error> {
        let dialogue = Dialogue::new(question, &self.state);
        self.print(io, &dialogue.opening());
        match io.terminal.listen() {
            Ok(listening) => {
                self.asking = Some(ActiveQuestion { dialogue, listening });
                self.show_input(io);
            }
            Err(error) => {
                self.manner.is_interactive = false;
                self.say_to_person(io, &format!("warning: failed to ask you: {error}"));
            }
        }
        Ok(())
    }

    /// Passes the answer on. Ignores an error if the task has ended or the question is no longer open.
    async fn answer(&mut self, io: &mut Io, question: &Question, payload: Payload) -> Result<(), Error> {
        self.answered.insert(question.call());
        let Err(error) = self.organisation.say(&self.task, payload).await else { return Ok(()) };
        self.catch_up(io).await?;
        let is_open = self.state.questions().any(|open| open.call() == question.call());
        if is_open && !self.state.is_ended() { Err(self.resumable(error)) } else { Ok(()) }
    }

    fn drop_moot_question(&mut self, io: &mut Io) {
        let Some(asking) = &self.asking else { return };
        let call = asking.dialogue.call();
        if !self.state.questions().any(|question| question.call() == call) {
            self.close_question(io, Some("no answer is needed any more"));
        }
    }

    fn stop_listening(&mut self) {
        self.asking = None;
    }

    fn show_input(&mut self, io: &mut Io) {
        let Some(asking) = &self.asking else { return };
        let columns = usize::from(size(io).columns).saturating_sub(1);
        let prompt = asking.dialogue.prompt().clip(columns);
        let prompt = if io.err.is_ascii { prompt.into_ascii() } else { prompt };
        let (typed, cursor) = match asking.dialogue.line() {
            Some(line) => line.visible(columns.saturating_sub(prompt.width())),
            None => (String::new(), 0),
        };
        let text = screen::input_line(&io.err.paint(&prompt), &typed, prompt.width() + cursor);
        drop(io.err.write_text(&text));
    }

    /// Writes lines in place of the input line. They end in CR LF, as raw mode requires.
    fn replace_input(&mut self, io: &mut Io, lines: &[Line]) {
        let mut text = screen::erase_line();
        for line in lines {
            text.push_str(&io.err.paint(line));
            text.push_str("\r\n");
        }
        drop(io.err.write_text(&text));
    }
}
