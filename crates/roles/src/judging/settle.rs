//! Compares one model verdict with the evidence.

use setpoint_extract::draft::VerdictDraft;
use setpoint_protocol::CallId;
use setpoint_protocol::message::{
    Cite, Criterion, FailureClass, JudgedBy, Mode, Shown, Verdict, VerdictWord,
};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, ToolRecord};

use super::bearing::{bears_on, gives_the_answer, is_about_passing_tests};
use super::case::{Case, CitationState};
use super::check::blank;
use super::messages::class_of_error;
use super::self_made::is_self_made;
use super::strength::{of_judgement, only_prints};
use super::subject::is_about_the_text;
use super::{OWN_JUDGED_SINCE, WEIGHED_SINCE};
use crate::evidence::{call_ids, name_of};

/// Maximum characters of a verdict's evidence.
pub(crate) const EVIDENCE_CHARS_MAX: usize = 800;
/// At most this many citations are examined; the rest are dropped.
const CITES_MAX: usize = 16;

/// A verdict after code has checked it.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledVerdict {
    /// Verdict as corrected by code.
    pub verdict: Verdict,
    /// Whether the failure has no class yet; a model may be asked for it.
    pub class_wanted: bool,
}

/// Returns whether a cited call can show the criterion: it does more than echo its input, and it bears on the
/// criterion or produced the answer.
fn shows(call: &ToolRecord, criterion: &Criterion, case: &Case<'_>) -> bool {
    let is_answer = || !is_about_passing_tests(&criterion.criterion) && gives_the_answer(call, case.output);
    !only_prints(call) && (bears_on(call, criterion) || is_answer())
}

/// Returns whether a pass may rest on what a failed call was to do: it was refused or broke off. A call that did not fit its
/// tool or found nothing to work on was to do nothing else.
fn may_be_claimed(call: &ToolRecord) -> bool {
    let is_plain = matches!(
        call.error_kind,
        Some(ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::NotFound)
    );
    !call.ran() && !is_plain
}

/// Returns the verdict on a criterion that a model judged.
pub(super) fn settle(criterion: &Criterion, draft: &VerdictDraft, case: &Case<'_>) -> SettledVerdict {
    let mut cites = Citations::read(&draft.cites, case);
    let is_doubted = cites.ran.iter().any(|call| may_be_claimed(call));
    if draft.verdict == VerdictWord::Pass && case.logic_version >= WEIGHED_SINCE {
        cites.drop_failed();
    }
    if draft.verdict == VerdictWord::Pass && case.logic_version >= OWN_JUDGED_SINCE {
        cites.drop_stale(case);
    }
    match draft.verdict {
        VerdictWord::Pass => match objection(criterion, &cites, case) {
            None => {
                let is_own = |call: &&ToolRecord| is_self_made(call, criterion, case);
                let self_made = !cites.ran.is_empty() && cites.ran.iter().all(is_own);
                let bears = cites.ran.iter().any(|call| shows(call, criterion, case));
                let mut settled = judged(criterion, VerdictWord::Pass, &draft.evidence, cites.valid);
                settled.verdict.self_made = self_made;
                settled.verdict.strength = of_judgement(criterion, bears && !is_doubted, case);
                settled
            }
            Some(objection) => {
                let evidence = format!("{objection}; the judge saw: {}", draft.evidence);
                let class = cites.error.and_then(class_of_error);
                let mut settled = judged(criterion, VerdictWord::Fail, &evidence, cites.valid);
                settled.verdict.failure_class = class;
                settled.verdict.shown = Some(Shown::NotShown);
                settled
            }
        },
        VerdictWord::Fail => {
            let (class, class_wanted) = class(criterion, &cites, draft.failure_class);
            let mut settled = judged(criterion, VerdictWord::Fail, &draft.evidence, cites.valid);
            settled.verdict.failure_class = class;
            settled.verdict.shown =
                Some(if cites.calls > 0 || cites.output { Shown::Refuted } else { Shown::NotShown });
            settled.class_wanted = class_wanted;
            settled
        }
    }
}

/// Returns the verdict on a criterion that a model finds impossible here. Without a cited call that shows it, it is
/// an ordinary failure.
pub(super) fn settle_impossible(
    criterion: &Criterion,
    draft: &VerdictDraft,
    case: &Case<'_>,
) -> SettledVerdict {
    let mut settled = settle(criterion, draft, case);
    let cites = Citations::read(&draft.cites, case);
    if draft.verdict == VerdictWord::Fail && cites.shows_a_lack && !cites.missing {
        settled.verdict.shown = Some(Shown::Cannot);
        settled.verdict.failure_class = Some(FailureClass::Environmental);
        settled.class_wanted = false;
    }
    settled
}

/// Returns the verdict on a criterion without a judgement.
pub fn unjudged(criterion: &Criterion, why: &str) -> SettledVerdict {
    let mut settled = judged(criterion, VerdictWord::Fail, &format!("not judged: {why}"), Vec::new());
    settled.verdict.shown = Some(Shown::NotShown);
    settled
}

/// Returns whether a pass cites no call although it must and could, so that the judge is worth asking again.
pub(super) fn lacks_a_citation(criterion: &Criterion, draft: &VerdictDraft, case: &Case<'_>) -> bool {
    let cites = Citations::read(&draft.cites, case);
    draft.verdict == VerdictWord::Pass
        && cites.calls == 0
        && !cites.missing
        && cites.stale.is_none()
        && case.has_proof()
        && objection(criterion, &cites, case).is_some()
}

/// Returns why a pass is rejected; `None` if it is not.
fn objection(criterion: &Criterion, cites: &Citations<'_>, case: &Case<'_>) -> Option<String> {
    if cites.missing {
        return Some("cites a call that does not exist".to_owned());
    }
    if let Some(call) = cites.stale {
        return Some(format!("cites {}, which was made before the work", call.call_id));
    }
    if let Some(call) = cites.failed {
        let kind = call.error_kind.map(|kind| format!(" ({})", name_of(&kind))).unwrap_or_default();
        return Some(format!("cites {}, which failed{kind}", call.call_id));
    }
    if cites.calls > 0 {
        return None;
    }
    let output_is_enough = match criterion.mode {
        Mode::Plausible => true,
        Mode::Verifiable => is_about_the_text(&criterion.criterion) && !case.has_work(),
    };
    (!(output_is_enough && cites.output)).then(|| "pass without evidence".to_owned())
}

/// Returns the class of a failure, and whether a model must still be asked for it.
///
/// The first cited call with a typed error determines the class. For a criterion about the answer's text a non-zero
/// exit does not: there the model's word is better.
fn class(
    criterion: &Criterion,
    cites: &Citations<'_>,
    model: Option<FailureClass>,
) -> (Option<FailureClass>, bool) {
    let is_said = |call: &&ToolRecord| call.error_kind == Some(ErrorKind::Exit);
    let is_of_the_text = is_about_the_text(&criterion.criterion);
    match cites.error.filter(|call| !(is_of_the_text && is_said(call))) {
        Some(call) => (class_of_error(call), false),
        None => (model, model.is_none()),
    }
}

fn judged(criterion: &Criterion, verdict: VerdictWord, evidence: &str, cites: Vec<Cite>) -> SettledVerdict {
    let evidence = clip(evidence.trim(), EVIDENCE_CHARS_MAX);
    let verdict = blank(criterion, verdict, evidence, cites, JudgedBy::Model);
    SettledVerdict { verdict, class_wanted: false }
}

/// The citations of a draft, resolved.
#[derive(Default)]
struct Citations<'a> {
    /// Citations that refer to something that exists.
    valid: Vec<Cite>,
    /// Number of calls among them.
    calls: usize,
    /// Calls that count as evidence.
    ran: Vec<&'a ToolRecord>,
    output: bool,
    missing: bool,
    /// Whether one of the calls may show that something is missing here.
    shows_a_lack: bool,
    stale: Option<&'a ToolRecord>,
    failed: Option<&'a ToolRecord>,
    /// First cited call with a typed error.
    error: Option<&'a ToolRecord>,
}

impl<'a> Citations<'a> {
    fn read(cites: &[String], case: &Case<'a>) -> Self {
        let mut read = Citations::default();
        for cite in cites.iter().take(CITES_MAX) {
            let ids: Vec<CallId> = call_ids(cite).collect();
            let first = cite.split(|c: char| c.is_whitespace() || ",;()[]:".contains(c)).next();
            if first.is_some_and(|word| word.eq_ignore_ascii_case("output")) {
                read.output = true;
                read.add(Cite::OUTPUT);
            } else if ids.is_empty() {
                read.missing = true;
            }
            for id in ids {
                read.call(case.cited(id));
            }
        }
        read
    }

    fn call(&mut self, cited: CitationState<'a>) {
        match cited {
            CitationState::Missing => self.missing = true,
            CitationState::Stale(record) => {
                self.add(Cite::Call(record.call_id));
                self.stale = self.stale.or(Some(record));
            }
            CitationState::Counts(record) => {
                self.calls += 1;
                self.ran.push(record);
                self.shows_a_lack |= record.shows_a_lack();
                self.add(Cite::Call(record.call_id));
                // A non-zero exit is a result.
                if !record.ran() {
                    self.failed = self.failed.or(Some(record));
                }
                let is_exit = record.error_kind == Some(ErrorKind::Exit);
                if record.error_kind.is_some() && (!is_exit || class_of_error(record).is_some()) {
                    self.error = self.error.or(Some(record));
                }
            }
        }
    }

    /// Drops the calls of before the work, or of an earlier attempt, beside others.
    fn drop_stale(&mut self, case: &Case<'_>) {
        if self.ran.is_empty() {
            return;
        }
        let is_stale =
            |cite: &Cite| cite.call().is_some_and(|id| matches!(case.cited(id), CitationState::Stale(_)));
        self.valid.retain(|cite| !is_stale(cite));
        self.stale = None;
    }

    /// Drops the calls that failed beside others that ran: these alone must show it then.
    fn drop_failed(&mut self) {
        let (ran, failed): (Vec<_>, Vec<_>) = self.ran.iter().copied().partition(|call| call.ran());
        if ran.is_empty() {
            return;
        }
        let is_failed = |cite: &Cite| failed.iter().any(|call| cite.call() == Some(call.call_id));
        self.valid.retain(|cite| !is_failed(cite));
        self.calls = ran.len();
        self.ran = ran;
        self.failed = None;
    }

    fn add(&mut self, cite: Cite) {
        if !self.valid.contains(&cite) {
            self.valid.push(cite);
        }
    }
}
