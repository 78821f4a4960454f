//! Lines of safe text with tones, and the only place that turns a tone into an escape sequence.

use anstyle::{AnsiColor, Style};

use super::columns::{char_width, clip, width};
use super::sanitise;

/// The meaning of a piece of text, which determines its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
    /// Less important.
    Dim,
    /// More important.
    Strong,
    /// Verified, met.
    Good,
    /// Failed.
    Bad,
    /// Neither good nor bad: gaps, waiting, vacuous.
    Care,
    /// Names: roles, directives.
    Name,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Tone::Plain => Style::new(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Strong => Style::new().bold(),
            Tone::Good => colour(AnsiColor::Green),
            Tone::Bad => colour(AnsiColor::Red),
            Tone::Care => colour(AnsiColor::Yellow),
            Tone::Name => colour(AnsiColor::Cyan),
        }
    }
}

/// One line of safe text: whatever is added is sanitised first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    spans: Vec<(Tone, String)>,
}

impl Line {
    /// Returns an empty line.
    #[must_use]
    pub fn new() -> Self {
        Line::default()
    }

    /// Returns a line of ordinary text.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Line::new().and(Tone::Plain, text)
    }

    /// Returns the lines of a text, each in `tone`; tabs are kept.
    #[must_use]
    pub fn block(tone: Tone, text: &str) -> Vec<Line> {
        let safe = sanitise::block(text);
        safe.lines().map(|line| Line { spans: vec![(tone, line.to_owned())] }).collect()
    }

    /// Adds text at the end and returns the line.
    #[must_use]
    pub fn and(mut self, tone: Tone, text: &str) -> Self {
        self.push(tone, text);
        self
    }

    /// Adds text at the end.
    pub fn push(&mut self, tone: Tone, text: &str) {
        self.push_safe(tone, sanitise::line(text));
    }

    /// Adds another line at the end.
    pub fn append(&mut self, other: Line) {
        for (tone, text) in other.spans {
            self.push_safe(tone, text);
        }
    }

    /// Adds another line at the end and returns the line.
    #[must_use]
    pub fn then(mut self, other: Line) -> Self {
        self.append(other);
        self
    }

    /// Pads it with spaces to `columns` columns.
    pub fn pad(&mut self, columns: usize) {
        let missing = columns.saturating_sub(self.width());
        self.push_safe(Tone::Plain, " ".repeat(missing));
    }

    /// Replaces the first character by another of the same width.
    #[must_use]
    pub(crate) fn with_first(mut self, first: char) -> Self {
        if let Some((_, text)) = self.spans.first_mut() {
            *text = std::iter::once(first).chain(text.chars().skip(1)).collect();
        }
        self
    }

    /// Returns its columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| width(text)).sum()
    }

    /// Returns whether it has no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns at most `columns` columns of it, with a mark for the rest.
    #[must_use]
    pub fn clip(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut clipped = Line::new();
        let mut room = columns;
        for (tone, text) in self.spans {
            let taken = width(&text);
            // The mark needs a column of its own, even if a piece ends exactly at the edge.
            if taken < room {
                room -= taken;
                clipped.push_safe(tone, text);
                continue;
            }
            let text = clip(&(text + "  "), room);
            clipped.push_safe(tone, text);
            break;
        }
        clipped
    }

    /// Replaces other characters by ASCII of the same width.
    #[must_use]
    pub fn into_ascii(mut self) -> Self {
        for (_, text) in &mut self.spans {
            if !text.is_ascii() {
                *text = text.chars().flat_map(ascii).collect();
            }
        }
        self
    }

    /// Returns the text without tones.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Returns the text for a terminal, with escape sequences for its tones if `colours`.
    #[must_use]
    pub fn paint(&self, colours: bool) -> String {
        if !colours {
            return self.to_text();
        }
        let mut painted = String::new();
        for (tone, text) in &self.spans {
            let style = tone.style();
            painted.push_str(&format!("{style}{text}{style:#}"));
        }
        painted
    }

    fn push_safe(&mut self, tone: Tone, text: String) {
        if text.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some((last, before)) if *last == tone => before.push_str(&text),
            _ => self.spans.push((tone, text)),
        }
    }
}

/// Returns the ASCII in place of a character: as many columns as the character takes.
fn ascii(c: char) -> impl Iterator<Item = char> {
    let sign = match c {
        c if c.is_ascii() => c,
        '●' | '▪' => '*',
        '◐' => '%',
        '○' => 'o',
        '✔' => '+',
        '✗' => 'x',
        '⊘' => '0',
        '·' => '.',
        '→' => '>',
        '▼' | '↓' => 'v',
        '▲' | '↑' => '^',
        'Ω' => 'O',
        '∇' | 'δ' => 'd',
        'α' => 'a',
        'β' => 'b',
        'ε' => 'e',
        'λ' => 'l',
        'ρ' => 'p',
        'θ' => 't',
        '≥' => '>',
        '≤' => '<',
        '▓' => '#',
        '░' | '─' | '—' | '–' => '-',
        '┌' | '└' | '┐' | '┘' => '+',
        '│' => '|',
        '…' => '~',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '\u{a0}' => ' ',
        _ => '?',
    };
    let columns = if c.is_ascii() { 1 } else { char_width(c) };
    std::iter::repeat_n(sign, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_line_keeps_its_tones_and_says_that_it_was_cut() {
        let line = Line::plain("goal ").and(Tone::Strong, "日本語").and(Tone::Dim, " tail");
        assert_eq!(line.clone().clip(99), line);
        assert_eq!(line.clone().clip(10).to_text(), "goal 日本…");
        assert_eq!(line.clone().clip(11).to_text(), "goal 日本…");
        assert_eq!(line.clone().clip(5).to_text(), "goal…");
        assert_eq!(line.clip(0).to_text(), "");
    }

    #[test]
    fn only_paint_writes_escapes() {
        let line = Line::new().and(Tone::Bad, "\u{1b}[2Jx");
        assert_eq!(line.paint(false), "␛[2Jx");
        assert_eq!(line.paint(true), "\u{1b}[31m␛[2Jx\u{1b}[0m");
    }

    #[test]
    fn ascii_is_as_wide_as_the_original() {
        let line = Line::plain("✔ 日本 e\u{301} → Ω ▓░ …").into_ascii();
        assert_eq!(line.to_text(), "+ ???? e > O #- ~");
    }
}
