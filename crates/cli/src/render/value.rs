//! An output for a person: text as it is, structures laid out.

use serde_json::{Map, Value};

use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};

/// Columns of a table at most; a wider list is shown as JSON.
const TABLE_COLUMNS_MAX: usize = 12;

/// The lines of an output; none when there is nothing in it.
pub(crate) fn lines(value: &Value) -> Vec<Line> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => Line::block(Tone::Plain, text),
        Value::Bool(_) | Value::Number(_) => vec![Line::plain(&value.to_string())],
        Value::Array(items) => list(value, items),
        Value::Object(_) => json(value),
    }
}

fn list(value: &Value, items: &[Value]) -> Vec<Line> {
    if let Some(parts) = parts(items) {
        return parts;
    }
    if !items.is_empty() && items.iter().all(is_scalar) {
        return items.iter().map(|item| Line::plain(&scalar(item))).collect();
    }
    flat_table(items).unwrap_or_else(|| json(value))
}

/// Outputs of several sub-tasks, each under its intent.
fn parts(items: &[Value]) -> Option<Vec<Line>> {
    let mut laid_out = Vec::new();
    for item in items {
        let object = item.as_object().filter(|object| object.len() == 2)?;
        let (intent, output) = (object.get("intent")?.as_str()?, object.get("output")?);
        if !laid_out.is_empty() {
            laid_out.push(Line::new());
        }
        laid_out.push(Line::new().and(Tone::Strong, intent));
        laid_out.extend(lines(output));
    }
    (!laid_out.is_empty()).then_some(laid_out)
}

/// A list of objects without structure in them, as a table.
fn flat_table(items: &[Value]) -> Option<Vec<Line>> {
    let objects: Vec<&Map<String, Value>> = items
        .iter()
        .map(|item| item.as_object().filter(|object| object.values().all(is_scalar)))
        .collect::<Option<_>>()?;
    let mut names: Vec<&str> = Vec::new();
    for name in objects.iter().flat_map(|object| object.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
        if names.len() > TABLE_COLUMNS_MAX {
            return None;
        }
    }
    if names.is_empty() {
        return None;
    }
    let cell = |object: &Map<String, Value>, name: &str| -> Cell {
        (Tone::Plain, object.get(name).map(scalar).unwrap_or_default())
    };
    let rows: Vec<Vec<Cell>> =
        objects.iter().map(|object| names.iter().map(|name| cell(object, name)).collect()).collect();
    Some(table(&names, &rows))
}

fn json(value: &Value) -> Vec<Line> {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    Line::block(Tone::Plain, &text)
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn check(value: &Value, expected: &Expect) {
        let text: String = lines(value).iter().map(|line| line.to_text() + "\n").collect();
        expected.assert_eq(&text);
    }

    #[test]
    fn text_is_raw_and_scalars_are_plain() {
        check(
            &json!("two\nlines, \"quoted\"\tand \u{1b}[31mred"),
            &expect![[r#"
            two
            lines, "quoted"	and red
        "#]],
        );
        check(&json!(4.5), &expect![["4.5\n"]]);
        check(&json!(null), &expect![[""]]);
        check(
            &json!(["a", 1, true]),
            &expect![[r#"
            a
            1
            true
        "#]],
        );
    }

    #[test]
    fn lists_of_flat_objects_are_tables() {
        check(
            &json!([{ "path": "a.rs", "lines": 12 }, { "path": "日本.rs", "lines": 1024, "note": "big" }]),
            &expect![[r#"
                lines  path     note
                   12  a.rs
                 1024  日本.rs  big
            "#]],
        );
    }

    #[test]
    fn structures_are_laid_out() {
        check(
            &json!({ "a": { "b": [1] } }),
            &expect![[r#"
            {
              "a": {
                "b": [
                  1
                ]
              }
            }
        "#]],
        );
        check(
            &json!([{ "a": [1] }]),
            &expect![[r#"
            [
              {
                "a": [
                  1
                ]
              }
            ]
        "#]],
        );
        check(&json!([]), &expect![["[]\n"]]);
        check(
            &json!([{}]),
            &expect![[r#"
            [
              {}
            ]
        "#]],
        );
    }

    #[test]
    fn parts_stand_under_their_intents() {
        check(
            &json!([{ "intent": "count files", "output": 7 }, { "intent": "list them", "output": "a\nb" }]),
            &expect![[r#"
                count files
                7

                list them
                a
                b
            "#]],
        );
    }
}
