//! The question to the model: what it contains and how its answer is handled.

use std::sync::Arc;

use setpoint_extract::extract;
use setpoint_machine::brief::{PerceiveBrief, Repair};
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, Ctx, ModelCall};
use setpoint_protocol::CallId;
use setpoint_protocol::RoleId;
use setpoint_protocol::limits::{CLARIFICATION_ROUNDS_MAX, HISTORY_CHARS_MAX, HISTORY_MAX};
use setpoint_protocol::message::{DirectAnswer, FaultKind, TaskFault, UserInput};
use setpoint_protocol::record::{Answer, Exchange};
use setpoint_protocol::text::clip;

use super::clarify::ask_person;
use super::commit::{commit, commit_raw, commit_titled};
use super::need::Need;
use super::phase::{Fx, Goal, Next, Phase};
use super::prompt;
use super::reading::{AllowedAnswers, Reading, read};
use super::small_talk;
use crate::answer::reply_of;
use crate::fault::fault;
use crate::fingerprint::Words;

/// Limit on the tokens of an answer with title, scope and deadline.
const TITLE_TOKENS_OUT_MAX: u32 = 512;
/// With a history, an input of at most this many words is a reaction ("shorter", "do it again") and never triggers a
/// question.
const REACTION_WORDS_MAX: usize = 3;
/// The same for scripts in which each character counts as a word.
const REACTION_UNSPACED_MAX: usize = 8;

pub(super) fn on_user_input(input: UserInput, fx: &mut Fx<'_>) -> Next {
    let goal = Goal { raw_input: input.raw_input, ..Goal::default() };
    if is_blank(&goal.raw_input) {
        let reason = "the input holds no goal: it is empty";
        let hints = vec!["say in a sentence what should be achieved".to_owned()];
        let fault = fault(RoleId::Perceiver, FaultKind::Fault, reason, fx.ctx);
        return Next::Raise(TaskFault { hints, ..fault });
    }
    match Need::of(&goal.raw_input, fx.ctx) {
        Need::Nothing => commit_raw(goal),
        Need::Title => ask_title(goal, fx),
        Need::Meaning => Next::Ask(goal, None),
    }
}

/// Asks the model what is wanted, with the current clarifications.
pub(super) fn ask(goal: Goal, repair: Option<Repair>, fx: &mut Fx<'_>) -> Next {
    let is_repair = repair.is_some();
    let allowed = allowed(&goal, fx.ctx);
    let brief = PerceiveBrief {
        raw_input: goal.raw_input.clone(),
        history: history(&fx.ctx.opened.history),
        clarifications: goal.clarifications.clone(),
        title_only: false,
        may_ask: allowed.questions,
        may_answer: allowed.answer,
        surroundings: Arc::clone(&fx.ctx.opened.surroundings),
        repair,
    };
    let call = ask_model(brief, ModelLimits::default(), fx);
    Next::Wait(Phase::Asking { call, is_repair, goal })
}

/// Asks the model for a title, scope and deadline of a self-contained text.
fn ask_title(goal: Goal, fx: &mut Fx<'_>) -> Next {
    let brief = PerceiveBrief {
        raw_input: goal.raw_input.clone(),
        history: Vec::new(),
        clarifications: Vec::new(),
        title_only: true,
        may_ask: false,
        may_answer: false,
        surroundings: Arc::default(),
        repair: None,
    };
    let limits = ModelLimits { tokens_out_max: TITLE_TOKENS_OUT_MAX, ..ModelLimits::default() };
    let call = ask_model(brief, limits, fx);
    Next::Wait(Phase::Titling { call, goal })
}

/// Handles the title. Without a usable one the goal keeps the title that code makes: a second call is not worth its
/// cost.
pub(super) fn on_title(goal: Goal, answer: &Answer, fx: &Fx<'_>) -> Next {
    let draft = reply_of(answer).ok().and_then(|reply| extract(&reply.text()).ok());
    commit_titled(goal, &draft.unwrap_or_default(), fx.ctx)
}

/// Handles the model's answer; after a failed call the raw input is used.
pub(super) fn on_reply(goal: Goal, is_repair: bool, answer: &Answer, fx: &mut Fx<'_>) -> Next {
    let Ok(reply) = reply_of(answer) else { return commit_raw(goal) };
    let text = reply.text();
    match read(&text, allowed(&goal, fx.ctx), &goal.raw_input) {
        Reading::Intent(draft) => commit(goal, &draft, fx.ctx),
        Reading::Questions(questions) => ask_person(goal, questions, fx),
        Reading::Answer(text) => Next::Answer(DirectAnswer { text }),
        Reading::Unusable(_) if is_repair => commit_raw(goal),
        Reading::Unusable(error) => Next::Ask(goal, Some(Repair { error, previous: text })),
    }
}

fn allowed(goal: &Goal, ctx: &Ctx<'_>) -> AllowedAnswers {
    let is_reaction = !ctx.opened.history.is_empty() && is_short(&goal.raw_input);
    AllowedAnswers {
        questions: ctx.opened.interactive
            && !goal.go_ahead
            && goal.rounds < CLARIFICATION_ROUNDS_MAX
            && !is_reaction,
        answer: ctx.opened.direct_answers && small_talk::is_small_talk(&goal.raw_input),
    }
}

fn ask_model(brief: PerceiveBrief, limits: ModelLimits, fx: &mut Fx<'_>) -> CallId {
    let prompt = prompt::perceive(&brief);
    let schema = Some(if brief.title_only { prompt::TITLE_SCHEMA } else { prompt::SCHEMA.as_str() });
    let question = ModelCall::new(Brief::Perceive(Box::new(brief)), prompt, schema);
    fx.ask_model(ModelCall { limits, ..question })
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
