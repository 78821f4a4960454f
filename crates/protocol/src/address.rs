//! The sender or receiver of a message inside one task.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::RoleId;

/// Which instance of a role: 0 for the singletons, the sub-task's ordinal in the task for effectors. Never reused.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Instance(pub u16);

/// A role instance of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The role.
    pub role: RoleId,
    /// Instance of the role; 0 unless the role is an effector.
    pub instance: Instance,
}

impl Address {
    /// Returns the address of a role that has one instance.
    #[must_use]
    pub const fn singleton(role: RoleId) -> Self {
        Address { role, instance: Instance(0) }
    }

    /// Returns the address of one instance of an effector.
    #[must_use]
    pub const fn effector(role: RoleId, instance: Instance) -> Self {
        Address { role, instance }
    }

    /// Returns the address as text. Allocates only for an effector.
    #[must_use]
    pub fn text(self) -> Cow<'static, str> {
        let name = self.role.name();
        if self.instance.0 == 0 {
            return Cow::Borrowed(name);
        }
        Cow::Owned([name, ".", itoa::Buffer::new().format(self.instance.0)].concat())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.role.name())?;
        if self.instance.0 > 0 {
            write!(f, ".{}", self.instance.0)?;
        }
        Ok(())
    }
}

/// The error for a text that is not an address.
#[derive(Debug, thiserror::Error)]
#[error("read {0:?} as an address")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || AddressError(text.chars().take(60).collect());
        let (role, instance) = match text.split_once('.') {
            Some((role, instance)) => (role, instance.parse().map_err(|_| wrong())?),
            None => (text, 0),
        };
        Ok(Address { role: role.parse().map_err(|_| wrong())?, instance: Instance(instance) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_text_and_reads_back_from_it() {
        let effector = |instance| Address::effector(RoleId::AgentValidator, Instance(instance));
        for (address, expected) in [
            (Address::singleton(RoleId::GoalGradientSolver), "goal_gradient_solver"),
            (effector(7), "agent_validator.7"),
            (effector(u16::MAX), "agent_validator.65535"),
        ] {
            assert_eq!((&*address.text(), &*address.to_string()), (expected, expected));
            assert_eq!(expected.parse::<Address>().unwrap(), address);
        }
    }
}
