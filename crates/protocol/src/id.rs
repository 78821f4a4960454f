//! Ids: made by code, never by a model. Each kind is a type of its own, so that they cannot be mixed.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::address::Instance;
use crate::limits::TASK_ID_CHARS_MAX;
use crate::role::RoleId;
use crate::time::Timestamp;

/// Longest tool id in bytes; a longer text is rejected.
const TOOL_ID_BYTES_MAX: usize = 128;

/// The error for a text that is not an id of the wanted kind.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("read {text:?} as a {kind}")]
pub struct IdError {
    kind: &'static str,
    text: String,
}

impl IdError {
    fn new(kind: &'static str, text: &str) -> Self {
        IdError { kind, text: text.chars().take(80).collect() }
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) { Ok($name(text.to_owned())) } else { Err(IdError::new($kind, text)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string" })
            }
        }
    };
}

text_id!(
    /// The id of a task. It also names the stream, the workspace folder and the export file, so it contains only
    /// `[a-z0-9_-]`.
    TaskId,
    "task id",
    |text| {
        !text.is_empty()
            && text.len() <= TASK_ID_CHARS_MAX
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
    }
);

text_id!(
    /// The id of a sub-task, in UUID form, created after the plan is parsed.
    SubTaskId,
    "sub-task id",
    is_uuid_form
);

text_id!(
    /// The id of a Megram, in UUID form.
    MegramId,
    "Megram id",
    is_uuid_form
);

text_id!(
    /// The id of a criterion: `t<n>` for the task's own, `s<instance>.c<n>` for a sub-task's.
    CriterionId,
    "criterion id",
    |text| !text.is_empty() && text.len() <= 32 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
);

text_id!(
    /// The id of a tool; for the shell also the program that the command runs: `read_file`, `shell/python3`.
    ToolId,
    "tool id",
    |text| {
        !text.is_empty()
            && text.len() <= TOOL_ID_BYTES_MAX
            && !text.starts_with('/')
            && text.chars().all(|c| !c.is_whitespace() && !c.is_control())
    }
);

impl TaskId {
    /// Creates the id of a new task from the input, reduced to safe characters, and a suffix that makes it unique.
    ///
    /// `raw_input` only makes the id readable; `suffix` makes it unique and must be hexadecimal.
    #[must_use]
    pub fn mint(raw_input: &str, suffix: u64) -> Self {
        let mut safe = String::new();
        for c in raw_input.chars().take(200) {
            if safe.len() >= 40 {
                break;
            }
            if c.is_ascii_alphanumeric() {
                safe.push(c.to_ascii_lowercase());
            } else if !safe.ends_with('-') && !safe.is_empty() {
                safe.push('-');
            }
        }
        let safe = safe.trim_end_matches('-');
        let safe = if safe.is_empty() { "task" } else { safe };
        TaskId(format!("{safe}-{suffix:016x}"))
    }
}

impl ToolId {
    /// Creates a tool id from a name that may come from a model: characters that an id cannot contain become `_`.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let mut safe = String::new();
        for c in name.trim_start_matches('/').chars() {
            if safe.len() + c.len_utf8() > TOOL_ID_BYTES_MAX {
                break;
            }
            safe.push(if c.is_whitespace() || c.is_control() { '_' } else { c });
        }
        if safe.is_empty() {
            safe.push('_');
        }
        ToolId(safe)
    }

    /// Returns the tool's name: the part before the first `/`.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// Returns whether blocking `self` blocks a call that runs as `other`: they are equal, or `self` names the whole
    /// tool.
    #[must_use]
    pub fn covers(&self, other: &ToolId) -> bool {
        self == other || (!self.0.contains('/') && other.tool() == self.0)
    }
}

impl CriterionId {
    /// Returns the id of the task's `n`-th criterion, counted from 1.
    #[must_use]
    pub fn of_task(n: usize) -> Self {
        CriterionId(format!("t{n}"))
    }

    /// Returns the id of the `n`-th criterion of the sub-task with this instance number, counted from 1.
    #[must_use]
    pub fn of_subtask(instance: Instance, n: usize) -> Self {
        CriterionId(format!("s{}.c{n}", instance.0))
    }
}

impl SubTaskId {
    /// Creates the id from derived bytes (see [`derive()`]).
    #[must_use]
    pub fn from_uuid(uuid: DerivedUuid) -> Self {
        SubTaskId(uuid.to_string())
    }
}

impl MegramId {
    /// Creates the id from derived bytes (see [`derive()`]).
    #[must_use]
    pub fn from_uuid(uuid: DerivedUuid) -> Self {
        MegramId(uuid.to_string())
    }
}

/// The id of the `n`-th ask of one role instance, counted from 1: `r3.2/5` is the fifth ask of effector 2's Executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// The asking role.
    pub role: RoleId,
    /// Instance of the role.
    pub instance: Instance,
    /// Number of the ask, from 1.
    pub n: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.role.short_name())?;
        let mut digits = itoa::Buffer::new();
        if self.instance.0 > 0 {
            f.write_str(".")?;
            f.write_str(digits.format(self.instance.0))?;
        }
        f.write_str("/")?;
        f.write_str(digits.format(self.n))
    }
}

impl FromStr for CallId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = || IdError::new("call id", text);
        let (who, n) = text.split_once('/').ok_or_else(wrong)?;
        let (label, instance) = match who.split_once('.') {
            Some((label, instance)) => (label, instance.parse().map_err(|_| wrong())?),
            None => (who, 0),
        };
        let role = RoleId::ALL
            .into_iter()
            .find(|role| role.short_name().eq_ignore_ascii_case(label))
            .ok_or_else(wrong)?;
        Ok(CallId { role, instance: Instance(instance), n: n.parse().map_err(|_| wrong())? })
    }
}

impl Serialize for CallId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for CallId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CallId".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^[a-z0-9]+(\.[0-9]+)?/[0-9]+$" })
    }
}

/// 128 derived bits in UUID form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DerivedUuid([u8; 16]);

impl fmt::Display for DerivedUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [b'-'; 36];
        let mut at = 0;
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                at += 1;
            }
            for digit in hex_of(*byte) {
                if let Some(slot) = text.get_mut(at) {
                    *slot = digit;
                }
                at += 1;
            }
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// Returns the two hexadecimal digits of a byte.
pub(crate) const fn hex_of(byte: u8) -> [u8; 2] {
    const fn digit(nibble: u8) -> u8 {
        if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble }
    }
    [digit(byte >> 4), digit(byte & 15)]
}

/// Derives an id from (task, seq, n) with the record's time in front, in the form of a UUID version 7.
///
/// The time sorts ids by age in a store. The hash bits make them unique without randomness, so that a replay derives
/// the same ids. RFC 9562 section 5.7 defines the layout.
#[must_use]
pub fn derive(task: &TaskId, seq: u64, n: u32, at: Timestamp) -> DerivedUuid {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"setpoint id v1");
    hasher.update(&(task.as_str().len() as u64).to_le_bytes());
    hasher.update(task.as_str().as_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&n.to_le_bytes());
    let hash = hasher.finalize();
    let millis = u64::try_from(at.as_micros().max(0) / 1_000).unwrap_or(0) & 0xffff_ffff_ffff;
    let mut bytes = [0_u8; 16];
    for (slot, byte) in bytes.iter_mut().zip(millis.to_be_bytes().into_iter().skip(2)) {
        *slot = byte;
    }
    for (slot, byte) in bytes.iter_mut().skip(6).zip(hash.as_bytes()) {
        *slot = *byte;
    }
    let [_, _, _, _, _, _, version, _, variant, ..] = &mut bytes;
    *version = (*version & 0x0f) | 0x70;
    *variant = (*variant & 0x3f) | 0x80;
    DerivedUuid(bytes)
}

fn is_uuid_form(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_digit() || (b'a'..=b'f').contains(&b),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_ids_read_back() {
        for text in ["r3.2/5", "r1/1", "r4a.12/3", "r4b/2"] {
            assert_eq!(text.parse::<CallId>().unwrap().to_string(), text);
        }
        for text in ["", "r9/1", "r3", "r3./1", "r3/x", "../etc"] {
            assert!(text.parse::<CallId>().is_err(), "{text}");
        }
    }

    #[test]
    fn derived_ids_are_version_7_and_differ() {
        let task = TaskId::mint("find files", 1);
        let at = Timestamp::from_micros(1_700_000_000_000_000);
        let a = derive(&task, 1, 0, at).to_string();
        let b = derive(&task, 1, 1, at).to_string();
        assert_ne!(a, b);
        assert!(is_uuid_form(&a));
        assert_eq!(a.chars().nth(14), Some('7'));
        assert!(matches!(a.chars().nth(19), Some('8' | '9' | 'a' | 'b')));
        assert_eq!(a, derive(&task, 1, 0, at).to_string());
    }

    #[test]
    fn task_ids_are_safe_whatever_the_input() {
        for input in
            ["../../etc/passwd", "", "日本語", "Find   the three\nlargest files!", "a".repeat(999).as_str()]
        {
            let id = TaskId::mint(input, 7);
            assert!(id.as_str().parse::<TaskId>().is_ok(), "{id}");
        }
        assert_eq!(TaskId::mint("../a b", 255).as_str(), "a-b-00000000000000ff");
    }

    #[test]
    fn any_name_becomes_a_valid_tool_id() {
        for name in ["", "///", "a b\n", "read_file", "日本".repeat(99).as_str(), "\u{0}"] {
            let id = ToolId::of_name(name);
            assert_eq!(id.as_str().parse::<ToolId>(), Ok(id));
        }
        assert_eq!(ToolId::of_name("shell/ls").as_str(), "shell/ls");
    }

    #[test]
    fn a_tool_covers_its_programs_but_not_the_reverse() {
        let id = |s: &str| s.parse::<ToolId>().unwrap();
        assert!(id("shell").covers(&id("shell/ls")));
        assert!(id("shell/ls").covers(&id("shell/ls")));
        assert!(!id("shell/ls").covers(&id("shell")));
        assert!(!id("shell/ls").covers(&id("shell/lsof")));
    }
}
