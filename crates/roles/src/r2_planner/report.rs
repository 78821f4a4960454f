//! Reports on an abandoned task: one model call with a timer, or code's own words.

use setpoint_extract::draft::ReportDraft;
use setpoint_extract::extract;
use setpoint_machine::brief::ReportBrief;
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, ModelCall};
use setpoint_protocol::message::{AbandonNotice, PartialReport};
use setpoint_protocol::record::Answer;
use setpoint_protocol::text::clip;

use super::history::Task;
use super::phase::{Fx, Next, Phase};
use super::{prompt, template};
use crate::answer::reply_of;
use crate::line::one_line;
use crate::report_time::report_ms;

const TOKENS_OUT_MAX: u32 = 1_024;
/// Maximum length of a report's field in characters; a longer one is cut with a mark.
const TEXT_CHARS_MAX: usize = 4_000;
/// At most this many next moves; the rest are dropped.
const MOVES_MAX: usize = 5;
/// Maximum length of a next move in characters; a longer one is cut with a mark.
const MOVE_CHARS_MAX: usize = 400;

/// Drops whatever was pending and reports, once.
pub(super) fn on_abandon_notice(task: Option<&Task>, notice: AbandonNotice, fx: &mut Fx<'_>) -> Next {
    let Some(task) = task.filter(|_| notice.may_ask_model) else {
        return Next::Report(template::report(&notice));
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
    let ms_max = report_ms(fx.ctx);
    let limits = ModelLimits { tokens_out_max: TOKENS_OUT_MAX, ms_max, ..ModelLimits::default() };
    let question = ModelCall::new(Brief::Report(Box::new(brief)), prompt, Some(&prompt::REPORT_SCHEMA));
    let model = fx.ask_model(ModelCall { limits, ..question });
    let timer = fx.start_timer(ms_max);
    Next::Wait(Phase::Reporting { model, timer, notice: Box::new(notice) })
}

/// Reports in code's words: the model took too long.
pub(super) fn on_timer(notice: &AbandonNotice) -> Next {
    Next::Report(template::report(notice))
}

/// Reports in the model's words, as far as it gave any.
pub(super) fn on_answer(notice: &AbandonNotice, answer: &Answer) -> Next {
    let template = template::report(notice);
    let draft = reply_of(answer).ok().and_then(|reply| extract::<ReportDraft>(&reply.text()).ok());
    Next::Report(match draft {
        Some(draft) => worded(&draft, template, notice),
        None => template,
    })
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
