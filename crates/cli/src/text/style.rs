//! Lines of safe text with tones, and the only place that turns a tone into an escape sequence.

use anstyle::{AnsiColor, Style};

use super::columns::{char_width, clip, width};
use super::sanitise;

/// What a piece of text means; the colour follows from it.
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
    /// Neither: gaps, waiting, vacuous.
    Care,
    /// Names of things: roles, directives.
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

/// One line. Whatever is put in is made safe first, so a line can always be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    spans: Vec<(Tone, String)>,
}

impl Line {
    /// An empty line.
    #[must_use]
    pub fn new() -> Self {
        Line::default()
    }

    /// A line of ordinary text.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Line::new().and(Tone::Plain, text)
    }

    /// The lines of a text, each in `tone`; tabs stay as they are.
    #[must_use]
    pub fn block(tone: Tone, text: &str) -> Vec<Line> {
        let safe = sanitise::block(text);
        safe.lines().map(|line| Line { spans: vec![(tone, line.to_owned())] }).collect()
    }

    /// With more text at its end.
    #[must_use]
    pub fn and(mut self, tone: Tone, text: &str) -> Self {
        self.push(tone, text);
        self
    }

    /// Puts more text at its end.
    pub fn push(&mut self, tone: Tone, text: &str) {
        self.push_safe(tone, sanitise::line(text));
    }

    /// Puts another line at its end.
    pub fn append(&mut self, other: Line) {
        for (tone, text) in other.spans {
            self.push_safe(tone, text);
        }
    }

    /// With another line at its end.
    #[must_use]
    pub fn then(mut self, other: Line) -> Self {
        self.append(other);
        self
    }

    /// Fills up with spaces to `columns` columns.
    pub fn pad(&mut self, columns: usize) {
        let missing = columns.saturating_sub(self.width());
        self.push_safe(Tone::Plain, " ".repeat(missing));
    }

    /// The same with another character in place of its first one, which must be as wide.
    #[must_use]
    pub(crate) fn with_first(mut self, first: char) -> Self {
        if let Some((_, text)) = self.spans.first_mut() {
            *text = std::iter::once(first).chain(text.chars().skip(1)).collect();
        }
        self
    }

    /// Columns that it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| width(text)).sum()
    }

    /// Whether there is nothing on it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// At most `columns` columns of it, with a mark of what was cut.
    #[must_use]
    pub fn clip(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut clipped = Line::new();
        let mut room = columns;
        for (tone, text) in self.spans {
            let taken = width(&text);
            // The mark needs a column of its own, also where a piece ends exactly at the edge.
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

    /// The same in ASCII, character by character and as wide as before.
    #[must_use]
    pub fn into_ascii(mut self) -> Self {
        for (_, text) in &mut self.spans {
            if !text.is_ascii() {
                *text = text.chars().flat_map(ascii).collect();
            }
        }
        self
    }

    /// The text alone.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The text as it is written to a terminal, with its tones when `colours` are wanted.
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

/// What stands for a character where only ASCII can be shown: as many columns as the character takes.
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
