//! Data about models: windows, ranks, prices. The program's table, overridden by the person's own.
//!
//! It sends no requests; what a server reports about its models is read elsewhere.

use serde::Deserialize;
use setpoint_protocol::models::Price;
use setpoint_protocol::money::Money;
use setpoint_protocol::text::clip;

/// The program's own table.
const BUILT_IN: &str = include_str!("../../../models.toml");
/// Maximum entries of a table.
pub const ENTRIES_MAX: usize = 2_000;
/// The highest rank.
pub const RANK_MAX: u8 = 5;
/// The smallest window, in tokens, that has room for a task's questions.
pub const WINDOW_TOKENS_MIN: u32 = 8_192;
/// Largest plausible window, in tokens.
pub const WINDOW_TOKENS_MAX: u32 = 100_000_000;
/// Number of tokens that a stated price is for.
const TOKENS_OF_A_PRICE: f64 = 1e6;

/// The data about one model; `None` for unknown fields.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Tokens that question and answer may have together.
    pub window_tokens: Option<u32>,
    /// Maximum tokens of one answer.
    pub tokens_out_max: Option<u32>,
    /// Capability compared with other models, from 1 to [`RANK_MAX`].
    pub rank: Option<u8>,
    /// Price of its tokens.
    pub price: Option<Price>,
    /// Whether it has an interface for tools.
    pub tools: Option<bool>,
    /// Whether it can keep an answer to a JSON Schema.
    pub schema: Option<bool>,
}

/// The models that are chosen if only a provider's key is set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// For R2 and R4b.
    pub brain: String,
    /// For R1, R3 and R4a.
    pub tool: String,
}

/// Why a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the table of models, line {line}: {reason}")]
pub struct CatalogueError {
    /// Number of the line, from 1.
    pub line: usize,
    pub reason: String,
}

/// The tables, the strongest first.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    tables: Vec<Table>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    defaults: std::collections::BTreeMap<String, Defaults>,
    #[serde(default)]
    model: Vec<toml::Spanned<Entry>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    window_tokens: Option<u32>,
    tokens_out_max: Option<u32>,
    rank: Option<u8>,
    price_in: Option<f64>,
    price_out: Option<f64>,
    price_cached: Option<f64>,
    tools: Option<bool>,
    schema: Option<bool>,
}

impl Catalogue {
    /// Returns the program's own table.
    ///
    /// # Errors
    /// If the embedded table is invalid, which the tests rule out.
    pub fn built_in() -> Result<Self, CatalogueError> {
        Ok(Catalogue { tables: vec![read(BUILT_IN)?] })
    }

    /// Adds a person's table, which overrides this one.
    ///
    /// # Errors
    /// If an entry is invalid; the error names its line.
    pub fn over(mut self, text: &str) -> Result<Self, CatalogueError> {
        self.tables.insert(0, read(text)?);
        Ok(self)
    }

    /// Returns the data about a model. Each field comes from the first table that states it, and there from the longest
    /// matching name.
    #[must_use]
    pub fn facts(&self, provider: &str, model: &str) -> Facts {
        let name = format!("{provider}/{model}");
        let mut facts = Facts::default();
        for table in &self.tables {
            let mut fitting: Vec<&Entry> = table
                .model
                .iter()
                .map(toml::Spanned::get_ref)
                .filter(|entry| fits(&entry.name, &name))
                .collect();
            fitting.sort_by_key(|entry| std::cmp::Reverse(entry.name.len()));
            for entry in fitting {
                facts.window_tokens = facts.window_tokens.or(entry.window_tokens);
                facts.tokens_out_max = facts.tokens_out_max.or(entry.tokens_out_max);
                facts.rank = facts.rank.or(entry.rank);
                facts.price = facts.price.or_else(|| entry.price());
                facts.tools = facts.tools.or(entry.tools);
                facts.schema = facts.schema.or(entry.schema);
            }
        }
        facts
    }

    /// Returns the models that are chosen if only this provider's key is set.
    #[must_use]
    pub fn defaults(&self, provider: &str) -> Option<&Defaults> {
        self.tables.iter().find_map(|table| table.defaults.get(provider))
    }
}

impl Entry {
    /// Returns the price, if both directions are stated. Cached tokens cost the same unless stated otherwise.
    fn price(&self) -> Option<Price> {
        let a_token = |units: f64| Money::of_units(units / TOKENS_OF_A_PRICE);
        let (token_in, token_out) = (a_token(self.price_in?)?, a_token(self.price_out?)?);
        let token_cached = self.price_cached.map_or(Some(token_in), a_token)?;
        Some(Price { token_in, token_out, token_cached })
    }

    fn wrong(&self) -> Option<String> {
        let Entry { name, window_tokens, tokens_out_max, rank, price_in, price_out, price_cached, .. } = self;
        if !name.contains('/') {
            return Some(format!("`name` is {:?}; it must be PROVIDER/MODEL", clip(name, 100)));
        }
        for (key, tokens) in [("window_tokens", window_tokens), ("tokens_out_max", tokens_out_max)] {
            if tokens.is_some_and(|tokens| tokens == 0 || tokens > WINDOW_TOKENS_MAX) {
                return Some(format!("`{key}` must be from 1 to {WINDOW_TOKENS_MAX}"));
            }
        }
        if rank.is_some_and(|rank| rank == 0 || rank > RANK_MAX) {
            return Some(format!("`rank` must be from 1 to {RANK_MAX}"));
        }
        for (key, price) in [("price_in", price_in), ("price_out", price_out), ("price_cached", price_cached)]
        {
            if price.is_some_and(|price| Money::of_units(price).is_none()) {
                return Some(format!("`{key}` must be a price for a million tokens, 0 or more"));
            }
        }
        (price_in.is_some() != price_out.is_some())
            .then(|| "`price_in` and `price_out` belong together".to_owned())
    }
}

fn read(text: &str) -> Result<Table, CatalogueError> {
    let line_of = |offset: usize| text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
    let table: Table = toml::from_str(text).map_err(|error| CatalogueError {
        line: error.span().map_or(1, |span| line_of(span.start)),
        reason: clip(error.message(), 300),
    })?;
    if table.model.len() > ENTRIES_MAX {
        return Err(CatalogueError { line: 1, reason: format!("it has more than {ENTRIES_MAX} entries") });
    }
    for entry in &table.model {
        if let Some(reason) = entry.get_ref().wrong() {
            return Err(CatalogueError { line: line_of(entry.span().start), reason });
        }
    }
    Ok(table)
}

/// Returns whether a name matches a pattern in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| name.strip_prefix(head)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(tail) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(facts: Facts) -> String {
        let price = facts.price.map(|price| {
            let million = |money: Money| money.times(1_000_000);
            format!(
                "{}/{}/{}",
                million(price.token_in),
                million(price.token_out),
                million(price.token_cached)
            )
        });
        format!(
            "{:?} {:?} {:?} {}",
            facts.window_tokens,
            facts.tokens_out_max,
            facts.rank,
            price.unwrap_or_default()
        )
    }

    #[test]
    fn the_built_in_table_is_valid_and_has_its_defaults() {
        let catalogue = Catalogue::built_in().unwrap();
        for provider in ["openai", "anthropic", "gemini"] {
            let defaults = catalogue.defaults(provider).unwrap();
            for model in [&defaults.brain, &defaults.tool] {
                let facts = catalogue.facts(provider, model);
                assert!(
                    facts.price.is_some() && facts.rank.is_some() && facts.window_tokens.is_some(),
                    "{model}"
                );
            }
        }
        for (provider, model, expected) in [
            ("openai", "gpt-5", "Some(400000) Some(128000) Some(4) 1.25/10.00/0.1250"),
            ("openai", "gpt-5-mini-2025-08-07", "Some(400000) Some(128000) Some(3) 0.2500/2.00/0.0250"),
            ("openai", "gpt-5.9", "Some(400000) Some(128000) Some(4) "),
            ("anthropic", "claude-opus-4-1-20250805", "Some(200000) Some(32000) Some(5) 15.00/75.00/1.50"),
            ("anthropic", "claude-opus-4-6", "Some(200000) Some(32000) Some(5) 5.00/25.00/0.5000"),
            ("ollama", "qwen3:32b", "Some(16384) None None "),
            ("local", "gpt-5", "None None None "),
        ] {
            assert_eq!(shown(catalogue.facts(provider, model)), expected, "{provider}/{model}");
        }
    }

    #[test]
    fn a_persons_table_wins_field_by_field() {
        let own = "[[model]]\nname = \"openai/*\"\nrank = 5\n[[model]]\nname = \"openai/gpt-5\"\nwindow_tokens = 9000\n";
        let catalogue = Catalogue::built_in().unwrap().over(own).unwrap();
        assert_eq!(
            shown(catalogue.facts("openai", "gpt-5")),
            "Some(9000) Some(128000) Some(5) 1.25/10.00/0.1250"
        );
    }

    #[test]
    fn invalid_entries_are_named_with_their_line() {
        let said = [
            "[[model]]\nname = \"x\"\n",
            "[[model]]\nname = \"a/b\"\nrank = 9\n",
            "\n[[model]]\nname = \"a/b\"\nwindow_tokens = 0\n",
            "[[model]]\nname = \"a/b\"\nprice_in = -1.0\nprice_out = 1.0\n",
            "[[model]]\nname = \"a/b\"\nprice_in = nan\nprice_out = 1.0\n",
            "[[model]]\nname = \"a/b\"\nprice_in = 1.0\n",
            "[[model]]\nname = \"a/b\"\nwindw_tokens = 1\n",
            "[[model]\n",
        ]
        .map(|text| Catalogue::default().over(text).unwrap_err().to_string())
        .join("\n");
        expect_test::expect![[r#"
            read the table of models, line 1: `name` is "x"; it must be PROVIDER/MODEL
            read the table of models, line 1: `rank` must be from 1 to 5
            read the table of models, line 2: `window_tokens` must be from 1 to 100000000
            read the table of models, line 1: `price_in` must be a price for a million tokens, 0 or more
            read the table of models, line 1: `price_in` must be a price for a million tokens, 0 or more
            read the table of models, line 1: `price_in` and `price_out` belong together
            read the table of models, line 3: unknown field `windw_tokens`, expected one of `name`, `window_tokens`, `tokens_out_max`, `rank`, `price_in`, `price_out`, `price_cached`, `tools`, `schema`
            read the table of models, line 1: unclosed array table, expected `]`"#]]
        .assert_eq(&said);
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/b*", "a/b", true),
            ("*/b", "x/b", true),
            ("a/*-x*", "a/1-x-2", true),
            ("a/*-x*", "a/1-y", false),
            ("a/b*b", "a/b", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
