//! The question to the model: what it contains and how its answer is handled.

use std::sync::Arc;

use setpoint_machine::brief::{PerceiveBrief, Repair};
use setpoint_machine::draft::PerceiveDraft;
use setpoint_machine::extract::extract;
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, Ctx, ModelCall};
use setpoint_protocol::CallId;
use setpoint_protocol::limits::{CLARIFICATION_ROUNDS_MAX, HISTORY_CHARS_MAX, HISTORY_MAX};
use setpoint_protocol::message::UserInput;
use setpoint_protocol::record::Exchange;
use setpoint_protocol::text::clip;

use super::machine::{Fx, Perceiver, Stage};
use super::need::Need;
use super::prompt;
use super::reading::{Allowed, Reading, read};
use super::small_talk;
use crate::fingerprint::Words;

/// Limit on the tokens of an answer with title, scope and deadline.
const TITLE_TOKENS_OUT_MAX: u32 = 512;
/// With a history, an input of at most so many words is a reaction ("shorter", "do it again") and never triggers a
/// question.
const REACTION_WORDS_MAX: usize = 3;
/// The same for scripts in which each character counts as a word.
const REACTION_UNSPACED_MAX: usize = 8;

impl Perceiver {
    pub(super) fn on_user_input(&mut self, input: UserInput, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        if !matches!(self.stage, Stage::Input) {
            return;
        }
        self.raw_input = input.raw_input;
        if is_blank(&self.raw_input) {
            self.give_up_on_nothing(fx);
            return;
        }
        match Need::of(&self.raw_input, ctx) {
            Need::Nothing => self.commit_raw(fx),
            Need::Title => self.ask_title(fx),
            Need::Meaning => self.ask_model(None, fx),
        }
    }

    pub(super) fn on_reply(&mut self, call: CallId, text: &str, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        if self.is_title(call) {
            // Without a usable title the goal keeps the one that code makes; a second call is not worth its cost.
            self.commit_titled(&extract(text).unwrap_or_default(), fx);
            return;
        }
        let Some(repair) = self.pending_model(call) else { return };
        match read(text, self.allowed(ctx), &self.raw_input) {
            Reading::Intent(draft) => self.commit(&draft, fx),
            Reading::Questions(questions) => self.ask_person(questions, fx),
            Reading::Answer(answer) => self.answer_directly(answer, fx),
            Reading::Unusable(_) if repair => self.commit_raw(fx),
            Reading::Unusable(error) => {
                self.ask_model(Some(Repair { error, previous: text.to_owned() }), fx);
            }
        }
    }

    pub(super) fn on_no_answer(&mut self, call: CallId, fx: &mut Fx<'_>) {
        if self.is_title(call) {
            self.commit_titled(&PerceiveDraft::default(), fx);
        } else if self.pending_model(call).is_some() {
            self.commit_raw(fx);
        } else {
            self.on_clarification(call, &[], fx);
        }
    }

    /// Asks the model what is wanted, with the current clarifications.
    pub(super) fn ask_model(&mut self, repair: Option<Repair>, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let is_repair = repair.is_some();
        let allowed = self.allowed(ctx);
        let brief = PerceiveBrief {
            raw_input: self.raw_input.clone(),
            history: history(&ctx.opened.history),
            clarifications: self.clarifications.clone(),
            title_only: false,
            may_ask: allowed.questions,
            may_answer: allowed.answer,
            surroundings: Arc::clone(&ctx.opened.surroundings),
            repair,
        };
        let call = ask(brief, ModelLimits::default(), fx);
        self.stage = Stage::Model { call, repair: is_repair };
    }

    /// Asks the model for a title, scope and deadline of a self-contained text.
    fn ask_title(&mut self, fx: &mut Fx<'_>) {
        let brief = PerceiveBrief {
            raw_input: self.raw_input.clone(),
            history: Vec::new(),
            clarifications: Vec::new(),
            title_only: true,
            may_ask: false,
            may_answer: false,
            surroundings: Arc::default(),
            repair: None,
        };
        let limits = ModelLimits { tokens_out_max: TITLE_TOKENS_OUT_MAX, ..ModelLimits::default() };
        self.stage = Stage::Title { call: ask(brief, limits, fx) };
    }

    /// Returns whether `call` is the pending title call.
    fn is_title(&self, call: CallId) -> bool {
        matches!(self.stage, Stage::Title { call: pending } if pending == call)
    }

    fn allowed(&self, ctx: &Ctx<'_>) -> Allowed {
        let is_reaction = !ctx.opened.history.is_empty() && is_short(&self.raw_input);
        Allowed {
            questions: ctx.opened.interactive
                && !self.go_ahead
                && self.rounds < CLARIFICATION_ROUNDS_MAX
                && !is_reaction,
            answer: ctx.opened.direct_answers && small_talk::is_small_talk(&self.raw_input),
        }
    }

    /// Returns whether the pending model call is the repair call; `None` if `call` is not the pending one.
    fn pending_model(&self, call: CallId) -> Option<bool> {
        match self.stage {
            Stage::Model { call: pending, repair } if pending == call => Some(repair),
            _ => None,
        }
    }
}

fn ask(brief: PerceiveBrief, limits: ModelLimits, fx: &mut Fx<'_>) -> CallId {
    let prompt = prompt::perceive(&brief);
    let schema = Some(if brief.title_only { prompt::TITLE_SCHEMA } else { prompt::schema() });
    fx.ask_model(ModelCall { brief: Brief::Perceive(Box::new(brief)), prompt, schema, limits })
}

/// Returns whether the text has only white space, control characters and zero-width characters.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    })
}

fn is_short(text: &str) -> bool {
    text.split_whitespace().count() <= REACTION_WORDS_MAX && Words::of(text).count() <= REACTION_UNSPACED_MAX
}

/// Returns the last exchanges, oldest first, each part cut to its limit.
fn history(all: &[Exchange]) -> Vec<Exchange> {
    let cut = |text: &str| clip(text, HISTORY_CHARS_MAX);
    all.iter()
        .skip(all.len().saturating_sub(HISTORY_MAX))
        .map(|exchange| Exchange {
            input: cut(&exchange.input),
            summary: cut(&exchange.summary),
            output: cut(&exchange.output),
        })
        .collect()
}
