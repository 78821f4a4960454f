//! The written text: TOML with the reasons as comments. Names come from servers and are quoted; their lists contain no
//! character that would end a line.

use std::fmt::Write as _;

use setpoint_model::wire::Dialect;
use toml::Value;

use super::look::{FoundServer, OLLAMA_WINDOW_TOKENS_MAX, SearchResult, UsableModel};

/// First lines of a table of models.
const TABLE_HEAD: &str = "# Written by `setpoint init`: what servers of this machine say of their models.\n\
     # The fields are explained in docs/models.md.\n";

/// Returns the configuration.
pub(super) fn configuration(sight: &SearchResult) -> String {
    let mut text = "# Written by `setpoint init`. `setpoint config` shows every key, docs/models.md what can be chosen.\n\
        # Keys stay in the environment: this file names variables, never a key.\n#\n# Found:\n"
        .to_owned();
    for line in sight.lines() {
        push(&mut text, format_args!("#   {line}\n"));
    }
    if let Some((choice, others)) = sight.choices.split_first() {
        let (brain, tool) = (quoted(&choice.brain), quoted(&choice.tool));
        push(&mut text, format_args!("\n[models]\n# Chosen: {}.\n", choice.why));
        push(
            &mut text,
            format_args!(
                "# For R2, which plans, and R4b, which judges the overall result.\nbrain = {brain}\n"
            ),
        );
        push(
            &mut text,
            format_args!(
                "# For R1, R3 and R4a: names a long goal, does one sub-task, and judges it.\ntool = {tool}\n"
            ),
        );
        for other in others {
            let (brain, tool) = (quoted(&other.brain), quoted(&other.tool));
            push(&mut text, format_args!("# Or ({}):\n# brain = {brain}\n# tool = {tool}\n", other.why));
        }
    }
    for (variable, provider) in &sight.keys {
        if sight.servers.iter().all(|found| found.place.provider != *provider) {
            push(&mut text, format_args!("\n[providers.{provider}]\nkey_env = {}\n", quoted(variable)));
        }
    }
    for found in &sight.servers {
        let place = &found.place;
        push(&mut text, format_args!("\n# {}\n[providers.{}]\n", place.title, place.provider));
        push(&mut text, format_args!("api = {}\n", quoted(place.dialect.name())));
        push(&mut text, format_args!("base_url = {}\n", quoted(&place.base)));
        if let Some(variable) = place.key_env {
            push(&mut text, format_args!("key_env = {}\n", quoted(variable)));
        }
    }
    text
}

/// Entries for a table of models.
#[derive(Clone, Debug)]
pub(super) struct Table {
    entries: Vec<(String, String)>,
}

/// Returns what servers report about the possible choices; `None` if the built-in table needs nothing of it.
pub(super) fn table(sight: &SearchResult) -> Option<Table> {
    let entry = |found: &FoundServer| {
        let pick = found.pick.as_ref()?;
        Some((format!("{}/{}", found.place.provider, pick.model), fields(found, pick)?))
    };
    let entries: Vec<_> = sight.servers.iter().filter_map(entry).collect();
    (!entries.is_empty()).then_some(Table { entries })
}

fn fields(found: &FoundServer, pick: &UsableModel) -> Option<String> {
    let mut fields = String::new();
    if let Some(window) = pick.window_tokens {
        match found.place.dialect {
            Dialect::Ollama if window > OLLAMA_WINDOW_TOKENS_MAX => push(
                &mut fields,
                format_args!(
                    "# It could have {window}; that takes memory, so raise it if there is enough.\n\
                     window_tokens = {OLLAMA_WINDOW_TOKENS_MAX}\n"
                ),
            ),
            _ => push(&mut fields, format_args!("# As the server says.\nwindow_tokens = {window}\n")),
        }
    }
    if pick.tools == Some(false) {
        fields
            .push_str("# It has no interface for tools: they are described in the prompt.\ntools = false\n");
    }
    (!fields.is_empty()).then_some(fields)
}

impl Table {
    /// Returns the whole table: an older one first, then the new entries that it lacks.
    pub(super) fn text(&self, old: Option<&str>) -> String {
        let mut text = old.unwrap_or(TABLE_HEAD).trim_end().to_owned();
        for (name, fields) in &self.entries {
            let name = quoted(name);
            if old.is_some_and(|old| old.contains(&name)) {
                continue;
            }
            push(&mut text, format_args!("\n\n[[model]]\nname = {name}\n{}", fields.trim_end()));
        }
        text.push('\n');
        text
    }
}

/// Quotes a value for TOML.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Appends formatted text; writing to a string cannot fail.
fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(more);
}

#[cfg(test)]
mod tests {
    use super::super::look::{Choice, Place};
    use super::*;
    use expect_test::expect;
    use setpoint_model::remote::listing::{Offer, OfferedModel};

    fn found(provider: &str, dialect: Dialect, window_tokens: u32, tools: Option<bool>) -> FoundServer {
        let offered = OfferedModel { name: "m:8b".to_owned(), window_tokens: None, bytes: None };
        FoundServer {
            place: Place {
                provider: provider.to_owned(),
                title: "A server".to_owned(),
                dialect,
                base: "http://127.0.0.1:1/v1".to_owned(),
                named_by: None,
                key_env: None,
            },
            offer: Offer { models: vec![offered; 7], is_whole: true },
            pick: Some(UsableModel {
                model: "m:8b".to_owned(),
                window_tokens: Some(window_tokens),
                tools,
                why: "the first",
            }),
        }
    }

    fn sight() -> SearchResult {
        let choice = |name: &str, why: &str| Choice {
            brain: format!("{name}/a"),
            tool: format!("{name}/b"),
            why: why.to_owned(),
        };
        SearchResult {
            keys: vec![("GEMINI_API_KEY", "gemini")],
            servers: vec![
                found("vllm", Dialect::Chat, 20_480, None),
                found("ollama", Dialect::Ollama, 131_072, Some(false)),
            ],
            choices: vec![choice("gemini", "GEMINI_API_KEY is set"), choice("vllm", "the first")],
            ..SearchResult::default()
        }
    }

    #[test]
    fn a_configuration_states_what_was_found_and_the_reasons() {
        expect![[r##"
            # Written by `setpoint init`. `setpoint config` shows every key, docs/models.md what can be chosen.
            # Keys stay in the environment: this file names variables, never a key.
            #
            # Found:
            #   GEMINI_API_KEY is set: a key for gemini
            #   A server at http://127.0.0.1:1/v1: m:8b, m:8b, m:8b, m:8b, m:8b, and 2 more
            #   A server at http://127.0.0.1:1/v1: m:8b, m:8b, m:8b, m:8b, m:8b, and 2 more

            [models]
            # Chosen: GEMINI_API_KEY is set.
            # For R2, which plans, and R4b, which judges the overall result.
            brain = "gemini/a"
            # For R1, R3 and R4a: names a long goal, does one sub-task, and judges it.
            tool = "gemini/b"
            # Or (the first):
            # brain = "vllm/a"
            # tool = "vllm/b"

            [providers.gemini]
            key_env = "GEMINI_API_KEY"

            # A server
            [providers.vllm]
            api = "openai"
            base_url = "http://127.0.0.1:1/v1"

            # A server
            [providers.ollama]
            api = "ollama"
            base_url = "http://127.0.0.1:1/v1"
        "##]].assert_eq(&configuration(&sight()));
    }

    #[test]
    fn a_table_adds_what_servers_report_and_keeps_old_entries() {
        let new = table(&sight()).unwrap();
        expect![[r##"
            # Written by `setpoint init`: what servers of this machine say of their models.
            # The fields are explained in docs/models.md.

            [[model]]
            name = "vllm/m:8b"
            # As the server says.
            window_tokens = 20480

            [[model]]
            name = "ollama/m:8b"
            # It could have 131072; that takes memory, so raise it if there is enough.
            window_tokens = 32768
            # It has no interface for tools: they are described in the prompt.
            tools = false
        "##]]
        .assert_eq(&new.text(None));
        let old = "[[model]]\nname = \"vllm/m:8b\"\nrank = 2";
        expect![[r#"
            [[model]]
            name = "vllm/m:8b"
            rank = 2

            [[model]]
            name = "ollama/m:8b"
            # It could have 131072; that takes memory, so raise it if there is enough.
            window_tokens = 32768
            # It has no interface for tools: they are described in the prompt.
            tools = false
        "#]]
        .assert_eq(&new.text(Some(old)));
        assert!(table(&SearchResult::default()).is_none());
    }
}
