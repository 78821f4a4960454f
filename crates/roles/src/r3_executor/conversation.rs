//! The conversation with the model. It begins with the question and only grows at its end, over all attempts.

use std::sync::Arc;

use setpoint_machine::Turn;
use setpoint_machine::prompt::fenced;
use setpoint_protocol::limits::{CORRECTIONS_MAX, TOOL_ROUNDS_MAX};
use setpoint_protocol::message::CorrectionSignal;
use setpoint_protocol::text::{clip, head_and_tail};
use setpoint_protocol::tool::ToolRecord;

use crate::evidence::shown;

/// Maximum characters of a correction's texts.
const CORRECTION_CHARS_MAX: usize = 4_000;
/// Maximum characters of a message from the runtime.
const TOLD_CHARS_MAX: usize = 2_000;

/// The turns so far, oldest first.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    turns: Vec<Turn>,
    /// Messages from the runtime, sent once all results of the round are present.
    to_tell: Vec<String>,
}

impl Conversation {
    /// Returns the turns for the next question, after appending the pending messages.
    pub(super) fn turns(&mut self) -> Vec<Turn> {
        if !self.to_tell.is_empty() {
            let lines: Vec<String> =
                self.to_tell.drain(..).map(|line| format!("* {}", clip(&line, TOLD_CHARS_MAX))).collect();
            self.turns.push(Turn::of_notice(format!("From the runtime:\n{}", lines.join("\n"))));
        }
        self.turns.clone()
    }

    /// Appends a turn of the model.
    pub(super) fn push_turn(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    /// Appends the result of one of the model's calls.
    pub(super) fn result(&mut self, record: &Arc<ToolRecord>) {
        let (head, body) = shown(record);
        self.turns.push(Turn::result(record.ok, head, &body));
    }

    /// Appends the answer to a repeated call, from the record of the earlier one.
    pub(super) fn repeated(&mut self, record: &Arc<ToolRecord>) {
        let (_, body) = shown(record);
        let head = format!(
            "[{}] the same call, and nothing was changed since: it was not run again; this was its result",
            record.call_id
        );
        self.turns.push(Turn::result(record.ok, head, &body));
    }

    /// Appends the result of loading tools.
    pub(super) fn loaded(&mut self, ok: bool, text: &str) {
        let head = if ok { "loaded, and callable from now on" } else { "not all of them can be loaded" };
        self.turns.push(Turn::result(ok, head.to_owned(), text));
    }

    /// Appends that calls of the model were not made.
    pub(super) fn not_made(&mut self, count: usize, why: &str) {
        self.turns.extend((0..count).map(|_| Turn::result(false, format!("not run: {why}"), "")));
    }

    /// Queues a message from the runtime for the next question.
    pub(super) fn tell(&mut self, line: String) {
        self.to_tell.push(line);
    }

    /// Appends the correction with which another attempt begins.
    pub(super) fn corrected(&mut self, signal: &CorrectionSignal) {
        self.to_tell.clear();
        let wrong =
            fenced("what was wrong", &head_and_tail(signal.what_was_wrong.trim(), CORRECTION_CHARS_MAX));
        let attempt = signal.attempt_number + 1;
        self.turns.push(Turn::of_notice(format!(
            "Your answer was judged and is not enough yet.\n\n{wrong}\n\n{}\n\nThis is attempt {attempt} of {}, with {} \
             tool rounds. Go on from what you have: nothing needs to be read again that stands above. Answer whole.",
            clip(&signal.what_to_do, CORRECTION_CHARS_MAX),
            CORRECTIONS_MAX + 1,
            TOOL_ROUNDS_MAX,
        )));
    }
}
