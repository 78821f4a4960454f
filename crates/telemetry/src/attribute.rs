//! Names of attributes, events and metrics, and what they may hold.
//!
//! Those that begin with `gen_ai.` are of the OpenTelemetry semantic conventions for generative AI. None of them is
//! stable, so their names are written here and nowhere else, as version 1.41.0 has them
//! (<https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai>), the last release before they
//! moved to a repository of their own. The operation `plan` is the one thing taken from there
//! (<https://github.com/open-telemetry/semantic-conventions-genai>).
//!
//! An attribute whose comment says `Content` holds text of people, models or tools. It is exported only if the
//! configuration asks for content.

/// The version of the conventions, as [`CONVENTIONS`] says it.
pub const CONVENTIONS_VERSION: &str = "1.41.0";
/// The schema that the names are of, as OTLP says it.
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

/// The operation: [`CHAT`], [`EXECUTE_TOOL`], [`INVOKE_AGENT`], [`INVOKE_WORKFLOW`] or [`PLAN`].
pub const OPERATION_NAME: &str = "gen_ai.operation.name";
/// One attempt of a question to a model.
pub const CHAT: &str = "chat";
/// One attempt of a tool call.
pub const EXECUTE_TOOL: &str = "execute_tool";
/// What one role does in one round.
pub const INVOKE_AGENT: &str = "invoke_agent";
/// A task.
pub const INVOKE_WORKFLOW: &str = "invoke_workflow";
/// R2's way from an intent or a directive to a dispatched plan.
pub const PLAN: &str = "plan";

/// The provider of the model.
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
/// The model that was asked.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// The model that answered, where it is another one.
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// Why an answer ends, where that is known.
pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens of the question.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Those of them that came from the provider's cache.
pub const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Tokens of the answer.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// What a model said, as JSON. Content.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// A role.
pub const AGENT_NAME: &str = "gen_ai.agent.name";
/// An instance of it.
pub const AGENT_ID: &str = "gen_ai.agent.id";
/// The program.
pub const WORKFLOW_NAME: &str = "gen_ai.workflow.name";
/// A tool.
pub const TOOL_NAME: &str = "gen_ai.tool.name";
/// The type of the tool.
pub const TOOL_TYPE: &str = "gen_ai.tool.type";
/// The id of the tool call.
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The arguments of the call, as JSON. Content.
pub const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// The result of the call. Content.
pub const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
/// `input` or `output`, in metrics.
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
/// The event of a verdict.
pub const EVALUATION_RESULT: &str = "gen_ai.evaluation.result";
/// The criterion's id.
pub const EVALUATION_NAME: &str = "gen_ai.evaluation.name";
/// `pass` or `fail`.
pub const EVALUATION_LABEL: &str = "gen_ai.evaluation.score.label";
/// The same as 1 or 0.
pub const EVALUATION_VALUE: &str = "gen_ai.evaluation.score.value";
/// What was seen. Content.
pub const EVALUATION_EXPLANATION: &str = "gen_ai.evaluation.explanation";
/// What went wrong, as one of few words.
pub const ERROR_TYPE: &str = "error.type";
/// The value of `error.type` for any other error.
pub const ERROR_OTHER: &str = "_OTHER";

/// The version of the conventions that a trace keeps to.
pub const CONVENTIONS: &str = "setpoint.gen_ai.conventions";
/// The task's id: the end that makes it unique, and all of it where content is exported, for it begins with the goal.
pub const TASK_ID: &str = "setpoint.task.id";
/// The goal. Content.
pub const GOAL: &str = "setpoint.goal";
/// The result's summary. Content.
pub const SUMMARY: &str = "setpoint.summary";
/// `R1` to `R7`.
pub const ROLE: &str = "setpoint.role";
/// The round, from 1. Also the event of a measured round.
pub const ROUND: &str = "setpoint.round";
/// Which attempt of an ask, from 1.
pub const ATTEMPT: &str = "setpoint.attempt";
/// What a model was asked for.
pub const PURPOSE: &str = "setpoint.purpose";
/// When in a sub-task's life a tool was called.
pub const PHASE: &str = "setpoint.phase";
/// What a tool call did to the world.
pub const SIDE_EFFECT: &str = "setpoint.side_effect";
/// A process's exit code.
pub const EXIT_CODE: &str = "setpoint.exit_code";
/// A sub-task.
pub const SUBTASK_ID: &str = "setpoint.subtask.id";
/// What came of it: `matched` or `failed`.
pub const OUTCOME: &str = "setpoint.outcome";
/// Sub-tasks of a plan.
pub const PLAN_SUBTASKS: &str = "setpoint.plan.subtasks";
/// A plan's fingerprint.
pub const PLAN_FINGERPRINT: &str = "setpoint.plan.fingerprint";
/// The distance D.
pub const LOSS_D: &str = "setpoint.loss.d";
/// The implausibility P.
pub const LOSS_P: &str = "setpoint.loss.p";
/// The cost Ω.
pub const LOSS_OMEGA: &str = "setpoint.loss.omega";
/// The loss L.
pub const LOSS_L: &str = "setpoint.loss.l";
/// The gradient ∇L.
pub const GRAD_L: &str = "setpoint.grad_l";
/// The state that was decided on.
pub const DIRECTIVE: &str = "setpoint.directive";
/// The rule that ended the task.
pub const ENDED_BY: &str = "setpoint.ended_by";
/// Who is accountable for an end other than accept.
pub const ACCOUNTABLE: &str = "setpoint.accountable";
/// Directives given.
pub const REPLANS: &str = "setpoint.replans";
/// Model calls of the task.
pub const CALLS: &str = "setpoint.usage.calls";
/// Tool calls of the task.
pub const TOOL_CALLS: &str = "setpoint.usage.tool_calls";
/// Tokens in of the task.
pub const TOKENS_IN: &str = "setpoint.usage.tokens_in";
/// Tokens out of the task.
pub const TOKENS_OUT: &str = "setpoint.usage.tokens_out";
/// Money of the task, in the currency of the price table, where prices are known.
pub const COST: &str = "setpoint.cost";
/// The event of a correction.
pub const CORRECTION: &str = "setpoint.correction";
/// The criteria that failed, by their ids.
pub const FAILED_CRITERIA: &str = "setpoint.failed_criteria";
/// `logical` or `environmental`.
pub const FAILURE_CLASS: &str = "setpoint.failure_class";
/// `check` or `model`.
pub const JUDGED_BY: &str = "setpoint.judged_by";
/// Whether a check was green before any work.
pub const VACUOUS: &str = "setpoint.vacuous";
/// A criterion's statement. Content.
pub const CRITERION: &str = "setpoint.criterion";
/// The event of a fault.
pub const FAULT: &str = "setpoint.fault";
/// A fault's kind.
pub const FAULT_KIND: &str = "setpoint.fault.kind";
/// Whether another round may help.
pub const RETRYABLE: &str = "setpoint.retryable";
/// Why something went wrong, in words. Content.
pub const REASON: &str = "setpoint.reason";
/// Which part of the loss: `d`, `p`, `omega` or `l`, in metrics.
pub const LOSS_COMPONENT: &str = "setpoint.loss.component";

/// What an attribute holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

/// A name with what it holds.
pub type Attribute = (&'static str, Value);

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Value::Int(value.into())
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Value::Int(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Text(value)
    }
}
