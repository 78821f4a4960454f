//! Reads the answer to a call of a model or a tool. The only place that decides which answers count as none.

use setpoint_protocol::record::{Answer, ModelFailure, Reply};
use setpoint_protocol::tool::ToolAnswer;

/// Returns a model's reply.
///
/// # Errors
/// Returns why the model did not answer; `None` if the call was interrupted.
pub(crate) fn reply_of(answer: &Answer) -> Result<&Reply, Option<&ModelFailure>> {
    match answer {
        Answer::Model(reply) => Ok(reply),
        Answer::ModelFailed(failure) => Err(Some(failure)),
        Answer::Tool(_) | Answer::Timer | Answer::Survey(_) | Answer::Interrupted => Err(None),
    }
}

/// Returns a tool's answer; `None` if the call was interrupted.
pub(crate) fn tool_answer_of(answer: &Answer) -> Option<&ToolAnswer> {
    match answer {
        Answer::Tool(answer) => Some(answer),
        Answer::Model(_)
        | Answer::ModelFailed(_)
        | Answer::Timer
        | Answer::Survey(_)
        | Answer::Interrupted => None,
    }
}
