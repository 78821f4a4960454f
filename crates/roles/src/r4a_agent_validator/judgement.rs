//! Asks a model about what code cannot judge: verdicts, one repair, and the class of failures without one.

use std::sync::{Arc, LazyLock};

use setpoint_extract::draft::JudgeDraft;
use setpoint_extract::extract;
use setpoint_machine::brief::{JudgeBrief, Repair};
use setpoint_machine::{Brief, ModelCall};
use setpoint_protocol::message::Criterion;
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::Phase as Measured;
use setpoint_protocol::{CallId, CriterionId};

use super::fast_loop::{Attempt, Classes, FastLoop, Fx, Next, Phase};
use super::prompt;
use crate::answer::reply_of;
use crate::evidence::changes;
use crate::schema::bare;

static SCHEMA: LazyLock<String> = LazyLock::new(bare::<JudgeDraft>);

/// Asks the model if there is anything to ask.
pub(super) fn ask_verdicts(
    fast_loop: &FastLoop,
    attempt: Attempt,
    repair: Option<Repair>,
    fx: &mut Fx<'_>,
) -> Next {
    let criteria = attempt.hearing.criteria().to_vec();
    if criteria.is_empty() {
        return Next::Decide(attempt, Classes::new());
    }
    let asked = ask(fast_loop, &attempt, Question { criteria, repair, classify: Vec::new() }, fx);
    Next::Wait(Phase::Judging(asked, attempt))
}

/// Handles the model's verdicts, or its failure. Asks once for the class of failures without one.
pub(super) fn on_verdicts(
    fast_loop: &FastLoop,
    mut attempt: Attempt,
    answer: &Answer,
    fx: &mut Fx<'_>,
) -> Next {
    let Attempt { work, hearing, .. } = &mut attempt;
    let case = fast_loop.case(work);
    let hear =
        hearing.take(answer, |hearing, draft: JudgeDraft| hearing.hear(draft.verdicts, Vec::new(), &case));
    if let Some(repair) = hear {
        return Next::Judge(attempt, Some(repair));
    }
    let is_wanted = |criterion: &&Criterion| hearing.verdict(criterion, &case).class_wanted;
    let criteria: Vec<Criterion> = hearing.criteria().iter().filter(is_wanted).cloned().collect();
    if criteria.is_empty() {
        return Next::Decide(attempt, Classes::new());
    }
    let classify = criteria.iter().map(|criterion| criterion.id.clone()).collect();
    let asked = ask(fast_loop, &attempt, Question { criteria, classify, repair: None }, fx);
    Next::Wait(Phase::Classifying(asked, attempt))
}

/// Handles the model's classes, or its failure, after which they stay unknown.
pub(super) fn on_classes(attempt: Attempt, answer: &Answer) -> Next {
    let draft = reply_of(answer).ok().and_then(|reply| extract::<JudgeDraft>(&reply.text()).ok());
    let mut classes = Classes::new();
    for verdict in draft.into_iter().flat_map(|draft| draft.verdicts) {
        if let (Ok(id), Some(class)) = (verdict.criterion_id.trim().parse(), verdict.failure_class) {
            classes.entry(id).or_insert(class);
        }
    }
    Next::Decide(attempt, classes)
}

/// The question about an attempt.
struct Question {
    criteria: Vec<Criterion>,
    classify: Vec<CriterionId>,
    repair: Option<Repair>,
}

fn ask(fast_loop: &FastLoop, attempt: &Attempt, question: Question, fx: &mut Fx<'_>) -> CallId {
    let Attempt { work, claims, .. } = attempt;
    let of_the_work = work.result.tool_calls.iter().filter(|record| record.phase == Measured::Work);
    let changes = changes::among(&work.result.tool_calls, work.result.attempt);
    let brief = JudgeBrief {
        words: fx.ctx.words.to_owned(),
        intent: fast_loop.subtask.intent.clone(),
        claims: claims.clone(),
        criteria: question.criteria,
        classify: question.classify,
        output: work.result.output.clone(),
        uncertainty: work.result.uncertainty.clone(),
        // What the work as a whole changed comes last, where nothing is cut.
        calls: of_the_work.chain(work.probes.records()).chain(changes).cloned().collect(),
        surroundings: Arc::clone(&fx.ctx.opened.surroundings),
        repair: question.repair,
    };
    let prompt = prompt::render(&brief);
    fx.ask_model(ModelCall::new(Brief::Judge(Box::new(brief)), prompt, Some(&SCHEMA)))
}
