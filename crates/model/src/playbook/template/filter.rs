//! Filters for the values of placeholders. Every filter accepts every value: one that does not fit becomes null.

use serde_json::{Map, Value};

use super::rows::Rows;
use super::scope::Scope;
use super::text::{TemplateError, clip, outside_quotes};

/// One filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    /// `sh`: any value as one word of a shell.
    Sh,
    /// `abs`: a path made absolute, from the task's directory.
    Abs,
    /// `name`: the last part of a path.
    Name,
    /// `stem`: the last part of a path without its extensions.
    Stem,
    /// `parent`: a path without its last part.
    Parent,
    /// `bare`: a text without the wildcards `*` around it.
    Bare,
    /// `regex`: a text as a regular expression that matches only itself.
    Regex,
    /// `lines`: a text as an array of its lines, empty ones left out.
    Lines,
    /// `rows tab bytes:int path`: a text as an array of objects, one per line.
    Rows(Rows),
    /// `group hash path paths`: one object per value of `hash`, with the list `paths` of the `path` of each object
    /// that has it.
    Group { key: String, item: String, list: String },
    /// `below path dir`: objects whose `path` is made relative to the parameter `dir`.
    Below { field: String, param: String },
    /// `rooted path dir`: objects whose `path` begins with the parameter `dir` as the goal gives it, as `find`
    /// prints paths.
    Rooted { field: String, param: String },
    /// `spread paths path`: one object per item of `paths`, which becomes its field `path`.
    Spread { list: String, item: String },
    /// `without path manifest`: objects whose `path` has another file name than the parameter `manifest`.
    Without { field: String, param: String },
    /// `listing hash path`: objects as lines of two columns, separated by two spaces.
    Listing { first: String, second: String },
    /// `only bytes path`: objects with these fields only.
    Only(Vec<String>),
    /// `each name`: the field `name` of each object.
    Each(String),
    /// `first 200`: at most this number of a list's elements.
    First(usize),
    /// `ending ': FAILED'`: the lines with this end.
    Ending(String),
    /// `sum bytes`: the sum of the numbers `bytes` in an array of objects.
    Sum(String),
    /// `json`: a text read as JSON.
    Json,
    /// `int`: a text as a whole number.
    Int,
    /// `trim`: a text without white space around it.
    Trim,
    /// `len`: the number of elements or characters.
    Len,
    /// `size`: a number as it is, anything else as its length.
    Size,
    /// `at /0/path`: the part of the value at this JSON pointer.
    At(String),
    /// `or 0`: this value in place of null.
    Or(Value),
    /// `choose true=0 false=1`: the value paired with this one.
    Choose(Vec<(String, Value)>),
}

impl Filter {
    pub(super) fn read(text: &str) -> Result<Filter, TemplateError> {
        let wrong = || TemplateError::Filter(clip(text));
        let words: Vec<String> = outside_quotes(text, ' ')
            .filter(|word| !word.is_empty())
            .map(unquoted)
            .collect::<Option<_>>()
            .ok_or_else(wrong)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(match words.as_slice() {
            ["sh"] => Filter::Sh,
            ["abs"] => Filter::Abs,
            ["name"] => Filter::Name,
            ["stem"] => Filter::Stem,
            ["parent"] => Filter::Parent,
            ["bare"] => Filter::Bare,
            ["regex"] => Filter::Regex,
            ["lines"] => Filter::Lines,
            ["rows", separator, fields @ ..] => {
                Filter::Rows(Rows::read(separator, fields).ok_or_else(wrong)?)
            }
            ["group", key, item, list] => {
                Filter::Group { key: (*key).to_owned(), item: (*item).to_owned(), list: (*list).to_owned() }
            }
            ["below", field, param] => {
                Filter::Below { field: (*field).to_owned(), param: (*param).to_owned() }
            }
            ["rooted", field, param] => {
                Filter::Rooted { field: (*field).to_owned(), param: (*param).to_owned() }
            }
            ["spread", list, item] => Filter::Spread { list: (*list).to_owned(), item: (*item).to_owned() },
            ["without", field, param] => {
                Filter::Without { field: (*field).to_owned(), param: (*param).to_owned() }
            }
            ["listing", first, second] => {
                Filter::Listing { first: (*first).to_owned(), second: (*second).to_owned() }
            }
            ["ending", end] if !end.is_empty() => Filter::Ending((*end).to_owned()),
            ["only", fields @ ..] if !fields.is_empty() => {
                Filter::Only(fields.iter().map(|field| (*field).to_owned()).collect())
            }
            ["each", field] => Filter::Each((*field).to_owned()),
            ["first", count] => Filter::First(count.parse().map_err(|_| wrong())?),
            ["sum", field] => Filter::Sum((*field).to_owned()),
            ["json"] => Filter::Json,
            ["int"] => Filter::Int,
            ["trim"] => Filter::Trim,
            ["len"] => Filter::Len,
            ["size"] => Filter::Size,
            ["at", pointer] if pointer.starts_with('/') => Filter::At((*pointer).to_owned()),
            ["or", value] => Filter::Or(literal(value)),
            ["choose", pairs @ ..] if !pairs.is_empty() => Filter::Choose(
                pairs
                    .iter()
                    .map(|pair| pair.split_once('=').map(|(from, to)| (from.to_owned(), literal(to))))
                    .collect::<Option<_>>()
                    .ok_or_else(wrong)?,
            ),
            _ => return Err(wrong()),
        })
    }

    pub(super) fn apply(&self, value: Value, scope: &Scope<'_>) -> Value {
        match self {
            Filter::Or(other) => return if value.is_null() { other.clone() } else { value },
            Filter::Choose(pairs) => {
                let seen = plain(&value);
                let chosen = pairs.iter().find(|(from, _)| *from == seen);
                return chosen.map_or(Value::Null, |(_, to)| to.clone());
            }
            _ if value.is_null() => return Value::Null,
            _ => {}
        }
        match self {
            Filter::Sh => Value::String(shell_word(&plain(&value))),
            Filter::Abs => on_text(&value, |path| absolute(path, &scope.surroundings.cwd)),
            Filter::Name => on_text(&value, |path| last_part(path).to_owned()),
            Filter::Stem => on_text(&value, |path| stem(last_part(path)).to_owned()),
            Filter::Parent => on_text(&value, |path| parent(path).to_owned()),
            Filter::Bare => on_text(&value, |text| text.trim_matches('*').to_owned()),
            Filter::Regex => on_text(&value, regex::escape),
            Filter::Trim => on_text(&value, |text| text.trim().to_owned()),
            Filter::Lines => text_or_null(&value, |text| {
                Value::Array(text.lines().filter(|line| !line.is_empty()).map(Value::from).collect())
            }),
            Filter::Rows(rows) => text_or_null(&value, |text| rows.of(text)),
            Filter::Group { key, item, list } => group(&value, key, item, list),
            Filter::Below { field, param } => {
                below(value, field, &root_of(scope, param), &scope.surroundings.cwd)
            }
            Filter::Rooted { field, param } => {
                rooted(value, field, &root_of(scope, param), &scope.surroundings.cwd)
            }
            Filter::Spread { list, item } => spread(&value, list, item),
            Filter::Without { field, param } => {
                let name = last_part(&root_of(scope, param)).to_owned();
                let other = |row: &Value| {
                    row.get(field).and_then(Value::as_str).is_none_or(|path| last_part(path) != name)
                };
                match value {
                    Value::Array(rows) => Value::Array(rows.into_iter().filter(other).collect()),
                    _ => Value::Null,
                }
            }
            Filter::Listing { first, second } => listing(&value, first, second),
            Filter::Ending(end) => match value {
                Value::Array(lines) => Value::Array(
                    lines
                        .into_iter()
                        .filter(|line| line.as_str().is_some_and(|line| line.ends_with(end.as_str())))
                        .collect(),
                ),
                _ => Value::Null,
            },
            Filter::Only(fields) => each(value, |row| {
                let field = |name: &String| Some((name.clone(), row.get(name)?.clone()));
                Value::Object(fields.iter().filter_map(field).collect())
            }),
            Filter::Each(field) => each(value, |row| row.get(field).cloned().unwrap_or(Value::Null)),
            Filter::First(count) => match value {
                Value::Array(items) => Value::Array(items.into_iter().take(*count).collect()),
                _ => Value::Null,
            },
            Filter::Sum(field) => sum(&value, field),
            Filter::Json => text_or_null(&value, |text| serde_json::from_str(text).unwrap_or(Value::Null)),
            Filter::Int => match &value {
                Value::String(text) => integer(text),
                number if number.is_i64() || number.is_u64() => value,
                _ => Value::Null,
            },
            Filter::Len => length(&value),
            Filter::Size if value.is_number() => value,
            Filter::Size => length(&value),
            Filter::At(pointer) => value.pointer(pointer).cloned().unwrap_or(Value::Null),
            Filter::Or(_) | Filter::Choose(_) => value,
        }
    }
}

pub(super) fn integer(text: &str) -> Value {
    text.trim().parse::<i64>().map_or(Value::Null, Value::from)
}

fn on_text(value: &Value, change: impl FnOnce(&str) -> String) -> Value {
    text_or_null(value, |text| Value::String(change(text)))
}

fn text_or_null(value: &Value, read: impl FnOnce(&str) -> Value) -> Value {
    value.as_str().map_or(Value::Null, read)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a filter's argument without the quotes around it.
fn unquoted(word: &str) -> Option<String> {
    match word.strip_prefix('\'') {
        Some(rest) => rest.strip_suffix('\'').map(str::to_owned),
        None => (!word.contains('\'')).then(|| word.to_owned()),
    }
}

fn literal(text: &str) -> Value {
    match text {
        "[]" => Value::Array(Vec::new()),
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
    }
}

/// Quotes `text` as one word of a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn absolute(path: &str, cwd: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("root")
}

fn stem(name: &str) -> &str {
    let hidden = name.len() - name.trim_start_matches('.').len();
    let end = name.char_indices().find(|(at, c)| *at > hidden && *c == '.').map_or(name.len(), |(at, _)| at);
    name.get(..end).unwrap_or(name)
}

fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((parent, _)) => parent,
        None => ".",
    }
}

fn group(value: &Value, key: &str, item: &str, list: &str) -> Value {
    let Value::Array(rows) = value else { return Value::Null };
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for row in rows {
        let field = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
        let place = *places.entry(plain(&field(key))).or_insert_with(|| {
            groups.push((field(key), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, items)) = groups.get_mut(place) {
            items.push(field(item));
        }
    }
    let grouped = groups.into_iter().map(|(shared, items)| {
        Value::Object(Map::from_iter([(key.to_owned(), shared), (list.to_owned(), Value::Array(items))]))
    });
    Value::Array(grouped.collect())
}

/// Returns the text of a parameter, empty if it has none.
fn root_of(scope: &Scope<'_>, param: &str) -> String {
    scope.named(param).as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Makes paths relative to `root`, whether they begin with it as given or with its absolute form.
fn below(value: Value, field: &str, root: &str, cwd: &str) -> Value {
    let Value::Array(mut rows) = value else { return Value::Null };
    let roots = [root.trim_end_matches('/').to_owned(), absolute(root, cwd)];
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(field)) {
        let shorter = cell.as_str().and_then(|path| {
            let rest = roots.iter().find_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/'));
            rest.map(|rest| Value::from(rest.trim_start_matches('/')))
        });
        if let Some(shorter) = shorter {
            *cell = shorter;
        }
    }
    Value::Array(rows)
}

/// Makes paths begin with `root` as given, if they begin with its absolute form.
fn rooted(value: Value, field: &str, root: &str, cwd: &str) -> Value {
    let Value::Array(mut rows) = value else { return Value::Null };
    let (given, from_the_top) = (root.trim_end_matches('/'), absolute(root, cwd));
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(field)) {
        let told = cell.as_str().and_then(|path| match path.strip_prefix(from_the_top.as_str())? {
            "" => Some(Value::from(root)),
            rest => Some(Value::from(format!("{given}/{}", rest.strip_prefix('/')?))),
        });
        if let Some(told) = told {
            *cell = told;
        }
    }
    Value::Array(rows)
}

/// Applies a function to each element of a list.
fn each(value: Value, change: impl Fn(&Value) -> Value) -> Value {
    match value {
        Value::Array(rows) => Value::Array(rows.iter().map(change).collect()),
        _ => Value::Null,
    }
}

fn spread(value: &Value, list: &str, item: &str) -> Value {
    let Value::Array(rows) = value else { return Value::Null };
    let of = |row: &Value| {
        let mut shared = row.as_object().cloned().unwrap_or_default();
        let items = shared.remove(list).and_then(|items| items.as_array().cloned()).unwrap_or_default();
        items
            .into_iter()
            .map(|one| {
                let mut row = shared.clone();
                row.insert(item.to_owned(), one);
                Value::Object(row)
            })
            .collect::<Vec<_>>()
    };
    Value::Array(rows.iter().flat_map(of).collect())
}

fn listing(value: &Value, first: &str, second: &str) -> Value {
    let Value::Array(rows) = value else { return Value::Null };
    let field = |row: &Value, name: &str| row.get(name).map(plain).unwrap_or_default();
    Value::String(rows.iter().map(|row| format!("{}  {}\n", field(row, first), field(row, second))).collect())
}

fn sum(value: &Value, field: &str) -> Value {
    let Value::Array(rows) = value else { return Value::Null };
    let numbers = rows.iter().map(|row| row.get(field).and_then(Value::as_i64));
    let total = numbers.into_iter().try_fold(0_i64, |total, number| total.checked_add(number?));
    total.map_or(Value::Null, Value::from)
}

fn length(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(text.chars().count()),
        Value::Array(items) => Value::from(items.len()),
        Value::Object(fields) => Value::from(fields.len()),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use setpoint_protocol::record::Surroundings;
    use std::collections::BTreeMap;

    fn apply(filters: &str, value: Value) -> Value {
        let surroundings = Surroundings { cwd: "/w/p".to_owned(), ..Surroundings::default() };
        let values = BTreeMap::from([("dir".to_owned(), json!("./a/")), ("file".to_owned(), json!("c/x"))]);
        let scope = Scope::new(&values, &surroundings);
        outside_quotes(filters, '|')
            .fold(value, |value, filter| Filter::read(filter).unwrap().apply(value, &scope))
    }

    #[test]
    fn shell_word_quotes_any_text_as_one_word() {
        for (text, word) in [
            ("src/a.rs", "src/a.rs"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(rm -rf /)", "'$(rm -rf /)'"),
            ("it's; ls", r"'it'\''s; ls'"),
            ("~", "'~'"),
            ("{a,b}", "'{a,b}'"),
        ] {
            assert_eq!(apply("sh", json!(text)), json!(word));
        }
    }

    #[test]
    fn paths_are_split_by_their_text() {
        assert_eq!(apply("abs", json!("./a/../b/")), json!("/w/p/b"));
        assert_eq!(apply("abs|name", json!(".")), json!("p"));
        assert_eq!(apply("name", json!("a/b.tar.gz/")), json!("b.tar.gz"));
        assert_eq!(apply("stem", json!("a/b.tar.gz")), json!("b"));
        assert_eq!(apply("stem", json!(".config")), json!(".config"));
        assert_eq!(apply("name", json!("/")), json!("root"));
        assert_eq!(apply("parent", json!("/a")), json!("/"));
        assert_eq!(apply("parent", json!("a/b/")), json!("a"));
        assert_eq!(apply("parent", json!("a")), json!("."));
    }

    #[test]
    fn texts_become_structure() {
        assert_eq!(apply("lines|len", json!("a\n\nb\n")), json!(2));
        assert_eq!(
            apply("rows tab hash path|group hash path paths", json!("x\ta\ny\tb\nx\tc\n")),
            json!([{"hash": "x", "paths": ["a", "c"]}, {"hash": "y", "paths": ["b"]}])
        );
        assert_eq!(apply("rows tab n:int|sum n", json!("1\n2\n")), json!(3));
        assert_eq!(apply("rows tab n:int|sum n", json!("1\nx\n")), Value::Null);
        assert_eq!(apply("lines|ending ': FAILED'", json!("a: OK\nb: FAILED")), json!(["b: FAILED"]));
        assert_eq!(apply("listing h p", json!([{"h": "1", "p": "a b"}])), json!("1  a b\n"));
        assert_eq!(apply("json|at /a/0", json!(r#"{"a":[7]}"#)), json!(7));
        assert_eq!(apply("trim|int", json!(" 12\n")), json!(12));
        assert_eq!(apply("regex", json!("a.b")), json!(r"a\.b"));
        assert_eq!(apply("bare", json!("*.jpeg")), json!(".jpeg"));
    }

    #[test]
    fn paths_of_rows_are_made_relative_to_a_parameter() {
        let rows = json!([{"p": "./a/x"}, {"p": "/w/p/a/y z"}, {"p": "b/x"}, {"n": 1}]);
        assert_eq!(
            apply("below p dir", rows.clone()),
            json!([{"p": "x"}, {"p": "y z"}, {"p": "b/x"}, {"n": 1}])
        );
        assert_eq!(apply("without p file", rows), json!([{"p": "/w/p/a/y z"}, {"n": 1}]));
    }

    #[test]
    fn a_value_that_does_not_fit_becomes_null_and_or_replaces_it() {
        for filter in
            ["lines", "json", "rows tab a", "group a b c", "sum a", "len", "at /a", "abs", "ending x"]
        {
            assert_eq!(apply(filter, json!(true)), Value::Null, "{filter}");
            assert_eq!(apply(filter, Value::Null), Value::Null, "{filter}");
        }
        assert_eq!(apply("int|or 0", json!("x")), json!(0));
        assert_eq!(apply("choose true=0 false=1", json!(false)), json!(1));
        assert_eq!(apply("choose true=0", json!(3)), Value::Null);
        assert_eq!(apply("choose no= yes=-i", json!("no")), json!(""));
        assert_eq!(apply("size", json!(5)), json!(5));
        assert_eq!(apply("size", json!([1, 2])), json!(2));
    }

    #[test]
    fn lists_are_cut_to_the_given_length() {
        let rows =
            || json!([{"path": "/w/p/a/x", "n": 1}, {"path": "/w/p/a", "n": 2}, {"path": "/else", "n": 3}]);
        assert_eq!(apply("rooted path dir|each path", rows()), json!(["./a/x", "./a/", "/else"]));
        assert_eq!(apply("only n|first 2", rows()), json!([{"n": 1}, {"n": 2}]));
        let group = json!([{"hash": "x", "paths": ["a", "b"]}, {"hash": "y", "paths": []}]);
        assert_eq!(
            apply("spread paths path", group),
            json!([{"hash": "x", "path": "a"}, {"hash": "x", "path": "b"}])
        );
        for filters in ["rooted path dir", "only n", "first 2", "each n", "spread a b"] {
            assert_eq!(apply(filters, json!("no list")), Value::Null, "{filters}");
        }
    }

    #[test]
    fn a_command_keeps_its_braces() {
        let read = |text: &str| {
            let template = crate::playbook::template::TextTemplate::read_command(text).unwrap();
            let surroundings = Surroundings::default();
            let values = BTreeMap::from([("dir".to_owned(), json!("a b"))]);
            template.text(&Scope::new(&values, &surroundings)).unwrap()
        };
        assert_eq!(
            read("find {dir|sh} -exec test {} ';' | awk '{ print }'"),
            "find 'a b' -exec test {} ';' | awk '{ print }'"
        );
        assert_eq!(read("grep -E '^[a-z]{3}{dir|sh}'"), "grep -E '^[a-z]{3}'a b''");
        assert_eq!(read("awk '{ s += $1 } END { print s }'"), "awk '{ s += $1 } END { print s }'");
    }

    #[test]
    fn an_unknown_filter_is_refused() {
        for text in [
            "",
            "shell",
            "sh x",
            "rows",
            "rows tab",
            "rows comma",
            "at a",
            "choose",
            "choose x",
            "or",
            "ending ''",
            "or 'a",
        ] {
            assert!(Filter::read(text).is_err(), "{text}");
        }
    }
}
