//! Asks a model about what code cannot judge: verdicts, one repair, and the class of failures without one.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use setpoint_machine::brief::{JudgeBrief, Repair};
use setpoint_machine::draft::JudgeDraft;
use setpoint_machine::extract::extract;
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, ModelCall};
use setpoint_protocol::message::{Criterion, FailureClass};
use setpoint_protocol::record::Answer;
use setpoint_protocol::text::head_and_tail;
use setpoint_protocol::tool::Phase;
use setpoint_protocol::{CallId, CriterionId};

use super::decision;
use super::fast_loop::{Attempt, FastLoop, Stage};
use super::machine::Fx;
use super::prompt;

/// Characters of an unusable answer that the repair call quotes.
const PREVIOUS_CHARS_MAX: usize = 4_000;

/// Asks the model if there is anything to ask.
pub(super) fn open(fast_loop: &mut FastLoop, attempt: Attempt, fx: &mut Fx<'_>) {
    if attempt.hearing.criteria().is_empty() {
        decision::decide(fast_loop, &attempt, &BTreeMap::new(), fx);
    } else {
        let criteria = attempt.hearing.criteria().to_vec();
        let asked = ask(fast_loop, &attempt, Question { criteria, ..Question::default() }, fx);
        fast_loop.stage = Stage::Judging(asked, attempt);
    }
}

/// Handles the model's verdicts, or its failure.
pub(super) fn heard(fast_loop: &mut FastLoop, answer: &Answer, fx: &mut Fx<'_>) {
    let Stage::Judging(_, mut attempt) = std::mem::replace(&mut fast_loop.stage, Stage::Concluded) else {
        return;
    };
    let previous = match answer {
        Answer::Model(reply) => reply.text(),
        _ => String::new(),
    };
    let Attempt { result, probes, hearing, .. } = &mut attempt;
    let case = fast_loop.case_of(result, probes);
    let error = match answer {
        Answer::Model(_) => match extract::<JudgeDraft>(&previous) {
            Ok(draft) => hearing.hear(draft.verdicts, Vec::new(), &case),
            Err(error) => hearing.unreadable(&error),
        },
        Answer::ModelFailed(failure) => hearing.unanswered(Some(failure)),
        Answer::Tool(_) | Answer::Timer | Answer::Survey(_) | Answer::Interrupted => hearing.unanswered(None),
    };
    match error {
        Some(error) => {
            let repair = Some(Repair { error, previous: head_and_tail(&previous, PREVIOUS_CHARS_MAX) });
            let criteria = attempt.hearing.criteria().to_vec();
            let asked = ask(fast_loop, &attempt, Question { criteria, repair, ..Question::default() }, fx);
            fast_loop.stage = Stage::Judging(asked, attempt);
        }
        None => classify(fast_loop, attempt, fx),
    }
}

/// Handles the model's classes, or its failure, after which they stay unknown.
pub(super) fn classified(fast_loop: &mut FastLoop, answer: &Answer, fx: &mut Fx<'_>) {
    let Stage::Classifying(_, attempt) = std::mem::replace(&mut fast_loop.stage, Stage::Concluded) else {
        return;
    };
    let mut classes = BTreeMap::new();
    if let Answer::Model(reply) = answer
        && let Ok(draft) = extract::<JudgeDraft>(&reply.text())
    {
        for verdict in draft.verdicts {
            if let (Ok(id), Some(class)) = (verdict.criterion_id.trim().parse(), verdict.failure_class) {
                classes.entry(id).or_insert(class);
            }
        }
    }
    decision::decide(fast_loop, &attempt, &classes, fx);
}

/// Asks once for the class of failures without one.
fn classify(fast_loop: &mut FastLoop, attempt: Attempt, fx: &mut Fx<'_>) {
    let case = fast_loop.case(&attempt);
    let is_wanted = |criterion: &&Criterion| attempt.hearing.verdict(criterion, &case).class_wanted;
    let criteria: Vec<Criterion> = attempt.hearing.criteria().iter().filter(is_wanted).cloned().collect();
    if criteria.is_empty() {
        decision::decide(fast_loop, &attempt, &BTreeMap::<CriterionId, FailureClass>::new(), fx);
    } else {
        let classify = criteria.iter().map(|criterion| criterion.id.clone()).collect();
        let asked = ask(fast_loop, &attempt, Question { criteria, classify, repair: None }, fx);
        fast_loop.stage = Stage::Classifying(asked, attempt);
    }
}

/// The question about an attempt.
#[derive(Default)]
struct Question {
    criteria: Vec<Criterion>,
    classify: Vec<CriterionId>,
    repair: Option<Repair>,
}

fn ask(fast_loop: &FastLoop, attempt: &Attempt, question: Question, fx: &mut Fx<'_>) -> CallId {
    let ctx = fx.ctx;
    let of_the_work = attempt.result.tool_calls.iter().filter(|record| record.phase == Phase::Work);
    let brief = JudgeBrief {
        words: ctx.words.to_owned(),
        intent: fast_loop.subtask.intent.clone(),
        claims: attempt.claims.clone(),
        criteria: question.criteria,
        classify: question.classify,
        output: attempt.result.output.clone(),
        uncertainty: attempt.result.uncertainty.clone(),
        calls: of_the_work.chain(attempt.probes.records()).cloned().collect(),
        surroundings: Arc::clone(&ctx.opened.surroundings),
        repair: question.repair,
    };
    let prompt = prompt::render(&brief);
    fx.ask_model(ModelCall {
        brief: Brief::Judge(Box::new(brief)),
        prompt,
        schema: Some(schema()),
        limits: ModelLimits::default(),
    })
}

fn schema() -> &'static str {
    static SCHEMA: OnceLock<String> = OnceLock::new();
    SCHEMA.get_or_init(crate::schema::bare::<JudgeDraft>)
}
