//! `test` and `[`: harmless but for what evaluates an array index in a variable's name.

use super::{Call, Judgement};
use crate::command_line::argument::Argument;
use crate::command_line::verdict::Reason;

pub(super) fn judge(call: &Call<'_>) -> Result<Judgement, Reason> {
    let mut unknown_before = false;
    for arg in call.args {
        match arg.known() {
            // These take a variable's name.
            Some(text @ ("-v" | "-R")) => return Err(Reason::unlisted_argument(call.name, text)),
            Some(text) if text.contains("$(") || text.contains('`') => {
                return Err(Reason::unlisted_argument(call.name, text));
            }
            _ => {}
        }
        let unknown = could_be_operator(arg);
        if unknown && (unknown_before || !arg.is_single()) {
            // The first could turn out to be `-v`, the second a name with an index.
            return Err(Reason::unknown_argument(call.name));
        }
        unknown_before = unknown;
    }
    Ok(Judgement::read_only())
}

fn could_be_operator(arg: &Argument) -> bool {
    arg.known().is_none() && arg.may_be_option()
}
