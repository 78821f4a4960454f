//! Spans for the questions to models and the tool calls of a task: one per attempt.

use serde_json::json;
use setpoint_protocol::record::{Answer, Answered, Ask, Asked, Part, Purpose, Reasked, Record, Reply, Usage};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::ToolAnswer;
use setpoint_protocol::{Address, CallId, RoleId};

use super::{CONTENT_CHARS_MAX, CONTENT_PARTS_MAX, Content, NAME_CHARS_MAX, TaskTrace, maybe, word};
use crate::attribute as names;
use crate::attribute::{Attribute, Value};
use crate::measure::{Instrument, Measure};
use crate::span::{Span, SpanKind};

/// An ask without an answer so far.
#[derive(Debug)]
pub(super) struct OpenCall {
    span: Span,
    /// Number of the record with which the attempt began.
    seq: u64,
    /// Attributes of every attempt.
    common: Vec<Attribute>,
    is_model: bool,
}

/// The result of an attempt.
#[derive(Debug, Default)]
struct End {
    error: Option<String>,
    usage: Usage,
    attributes: Vec<Attribute>,
}

impl TaskTrace {
    pub(super) fn asked(&mut self, record: &Record, asked: Asked) {
        let Asked { call, attempt, ask } = asked;
        let parent = self.parent_of(call, &ask);
        let (mut span, common, is_model) = match ask {
            Ask::Model { purpose, .. } => {
                let (provider, model) = self.model_of(call.role);
                let name = model.as_ref().map_or_else(|| "chat".to_owned(), |model| format!("chat {model}"));
                let mut span = self.span(record, &call.to_string(), parent, name);
                span.kind = SpanKind::Client;
                let mut common = vec![
                    (names::OPERATION_NAME, names::CHAT.into()),
                    (names::PROVIDER_NAME, provider.into()),
                ];
                common.extend(maybe(names::REQUEST_MODEL, model));
                common.push((names::PURPOSE, purpose.name().into()));
                (span, common, true)
            }
            Ask::Tool { call: asked, phase, .. } => {
                // A model may have invented the name; only names of the catalogue are exported.
                let is_known = self.tools.contains(&asked.tool);
                let tool =
                    if is_known { clip(&asked.tool, NAME_CHARS_MAX) } else { names::ERROR_OTHER.to_owned() };
                let span = self.span(record, &call.to_string(), parent, format!("execute_tool {tool}"));
                let mut common = vec![
                    (names::OPERATION_NAME, names::EXECUTE_TOOL.into()),
                    (names::TOOL_NAME, tool.into()),
                    (names::TOOL_TYPE, "function".into()),
                    (names::TOOL_CALL_ID, call.to_string().into()),
                    (names::PHASE, word(phase).into()),
                ];
                common.extend(self.content(names::TOOL_CALL_ARGUMENTS, &asked.input.to_text()));
                (span, common, false)
            }
            Ask::Timer { .. } | Ask::Survey { .. } => return,
        };
        span.attributes = attributes(&common, attempt);
        self.calls.insert(call, OpenCall { span, seq: record.seq, common, is_model });
    }

    /// Ends the failed attempt and begins the next one at the same time. The time of the failure is not recorded, so a wait
    /// between the two counts as a part of the first.
    pub(super) fn reasked(&mut self, record: &Record, reasked: &Reasked) {
        let Some(open) = self.calls.remove(&reasked.call) else { return };
        let OpenCall { span, common, is_model, .. } = &open;
        let mut next = self.span(record, &format!("{}", reasked.call), span.parent, span.name.clone());
        next.kind = span.kind;
        next.attributes = attributes(common, reasked.attempt);
        let next = OpenCall { span: next, seq: record.seq, common: common.clone(), is_model: *is_model };
        let end = End {
            // The kind of the failure is not recorded, only its text.
            error: Some(names::ERROR_OTHER.to_owned()),
            usage: reasked.spent,
            attributes: self.content(names::REASON, &reasked.reason).into_iter().collect(),
        };
        self.end_attempt(record, open, end);
        self.calls.insert(reasked.call, next);
    }

    pub(super) fn answered(&mut self, record: &Record, answered: Answered) {
        let Some(open) = self.calls.remove(&answered.call) else { return };
        // It was stopped before anything was asked.
        if answered.attempt == 0 {
            return;
        }
        let end = match answered.answer {
            Answer::Model(reply) => self.replied(&reply),
            Answer::ModelFailed(failure) => End {
                error: Some(word(failure.kind)),
                usage: answered.spent,
                attributes: self.content(names::REASON, &failure.reason).into_iter().collect(),
            },
            Answer::Tool(answer) => self.ran(&answer),
            Answer::Interrupted => interrupted(answered.spent),
            Answer::Timer | Answer::Survey(_) => End::default(),
        };
        self.end_attempt(record, open, end);
    }

    /// Ends the calls that are still open when the task ends: they will not be answered.
    pub(super) fn end_calls(&mut self, record: &Record) {
        for open in std::mem::take(&mut self.calls).into_values() {
            self.end_attempt(record, open, interrupted(Usage::default()));
        }
    }

    fn replied(&self, reply: &Reply) -> End {
        let cut = reply.is_cut.then(|| Value::Texts(vec!["length".to_owned()]));
        let by = reply.by.as_deref().map(|by| clip(by, NAME_CHARS_MAX));
        let mut attributes: Vec<Attribute> = Vec::new();
        attributes.extend(cut.map(|cut| (names::FINISH_REASONS, cut)));
        attributes.extend(maybe(names::RESPONSE_MODEL, by));
        if self.content == Content::Exported {
            attributes.push((names::OUTPUT_MESSAGES, messages(reply).into()));
        }
        End { error: None, usage: reply.usage, attributes }
    }

    fn ran(&self, answer: &ToolAnswer) -> End {
        let mut attributes = vec![(names::SIDE_EFFECT, word(answer.side_effect).into())];
        attributes.extend(maybe(names::EXIT_CODE, answer.exit_code));
        attributes.extend(self.content(names::TOOL_CALL_RESULT, &answer.text));
        let error = || answer.error_kind.map_or_else(|| names::ERROR_OTHER.to_owned(), word);
        End { error: (!answer.ok).then(error), usage: Usage::default(), attributes }
    }

    fn end_attempt(&mut self, record: &Record, open: OpenCall, end: End) {
        let OpenCall { mut span, seq, common, is_model } = open;
        // It began in the task from which this one was forked; here it is exported from the record that asks it again.
        if seq <= self.taken_over {
            return;
        }
        span.end = span.start.max(record.at);
        if is_model {
            let Usage { tokens_in, tokens_out, tokens_cached } = end.usage;
            span.attributes
                .extend([(names::INPUT_TOKENS, tokens_in.into()), (names::OUTPUT_TOKENS, tokens_out.into())]);
            if tokens_cached > 0 {
                span.attributes.push((names::CACHED_TOKENS, tokens_cached.into()));
            }
            self.measure_attempt(&span, common, &end);
        }
        span.attributes.extend(end.attributes);
        span.error = end.error;
        self.told.spans.push(span);
    }

    fn measure_attempt(&mut self, span: &Span, common: Vec<Attribute>, end: &End) {
        let of = |name: &&Attribute| name.0 != names::PURPOSE;
        let common: Vec<Attribute> = common.iter().filter(of).cloned().collect();
        let with = |more: Attribute| common.iter().cloned().chain([more]).collect();
        for (kind, tokens) in [("input", end.usage.tokens_in), ("output", end.usage.tokens_out)] {
            // A model that does not count its tokens reports 0 for both.
            if !end.usage.is_zero() {
                self.told.measures.push(Measure {
                    instrument: Instrument::Tokens,
                    value: tokens as f64,
                    attributes: with((names::TOKEN_TYPE, kind.into())),
                });
            }
        }
        let attributes = match &end.error {
            Some(error) => with((names::ERROR_TYPE, error.as_str().into())),
            None => common,
        };
        let value = span.end.millis_since(span.start) as f64 / 1_000.0;
        self.told.measures.push(Measure { instrument: Instrument::OperationSeconds, value, attributes });
    }

    /// Returns the parent of an ask's span: the making of the plan, or the activity of the asking role.
    fn parent_of(&self, call: CallId, ask: &Ask) -> Option<crate::span::SpanId> {
        let is_of_plan = matches!(ask, Ask::Model { purpose: Purpose::Plan, .. });
        let plan = self.plan.as_ref().filter(|_| is_of_plan);
        let asker = Address::effector(call.role, call.instance);
        plan.or(self.activities.get(&asker)).map(|span| span.id).or(self.root_id())
    }

    /// Returns the provider and the model that a role asks, as the conventions name them; `None` if the model is not known.
    fn model_of(&self, role: RoleId) -> (String, Option<String>) {
        let name = clip(&self.models.of(role).name, NAME_CHARS_MAX);
        match name.split_once('/') {
            Some(("gemini", model)) => ("gcp.gemini".to_owned(), Some(model.to_owned())),
            Some((provider, model)) => (provider.to_owned(), Some(model.to_owned())),
            None if name == "playbook" => ("setpoint".to_owned(), Some(name)),
            None => (names::ERROR_OTHER.to_owned(), Some(name).filter(|name| !name.is_empty())),
        }
    }
}

fn interrupted(usage: Usage) -> End {
    End { error: Some("interrupted".to_owned()), usage, attributes: Vec::new() }
}

fn attributes(common: &[Attribute], attempt: u32) -> Vec<Attribute> {
    common.iter().cloned().chain([(names::ATTEMPT, attempt.into())]).collect()
}

/// Formats a reply as the conventions define it, with bounded parts.
fn messages(reply: &Reply) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => Some(json!({ "type": "text", "content": clip(text, CONTENT_CHARS_MAX) })),
        Part::ToolCall(call) => Some(json!({
            "type": "tool_call",
            "name": clip(&call.tool, NAME_CHARS_MAX),
            "arguments": clip(&call.input.to_text(), CONTENT_CHARS_MAX),
        })),
        Part::Opaque(_) => None,
    };
    let parts: Vec<_> = reply.parts.iter().filter_map(part).take(CONTENT_PARTS_MAX).collect();
    let reason = match (reply.is_cut, reply.tool_calls().next()) {
        (true, _) => "length",
        (false, Some(_)) => "tool_call",
        (false, None) => "stop",
    };
    json!([{ "role": "assistant", "parts": parts, "finish_reason": reason }]).to_string()
}
