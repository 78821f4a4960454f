//! What a call came to.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use crate::show;

/// The result of a call, as the server gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether the server says that it succeeded.
    pub is_ok: bool,
    /// Its texts, escaped; what is not text is named with its type and size.
    pub text: String,
    /// Its structured content.
    pub structured: Option<Value>,
}

impl Outcome {
    pub(crate) fn of(result: CallToolResult) -> Self {
        let parts: Vec<String> = result.content.iter().map(part).collect();
        Outcome {
            is_ok: result.is_error != Some(true),
            text: parts.join("\n"),
            structured: result.structured_content.filter(|value| !value.is_null()),
        }
    }
}

fn part(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => show::lines(&text.text),
        ContentBlock::Image(image) => omitted("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => omitted("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => format!("[link to the resource {}]", show::said(&link.uri)),
        _ => "[content of an unknown type]".to_owned(),
    }
}

fn resource(contents: &ResourceContents) -> String {
    let named = |kind: &Option<String>, uri: &str, bytes: usize| {
        let kind = kind.as_deref().unwrap_or("unknown type");
        format!("[resource {}, {}, {bytes} bytes, not given]", show::said(uri), show::said(kind))
    };
    match contents {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            named(mime_type, uri, text.len())
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            named(mime_type, uri, decoded(blob.len()))
        }
        _ => "[resource of an unknown kind]".to_owned(),
    }
}

fn omitted(what: &str, kind: &str, encoded: usize) -> String {
    format!("[{what}, {}, {} bytes, not given]", show::said(kind), decoded(encoded))
}

/// Returns the bytes that this many characters of base64 hold, at most.
fn decoded(encoded: usize) -> usize {
    encoded / 4 * 3
}
