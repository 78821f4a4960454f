//! The values of a playbook's parameters for one goal: taken from it, or defaults.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_protocol::record::Surroundings;

use super::book::{Book, VariantForm};
use super::goal::{Param, ParamDefault, ParamKind};
use super::template::{Scope, TemplateError};

/// Why a value is not allowed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValueError {
    /// The value of a parameter is not allowed.
    #[error("the {param} in the goal cannot be used: {reason}")]
    Refused { param: String, reason: String },
    /// A default or a variant cannot be filled in.
    #[error("failed to fill in {param}")]
    Template {
        param: String,
        #[source]
        source: TemplateError,
    },
}

/// Returns all values: those in the goal, and defaults for the rest.
pub(crate) fn complete(
    book: &Book,
    given: &BTreeMap<String, Value>,
    surroundings: &Surroundings,
) -> Result<BTreeMap<String, Value>, ValueError> {
    let mut values = BTreeMap::new();
    for param in book.params.values() {
        let value = match (given.get(&param.name), &param.default) {
            (Some(value), _) | (None, Some(ParamDefault::Fixed(value))) => value.clone(),
            (None, Some(ParamDefault::Made(_)) | None) => continue,
        };
        values.insert(param.name.clone(), accepted(param, value, surroundings)?);
    }
    let mut made = BTreeMap::new();
    for param in book.params.values().filter(|param| !values.contains_key(&param.name)) {
        let Some(ParamDefault::Made(template)) = &param.default else { continue };
        let filled = template.value(&Scope::new(&values, surroundings));
        let value = filled.map_err(|source| ValueError::Template { param: param.name.clone(), source })?;
        made.insert(param.name.clone(), accepted(param, value, surroundings)?);
    }
    values.append(&mut made);
    Ok(values)
}

/// Returns the values with a variant's changes.
pub(crate) fn varied(
    book: &Book,
    values: &BTreeMap<String, Value>,
    variant: &VariantForm,
    surroundings: &Surroundings,
) -> Result<BTreeMap<String, Value>, ValueError> {
    let mut out = values.clone();
    for (name, template) in &variant.set {
        let Some(param) = book.params.get(name) else { continue };
        let filled = template.value(&Scope::new(values, surroundings));
        let value = filled.map_err(|source| ValueError::Template { param: name.clone(), source })?;
        out.insert(name.clone(), accepted(param, value, surroundings)?);
    }
    Ok(out)
}

fn accepted(param: &Param, value: Value, surroundings: &Surroundings) -> Result<Value, ValueError> {
    let value = match (&param.kind, value) {
        (ParamKind::Path(_), Value::String(path)) => Value::String(as_argument(&path, &surroundings.home)),
        (_, value) => value,
    };
    match param.kind.refusal(&value) {
        Some(reason) => Err(ValueError::Refused { param: param.name.clone(), reason }),
        None => Ok(value),
    }
}

/// Returns a path in a form that every program understands: with the full home directory, single slashes, and never
/// like a flag.
fn as_argument(path: &str, home: &str) -> String {
    if path.contains("//") {
        return as_argument(&path.replace("//", "/"), home);
    }
    for prefix in ["~", "$HOME", "${HOME}"] {
        match path.strip_prefix(prefix) {
            Some("") => return home.to_owned(),
            Some(rest) if rest.starts_with('/') => return format!("{home}{rest}"),
            _ => {}
        }
    }
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_looks_like_a_flag() {
        for (path, argument) in [
            ("~", "/home/ada"),
            ("~/x y", "/home/ada/x y"),
            ("$HOME/x", "/home/ada/x"),
            ("~bob/x", "~bob/x"),
            ("-rf", "./-rf"),
            ("a/~", "a/~"),
            ("./x", "./x"),
            ("x//", "x/"),
            ("//x////y", "/x/y"),
        ] {
            assert_eq!(as_argument(path, "/home/ada"), argument);
        }
    }
}
