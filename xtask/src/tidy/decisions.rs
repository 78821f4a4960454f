//! Every decision follows the template, so that each records what it rules out.

use super::markdown;
use crate::finding::Finding;
use crate::tree::Tree;

const FOLDER: &str = "docs/decisions/";
const TEMPLATE: &str = "docs/decisions/0000-template.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(template) = tree.text(TEMPLATE) else {
        return vec![Finding::whole(TEMPLATE, "the template that decisions follow is missing")];
    };
    let wanted = sections(template);
    let mut findings = Vec::new();
    let mut number_before = None;
    for (path, text) in tree.texts("md") {
        let Some(name) = path.strip_prefix(FOLDER).filter(|_| path != TEMPLATE) else { continue };
        let number = name.split_once('-').map(|(number, _)| number).filter(|number| is_number(number));
        match number {
            None => {
                findings.push(Finding::whole(path, "the name does not begin with four digits and `-`"));
            }
            Some(number) if number_before == Some(number) => {
                findings.push(Finding::whole(path, format!("the number {number} is taken")));
            }
            Some(number) => {
                number_before = Some(number);
                findings.extend(title_differs(path, text, number));
            }
        }
        if sections(text) != wanted {
            let reason = format!("the sections are not those of the template: {}", wanted.join(", "));
            findings.push(Finding::whole(path, reason));
        }
        findings.extend(empty_sections(path, text));
    }
    findings
}

fn is_number(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn sections(text: &str) -> Vec<&str> {
    let second = markdown::headings(text).into_iter().filter(|(_, level, _)| *level == 2);
    second.map(|(_, _, heading)| heading).collect()
}

fn title_differs(path: &str, text: &str, number: &str) -> Option<Finding> {
    let titled = text.lines().next().is_some_and(|title| title.starts_with(&format!("# {number}: ")));
    (!titled)
        .then(|| Finding::at(path, 1, format!("the first line is not `# {number}: ` and what was decided")))
}

fn empty_sections(path: &str, text: &str) -> Vec<Finding> {
    let mut headings = markdown::headings(text);
    headings.retain(|(_, level, _)| *level > 1);
    let ends = headings.iter().skip(1).map(|(number, ..)| *number).chain([text.lines().count() + 1]);
    let mut findings = Vec::new();
    for ((start, _, heading), end) in headings.iter().zip(ends) {
        let mut body = text.lines().take(end - 1).skip(*start);
        if body.all(|line| line.trim().is_empty()) {
            findings.push(Finding::at(path, *start, format!("nothing is written under `{heading}`")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    const TEMPLATE: (&str, &str) =
        ("docs/decisions/0000-template.md", "# 0000: Title\n## Goals\n## Decision\n");

    #[test]
    fn decisions_follow_the_template() {
        super::super::check(
            super::check,
            &[
                TEMPLATE,
                ("docs/decisions/0001-good.md", "# 0001: Good\n## Goals\na\n## Decision\nb\n"),
                ("docs/decisions/0001-taken.md", "# 0001: Taken\n## Goals\na\n## Decision\nb\n"),
                ("docs/decisions/0002-bad.md", "# Bad\n\n## Decision\n\n## Goals\na\n"),
                ("docs/decisions/third.md", "# 0003: Third\n## Goals\na\n## Decision\nb\n"),
                ("docs/other.md", "# Other\n"),
            ],
            &expect![[r#"
                docs/decisions/0001-taken.md: the number 0001 is taken
                docs/decisions/0002-bad.md:1: the first line is not `# 0002: ` and what was decided
                docs/decisions/0002-bad.md: the sections are not those of the template: Goals, Decision
                docs/decisions/0002-bad.md:3: nothing is written under `Decision`
                docs/decisions/third.md: the name does not begin with four digits and `-`
            "#]],
        );
    }

    #[test]
    fn a_missing_template_is_found() {
        super::super::check(
            super::check,
            &[],
            &expect![[r#"
                docs/decisions/0000-template.md: the template that decisions follow is missing
            "#]],
        );
    }
}
