//! What the program says about language models: which are chosen, whether they are there, what they can do, and a first
//! configuration.

use serde::Serialize;

use crate::desk::{Diagnosis, Health};
use crate::error::ClientError;

/// What is configured and what is there.
#[derive(Clone, Debug, Default)]
pub struct ModelsReport {
    /// The choices; none when one of them cannot be used.
    pub models: Vec<ModelLine>,
    /// The servers that they are on.
    pub servers: Vec<ServerLine>,
    /// Every provider that could be used.
    pub providers: Vec<ProviderLine>,
    /// The first choice that cannot be used.
    pub error: Option<ClientError>,
}

/// One choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelLine {
    /// The key that chooses for it, such as `models.brain`.
    pub slot: String,
    /// The model's whole name.
    pub name: String,
    /// What chose it.
    pub origin: String,
    /// The address; none for the embedded brain.
    pub address: Option<String>,
    /// The variable that holds its key, or would. Never the key.
    pub key_env: Option<String>,
    /// Whether that is set.
    pub is_key_set: bool,
    /// Tokens that question and answer may have together, where it is known.
    pub window_tokens: Option<u32>,
    /// Tokens of an answer at most, where that is less than is asked for.
    pub tokens_out_max: Option<u32>,
    /// How capable it is beside others, where it is known.
    pub rank: Option<u8>,
    /// What its tokens cost, where it is known.
    pub price: Option<PriceLine>,
    /// How it stands.
    pub state: Health,
    /// What was seen.
    pub finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What a million tokens cost, in the currency of the price table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PriceLine {
    /// Of questions.
    pub million_in: String,
    /// Of answers.
    pub million_out: String,
    /// Of questions, read from a cache.
    pub million_cached: String,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerLine {
    /// The provider's name.
    pub provider: String,
    /// Its address.
    pub address: String,
    /// The names of its models, where it has a list.
    pub models: Vec<String>,
    /// Whether these are all.
    pub is_whole: bool,
    /// Why there is no list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProviderLine {
    /// Its name, as it stands before a model's.
    pub name: String,
    /// Whose words it speaks.
    pub api: String,
    /// Its address, where it has one that can be used.
    pub address: Option<String>,
    /// The variable that holds its key, or would. Never the key.
    pub key_env: Option<String>,
    /// Whether that is set.
    pub is_key_set: bool,
    /// Whether it gives no answer without a key, as far as that is known.
    pub is_key_needed: bool,
    /// Why it cannot be used as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What the chosen models can do, and what it cost to find out.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// What was found out.
    pub found: Vec<Diagnosis>,
    /// What it cost; none where nothing was asked.
    pub cost: Option<TrialCost>,
}

/// What a trial cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialCost {
    /// Questions asked.
    pub calls: u64,
    /// Tokens in, as far as there were answers.
    pub tokens_in: u64,
    /// Tokens out.
    pub tokens_out: u64,
    /// Money in the currency of the price table; none where a price is not known.
    pub money: Option<f64>,
}

/// How a first configuration is to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitWishes {
    /// Addresses to look at instead of the usual ports.
    pub look_at: Vec<String>,
    /// Whether files that are there are written anew, and kept under another name.
    pub is_forced: bool,
    /// Whether nothing is written.
    pub is_shown_only: bool,
}

/// What came of a first configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Initialised {
    /// What was found, a line each.
    pub found: Vec<String>,
    /// The model for R2 and R4b that the file chooses; none when nothing was found.
    pub brain: Option<String>,
    /// The model for R1, R3 and R4a.
    pub tool: Option<String>,
    /// The files, written or shown.
    pub files: Vec<InitFile>,
    /// Whether they were written.
    pub is_written: bool,
    /// What else should be known.
    pub notes: Vec<String>,
    /// Variables that are not set and would choose a model.
    pub variables: Vec<KeyVariable>,
    /// Providers that are somewhere else and of which no model is named: a task that names none is not started then.
    pub unnamed: Vec<UnnamedProvider>,
}

/// A provider that is somewhere else, and nobody says which of its models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnnamedProvider {
    /// Its name.
    pub provider: String,
    /// What says where it is.
    pub origin: String,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitFile {
    /// Where.
    pub path: String,
    /// What it says.
    pub text: String,
    /// Where the older one is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// A variable that holds a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyVariable {
    /// Its name.
    pub variable: String,
    /// Whose key.
    pub provider: String,
}
