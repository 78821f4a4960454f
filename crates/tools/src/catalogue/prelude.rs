//! The names that every tool of the catalogue uses.

pub(super) use schemars::JsonSchema;
pub(super) use serde::Deserialize;
pub(super) use serde_json::{Value, json};
pub(super) use setpoint_protocol::tool::{CapabilityClass, Effect, SideEffect, ToolAnswer};

pub(super) use crate::answer::{self, Gaps};
pub(super) use crate::error::ToolError;
pub(super) use crate::halt::Halt;
pub(super) use crate::place::Place;
pub(super) use crate::show;
pub(super) use crate::target::Target;
pub(super) use crate::tool::ToolCtx;
pub(super) use crate::typed::Typed;
