//! Fingerprints that identify equal plans and sub-tasks regardless of their ids.
//!
//! A sub-task's fingerprint covers its intent (as [`Words`], so that case and punctuation do not count), the tools it
//! names, the targets that its checks probe, and the playbook approach it came from. Tools and targets count as sets.
//! A plan's fingerprint covers its sub-tasks' fingerprints, sorted: order, grouping and sub-tasks carried over from
//! an earlier round do not change it.

use std::collections::BTreeSet;

use setpoint_protocol::ToolId;
use setpoint_protocol::message::Approach;

/// Length of a fingerprint: 64 bits in hexadecimal. It distinguishes the plans of one task; it is not
/// collision-proof.
pub const FINGERPRINT_CHARS: usize = 16;

/// The parts of a sub-task that its fingerprint covers.
#[derive(Clone, Copy, Debug)]
pub struct SubTaskShape<'a> {
    /// Intent of the sub-task.
    pub intent: &'a str,
    /// Tools it names.
    pub tools: &'a [ToolId],
    /// Targets that its checks probe, each as `<tool>: <target>`.
    pub targets: &'a [String],
    /// Playbook approach it came from, if any.
    pub approach: Option<&'a Approach>,
}

impl SubTaskShape<'_> {
    /// Returns its fingerprint.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut digest = Digest::new("setpoint subtask v1");
        let words = Words::of(self.intent);
        digest.list(words.iter().collect::<Vec<_>>());
        digest.list(self.tools.iter().map(ToolId::as_str).collect::<BTreeSet<_>>());
        digest.list(self.targets.iter().collect::<BTreeSet<_>>());
        if let Some(approach) = self.approach {
            digest.part(approach.playbook.as_bytes());
            digest.part(approach.approach.as_bytes());
            digest.part(&approach.params.to_bytes());
        }
        digest.finish()
    }
}

/// Returns the fingerprint of a plan with these sub-tasks, carried ones included.
#[must_use]
pub fn of_plan<'a>(subtasks: impl IntoIterator<Item = &'a str>) -> String {
    let mut sorted: Vec<&str> = subtasks.into_iter().collect();
    sorted.sort_unstable();
    let mut digest = Digest::new("setpoint plan v1");
    digest.list(sorted);
    digest.finish()
}

/// The words of a text, lower-cased and without punctuation. In scripts written without spaces each character is a
/// word.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// All words, each followed by a space; no word contains one.
    spaced: String,
}

impl Words {
    /// Splits `text` into words.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut spaced = String::with_capacity(text.len() + 1);
        for c in text.chars() {
            let is_word = c.is_alphanumeric();
            let is_alone = is_word && is_unspaced(c);
            if (!is_word || is_alone) && !spaced.is_empty() && !spaced.ends_with(' ') {
                spaced.push(' ');
            }
            if is_alone {
                spaced.push(c);
                spaced.push(' ');
            } else if c.is_ascii() && is_word {
                spaced.push(c.to_ascii_lowercase());
            } else if is_word {
                spaced.extend(c.to_lowercase());
            }
        }
        if !spaced.is_empty() && !spaced.ends_with(' ') {
            spaced.push(' ');
        }
        Words { spaced }
    }

    /// Iterates over the words in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.spaced.split_terminator(' ')
    }

    /// Returns the number of words.
    #[must_use]
    pub fn count(&self) -> usize {
        self.iter().count()
    }
}

/// Returns whether the character belongs to kana, the ideographs or a script of mainland South-East Asia.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A hash over length-prefixed parts, so that two different lists never hash the same bytes.
struct Digest(blake3::Hasher);

impl Digest {
    fn new(domain: &str) -> Self {
        let mut digest = Digest(blake3::Hasher::new());
        digest.part(domain.as_bytes());
        digest
    }

    fn part(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn list<T: AsRef<str>>(&mut self, parts: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) {
        let parts = parts.into_iter();
        self.0.update(&(parts.len() as u64).to_le_bytes());
        for part in parts {
            self.part(part.as_ref().as_bytes());
        }
    }

    fn finish(&self) -> String {
        self.0.finalize().to_hex().chars().take(FINGERPRINT_CHARS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use setpoint_protocol::Any;

    fn of(intent: &str, tools: &[&str], targets: &[&str], params: Option<i32>) -> String {
        let tools: Vec<ToolId> = tools.iter().map(|id| id.parse().unwrap()).collect();
        let targets: Vec<String> = targets.iter().map(|&target| target.to_owned()).collect();
        let approach = params.map(|n| Approach {
            playbook: "p".to_owned(),
            approach: "a".to_owned(),
            params: Any(json!({ "n": n })),
        });
        SubTaskShape { intent, tools: &tools, targets: &targets, approach: approach.as_ref() }.fingerprint()
    }

    #[test]
    fn case_punctuation_and_order_of_tools_do_not_count() {
        let same = of("Count the lines, of `a.txt`!", &["b", "a"], &["x", "y"], None);
        assert_eq!(same, of("count the lines of a txt", &["a", "b", "a"], &["y", "x"], None));
        assert_eq!(same.len(), FINGERPRINT_CHARS);
    }

    #[test]
    fn intent_tools_targets_and_approach_count() {
        let all = [
            of("a b", &["t"], &["x"], None),
            of("a c", &["t"], &["x"], None),
            of("a b", &["u"], &["x"], None),
            of("a b", &["t"], &["z"], None),
            of("a b", &["t", "x"], &[], None),
            of("a b", &[], &["t", "x"], None),
            of("a b t", &[], &["x"], None),
            of("a b", &["t"], &["x"], Some(1)),
            of("a b", &["t"], &["x"], Some(2)),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn a_plan_is_a_bag_of_sub_tasks() {
        assert_eq!(of_plan(["a", "b"]), of_plan(["b", "a"]));
        assert_ne!(of_plan(["a", "b"]), of_plan(["a"]));
        assert_ne!(of_plan(["a", "a"]), of_plan(["a"]));
        assert_ne!(of_plan(["ab"]), of_plan(["a", "b"]));
    }

    #[test]
    fn scripts_without_spaces_are_read_character_by_character() {
        let words = |text| Words::of(text).iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words("List 三个 FILES, a.txt"), ["list", "三", "个", "files", "a", "txt"]);
        assert_eq!(words("ÄÖ三x"), ["äö", "三", "x"]);
        assert_eq!(words("  …!"), [""; 0]);
    }
}
