//! Words what the calls of a step left out, for the answer: a figure of a part must not pass for one of the whole.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use setpoint_protocol::tool::ToolRecord;

/// Counts that a call may report as left out: the fact, its words in singular and plural, and whether the answer is
/// then incomplete (not if something was left out on purpose). `{}` stands for the fact of the same name with `_named`.
const COUNTED: &[(&str, &str, &str, bool)] = &[
    ("unreadable", "file or folder could not be read", "files or folders could not be read", true),
    (
        "closed",
        "file or folder of Setpoint's own was left out",
        "files or folders of Setpoint's own were left out",
        false,
    ),
    ("malformed", "line could not be understood", "lines could not be understood", true),
    (
        "undecoded",
        "line is not UTF-8, and may contain the text in another encoding",
        "lines are not UTF-8, and may contain the text in another encoding",
        true,
    ),
    ("not_followed", "symbolic link was not followed", "symbolic links were not followed", false),
    (
        "not_utf8",
        "value is not UTF-8, so that letters of it are shown as \u{fffd}",
        "values are not UTF-8, so that letters of them are shown as \u{fffd}",
        false,
    ),
    (
        "ragged",
        "row has more or fewer values than there are columns",
        "rows have more or fewer values than there are columns",
        false,
    ),
    ("empty_lines", "empty line was left out", "empty lines were left out", false),
    (
        "figures_unread",
        "column holds figures in a form that is not read as numbers or dates, and was taken for text ({})",
        "columns hold figures in a form that is not read as numbers or dates, and were taken for texts ({})",
        false,
    ),
    (
        "beside_numbers",
        "column holds numbers beside other values, and was taken for text ({})",
        "columns hold numbers beside other values, and were taken for texts ({})",
        false,
    ),
    (
        "beside_dates",
        "column holds dates beside other values, and was taken for text ({})",
        "columns hold dates beside other values, and were taken for texts ({})",
        false,
    ),
    (
        "dates_unordered",
        "column holds dates in several forms or with zones, and has no first and last one ({})",
        "columns hold dates in several forms or with zones, and have no first and last one ({})",
        false,
    ),
    (
        "files_as_large",
        "further file is as large as the last one listed",
        "further files are as large as the last one listed",
        false,
    ),
    (
        "folders_as_large",
        "further folder is as large as the last one listed",
        "further folders are as large as the last one listed",
        false,
    ),
    (
        "skipped",
        "hidden or ignored file, or folder of packages or caches, was left out",
        "hidden or ignored files, or folders of packages or caches, were left out",
        false,
    ),
    ("not_packed", "socket, pipe or device was left out", "sockets, pipes or devices were left out", false),
    (
        "not_listed",
        "link, socket, pipe or device was left out",
        "links, sockets, pipes or devices were left out",
        false,
    ),
    (
        "packed_again",
        "file has several names, and was packed under each of them",
        "files have several names, and were packed under each of them",
        false,
    ),
    (
        "before_1970",
        "file or folder is older than 1970, and was packed with the time of its beginning",
        "files or folders are older than 1970, and were packed with the time of its beginning",
        false,
    ),
    (
        "irregular_quotes",
        "quoted value could be read in another way: text follows its closing quote, a blank comes before its first \
         one, it has several lines, or its quotes are single ones",
        "quoted values could be read in another way: text follows their closing quotes, blanks come before their \
         first ones, they have several lines, or their quotes are single ones",
        false,
    ),
    (
        "continued",
        "line continues another or has no time of its own, and was not counted by its level",
        "lines continue others or have no time of their own, and were not counted by their levels",
        false,
    ),
    (
        "continued_doubtful",
        "of them names a level or speaks of an error, and may be an entry of its own",
        "of them name a level or speak of an error, and may be entries of their own",
        true,
    ),
    (
        "levels_elsewhere",
        "line has a word for a level where most lines have none, and may only speak of it",
        "lines have words for levels where most lines have none, and may only speak of them",
        true,
    ),
    (
        "suspect",
        "line without a known level may speak of an error",
        "lines without a known level may speak of errors",
        true,
    ),
    (
        "returns",
        "line has carriage returns within it, and was read as one line",
        "lines have carriage returns within them, and were read as one line each",
        true,
    ),
    (
        "hidden_changes",
        "file is marked so that Git does not see changes of it",
        "files are marked so that Git does not see changes of them",
        true,
    ),
    (
        "commits_elsewhere",
        "commit is on other branches or tags alone, and was not counted",
        "commits are on other branches or tags alone, and were not counted",
        false,
    ),
    ("not_objects", "of the rows is not an object", "of the rows are not objects", false),
    ("duplicate_keys", "key is given more than once", "keys are given more than once", false),
    (
        "outside",
        "path of the manifest leads out of the folder, and says nothing about it",
        "paths of the manifest lead out of the folder, and say nothing about it",
        false,
    ),
    (
        "outside_by_links",
        "path of the manifest leads out of the folder by a link, and says nothing about it",
        "paths of the manifest lead out of the folder by a link, and say nothing about it",
        true,
    ),
    (
        "other_case",
        "file has the text in its name with other capitals, and keeps it",
        "files have the text in their names with other capitals, and keep them",
        false,
    ),
    (
        "conflict_count",
        "file cannot get its new name ({})",
        "files cannot get their new names (the first: {})",
        false,
    ),
    (
        "links_to_old_names",
        "symbolic link leads to a file by its old name ({})",
        "symbolic links lead to files by their old names (the first: {})",
        false,
    ),
    (
        "unlisted",
        "file in the folder is not listed in the manifest",
        "files in the folder are not listed in the manifest",
        false,
    ),
    ("utf16", "file in UTF-16 was not searched", "files in UTF-16 were not searched", true),
    ("binary", "binary file was left out", "binary files were left out", false),
    (
        "other_file_systems",
        "folder on another file system was left out",
        "folders on other file systems were left out",
        false,
    ),
];

/// Conditions that a call may report: the fact, its words, and whether the answer is then incomplete.
const TOLD: &[(&str, &str, bool)] = &[
    ("detached", "no branch is checked out: HEAD is detached", false),
    ("shallow", "this is a shallow clone: older commits are not here", true),
    ("modes_ignored", "Git is set not to look at changes of file modes (core.fileMode)", false),
    ("links_unseen", "not everything here was searched for symbolic links to the files", false),
    ("submodules_unseen", "what is not committed in submodules was not looked at", true),
    ("no_time_known", "no line has a time in a form that is known", false),
    (
        "reads_as_pattern",
        "the text holds signs of a regular expression, and was looked for as it is written",
        false,
    ),
    ("thousands_doubtful", "a point may separate thousands instead of a fraction", false),
    (
        "names_doubtful",
        "the first row was taken for the names of the columns, but it looks like values or a title",
        false,
    ),
    ("distinct_cut", "distinct values were counted up to 1,000,000 in all", true),
    ("total_row", "the last row looks like a total, and was counted as a row", false),
    ("mostly_without_level", "most lines have no level that is known", true),
    ("unclosed_quote", "a quote is never closed, so the end of the file was taken for one value", false),
];

/// Texts that a call may report: the fact, and its words with the text at `{}`. They do not affect completeness.
const NAMED: &[(&str, &str)] = &[
    ("separator_rival", "“{}” could separate the values as well"),
    ("name_repeated", "a column name is given more than once ({})"),
    ("first_ragged", "the first row with another number of values is row {}, the names not counted"),
    ("whole_of", "the figures are those of the whole repository at {}"),
    (
        "none_below",
        "none of the listed files is below {}: name the folder that the paths are relative to (`verify MANIFEST \
         against ./FOLDER`)",
    ),
];

/// Maximum bytes of JSON for the parts of an answer; the lists of a longer one are shortened. A task keeps at most a
/// few times this of the results of its calls and checks.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Adds to an answer whether it is complete, and what was left out.
pub(super) fn add_gaps(output: &mut Value, results: &[&ToolRecord]) {
    let Value::Object(answer) = output else { return };
    let mut said: Vec<String> = Vec::new();
    let mut complete = true;
    for facts in results.iter().filter_map(|record| record.facts.as_ref()) {
        let is_left_out = |fact: &str| facts.get(fact).and_then(Value::as_u64).is_some_and(|count| count > 0);
        for (fact, one, many, is_gap) in COUNTED {
            let Some(count @ 1..) = facts.get(fact).and_then(Value::as_u64) else { continue };
            complete &= !is_gap;
            let named = facts.get(format!("{fact}_named")).and_then(Value::as_str).unwrap_or_default();
            let words = if count == 1 { one } else { many };
            said.push(format!("{count} {}", words.replace("{}", named)));
        }
        for (fact, words, is_gap) in TOLD {
            if facts.get(fact) == Some(&Value::Bool(true)) {
                complete &= !is_gap;
                said.push((*words).to_owned());
            }
        }
        for (fact, words) in NAMED {
            let text = facts.get(fact).and_then(Value::as_str);
            said.extend(text.map(|text| words.replace("{}", text)));
        }
        if facts.get("complete") == Some(&Value::Bool(false)) {
            complete = false;
            if !is_left_out("unreadable") && !is_left_out("closed") {
                said.push("a limit of time or size was reached, so there may be more".to_owned());
            }
        }
    }
    said.extend(shorten(answer));
    said.dedup();
    answer.insert("complete".to_owned(), Value::Bool(complete));
    if !said.is_empty() {
        answer.insert("left_out".to_owned(), Value::from(said));
    }
}

/// Cuts the longest lists of an answer that is too long, and returns the names of the cut lists.
fn shorten(answer: &mut Map<String, Value>) -> Vec<String> {
    let size = |value: &Value| value.to_string().len();
    let size_of_all = |answer: &Map<String, Value>| answer.values().map(size).sum::<usize>();
    let mut cut: BTreeMap<String, usize> = BTreeMap::new();
    while size_of_all(answer) > ANSWER_BYTES_MAX {
        let lists = answer.iter_mut().filter_map(|(name, value)| Some((name, value.as_array_mut()?)));
        let longer = lists.filter(|(_, list)| list.len() > 1);
        let Some((name, list)) = longer.max_by_key(|(_, list)| list.iter().map(size).sum::<usize>()) else {
            break;
        };
        cut.entry(name.clone()).or_insert(list.len());
        list.truncate(list.len() * 3 / 4);
    }
    let mut said = shorter_lists(answer);
    for (name, before) in cut {
        let length = answer.get(&name).and_then(Value::as_array).map_or(0, Vec::len);
        if !said.iter().any(|said| said.ends_with(&format!(" {name} are listed"))) {
            said.push(format!("{length} of {before} {name} are listed"));
        }
    }
    said
}

/// Returns the lists with fewer entries than the answer's counts: `column_count` belongs to `columns`, and `count` to
/// the only list without a count of its own.
fn shorter_lists(answer: &Map<String, Value>) -> Vec<String> {
    let lists: Vec<(&String, usize)> =
        answer.iter().filter_map(|(name, value)| Some((name, value.as_array()?.len()))).collect();
    let counts: Vec<(&str, u64)> = answer
        .iter()
        .filter_map(|(name, value)| {
            Some((name.strip_suffix("count")?.trim_end_matches('_'), value.as_u64()?))
        })
        .collect();
    let is_of =
        |name: &str, of: &str| !of.is_empty() && name.chars().zip(of.chars()).take(4).all(|(a, b)| a == b);
    let others: Vec<&(&String, usize)> =
        lists.iter().filter(|(name, _)| !counts.iter().any(|(of, _)| is_of(name, of))).collect();
    let shorter = counts.iter().filter_map(|(of, count)| {
        let (name, length) = match (*of, others.as_slice()) {
            ("", [only]) => only,
            ("", _) => return None,
            (of, _) => lists.iter().find(|(name, _)| is_of(name, of))?,
        };
        (u64::try_from(*length).ok()? < *count).then(|| format!("{length} of {count} {name} are listed"))
    });
    shorter.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_of_a_too_long_answer_are_cut_and_marked() {
        let long = |count: usize| vec!["x".repeat(200); count];
        let mut answer = json!({"count": 900, "links": long(500), "keys": long(300), "total": 7});
        let answer = answer.as_object_mut().unwrap();
        let said = shorten(answer);
        let length = |name: &str| answer[name].as_array().unwrap().len();
        let (links, keys) = (length("links"), length("keys"));
        assert!((100..300).contains(&links) && (100..300).contains(&keys), "{links} {keys}");
        assert_eq!(
            said,
            [format!("{keys} of 300 keys are listed"), format!("{links} of 500 links are listed")]
        );
        let mut short = json!({"links": long(300)});
        assert_eq!(shorten(short.as_object_mut().unwrap()), [""; 0]);
        assert_eq!(short["links"].as_array().unwrap().len(), 300);
    }

    #[test]
    fn cut_lists_are_reported_with_their_counts() {
        for (answer, said) in [
            (json!({"count": 300, "links": [1, 2]}), vec!["2 of 300 links are listed"]),
            (json!({"count": 2, "links": [1, 2]}), vec![]),
            (json!({"column_count": 9, "columns": [1], "rows": 12}), vec!["1 of 9 columns are listed"]),
            (json!({"count": 9}), vec![]),
            (
                json!({"count": 9, "lines": [1, 2], "file_count": 3, "files": [1]}),
                vec!["2 of 9 lines are listed", "1 of 3 files are listed"],
            ),
        ] {
            assert_eq!(shorter_lists(answer.as_object().unwrap()), said, "{answer}");
        }
    }
}
