//! Reads JUnit XML, as far as needed: the test cases and their results.

use super::Counts;

/// Returns the counts of a report; `None` if the text is not a report.
pub(super) fn counts(text: &str) -> Option<Counts> {
    let begin = text.find("<testsuite")?;
    let is_head =
        |before: &str| before.lines().all(|line| line.trim().is_empty() || line.trim().starts_with("<?xml"));
    if !is_head(text.get(..begin)?) {
        return None;
    }
    let mut counts = Counts::default();
    let mut case: Option<Case> = None;
    let mut rest = text.get(begin..)?;
    while let Some(at) = rest.find('<') {
        rest = rest.get(at..)?;
        // These sections contain what a test printed, which is not markup.
        if let Some(end) = [("<![CDATA[", "]]>"), ("<!--", "-->")]
            .iter()
            .find_map(|(open, close)| rest.starts_with(open).then_some(*close))
        {
            rest = rest.split_once(end).map_or("", |(_, after)| after);
            continue;
        }
        let (tag, after) = rest.split_once('>')?;
        rest = after;
        let is_closed = tag.ends_with('/');
        let name = tag
            .trim_start_matches('<')
            .split(|c: char| c.is_whitespace() || c == '/')
            .next()
            .unwrap_or_default();
        match (name, &mut case) {
            ("testcase", _) if !is_closed => case = Some(Case::Passed),
            ("testcase", _) => counts.passed += 1,
            ("failure" | "error", Some(case)) => *case = Case::Failed,
            ("skipped", Some(case)) if *case == Case::Passed => *case = Case::Skipped,
            _ if tag.starts_with("</testcase") => match case.take() {
                Some(Case::Passed) => counts.passed += 1,
                Some(Case::Failed) => counts.failed += 1,
                Some(Case::Skipped) => counts.skipped += 1,
                None => {}
            },
            _ => {}
        }
    }
    Some(counts)
}

/// The result of a test case.
#[derive(PartialEq, Eq)]
enum Case {
    Passed,
    Failed,
    Skipped,
}
