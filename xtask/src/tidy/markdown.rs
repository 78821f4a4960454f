//! Parses Markdown, as far as the rules need it: prose, links, headings and code.

/// Returns the lines outside fenced blocks, numbered from 1, without inline code.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    outside_fences(text).map(|(number, line)| (number, without_code(line)))
}

/// Returns the lines outside fenced blocks, unchanged.
pub(super) fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let line = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, None) => true,
            (None, Some(_)) => {
                fence = mark;
                false
            }
            (Some(open), mark) => {
                if mark == Some(open) {
                    fence = None;
                }
                false
            }
        }
    })
}

/// Returns the targets of the links in one line of prose: `[text](target)` and `[name]: target`.
pub(super) fn targets(line: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    if let Some((name, target)) = line.split_once("]: ")
        && name.starts_with('[')
    {
        targets.extend(target.split_whitespace().next());
    }
    let after_marks = line.split("](").skip(1);
    let inline = after_marks.filter_map(|rest| rest.split([')', ' ']).next());
    targets.extend(inline.map(|target| target.trim_matches(['<', '>'])));
    targets
}

/// Returns the texts of a line's inline code.
pub(super) fn code_spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// Returns headings with their line numbers and levels: `## Goals` is (2, "Goals").
pub(super) fn headings(text: &str) -> Vec<(usize, usize, &str)> {
    let levels = outside_fences(text).map(|(number, line)| {
        let rest = line.trim_start_matches('#');
        (number, line.len() - rest.len(), rest.trim())
    });
    levels.filter(|(_, level, _)| *level > 0).collect()
}

fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_leaves_out_fences_and_inline_code() {
        let text = "a `b` c\n```rust\nd\n~~~\n```\ne";
        let lines: Vec<_> = prose(text).collect();
        assert_eq!(lines, [(1, "a `` c".to_owned()), (6, "e".to_owned())]);
    }

    #[test]
    fn targets_of_both_forms_are_found() {
        assert_eq!(targets("see [a](b.md#c) and ![d](<e.png> \"title\")"), ["b.md#c", "e.png"]);
        assert_eq!(targets("[a]: ../b.md \"title\""), ["../b.md"]);
        assert_eq!(targets("array[0]: text"), Vec::<&str>::new());
    }

    #[test]
    fn headings_know_their_level() {
        assert_eq!(headings("# A\n\n## B c\n```\n# not\n```"), [(1, 1, "A"), (3, 2, "B c")]);
    }

    #[test]
    fn code_spans_are_the_odd_parts() {
        assert_eq!(code_spans("a `b` c `d`"), ["b", "d"]);
    }
}
