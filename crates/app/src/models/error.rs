//! Why no models can be chosen, each with the setting to change.

use setpoint_model::catalogue::CatalogueError;
use setpoint_model::remote::ClientError;
use setpoint_model::remote::base::BaseError;
use setpoint_protocol::RoleId;

use crate::config::Origin;

/// Why a model cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The name does not identify a provider.
    #[error("find the provider of model {model:?} ({origin})")]
    WhoseModel {
        model: String,
        /// Where it was set.
        origin: String,
    },
    /// The name lacks the part of the model.
    #[error("use {name:?} as a model, which {origin} names: the part after the slash is missing")]
    NoModel {
        name: String,
        /// Where it was set.
        origin: String,
    },
    /// A provider is configured without a model.
    #[error("choose a model of {provider}: its address is set by {origin}, but no model is named")]
    WhichModel {
        provider: String,
        /// Setting of its address.
        origin: String,
    },
    /// A provider that is not known by name has no address.
    #[error("ask {provider}: it has no address (`{key}`)")]
    NoAddress {
        provider: String,
        /// Configuration key of the address.
        key: String,
    },
    /// An address cannot be used.
    #[error("use the address that {origin} names")]
    Address {
        /// Where it was set.
        origin: String,
        #[source]
        source: BaseError,
    },
    /// The key is missing.
    #[error("ask {provider}: its key is missing, {variable} is not set")]
    NoKey { provider: String, variable: String },
    /// The key contains characters that a request cannot carry.
    #[error("ask {provider}: the key in {variable} contains characters that a request cannot carry")]
    BadKey { provider: String, variable: String },
    /// Extra fields are not a JSON object.
    #[error("use {origin}: `{key}` is not a JSON object: {reason}")]
    Extra {
        /// Where it was set.
        origin: String,
        /// Configuration key of the fields.
        key: String,
        reason: String,
    },
    /// The window is too small for the questions of a task.
    #[error("use {model}: its window of {window} tokens is too small, a task needs {least}")]
    Window {
        model: String,
        /// Its window in tokens.
        window: u32,
        /// Smallest usable window.
        least: u32,
    },
    /// R4b's model ranks below R2's.
    #[error("let {judge} verify plans of {planner}: its rank {judge_rank} is below {planner_rank}")]
    Rank {
        /// R4b's model.
        judge: String,
        judge_rank: u8,
        /// R2's model.
        planner: String,
        planner_rank: u8,
    },
    /// The ranks of two different models cannot be compared.
    #[error("let {judge} verify plans of {planner}: the rank of {model} is not known")]
    NoRank {
        /// R4b's model.
        judge: String,
        /// R2's model.
        planner: String,
        /// The one without a rank.
        model: String,
    },
    /// There is a budget of money, and a model has no price.
    #[error("enforce the budget of money: the price of {model} is not known")]
    NoPrice {
        model: String,
        /// Origin of the budget.
        origin: Origin,
    },
    /// A person's table of models cannot be read.
    #[error("read {path}: {reason}")]
    Table { path: String, reason: String },
    /// A table of models came with the working directory.
    #[error(
        "use {path}: it may have come with the working directory, which anyone may have written, and it sets prices \
         of models"
    )]
    ForeignTable { path: String },
    /// A table of models cannot be used.
    #[error("use {path}")]
    Catalogue {
        path: String,
        #[source]
        source: CatalogueError,
    },
    /// The network client cannot be created.
    #[error("ask {model}")]
    Client {
        model: String,
        #[source]
        source: ClientError,
    },
}

impl ChoiceError {
    /// Returns what a person can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            ChoiceError::WhoseModel { model, .. } => {
                format!(
                    "write PROVIDER/MODEL, such as `openai/{model}` or `ollama/{model}`, or `playbook` for the embedded brain; \
                     `setpoint models` lists the providers"
                )
            }
            ChoiceError::NoModel { .. } => {
                "write PROVIDER/MODEL, or `playbook` for the embedded brain".to_owned()
            }
            ChoiceError::WhichModel { provider, .. } => format!(
                "name one with --model {provider}/MODEL, SETPOINT_BRAIN_MODEL and SETPOINT_TOOL_MODEL, or `models.brain` and \
                 `models.tool`, or let the embedded brain answer with `--model playbook`; `setpoint init` looks for models"
            ),
            ChoiceError::NoAddress { key, .. } => {
                format!("set `{key}` in your configuration file; `setpoint config path` shows where that is")
            }
            ChoiceError::Address { .. } => {
                "an address looks like https://host/v1 or http://localhost:8000".to_owned()
            }
            ChoiceError::NoKey { variable, .. } => {
                format!(
                    "set {variable}, choose another model with --model, or use `--model playbook`, which needs none"
                )
            }
            ChoiceError::BadKey { variable, .. } => {
                format!("set {variable} to the key alone: letters, digits and signs in one line")
            }
            ChoiceError::Extra { .. } => {
                "write it as text that holds JSON, such as '{\"top_k\": 20}'".to_owned()
            }
            ChoiceError::Window { model, .. } => {
                format!(
                    "choose a model with a larger window, or state {model}'s window in `models.toml` if it is larger"
                )
            }
            ChoiceError::Rank { .. } => {
                format!(
                    "choose for `models.{}` a model that ranks at least as high, or leave it to `models.brain`; ranks can be \
                     stated in `models.toml`",
                    RoleId::MetaValidator.name()
                )
            }
            ChoiceError::NoRank { model, .. } => {
                format!("state the `rank` of {model} in `models.toml`, or use the same model for both")
            }
            ChoiceError::NoPrice { model, origin } => {
                let budget = match origin {
                    Origin::Flag(flag) => format!("leave {flag} out"),
                    other => format!("remove `budgets.money` ({other})"),
                };
                format!("state price_in and price_out of {model} in `models.toml`, or {budget}")
            }
            ChoiceError::ForeignTable { .. } => {
                "set HOME or XDG_CONFIG_HOME, which say where your own configuration is, or move the file away".to_owned()
            }
            ChoiceError::Table { .. } | ChoiceError::Catalogue { .. } => {
                "correct the file, or move it away: then the built-in table is used".to_owned()
            }
            ChoiceError::Client { source, .. } => source.hint(),
        }
    }
}
