//! Verifies the whole after everything matched: merges the outputs and checks them against the task's criteria.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use setpoint_extract::draft::MergeDraft;
use setpoint_machine::brief::{MergeBrief, Repair};
use setpoint_machine::{Brief, Ctx, ModelCall};
use setpoint_protocol::message::{Criterion, ManifestEntry, SubTaskOutcome, Verdict, VerdictWord};
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::Phase as Measured;
use setpoint_protocol::{Any, CallId, CriterionId};

use super::again;
use super::at_fault;
use super::carry::carried;
use super::end::End;
use super::merged::{merged, picks, places};
use super::phase::{Fx, Next, Phase, Verification};
use super::prompt;
use super::round::Round;
use crate::evidence::changes::Reported;
use crate::evidence::{Probes, changes};
use crate::judging::{
    Case, Hearing, NoClass, OWN_JUDGED_SINCE, Share, WHOLE_JUDGED_SINCE, beside, by_check, in_its_words,
    look_at_the_whole, made_by, names_unseen_figure, overlooked,
};
use crate::schema::bare;

/// Attempt number of these probes; attempts are only counted in sub-tasks, and the task's own probes are made once.
const ATTEMPT: u32 = 1;
static SCHEMA: LazyLock<String> = LazyLock::new(bare::<MergeDraft>);

/// Starts with the probes.
pub(super) fn begin(round: Round, fx: &mut Fx<'_>) -> Next {
    let criteria = &round.manifest.task_criteria;
    let carried: BTreeMap<CriterionId, Verdict> = criteria
        .iter()
        .filter_map(|criterion| Some((criterion.id.clone(), carried(criterion, &round)?)))
        .collect();
    let open = || criteria.iter().filter(|criterion| !carried.contains_key(&criterion.id));
    let again = again::due(&round, fx.ctx);
    let again = again.iter().map(|due| &due.criterion);
    let probes = Probes::ask(open().chain(again), Measured::After, ATTEMPT, fx);
    let records = || round.matched().into_iter().flat_map(|(_, outcome)| &outcome.tool_calls);
    let reported = Reported {
        made: records().flat_map(|record| made_by(record)).collect(),
        unwatched: changes::unwatched(records()),
        ..Reported::default()
    };
    let look = if is_of_several(&round) { changes::of_task(reported, fx.ctx) } else { None };
    let probes = probes.and(look, Measured::After, ATTEMPT, fx);
    let hearing = Hearing::of(Vec::new(), NoClass::AskedInRepair);
    let (picks, _) = picks(&[], round.matched().len());
    let (outlived, at_fault) = (Vec::new(), Vec::new());
    let verification = Verification { carried, probes, outlived, hearing, picks, at_fault, summary: None };
    merge_when_measured(round, Box::new(verification), fx)
}

/// Handles a probe's answer.
pub(super) fn on_probe(
    round: Round,
    mut verification: Box<Verification>,
    call: CallId,
    answer: &Answer,
    fx: &mut Fx<'_>,
) -> Next {
    verification.probes.take(call, answer);
    merge_when_measured(round, verification, fx)
}

/// Asks the model once all probes have answered, because it sees them too, and only if there is something to judge or
/// to choose.
fn merge_when_measured(mut round: Round, mut verification: Box<Verification>, fx: &mut Fx<'_>) -> Next {
    if !verification.probes.is_complete() {
        return Next::Wait(round, Phase::Probing(verification));
    }
    let found = {
        let output = output(&round, &verification);
        again::found(again::due(&round, fx.ctx), &case(&round, &verification, &output, fx.ctx))
    };
    verification.outlived = again::settle(&mut round, found);
    if fx.ctx.opened.logic_version < OWN_JUDGED_SINCE
        && take_back_outlived(&mut round, &mut verification, fx.ctx)
    {
        return Next::End(End::group_failed(&round, fx.ctx));
    }
    verification.hearing = Hearing::of(for_a_model(&round, &verification, fx.ctx), NoClass::AskedInRepair);
    if verification.hearing.criteria().is_empty() && round.manifest.subtasks.len() == 1 {
        return conclude(round, verification, fx.ctx);
    }
    ask(round, verification, None, fx)
}

/// Returns the criteria that a model judges: those that nothing else does, and of several pieces also the whole.
fn for_a_model(round: &Round, verification: &Verification, ctx: &Ctx<'_>) -> Vec<Criterion> {
    let output = output(round, verification);
    let case = case(round, verification, &output, ctx);
    let (mut for_a_model, mut others) = (Vec::new(), Vec::new());
    for criterion in &round.manifest.task_criteria {
        match known(criterion, verification, &case) {
            Some(verdict) => others.push((criterion, verdict)),
            None => for_a_model.push(criterion.clone()),
        }
    }
    if is_of_several(round) && ctx.opened.logic_version >= WHOLE_JUDGED_SINCE {
        look_at_the_whole(&mut for_a_model, &others, &BTreeSet::new(), Share::Together, &case);
    }
    for_a_model.extend(verification.outlived.iter().filter_map(|one| one.question(round)));
    for_a_model
}

/// Revokes what does not hold any more, unless a judge says that this was meant. Returns whether anything was revoked.
fn take_back_outlived(round: &mut Round, verification: &mut Verification, ctx: &Ctx<'_>) -> bool {
    let outlived = std::mem::take(&mut verification.outlived);
    let output = output(round, verification);
    let heard = |question: &Criterion| {
        let case = case(round, verification, &output, ctx);
        let hearing = &verification.hearing;
        hearing.has_verdict_on(&question.id).then(|| hearing.verdict(question, &case).verdict)
    };
    let heard: Vec<_> = outlived
        .into_iter()
        .map(|one| {
            let heard = one.question(round).and_then(|question| heard(&question));
            (one, heard)
        })
        .collect();
    let mut is_revoked = false;
    for (one, heard) in heard {
        is_revoked |= !one.settle(round, heard);
    }
    is_revoked
}

/// Returns whether models made several pieces, of which a judge looks at the whole.
fn is_of_several(round: &Round) -> bool {
    let matched = round.matched();
    matched.len() > 1 && matched.iter().any(|(_, outcome)| outcome.approach.is_none())
}

/// Returns the verdict of a sub-task that the whole takes over, or of a check.
fn known(criterion: &Criterion, verification: &Verification, case: &Case<'_>) -> Option<Verdict> {
    let carried = verification.carried.get(&criterion.id).cloned();
    carried.or_else(|| Some(by_check(criterion, criterion.check.as_ref()?, case)))
}

/// Handles the model's answer or failure.
pub(super) fn on_reply(
    round: Round,
    mut verification: Box<Verification>,
    answer: &Answer,
    fx: &mut Fx<'_>,
) -> Next {
    let mut hearing = verification.hearing.clone();
    let repair = hearing.take(answer, |hearing, draft: MergeDraft| {
        let count = round.matched().len();
        let (picks, is_sound) = picks(&draft.output_of, count);
        let (at_fault, names_pieces) = places(&draft.at_fault, count);
        verification.picks = picks;
        verification.at_fault = at_fault;
        verification.summary = draft.summary;
        let flaw = |field: &str| format!("{field} names a place that does not exist, or one twice");
        let flaws = [(is_sound, "output_of"), (names_pieces, "at_fault")];
        let more = flaws.iter().filter(|(is_sound, _)| !is_sound).map(|(_, field)| flaw(field)).collect();
        let output = output(&round, &verification);
        hearing.hear(draft.verdicts, more, &case(&round, &verification, &output, fx.ctx))
    });
    verification.hearing = hearing;
    match repair {
        Some(repair) => ask(round, verification, Some(repair), fx),
        None => conclude(round, verification, fx.ctx),
    }
}

/// Combines the verdicts and ends the round.
fn conclude(mut round: Round, mut verification: Box<Verification>, ctx: &Ctx<'_>) -> Next {
    if take_back_outlived(&mut round, &mut verification, ctx) {
        return Next::End(End::group_failed(&round, ctx));
    }
    let (round, verification) = (&round, verification.as_ref());
    let output = output(round, verification);
    let case = case(round, verification, &output, ctx);
    let hearing = &verification.hearing;
    let criteria = &round.manifest.task_criteria;
    let heard =
        |criterion: &Criterion| in_its_words(hearing.verdict(criterion, &case).verdict, criterion, hearing);
    let verdict = |criterion: &Criterion| match known(criterion, verification, &case) {
        Some(known) if known.verdict == VerdictWord::Pass && hearing.hears(&criterion.id) => {
            beside(known, heard(criterion), &case)
        }
        Some(known) => known,
        None => heard(criterion),
    };
    let verdicts: Vec<Verdict> = criteria.iter().map(verdict).collect();
    let all_unjudged = !criteria.is_empty()
        && criteria.iter().all(|criterion| hearing.hears(&criterion.id))
        && !hearing.has_judged();
    Next::End(if all_unjudged {
        let why = verdicts.first().map(|verdict| verdict.evidence.as_str()).unwrap_or_default();
        End::unjudged(round, why, ctx)
    } else {
        let at_fault = at_fault::of(round, &verdicts, &verification.at_fault, &verification.probes);
        // A summary with unproven figures would be shown beside the answer as if it had been accepted, too.
        let summary = verification.summary.as_deref().filter(|summary| !names_unseen_figure(summary, &case));
        // A playbook accounts for every word of a goal, so nothing can be overlooked.
        let is_of_playbooks = round.matched().iter().all(|(_, outcome)| outcome.approach.is_some());
        let overlooked = if is_of_playbooks { Vec::new() } else { overlooked(&case) };
        End::judged(round, verdicts, output.clone(), summary, at_fault, overlooked, ctx)
    })
}

fn ask(round: Round, verification: Box<Verification>, repair: Option<Repair>, fx: &mut Fx<'_>) -> Next {
    let matched = round.matched();
    let brief = MergeBrief {
        words: fx.ctx.words.to_owned(),
        criteria: verification.hearing.criteria().to_vec(),
        outcomes: matched.iter().map(|(_, outcome)| (*outcome).clone()).collect(),
        intents: matched.iter().map(|(entry, _)| entry.intent.clone()).collect(),
        approaches: matched.iter().map(|(entry, _)| entry.approach.clone()).collect(),
        surroundings: Arc::clone(&fx.ctx.opened.surroundings),
        repair,
    };
    let prompt = prompt::render(&brief, verification.probes.records());
    let asked = fx.ask_model(ModelCall::new(Brief::Merge(Box::new(brief)), prompt, Some(&SCHEMA)));
    Next::Wait(round, Phase::Merging(asked, verification))
}

fn case<'a>(round: &'a Round, verification: &'a Verification, output: &'a Any, ctx: &Ctx<'a>) -> Case<'a> {
    let criteria = &round.manifest.task_criteria;
    Case {
        runs: round.runs(),
        output,
        probes: &verification.probes,
        criteria,
        baseline: &round.baseline,
        words: ctx.words,
        made: ctx.ledger.made(),
        touched: ctx.ledger.touched(),
        has_acted: ctx.ledger.has_acted(),
        surroundings: &ctx.opened.surroundings,
        logic_version: ctx.opened.logic_version,
    }
}

/// Returns the merged result.
fn output(round: &Round, verification: &Verification) -> Any {
    let matched = round.matched();
    let picked: Vec<(&ManifestEntry, &SubTaskOutcome)> =
        verification.picks.iter().filter_map(|at| matched.get(*at)).copied().collect();
    merged(&picked)
}
