//! A curve over days, drawn with characters. Pure: points in, lines out.
//!
//! A braille cell holds two by four dots, so that a curve is finer than the characters; in ASCII a cell has
//! an upper and a lower dot. Zero and the marks are always in the plot, because the curve is compared with
//! them.

use crate::text::{Line, Tone};

/// With fewer columns beside the labels, nothing is drawn, because a curve would show nothing.
const AREA_COLUMNS_MIN: usize = 10;
/// Columns that each label below the axis gets at least.
const TICK_COLUMNS: f64 = 8.0;
/// The empty braille cell; each dot of a cell adds its bit.
const BRAILLE: u32 = 0x2800;
/// The bits of a cell's dots, by line and column.
const BRAILLE_BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// A curve and how to draw it.
pub(crate) struct Plot<'p> {
    /// Days from the first moment, and the value then. Values that are not finite are left out.
    pub(crate) points: &'p [(f64, f64)],
    /// Values that get a line and a label of their own.
    pub(crate) marks: &'p [f64],
    /// Returns a value as text.
    pub(crate) label: fn(f64) -> String,
    /// Returns the tone of a value.
    pub(crate) tone: fn(f64) -> Tone,
    /// Columns that may be used.
    pub(crate) columns: usize,
    /// Lines for the curve; the axis takes two more.
    pub(crate) rows: usize,
    /// Whether only ASCII can be shown.
    pub(crate) is_ascii: bool,
}

/// The characters of a plot that are not the curve.
struct Signs {
    side: &'static str,
    side_labelled: &'static str,
    mark: &'static str,
    corner: &'static str,
    floor: char,
    tick: char,
}

const UNICODE: Signs =
    Signs { side: "│", side_labelled: "┤", mark: "┄", corner: "└", floor: '─', tick: '┬' };
const ASCII: Signs = Signs { side: "|", side_labelled: "+", mark: "-", corner: "+", floor: '-', tick: '+' };

impl Plot<'_> {
    /// Returns the lines; none if there is no point, or too little room.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut points: Vec<(f64, f64)> =
            self.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) else { return Vec::new() };
        let (first, last) = (*first, *last);
        let scale = Scale::of(&points, self.marks);
        let labels = self.labels(&scale);
        let gutter = labels.iter().flatten().map(|text| text.chars().count()).max().unwrap_or(0);
        let area = self.columns.saturating_sub(gutter + 1);
        if area < AREA_COLUMNS_MIN || self.rows == 0 {
            return Vec::new();
        }
        let cells = self.cells(&points, &scale, area);
        let signs = if self.is_ascii { &ASCII } else { &UNICODE };
        let mut lines: Vec<Line> = Vec::new();
        for (row, label) in labels.iter().enumerate() {
            let side = if label.is_some() { signs.side_labelled } else { signs.side };
            let text = format!("{:>gutter$}{side}", label.as_deref().unwrap_or_default());
            let line = Line::new().and(Tone::Dim, &text);
            let is_marked = self.marks.iter().any(|mark| self.row(&scale, *mark) == row);
            lines.push(self.row_line(line, cells.get(row), is_marked.then_some(signs.mark)));
        }
        let indent = " ".repeat(gutter);
        lines.extend(axis(&indent, area, last - first, signs));
        lines
    }

    /// Returns the labels of the rows: first the marks, then the ends, then zero, each if there is room for
    /// it.
    fn labels(&self, scale: &Scale) -> Vec<Option<String>> {
        let mut labels = vec![None; self.rows];
        let mut marks: Vec<(usize, f64)> = Vec::new();
        for mark in self.marks {
            let row = self.row(scale, *mark);
            let twin = marks.iter().any(|(other, value)| *other == row && *value == -*mark);
            marks.push((row, *mark));
            if let Some(label) = labels.get_mut(row) {
                *label = match label.take() {
                    Some(_) if twin => {
                        let both = if self.is_ascii { "+-" } else { "±" };
                        Some(format!("{both}{}", (self.label)(mark.abs()).trim_start_matches('+')))
                    }
                    Some(label) => Some(label),
                    None => Some((self.label)(*mark)),
                };
            }
        }
        for value in [scale.high, scale.low, 0.0] {
            if let Some(label) = labels.get_mut(self.row(scale, value)) {
                label.get_or_insert_with(|| (self.label)(value));
            }
        }
        labels
    }

    /// Returns the row of characters that a value falls into.
    fn row(&self, scale: &Scale, value: f64) -> usize {
        scale.dot(value, self.rows * self.dots().1) / self.dots().1
    }

    /// Returns the dots per cell: columns, rows.
    const fn dots(&self) -> (usize, usize) {
        if self.is_ascii { (1, 2) } else { (2, 4) }
    }

    /// Returns the cells with the curve's dots.
    fn cells(&self, points: &[(f64, f64)], scale: &Scale, area: usize) -> Vec<Vec<Cell>> {
        let (across, down) = self.dots();
        let mut cells = vec![vec![Cell::default(); area]; self.rows];
        let mut before: Option<usize> = None;
        for (column, value) in sampled(points, area * across).into_iter().enumerate() {
            let dot = scale.dot(value, self.rows * down);
            // Fill the gap between neighbouring dots, or a steep curve would fall apart.
            let (from, to) = match before {
                Some(before) if before < dot => (before + 1, dot),
                Some(before) if before > dot => (dot, before - 1),
                _ => (dot, dot),
            };
            for line in from..=to {
                let cell = cells.get_mut(line / down).and_then(|row| row.get_mut(column / across));
                let bit = BRAILLE_BITS.get(line % down).and_then(|bits| bits.get(column % across));
                if let (Some(cell), Some(bit)) = (cell, bit) {
                    cell.bits |= bit;
                    cell.tone = (self.tone)(value);
                }
            }
            before = Some(dot);
        }
        cells
    }

    fn row_line(&self, mut line: Line, cells: Option<&Vec<Cell>>, mark: Option<&'static str>) -> Line {
        let cells = cells.map(Vec::as_slice).unwrap_or_default();
        // A mark extends to the edge; without one, blanks to the right of the curve are left out.
        let shown = match mark {
            Some(_) => cells.len(),
            None => cells.iter().rposition(|cell| cell.bits > 0).map_or(0, |last| last + 1),
        };
        for cell in cells.iter().take(shown) {
            match (cell.bits, mark) {
                (0, Some(mark)) => line.push(Tone::Dim, mark),
                (0, None) => line.push(Tone::Plain, " "),
                (bits, _) if self.is_ascii => line.push(cell.tone, ascii(bits)),
                (bits, _) => {
                    let sign = char::from_u32(BRAILLE + bits).unwrap_or('*');
                    line.push(cell.tone, sign.encode_utf8(&mut [0; 4]));
                }
            }
        }
        line
    }
}

/// Returns the character for the upper dot, the lower one, or both.
const fn ascii(bits: u32) -> &'static str {
    match bits {
        0x01 => "'",
        0x02 => ".",
        _ => ":",
    }
}

/// A character of the curve.
#[derive(Clone, Copy, Default)]
struct Cell {
    bits: u32,
    tone: Tone,
}

/// The lowest and the highest value of the plot.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(points: &[(f64, f64)], marks: &[f64]) -> Self {
        let values = || points.iter().map(|(_, value)| *value).chain(marks.iter().copied());
        let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        Scale { low, high: if low < high { high } else { low + 1.0 } }
    }

    /// Returns which of `dots` dots, counted from the top, a value falls on.
    fn dot(&self, value: f64, dots: usize) -> usize {
        let most = dots.saturating_sub(1);
        // Halve first, because the difference of the largest numbers would overflow.
        let from_top = (self.high / 2.0 - value / 2.0) / (self.high / 2.0 - self.low / 2.0);
        ((from_top * most as f64).round() as usize).min(most)
    }
}

/// Returns the values at `places` equally spaced places, interpolated between the points.
fn sampled(points: &[(f64, f64)], places: usize) -> Vec<f64> {
    let (Some((first, value)), Some((last, _))) = (points.first(), points.last()) else { return Vec::new() };
    if first >= last {
        return vec![*value];
    }
    let mut rest = points.windows(2).peekable();
    let at = |place: usize| first + (last - first) * place as f64 / places.saturating_sub(1).max(1) as f64;
    let mut values = Vec::with_capacity(places);
    for x in (0..places).map(at) {
        while rest.peek().is_some_and(|pair| matches!(pair, [_, (end, _)] if *end < x)) {
            rest.next();
        }
        values.push(match rest.peek() {
            Some([(start, from), (end, to)]) if start < end => {
                let share = ((x - start) / (end - start)).clamp(0.0, 1.0);
                from * (1.0 - share) + to * share
            }
            Some([_, (_, to)]) => *to,
            _ => points.last().map_or(0.0, |(_, value)| *value),
        });
    }
    values
}

/// Returns the axis of days, and the labels below it.
fn axis(indent: &str, area: usize, days: f64, signs: &Signs) -> [Line; 2] {
    let step = step(days, area);
    let mut floor: Vec<char> = vec![signs.floor; area];
    let mut labels: Vec<char> = Vec::new();
    for n in 0.. {
        let day = step * f64::from(n);
        let share = if days > 0.0 { day / days } else { 0.0 };
        let column = (share * area.saturating_sub(1) as f64).round() as usize;
        let text = tick_label(day, step);
        let is_within = day <= days && (n == 0 || day > 0.0);
        // The corner takes a column before the first one of the area.
        let centred = (column + 2).saturating_sub(text.len().div_ceil(2));
        let start = if n == 0 { 1 } else { centred.min((area + 1).saturating_sub(text.len())) };
        if !is_within || (n > 0 && start <= labels.len()) {
            break;
        }
        if let Some(sign) = floor.get_mut(column) {
            *sign = signs.tick;
        }
        labels.resize(start, ' ');
        labels.extend(text.chars());
    }
    let (floor, labels): (String, String) = (floor.into_iter().collect(), labels.into_iter().collect());
    [
        Line::new().and(Tone::Dim, &format!("{indent}{}{floor}", signs.corner)),
        Line::new().and(Tone::Dim, &format!("{indent}{labels}")),
    ]
}

/// Returns the days between two labels: 1, 2 or 5 times a power of ten, with room for each label.
fn step(days: f64, area: usize) -> f64 {
    let least = days * TICK_COLUMNS / area.max(1) as f64;
    if least <= 0.0 || !least.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|n| n * power).find(|step| *step >= least);
    step.unwrap_or(10.0 * power)
}

fn tick_label(day: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{day:.decimals$} d");
    if day == 0.0 { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests;
