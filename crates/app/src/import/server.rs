//! One server: its table here, and what is not taken over.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use url::Url;

use super::{secret, shown, table};

/// Programs that load the server from a network before they run it, with the word that makes them do so, if it is not
/// all that they do.
const LOADERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("bunx", &[]),
    ("pnpx", &[]),
    ("uvx", &[]),
    ("docker", &[]),
    ("podman", &[]),
    ("deno", &[]),
    ("pipx", &["run"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx"]),
    ("yarn", &["dlx"]),
    ("bun", &["x"]),
    ("uv", &["run", "tool"]),
];
/// Keys that are read, or that say what is the case here anyway.
const READ: &[&str] = &[
    "command",
    "args",
    "env",
    "environment",
    "env_vars",
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "type",
    "transport",
    "disabled",
    "enabled",
    "cwd",
    "name",
    "description",
];
/// Maximum keys, headers or paths that one note names.
const NAMED_MAX: usize = 8;
/// What other programs put in the place of the folder in which they were started.
const HERE: &[&str] = &["${workspaceFolder}", "${CLAUDE_PROJECT_DIR}", "${PWD}"];

/// Returns the table of a server and notes on it, or why it is left out.
pub(super) fn of(name: &str, fields: &Map<String, Value>) -> Result<(String, Vec<String>), String> {
    let is = |key: &str| fields.get(key).and_then(Value::as_bool);
    if is("disabled") == Some(true) || is("enabled") == Some(false) {
        return Err("it is switched off in that file".to_owned());
    }
    let mut made = Made { toml: format!("[mcp.{name}]\n"), notes: Vec::new() };
    let kind = ["type", "transport"].iter().find_map(|key| fields.get(*key).and_then(Value::as_str));
    let url = ["url", "httpUrl", "serverUrl"].iter().find_map(|key| fields.get(*key).and_then(Value::as_str));
    match (kind, url) {
        (Some("sse"), _) => {
            return Err("it speaks HTTP+SSE of 2024-11-05, which is not spoken here; many such servers also have an address \
                        for streamable HTTP"
                .to_owned());
        }
        (Some("ws" | "websocket"), _) => {
            return Err("it speaks over a web socket, which is not spoken here".to_owned());
        }
        (_, Some(url)) if fields.get("command").is_none() => made.http(name, url, fields)?,
        _ => made.program(fields)?,
    }
    let ignored: Vec<&str> = fields.keys().map(String::as_str).filter(|key| !READ.contains(key)).collect();
    made.note_names(&ignored, |names| format!("not taken over: {names}"));
    Ok((made.toml, made.notes))
}

struct Made {
    toml: String,
    notes: Vec<String>,
}

impl Made {
    fn program(&mut self, fields: &Map<String, Value>) -> Result<(), String> {
        let mut command = words(fields.get("command")).ok_or("its command is not text")?;
        command.extend(
            words(fields.get("args").or(Some(&Value::Array(Vec::new()))))
                .ok_or("its arguments are not text")?,
        );
        let command: Vec<String> = command
            .iter()
            .map(|word| HERE.iter().fold(word.clone(), |word, here| word.replace(here, ".")))
            .collect();
        let Some((program, arguments)) = command.split_first().filter(|(program, _)| !program.is_empty())
        else {
            return Err("it names neither a program nor an address".to_owned());
        };
        if let Some(n) = secret::in_arguments(arguments) {
            return Err(format!(
                "its argument {n} looks like a key; start it by a script of your own that takes the key from a variable"
            ));
        }
        if command.iter().any(|word| word.contains("${") || word.contains("{env:")) {
            return Err("its command contains a variable, which is not replaced here".to_owned());
        }
        self.set("command", &list(&command));
        self.variables(fields);
        match loader(program, arguments) {
            Some(loader) => {
                self.set("outside", "true");
                self.notes.push(format!(
                    "{loader} loads programs from a network, which the sandbox does not have, so it runs with all your rights; \
                     install the server and name its own program to keep it in the sandbox"
                ));
            }
            None => {
                let paths: Vec<&str> =
                    command.iter().map(String::as_str).filter(|word| word.starts_with(['/', '~'])).collect();
                self.note_names(&paths, |names| {
                    format!("in the sandbox it sees the working directory alone; name in `paths` (to read) or `writes` the folders that it needs: {names}")
                });
            }
        }
        let is_here = |cwd: &str| cwd == "." || HERE.contains(&cwd);
        if fields.get("cwd").and_then(Value::as_str).is_some_and(|cwd| !is_here(cwd)) {
            self.notes.push("it starts in the working directory: `cwd` is not taken over".to_owned());
        }
        Ok(())
    }

    /// Names the variables that the server gets. Their values stay where they are.
    fn variables(&mut self, fields: &Map<String, Value>) {
        let mut names: Vec<&str> = Vec::new();
        let (mut to_set, mut unusable) = (Vec::new(), Vec::new());
        for (name, value) in ["env", "environment"].iter().filter_map(|key| table(fields, key)).flatten() {
            if !is_variable(name) {
                unusable.push(name.as_str());
                continue;
            }
            names.push(name);
            let source = value.as_str().and_then(reference);
            match source {
                Some(source) if source == name => {}
                Some(source) => self.notes.push(format!("set {name}: that file takes it from {source}")),
                None => to_set.push(name.as_str()),
            }
        }
        let passed = fields.get("env_vars").and_then(Value::as_array).into_iter().flatten();
        names.extend(passed.filter_map(Value::as_str).filter(|name| is_variable(name)));
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            self.set("env", &list(&names));
        }
        self.note_names(&to_set, |names| {
            format!("set these variables before Setpoint starts, their values are not taken over: {names}")
        });
        self.note_names(&unusable, |names| format!("not names of variables: {names}"));
    }

    fn http(&mut self, name: &str, url: &str, fields: &Map<String, Value>) -> Result<(), String> {
        if url.contains("${") || url.contains("{env:") {
            return Err("its address contains a variable, which is not replaced here".to_owned());
        }
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "https" | "http"));
        let parsed = parsed.ok_or("its address is not one of http:// or https://")?;
        if secret::in_address(&parsed) {
            return Err(
                "its address holds a key; ask the server's maker for a way to send it as a bearer token"
                    .to_owned(),
            );
        }
        self.set("url", &quoted(parsed.as_str()));
        let mut others: Vec<&str> = Vec::new();
        let mut bearer = fields.get("bearer_token_env_var").and_then(Value::as_str).map(str::to_owned);
        for (header, value) in ["headers", "http_headers", "env_http_headers"]
            .iter()
            .filter_map(|key| table(fields, key))
            .flatten()
        {
            let token = value.as_str().and_then(|value| value.strip_prefix("Bearer "));
            match token {
                Some(token) if header.eq_ignore_ascii_case("authorization") => {
                    bearer = Some(match reference(token) {
                        Some(variable) => variable.to_owned(),
                        None => {
                            let variable = format!("{}_KEY", name.to_uppercase().replace('-', "_"));
                            self.notes.push(format!("set {variable} to its key, which is not taken over"));
                            variable
                        }
                    });
                }
                _ => others.push(header),
            }
        }
        match bearer {
            Some(variable) if is_variable(&variable) => self.set("bearer_env", &quoted(&variable)),
            Some(_) => {
                self.notes
                    .push("its key is in a variable without a usable name; set `bearer_env`".to_owned());
            }
            None => {}
        }
        self.note_names(&others, |names| format!("headers other than a bearer token are not sent: {names}"));
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.toml, "{key} = {value}");
    }

    /// Adds a note that names some foreign texts, if there are any.
    fn note_names(&mut self, names: &[&str], note: impl FnOnce(String) -> String) {
        let Some(more) = names.len().checked_sub(1) else { return };
        let mut text = names.iter().take(NAMED_MAX).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
        if more >= NAMED_MAX {
            let _ = write!(text, " and {} more", names.len() - NAMED_MAX);
        }
        self.notes.push(note(text));
    }
}

/// Returns the words of a text or a list of texts.
fn words(value: Option<&Value>) -> Option<Vec<String>> {
    match value {
        None => Some(Vec::new()),
        Some(Value::String(text)) => Some(vec![text.clone()]),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    }
}

fn loader(program: &str, arguments: &[String]) -> Option<&'static str> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
    let first = arguments.iter().find(|word| !word.starts_with('-'));
    let is_loading =
        |words: &[&str]| words.is_empty() || first.is_some_and(|word| words.contains(&word.as_str()));
    LOADERS.iter().find(|(loader, words)| *loader == name && is_loading(words)).map(|(loader, _)| *loader)
}

/// Returns the variable that a value stands for: `${NAME}`, `${env:NAME}`, `{env:NAME}` or `$NAME`.
fn reference(value: &str) -> Option<&str> {
    let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.map(|inner| inner.strip_prefix("env:").unwrap_or(inner));
    let inner = inner.or_else(|| value.strip_prefix("{env:").and_then(|rest| rest.strip_suffix('}')));
    inner.or_else(|| value.strip_prefix('$')).filter(|name| is_variable(name))
}

fn is_variable(name: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_start) && name.chars().all(|c| is_start(c) || c.is_ascii_digit())
}

fn list(words: &[String]) -> String {
    format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
}

/// Returns a basic string of TOML in which whatever could deceive the eye is escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let is_plain = c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if is_plain => out.push(c),
            c => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}
