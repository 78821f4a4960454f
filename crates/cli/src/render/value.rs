//! An output for a person: text as it is, structures laid out.

use serde_json::{Map, Value};

use crate::text::table::{Cell, table};
use crate::text::{Line, Tone, sanitise};
use crate::view::words::bytes;

/// A table with more columns is shown as JSON.
const TABLE_COLUMNS_MAX: usize = 12;
/// An object nested more deeply is shown as JSON.
const FIELDS_DEPTH_MAX: usize = 4;
/// The indent of a value below its name.
const INDENT: &str = "  ";

/// Returns the lines of an output; none if it is empty.
pub(crate) fn lines(value: &Value) -> Vec<Line> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => Line::block(Tone::Plain, text),
        Value::Bool(_) | Value::Number(_) => vec![Line::plain(&value.to_string())],
        Value::Array(items) => list(value, items),
        Value::Object(object) => fields(object, FIELDS_DEPTH_MAX).unwrap_or_else(|| json(value)),
    }
}

/// Returns the fields of an object: first those that fit on one line, so that a long list does not hide them;
/// then lists and objects, each under its name. `None` if it is nested more deeply than `depth`.
fn fields(object: &Map<String, Value>, depth: usize) -> Option<Vec<Line>> {
    let depth = depth.checked_sub(1).filter(|_| !object.is_empty())?;
    let mut laid_out: Vec<Line> = object
        .iter()
        .filter_map(|(name, value)| {
            let line = named(name).and(Tone::Plain, &format!(" {}", one_line(value)?));
            Some(match size(name, value) {
                Some(size) => line.and(Tone::Dim, &format!("  ({size})")),
                None => line,
            })
        })
        .collect();
    for (name, value) in object.iter().filter(|(_, value)| one_line(value).is_none()) {
        let below = match value {
            Value::Object(object) => fields(object, depth)?,
            Value::Array(items) if items.iter().all(is_scalar) => {
                items.iter().map(|item| Line::plain(&scalar(item))).collect()
            }
            Value::Array(items) => match flat_table(items) {
                Some(table) => table,
                None => blocks(items, depth)?,
            },
            Value::String(text) => Line::block(Tone::Plain, text),
            Value::Null | Value::Bool(_) | Value::Number(_) => continue,
        };
        laid_out.push(named(name));
        laid_out.extend(below.into_iter().map(indented));
    }
    Some(laid_out)
}

/// Returns nested objects, one under the other, with an empty line between two.
fn blocks(items: &[Value], depth: usize) -> Option<Vec<Line>> {
    let mut laid_out = Vec::new();
    for item in items {
        if !laid_out.is_empty() {
            laid_out.push(Line::new());
        }
        laid_out.extend(fields(item.as_object()?, depth)?);
    }
    Some(laid_out)
}

/// Returns a value that takes one line.
fn one_line(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) if items.is_empty() => Some("none".to_owned()),
        Value::Object(object) if object.is_empty() => Some("none".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
        Value::String(text) if text.contains('\n') => None,
        Value::String(text) if text.is_empty() => Some("\"\"".to_owned()),
        Value::Null => Some("-".to_owned()),
        other => Some(scalar(other)),
    }
}

fn named(name: &str) -> Line {
    Line::new().and(Tone::Dim, &format!("{name}:"))
}

fn indented(line: Line) -> Line {
    if line.to_text().is_empty() { line } else { Line::plain(INDENT).then(line) }
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

/// Returns the outputs of several sub-tasks, each under its intent.
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

/// Returns a list of flat objects as a table.
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
    names.sort_by_key(|name| rank(name));
    let mut head: Vec<&str> = Vec::new();
    let mut rows: Vec<Vec<Cell>> = vec![Vec::new(); objects.len()];
    for name in names {
        let values = || objects.iter().map(|object| object.get(name).unwrap_or(&Value::Null));
        head.push(name);
        for (row, value) in rows.iter_mut().zip(values()) {
            row.push((Tone::Plain, scalar(value)));
        }
        let sizes: Vec<String> = values().map(|value| size(name, value).unwrap_or_default()).collect();
        let Some(columns) = sizes.iter().map(String::len).max().filter(|columns| *columns > 0) else {
            continue;
        };
        head.push("");
        for (row, size) in rows.iter_mut().zip(sizes) {
            row.push((Tone::Dim, format!("{size:>columns$}")));
        }
    }
    Some(table(&head, &rows))
}

/// Returns a number of bytes in a suitable unit, if that is shorter.
fn size(name: &str, value: &Value) -> Option<String> {
    let is_size = name == "bytes" || name.ends_with("_bytes");
    value.as_u64().filter(|bytes| is_size && *bytes >= 1_000).map(bytes)
}

/// Returns the place of a column: first what a row is about, then numbers, last what may be long.
fn rank(name: &str) -> u8 {
    match name {
        "name" | "language" | "what" => 0,
        "type" | "ending" => 1,
        "min" => 4,
        "mean" => 5,
        "max" => 6,
        "path" | "text" | "message" | "target" | "from" | "to" => 7,
        _ => 3,
    }
}

fn json(value: &Value) -> Vec<Line> {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    Line::block(Tone::Plain, &text)
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

/// Returns a value in one line. A line break in a name is shown as an escape, because a space would make
/// another name of it.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => sanitise::exact(text),
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
                lines  note  path
                   12        a.rs
                 1024  big   日本.rs
            "#]],
        );
    }

    #[test]
    fn a_line_break_in_a_name_is_escaped() {
        check(
            &json!({ "paths": ["two\nlines", "two lines"] }),
            &expect![[r#"
            paths:
              two\nlines
              two lines
        "#]],
        );
    }

    #[test]
    fn structures_are_laid_out() {
        check(
            &json!({ "a": { "b": [1] } }),
            &expect![[r#"
                a:
                  b:
                    1
            "#]],
        );
        check(
            &json!({ "a": { "b": { "c": { "d": { "e": 1 } } } } }),
            &expect![[r#"
                {
                  "a": {
                    "b": {
                      "c": {
                        "d": {
                          "e": 1
                        }
                      }
                    }
                  }
                }
            "#]],
        );
        check(&json!({}), &expect![["{}\n"]]);
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
    fn fields_come_with_the_short_ones_first() {
        check(
            &json!({
                "count": 2, "files": [{ "bytes": 5000, "path": "a b" }, { "bytes": 7, "path": "c" }],
                "last": null, "branch": "", "links": [], "note": "two\nlines",
                "total": { "lines": 3, "by": ["x", "y"] }, "wasted_bytes": 1_234_567,
            }),
            &expect![[r#"
                branch: ""
                count: 2
                last: -
                links: none
                wasted_bytes: 1234567  (1.2 MB)
                files:
                  bytes          path
                   5000  5.0 kB  a b
                      7          c
                note:
                  two
                  lines
                total:
                  lines: 3
                  by:
                    x
                    y
            "#]],
        );
    }

    #[test]
    fn groups_are_separated_by_empty_lines() {
        check(
            &json!({ "groups": [{ "hash": "5891", "paths": ["a", "b"] }, { "hash": "e3b0", "paths": ["c", "d"] }] }),
            &expect![[r#"
                groups:
                  hash: 5891
                  paths:
                    a
                    b

                  hash: e3b0
                  paths:
                    c
                    d
            "#]],
        );
    }

    #[test]
    fn parts_are_shown_under_their_intents() {
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
