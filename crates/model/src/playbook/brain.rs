//! The embedded brain as a model.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use setpoint_machine::{Brief, ModelCall};
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::record::{ModelFailure, ModelFailureKind, Part, Reply, Usage};

use super::library::Library;
use super::{execute, judge, merge, perceive, plan, report};
use crate::model::{Model, ModelError};
use crate::progress::Progress;

/// Name of the embedded brain.
pub const PLAYBOOK_MODEL: &str = "playbook";

/// Answers from playbooks. The same question always gets the same answer, and costs no tokens.
#[derive(Clone, Debug)]
pub struct Playbook {
    library: Arc<Library>,
}

impl Playbook {
    /// Creates a brain with these playbooks.
    #[must_use]
    pub fn new(library: Arc<Library>) -> Self {
        Playbook { library }
    }

    /// Returns its playbooks.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Answers one question without waiting. [`Model::answer`] only calls this.
    ///
    /// # Errors
    /// If no playbook matches the goal, or none of its approaches is left.
    pub fn reply(&self, brief: &Brief) -> Result<Reply, ModelFailure> {
        match brief {
            Brief::Perceive(brief) => reply_of(&perceive::perceive(&self.library, brief)),
            Brief::Plan(brief) => reply_of(&plan::plan(&self.library, brief)?),
            Brief::Report(brief) => reply_of(&report::report(&self.library, brief)),
            Brief::Execute(brief) => match execute::execute(&self.library, brief)? {
                execute::Step::Call(call) => Ok(reply(Part::ToolCall(call.into()))),
                execute::Step::Answer(draft) => reply_of(&draft),
            },
            Brief::Judge(brief) => reply_of(&judge::judge(brief)),
            Brief::Merge(brief) => reply_of(&merge::merge(&self.library, brief)),
            // Its answer could only repeat the template.
            Brief::Distil(_) | Brief::Reflect(_) => Err(ModelFailure {
                kind: ModelFailureKind::Refused,
                reason: "the embedded brain writes no text of its own".to_owned(),
                hints: vec![],
            }),
        }
    }
}

#[async_trait]
impl Model for Playbook {
    fn card(&self) -> ModelCard {
        ModelCard { is_free: true, takes_any_word: true, ..ModelCard::named(self.name()) }
    }

    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        let reply = self.reply(&call.brief)?;
        if progress.is_watched() {
            progress.text(&reply.text());
        }
        Ok(reply)
    }

    fn name(&self) -> &str {
        PLAYBOOK_MODEL
    }
}

/// Returns a draft as the text that a language model would have written.
fn reply_of(draft: &impl Serialize) -> Result<Reply, ModelFailure> {
    match serde_json::to_string(draft) {
        Ok(text) => Ok(reply(Part::Text(text))),
        Err(error) => Err(ModelFailure {
            kind: ModelFailureKind::Unable,
            reason: format!("failed to write the answer: {error}"),
            hints: Vec::new(),
        }),
    }
}

fn reply(part: Part) -> Reply {
    Reply { parts: vec![part], usage: Usage::default(), is_cut: false, by: None }
}
