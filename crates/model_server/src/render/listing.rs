//! Renders the list of models for each wire.

use super::{CREATED, CREATED_TEXT};
use crate::json::{Json, object};
use crate::script::ModelInfo;
use crate::wire::Wire;

/// The version that Ollama's wire reports.
pub(crate) const OLLAMA_VERSION: &str = "0.12.6";

/// Renders the list of models.
pub(crate) fn models(wire: Wire, models: &[ModelInfo]) -> Json {
    let entries = Json::list(models.iter().map(|model| entry(wire, model)));
    match wire {
        Wire::Chat | Wire::Responses => object! { "object": "list", "data": entries },
        Wire::Anthropic => object! {
            "data": entries,
            "has_more": false,
            "first_id": models.first().map(|model| &model.name),
            "last_id": models.last().map(|model| &model.name),
        },
        Wire::Gemini | Wire::Ollama => object! { "models": entries },
    }
}

/// Renders one model.
pub(crate) fn model(wire: Wire, model: &ModelInfo) -> Json {
    if wire != Wire::Ollama {
        return entry(wire, model);
    }
    let mut capabilities = vec!["completion"];
    capabilities.extend(model.has_tools.then_some("tools"));
    object! {
        "model_info": object! { "general.architecture": "llama", "llama.context_length": model.context },
        "capabilities": capabilities,
        "modified_at": CREATED_TEXT,
    }
}

fn entry(wire: Wire, model: &ModelInfo) -> Json {
    let name = &model.name;
    match wire {
        Wire::Chat | Wire::Responses => {
            object! { "id": name, "object": "model", "created": CREATED, "owned_by": "test" }
        }
        Wire::Anthropic => {
            object! { "type": "model", "id": name, "display_name": name, "created_at": CREATED_TEXT }
        }
        Wire::Gemini => object! {
            "name": format!("models/{name}"),
            "displayName": name,
            "inputTokenLimit": model.context,
            "outputTokenLimit": 8192,
            "supportedGenerationMethods": ["generateContent"],
        },
        Wire::Ollama => object! { "name": name, "model": name, "modified_at": CREATED_TEXT },
    }
}
