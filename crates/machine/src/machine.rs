//! The trait that every role implements, and its form without the role's type.

use setpoint_protocol::RoleId;
use setpoint_protocol::topology::{Misrouted, Party, Receives};

use crate::ctx::Ctx;
use crate::effects::{EffectBuffer, Effects};
use crate::input::{AnyInput, Input};

/// A role as a machine without I/O. The same inputs under the same contexts always give the same effects.
pub trait Machine: Send {
    /// Role, which decides what may come in and what may go out.
    type Role: Receives;

    /// Handles one input in its context (`fx.ctx`) and emits its effects.
    fn handle(&mut self, input: Input<Self::Role>, fx: &mut Effects<'_, Self::Role>);
}

/// A machine of any role, as a cell holds it.
pub trait AnyMachine: Send {
    /// Returns the machine's role.
    fn role(&self) -> RoleId;

    /// Handles one input and collects its effects.
    ///
    /// # Errors
    /// If the input is a message that the role does not receive.
    fn handle_any(
        &mut self,
        input: AnyInput,
        ctx: &Ctx<'_>,
        buffer: &mut EffectBuffer,
    ) -> Result<(), Misrouted>;
}

impl<M: Machine> AnyMachine for M {
    fn role(&self) -> RoleId {
        M::Role::ID
    }

    fn handle_any(
        &mut self,
        input: AnyInput,
        ctx: &Ctx<'_>,
        buffer: &mut EffectBuffer,
    ) -> Result<(), Misrouted> {
        let input = match input {
            AnyInput::Message(payload) => Input::Message(payload.try_into()?),
            AnyInput::Answer { call, answer } => Input::Answer { call, answer },
            AnyInput::Quiesced => Input::Quiesced,
        };
        self.handle(input, &mut Effects::new(ctx, buffer));
        Ok(())
    }
}
