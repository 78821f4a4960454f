//! What a judge is asked beside the checks: whether the work is what it was to be, and its answer true.

use std::collections::BTreeSet;

use setpoint_protocol::CriterionId;
use setpoint_protocol::message::{Criterion, Mode, Verdict, VerdictWord};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::case::Case;
use super::hearing::Hearing;
use super::self_made::looks_at_own;
use super::settle::EVIDENCE_CHARS_MAX;
use super::subject::speaks_of_the_answer;
use crate::programs::{BACKGROUND, RUN_CODE};

/// First version of the logic in which a judge always looks at the whole of what passes its checks.
pub(crate) const WHOLE_JUDGED_SINCE: u32 = 22;

/// Which share of what the person asks for is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// All of it: the only sub-task of a plan.
    Only,
    /// One sub-task of several.
    OneOfSeveral,
    /// Several sub-tasks together, of which nothing else tells whether they are all of it.
    Together,
}

impl Share {
    /// Returns the words for what the work was to do.
    fn wanted(self) -> &'static str {
        match self {
            Share::Only | Share::Together => "all that the person asks for",
            Share::OneOfSeveral => "all that was wanted of it, as the person's words mean it",
        }
    }
}

/// Tools whose side effect is not a change of files, unless they say so.
const LEAVE_FILES: [&str; 4] = ["http_fetch", "web_search", RUN_CODE, BACKGROUND];

/// Has a judge look at the work as a whole, if every check passes: one of the criteria `for_a_model`, or else of the `others`,
/// whose verdicts are known, gets an addition to its sentence. `claimed` are those that were found impossible, and ask
/// something else.
///
/// A check holds what the plan thought of. It may name the wrong file or unit, find a text that an error also contains, or look at
/// a program that the work bent; and it says nothing of the wishes that no criterion covers, or of what was lost on the way.
pub(crate) fn look_at_the_whole(
    for_a_model: &mut Vec<Criterion>,
    others: &[(&Criterion, Verdict)],
    claimed: &BTreeSet<CriterionId>,
    share: Share,
    case: &Case<'_>,
) {
    if others.iter().any(|(_, verdict)| verdict.verdict == VerdictWord::Fail) {
        return;
    }
    let more = addition(share, case);
    let with_more =
        |criterion: &Criterion| format!("{}; and {more}", criterion.criterion.trim_end_matches('.'));
    // The judge who is asked anyway is asked this too.
    let is_fit =
        |criterion: &&mut Criterion| criterion.mode == Mode::Verifiable && !claimed.contains(&criterion.id);
    if let Some(judged) = for_a_model.iter_mut().find(is_fit) {
        judged.criterion = with_more(judged);
        return;
    }
    let mut proven = others.iter().filter(|(_, verdict)| verdict.shows_it()).map(|(criterion, _)| *criterion);
    let named = proven.clone().find(|criterion| speaks_of_the_answer(&criterion.criterion));
    // Of work that made calls, what only its form was checked of, or its own files were looked at, is worth a judge's look, too.
    let is_weak = |verdict: &Verdict| {
        let is_seen = !verdict.self_made || looks_at_own(verdict, case);
        share == Share::Together || (case.has_work() && !verdict.vacuous && is_seen)
    };
    let by_form = || others.iter().find(|(_, verdict)| is_weak(verdict)).map(|(criterion, _)| *criterion);
    if let Some(chosen) = named.or_else(|| proven.next_back()).or_else(by_form) {
        for_a_model.push(Criterion { criterion: with_more(chosen), ..chosen.clone() });
    }
}

/// Returns the verdict on a criterion of which a judge was asked more than its check, or an earlier judge, says: what that
/// proves stays, and a flaw that is found counts.
pub(crate) fn beside(verdict: Verdict, heard: Verdict, case: &Case<'_>) -> Verdict {
    // A judge does not make that proof which held before, or rests on programs and tests that the work made.
    let is_own = verdict.self_made && !looks_at_own(&verdict, case);
    if heard.verdict == VerdictWord::Pass && (verdict.shows_it() || verdict.vacuous || is_own) {
        let seen = format!("{}; a judge of the whole work: {}", verdict.evidence, heard.evidence);
        return Verdict { evidence: clip(&seen, EVIDENCE_CHARS_MAX), ..verdict };
    }
    heard
}

/// Returns a judge's verdict under the criterion's own sentence. That the judge was asked more is said where it fails: the
/// sentence alone may well hold.
pub(crate) fn in_its_words(heard: Verdict, criterion: &Criterion, hearing: &Hearing) -> Verdict {
    let is_more = |asked: &Criterion| asked.id == criterion.id && asked.criterion != criterion.criterion;
    let is_flaw = heard.verdict == VerdictWord::Fail && hearing.has_verdict_on(&criterion.id);
    let evidence = if is_flaw && hearing.criteria().iter().any(is_more) {
        clip(&format!("a judge of the whole work: {}", heard.evidence), EVIDENCE_CHARS_MAX)
    } else {
        heard.evidence
    };
    Verdict { criterion: criterion.criterion.clone(), evidence, ..heard }
}

/// Returns what is added to the sentence of such a criterion.
fn addition(share: Share, case: &Case<'_>) -> String {
    let wanted = share.wanted();
    // Also in an earlier round, whose calls the judge does not see.
    if case.work().any(has_changed_files) || !case.touched.is_empty() || !case.made.is_empty() {
        format!(
            "the calls show that the work did {wanted}, that nothing else was lost or changed, and that the answer and what was \
             written say what the calls show"
        )
    } else if case.has_work() {
        format!("the answer says what the calls show, and nothing is missing of {wanted}")
    } else {
        format!("nothing is missing in the answer of {wanted}")
    }
}

/// Returns whether a call changed files, or may have done so unseen.
fn has_changed_files(call: &ToolRecord) -> bool {
    let count = call.facts.as_ref().and_then(|facts| facts.0.pointer("/changed/count")?.as_u64());
    let is_unseen = || call.side_effect != SideEffect::None && !LEAVE_FILES.contains(&call.tool.tool());
    count.map_or_else(is_unseen, |count| count > 0)
}
