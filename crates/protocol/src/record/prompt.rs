//! How a prompt is recorded: by the hashes of its fragments, without the beginning that an earlier prompt had.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Ask, Asked, Record, RecordKind};
use crate::id::{CallId, hex_of};

/// The beginning of a prompt that was recorded before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptStart {
    /// The ask whose prompt began alike.
    pub call: CallId,
    /// How many fragments of that prompt, from the first, begin this one.
    pub count: u32,
}

/// The prompts of a task as they were sent, assembled from its records.
#[derive(Clone, Debug, Default)]
pub struct Prompts(BTreeMap<CallId, Vec<FragmentHash>>);

impl Prompts {
    /// Adds the next record of the task; ignores records that do not ask a model.
    pub fn take(&mut self, record: &Record) {
        if record.kind == RecordKind::Asked
            && let Ok(Asked { call, ask: Ask::Model { fragments, after, .. }, .. }) =
                serde_json::from_slice(&record.body)
        {
            let fragments = self.whole(after, &fragments);
            self.0.insert(call, fragments);
        }
    }

    /// Returns all fragments of a prompt that is recorded as a continuation of an earlier one.
    #[must_use]
    pub fn whole(&self, after: Option<PromptStart>, fragments: &[FragmentHash]) -> Vec<FragmentHash> {
        let before =
            after.and_then(|start| Some((self.0.get(&start.call)?, usize::try_from(start.count).ok()?)));
        let before = before.into_iter().flat_map(|(before, count)| before.iter().take(count));
        before.chain(fragments).copied().collect()
    }

    /// Returns the fragments of the prompt of an ask, in order; none if the ask is not to a model.
    #[must_use]
    pub fn of(&self, call: CallId) -> &[FragmentHash] {
        self.0.get(&call).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The BLAKE3 hash of a prompt fragment. Written in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FragmentHash([u8; 32]);

impl FragmentHash {
    /// Hashes a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        FragmentHash(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// Returns the bytes of the hash.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Serialize for FragmentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(self.0) {
            *pair = hex_of(byte);
        }
        serializer.serialize_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for FragmentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = blake3::Hash::from_hex(text.as_bytes()).map_err(serde::de::Error::custom)?;
        Ok(FragmentHash(*hash.as_bytes()))
    }
}

impl JsonSchema for FragmentHash {
    fn schema_name() -> Cow<'static, str> {
        "FragmentHash".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "BLAKE3 of a prompt fragment, in hexadecimal."
        })
    }
}
