//! Reports on an abandoned task: one model call with a timer, or code's own words.

use setpoint_machine::brief::ReportBrief;
use setpoint_machine::draft::ReportDraft;
use setpoint_machine::extract::extract;
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, ModelCall};
use setpoint_protocol::CallId;
use setpoint_protocol::message::{AbandonNotice, PartialReport};
use setpoint_protocol::record::Answer;
use setpoint_protocol::text::clip;

use super::machine::{Fx, Phase, Planner};
use super::{prompt, template};
use crate::line::one_line;
use crate::report_time::report_ms;

const TOKENS_OUT_MAX: u32 = 1_024;
/// Maximum length of a report's field in characters; a longer one is cut with a mark.
const TEXT_CHARS_MAX: usize = 4_000;
/// At most so many next moves; the rest are dropped.
const MOVES_MAX: usize = 5;
/// Maximum length of a next move in characters; a longer one is cut with a mark.
const MOVE_CHARS_MAX: usize = 400;

/// A report that a model is wording.
#[derive(Debug)]
pub(super) struct Reporting {
    model: CallId,
    timer: CallId,
    notice: AbandonNotice,
}

impl Planner {
    /// Drops whatever was pending and reports, once.
    pub(super) fn on_abandon(&mut self, notice: AbandonNotice, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        if matches!(self.phase, Phase::Reporting(_) | Phase::Closed) {
            return;
        }
        let Some(task) = self.task.as_ref().filter(|_| notice.may_ask_model) else {
            self.give_report(template::report(&notice), fx);
            return;
        };
        let brief = ReportBrief {
            spec: task.spec.clone(),
            ended_by: notice.ended_by,
            reason: notice.reason.clone(),
            verdicts: notice.verdicts.clone(),
            subtask_verdicts: notice.subtask_verdicts.clone(),
            unmet_criteria: notice.unmet_criteria.clone(),
            partial_output: notice.partial_output.clone(),
        };
        let prompt = prompt::report(&brief);
        let ms_max = report_ms(ctx);
        let model = fx.ask_model(ModelCall {
            brief: Brief::Report(Box::new(brief)),
            prompt,
            schema: Some(prompt::report_schema()),
            limits: ModelLimits { tokens_out_max: TOKENS_OUT_MAX, ms_max, ..ModelLimits::default() },
        });
        let timer = fx.start_timer(ms_max);
        self.phase = Phase::Reporting(Box::new(Reporting { model, timer, notice }));
    }

    pub(super) fn give_report(&mut self, report: PartialReport, fx: &mut Fx<'_>) {
        fx.publish(report);
        self.phase = Phase::Closed;
    }
}

impl Reporting {
    /// Returns the report that follows from this answer; `None` if it answers another call.
    pub(super) fn answered(&self, call: CallId, answer: &Answer) -> Option<PartialReport> {
        if call == self.timer {
            return Some(template::report(&self.notice));
        }
        let template = (call == self.model).then(|| template::report(&self.notice))?;
        let Answer::Model(reply) = answer else { return Some(template) };
        let Ok(draft) = extract::<ReportDraft>(&reply.text()) else { return Some(template) };
        Some(worded(&draft, template, &self.notice))
    }
}

/// Returns the model's words where it gave any, and code's elsewhere. A model may not claim an achievement: without a
/// passed criterion or an output, code's sentence is kept.
fn worded(draft: &ReportDraft, template: PartialReport, notice: &AbandonNotice) -> PartialReport {
    let text = |words: &str, otherwise: String| match words.trim() {
        "" => otherwise,
        words => clip(words, TEXT_CHARS_MAX),
    };
    let moves: Vec<String> = draft
        .next_moves
        .iter()
        .map(|next| one_line(next, MOVE_CHARS_MAX))
        .filter(|next| !next.is_empty())
        .take(MOVES_MAX)
        .collect();
    PartialReport {
        achieved: if template::achieved_something(notice) {
            text(&draft.achieved, template.achieved)
        } else {
            template.achieved
        },
        blocked_by: text(&draft.blocked_by, template.blocked_by),
        next_moves: if moves.is_empty() { template.next_moves } else { moves },
    }
}
