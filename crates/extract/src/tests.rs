//! Properties of the extractor as a whole; single answers are in the corpus of `tests/extract`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::begin::end;
use super::choose::choose;
use super::decode::decode;
use super::mend::mend;
use super::read::read;
use super::*;
use crate::draft::{JudgeDraft, MergeDraft, PerceiveDraft, PlanDraft, ReportDraft, TurnDraft};

/// Bytes per byte that a search may read in practice. The limit leaves room above it.
const BYTES_PER_BYTE_EXPECTED: u64 = 8;

/// Units that attack the search for an object when repeated.
const UNITS: &[&str] = &[
    "{",
    "[",
    "}",
    "]",
    "\"",
    "'",
    "“",
    "\\",
    ",",
    ":",
    "\n",
    " ",
    "a",
    "#",
    "//",
    "/*",
    "*/",
    "`",
    "```\n",
    "~~~",
    "{\"",
    "{\"a",
    "{\"a\":",
    "{\"a\":\"",
    "{\"a\":1}",
    "{\"a\":;",
    "{'",
    "{“",
    "{a:",
    "{a:b,",
    "[{",
    "[[{",
    "{{",
    "{/*",
    "{//",
    "{#",
    "{\\\"",
    "{\\\"a\\\":",
    "\"a\":\"b\"\n",
    "\"x\" ",
    "\", \"",
    "\":",
    "{}",
    "[]",
    "[{}",
    "<think>",
    "</think>",
    "\n<think>",
    "x</think>",
    "<|im_end|>",
    "<|channel|>final<|message|>",
    "assistantfinal",
    "analysis",
    "[THINK]",
    "{\"achieved\":\"",
    "{\"achieved\":\"a\"}",
    "{\"intent\":\"a\"}",
    "\\u",
    "\\ud83d",
    "…",
    "{\"achieved\":[",
    "{\"verdicts\":[{\"criterion_id\":\"a\",",
    "\u{feff}",
    "\0",
    "é",
    "1e999",
    "NaN",
    "\"\"\"",
];

/// Returns how many bytes are read to look for every type in `text`.
fn bytes_read(text: &str) -> u64 {
    fn of<T: Draft>(text: &str) -> u64 {
        let (found, work) = choose::<T>(text);
        let head: String = text.chars().take(80).collect();
        assert!(!matches!(found, Err(ExtractError::Tangled)), "tangled: {head:?}");
        work.bytes()
    }
    [
        of::<PerceiveDraft>(text),
        of::<PlanDraft>(text),
        of::<ReportDraft>(text),
        of::<TurnDraft>(text),
        of::<JudgeDraft>(text),
        of::<MergeDraft>(text),
    ]
    .into_iter()
    .max()
    .unwrap_or_default()
}

fn allowed(text: &str) -> u64 {
    text.len() as u64 * BYTES_PER_BYTE_EXPECTED + 1_000
}

fn assert_linear(text: &str) {
    let taken = bytes_read(text);
    let head: String = text.chars().take(60).collect();
    assert!(taken <= allowed(text), "{taken} bytes read for {}: {head:?}", text.len());
}

#[test]
fn missing_fields_are_named() {
    let missing = |text: &str| extract::<PlanDraft>(text).unwrap_err().to_string();
    assert_eq!(missing("{}"), "read the JSON object: missing field `subtasks`");
    assert_eq!(
        missing(r#"{"subtasks":[{"intent":"a"},{"goal":"b"}]}"#),
        "read the JSON object: missing field `subtasks[1].intent`"
    );
    assert_eq!(
        missing(r#"{"subtasks":[{"intent":"a","success_criteria":["x",{"mode":"plausible"}]}]}"#),
        "read the JSON object: missing field `subtasks[0].success_criteria[1].criterion`"
    );
}

#[test]
fn attacks_cost_no_more_than_their_length() {
    for unit in UNITS {
        assert_linear(&unit.repeat(2_000 / unit.len()));
        assert_linear(&format!("{{\"achieved\":\"{}", unit.repeat(2_000 / unit.len())));
        assert_linear(&format!("```json\n{}", unit.repeat(2_000 / unit.len())));
    }
    // Pairs of units, short enough to try all of them: quadratic cost shows at this length too.
    for (left, right) in UNITS.iter().flat_map(|left| UNITS.iter().map(move |right| (left, right))) {
        let unit = format!("{left}{right}");
        let text = unit.repeat(240 / unit.len());
        let (_, work) = choose::<JudgeDraft>(&text);
        assert!(work.bytes() <= allowed(&text), "{} bytes: {unit:?}", work.bytes());
    }
}

#[test]
fn a_long_answer_is_read_and_a_longer_one_refused_unread() {
    let long = "x ".repeat(1_000_000);
    let answer = json!({ "achieved": long }).to_string();
    assert_eq!(
        extract::<ReportDraft>(&format!("Well: {answer}")).map(|draft| draft.achieved.len()),
        Ok(long.len())
    );
    let longer = format!("{}{answer}", " ".repeat(ANSWER_BYTES_MAX - answer.len() + 1));
    assert_eq!(extract::<ReportDraft>(&longer), Err(ExtractError::TooLong(ANSWER_BYTES_MAX + 1)));
}

#[test]
fn names_allowed_in_errors_are_those_of_the_schema() {
    fn names(schema: &Value, into: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                if let Some(Value::Object(properties)) = fields.get("properties") {
                    into.extend(properties.keys().cloned());
                }
                fields.values().for_each(|value| names(value, into));
            }
            Value::Array(items) => items.iter().for_each(|item| names(item, into)),
            _ => {}
        }
    }
    fn check<T: Draft + schemars::JsonSchema>() {
        let schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
        let mut all = Vec::new();
        names(&schema, &mut all);
        all.sort();
        all.dedup();
        let mut ours = T::NAMES.to_vec();
        ours.sort_unstable();
        assert_eq!(ours, all, "{}", std::any::type_name::<T>());
        let mut own: Vec<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        own.sort_unstable();
        let mut fields = T::FIELDS.to_vec();
        fields.sort_unstable();
        assert_eq!(fields, own, "{}", std::any::type_name::<T>());
    }
    check::<PerceiveDraft>();
    check::<PlanDraft>();
    check::<ReportDraft>();
    check::<crate::draft::ExecuteDraft>();
    check::<JudgeDraft>();
    check::<MergeDraft>();
}

#[test]
fn said_text_excludes_thinking() {
    for (text, expected) in [
        (" plain \n", "plain"),
        ("<think>a</think>\n\nb\n", "b"),
        ("a\n<think>b</think>\nc", "a\nc"),
        ("<think>a", ""),
        ("", ""),
    ] {
        assert_eq!(without_thinking(text), expected, "{text}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\"'{}\\[\\],:/#\\\\ \n\t a“”`]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        let name = prop_oneof![any::<String>(), "[\"'{}\\[\\],:/#\\\\ \n a]{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn tolerant_is_strict<T: Draft + std::fmt::Debug>(value: &Value) -> Result<(), TestCaseError> {
    let text = value.to_string();
    let strict: T = serde_json::from_str(&text).unwrap();
    prop_assert_eq!(decode::<T>(&read(&text).unwrap()).unwrap(), strict);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_json_is_read_unchanged(value in any_json(), pretty in any::<bool>()) {
        let value = json!({ "value": value });
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert_eq!(end(&text), Some(text.len()));
        let back: Value = decode(&read(&text).unwrap()).unwrap();
        prop_assert_eq!(back, serde_json::from_str::<Value>(&text).unwrap());
        let (mended, len) = mend(&text);
        prop_assert_eq!(len, text.len());
        prop_assert_eq!(decode::<Value>(&read(&mended).unwrap()).unwrap(), value);
    }

    #[test]
    fn a_valid_answer_is_decoded_as_serde_decodes_it(
        text in any::<String>(),
        params in any_json(),
        (sequence, place) in any::<(i64, u32)>(),
    ) {
        let plan = json!({ "subtasks": [
            { "intent": text, "success_criteria": [text, { "criterion": text, "mode": "plausible", "check": params }],
              "inputs": [place], "sequence": sequence, "unknown": params,
              "approach": { "playbook": text, "approach": text, "params": params } },
        ] });
        tolerant_is_strict::<PlanDraft>(&plan)?;
        tolerant_is_strict::<MergeDraft>(&json!({ "summary": text, "output_of": [place], "note": params }))?;
        tolerant_is_strict::<TurnDraft>(&json!({ "status": "completed", "output": params, "x": text }))?;
        tolerant_is_strict::<TurnDraft>(&json!({ "tool": text, "input": params }))?;
    }

    #[test]
    fn no_text_panics_or_costs_more_than_its_length(
        units in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(UNITS).prop_map(str::to_owned),
            1 => any::<String>(),
        ], 0..200),
    ) {
        let text = units.concat();
        assert_linear(&text);
        let _ = without_thinking(&text);
    }
}
