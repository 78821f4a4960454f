//! Tables with aligned columns.

use super::columns::width;
use super::{Line, Tone};

/// A cell: its tone and its text.
pub type Cell = (Tone, String);

/// Returns rows with aligned columns, two spaces between them, nothing clipped. Columns of numbers are
/// aligned to the right.
#[must_use]
pub fn table(head: &[&str], rows: &[Vec<Cell>]) -> Vec<Line> {
    let count = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(0);
    let column = |n: usize| rows.iter().filter_map(move |row| row.get(n)).map(|(_, text)| text.as_str());
    let widths: Vec<usize> = (0..count)
        .map(|n| column(n).chain(head.get(n).copied()).map(safe_width).max().unwrap_or(0))
        .collect();
    let rights: Vec<bool> =
        (0..count).map(|n| column(n).all(is_number) && column(n).any(|text| !text.is_empty())).collect();
    let mut lines = Vec::new();
    if head.iter().any(|name| !name.is_empty()) {
        let names: Vec<Cell> = head.iter().map(|name| (Tone::Dim, (*name).to_owned())).collect();
        lines.push(row(&names, &widths, &rights));
    }
    lines.extend(rows.iter().map(|cells| row(cells, &widths, &rights)));
    lines
}

fn row(cells: &[Cell], widths: &[usize], rights: &[bool]) -> Line {
    let mut line = Line::new();
    let mut start = 0;
    for (n, (tone, text)) in cells.iter().enumerate() {
        let (room, right) = (widths.get(n).copied().unwrap_or(0), rights.get(n) == Some(&true));
        let indent = if right { room.saturating_sub(safe_width(text)) } else { 0 };
        if !text.is_empty() {
            line.pad(start + indent);
            line.push(*tone, text);
        }
        start += room + 2;
    }
    line
}

fn safe_width(text: &str) -> usize {
    width(&super::sanitise::line(text))
}

fn is_number(text: &str) -> bool {
    text.is_empty() || text.replace(',', "").parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn columns_are_lined_up_by_width() {
        let cell = |text: &str| (Tone::Plain, text.to_owned());
        let rows = [
            vec![cell("日本"), cell("7"), cell("x")],
            vec![cell("a"), cell("1,024"), cell("\u{1b}[2J")],
            vec![cell(""), cell(""), cell("last")],
        ];
        let text: String = table(&["name", "size", ""], &rows).iter().map(|l| l.to_text() + "\n").collect();
        expect![[r#"
            name   size
            日本      7  x
            a     1,024  ␛[2J
                         last
        "#]]
        .assert_eq(&text);
    }
}
