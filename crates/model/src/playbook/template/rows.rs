//! Text in columns as an array of objects.

use serde_json::{Map, Value};

use super::filter::integer;

/// How to split lines into named fields. The last field takes the rest of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    separator: Separator,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Tab,
    Colon,
    /// Any run of blanks; leading ones are skipped.
    Blanks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    whole_number: bool,
}

impl Rows {
    pub(super) fn read(separator: &str, fields: &[&str]) -> Option<Rows> {
        let separator = match separator {
            "tab" => Separator::Tab,
            "colon" => Separator::Colon,
            "blanks" => Separator::Blanks,
            _ => return None,
        };
        let fields: Vec<Field> = fields.iter().map(|field| Field::read(field)).collect::<Option<_>>()?;
        (!fields.is_empty()).then_some(Rows { separator, fields })
    }

    /// Returns one object per line, without empty lines. A missing field, or one that should be a number and is
    /// not, is null.
    pub(super) fn of(&self, text: &str) -> Value {
        Value::Array(text.lines().filter(|line| !line.is_empty()).map(|line| self.row(line)).collect())
    }

    fn row(&self, line: &str) -> Value {
        let mut rest = Some(line);
        let count = self.fields.len();
        let cells = self.fields.iter().enumerate().map(|(i, field)| {
            let cell = if i + 1 == count { rest.take() } else { self.cut(&mut rest) };
            let value = match cell {
                Some(cell) if field.whole_number => integer(cell),
                Some(cell) if self.separator == Separator::Blanks => Value::from(cell.trim_start()),
                Some(cell) => Value::from(cell),
                None => Value::Null,
            };
            (field.name.clone(), value)
        });
        Value::Object(Map::from_iter(cells))
    }

    fn cut<'t>(&self, rest: &mut Option<&'t str>) -> Option<&'t str> {
        let text = rest.take()?;
        let cut = match self.separator {
            Separator::Tab => text.split_once('\t'),
            Separator::Colon => text.split_once(':'),
            Separator::Blanks => text.trim_start().split_once(char::is_whitespace),
        };
        match cut {
            Some((cell, after)) => {
                *rest = Some(after);
                Some(cell)
            }
            None => Some(text),
        }
    }
}

impl Field {
    fn read(text: &str) -> Option<Field> {
        let (name, whole_number) = match text.split_once(':') {
            Some((name, "int")) => (name, true),
            Some(_) => return None,
            None => (text, false),
        };
        let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        named.then(|| Field { name: name.to_owned(), whole_number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(separator: &str, fields: &[&str], text: &str, expected: &Value) {
        assert_eq!(&Rows::read(separator, fields).unwrap().of(text), expected);
    }

    #[test]
    fn lines_are_cut_into_fields() {
        check("tab", &["bytes:int", "path"], "12\t./a b\n", &json!([{"bytes": 12, "path": "./a b"}]));
        check(
            "colon",
            &["path", "line:int", "text"],
            "a.rs:3:x: y\n",
            &json!([{"path": "a.rs", "line": 3, "text": "x: y"}]),
        );
        check("blanks", &["n:int", "word"], "   7  two words\n", &json!([{"n": 7, "word": "two words"}]));
    }

    #[test]
    fn lines_of_another_shape_show_as_nulls() {
        check(
            "tab",
            &["bytes:int", "path"],
            "second half of a name\n",
            &json!([{"bytes": null, "path": null}]),
        );
        check("tab", &["bytes:int", "path"], "\n\n", &json!([]));
        check(
            "colon",
            &["path", "line:int", "text"],
            "binary file matches",
            &json!([{"path": "binary file matches", "line": null, "text": null}]),
        );
    }
}
