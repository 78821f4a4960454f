//! Generates random lines: a read-only command, altered by the tricks of the corpus.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{FRAMES, GIT, LETTERS, METACHARACTERS, OPERANDS, PLACES, PROGRAMS, WRAPPERS};
use crate::corpus;
use crate::world::PROJECT;

const EFFECTS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../command_line/tests/corpus/effects.txt"));
const LOOKING: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../command_line/tests/corpus/looking_around.txt"));

/// The parts that lines consist of.
pub(super) struct Grammar {
    /// Read-only lines.
    benign: Vec<String>,
    /// Lines that have an effect.
    effects: Vec<String>,
    /// Words of those, and the words that look like options.
    words: Vec<String>,
    options: Vec<String>,
    /// The options of each program in both lists, some with the word after them.
    own: BTreeMap<String, Vec<String>>,
}

impl Grammar {
    pub(super) fn new() -> Self {
        let benign: Vec<String> = corpus::lines(LOOKING).into_iter().map(|line| line.command).collect();
        let effects: Vec<String> = corpus::lines(EFFECTS).into_iter().map(|line| line.command).collect();
        let words: BTreeSet<String> = effects
            .iter()
            .chain(&benign)
            .flat_map(|line| line.split([' ', '\n', ';', '|', '&']).filter(|word| !word.is_empty()))
            .map(str::to_owned)
            .collect();
        let options = words.iter().filter(|word| word.starts_with('-')).cloned().collect();
        let own = own_options(effects.iter().chain(&benign));
        Grammar { own, benign, effects, words: words.into_iter().collect(), options }
    }

    /// Returns the directory and the line of a seed.
    pub(super) fn line(&self, seed: u64) -> (&'static str, String) {
        let mut chance = Chance::new(seed);
        let mut line = self.pipeline(&mut chance);
        for _ in 0..*chance.pick::<usize>(&[0, 0, 0, 1, 1, 1, 2, 3]) {
            line = self.bent(&line, &mut chance);
        }
        let place = if chance.below(2) == 0 { PROJECT } else { chance.pick::<&'static str>(PLACES) };
        (place, line)
    }

    fn pipeline(&self, chance: &mut Chance) -> String {
        let mut line = self.command(chance);
        for _ in 0..*chance.pick::<usize>(&[0, 0, 0, 1, 1, 2]) {
            line.push_str(chance.pick::<&str>(&[" | ", " | ", " && ", " || ", "; ", "\n", "|"]));
            line.push_str(&self.command(chance));
        }
        line
    }

    fn command(&self, chance: &mut Chance) -> String {
        match chance.below(20) {
            0..=9 => chance.pick::<String>(&self.benign).clone(),
            10..=12 => {
                let sub = chance.pick::<&str>(GIT);
                format!("git {sub}{}", self.arguments("git", chance))
            }
            13..=16 => self.bent(chance.pick::<String>(&self.effects), chance),
            _ => {
                let program = chance.pick::<&str>(PROGRAMS);
                format!("{program}{}", self.arguments(program, chance))
            }
        }
    }

    fn arguments(&self, program: &str, chance: &mut Chance) -> String {
        let mut text = String::new();
        for _ in 0..chance.below(4) {
            text.push(' ');
            match chance.below(8) {
                0 => text.push_str(chance.pick::<String>(&self.options)),
                1 => {
                    text.push('-');
                    for _ in 0..=chance.below(2) {
                        text.push(*chance.pick::<char>(&LETTERS));
                    }
                }
                2 => text.push_str(chance.pick::<String>(&self.words)),
                3 | 4 => text.push_str(self.own_option(program, chance)),
                _ => text.push_str(chance.pick::<&str>(OPERANDS)),
            }
        }
        text
    }

    fn own_option(&self, program: &str, chance: &mut Chance) -> &str {
        chance.pick::<String>(self.own.get(program).unwrap_or(&self.options))
    }

    /// Returns the line with one more trick.
    fn bent(&self, line: &str, chance: &mut Chance) -> String {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let at = chance.below(words.len());
        let last = words.len();
        match chance.below(17) {
            0 => words.insert(chance.below(last + 1), chance.pick::<String>(&self.words).clone()),
            1 => words.insert(chance.below(last + 1), chance.pick::<String>(&self.options).clone()),
            2 => words.insert(chance.below(last + 1), (*chance.pick::<&str>(OPERANDS)).to_owned()),
            3 => words.insert(chance.below(last + 1), (*chance.pick::<&str>(WRAPPERS)).to_owned()),
            4 => words[at] = (*chance.pick::<&str>(OPERANDS)).to_owned(),
            5 => words[at] = quoted(&words[at], chance),
            6 => words[at] = inserted(&words[at], chance.pick::<&str>(METACHARACTERS), chance),
            7 => words[at] = inserted(&words[at], chance.pick::<&str>(METACHARACTERS), chance),
            8 => drop(words[at].pop()),
            9 => words.swap(at, last - 1),
            10 => words.insert(at, words[at].clone()),
            11 => {
                let other = chance.pick::<String>(&self.words).clone();
                words[at].push_str(&other);
            }
            12 => {
                let joint = chance.pick::<&str>(&["; ", " | ", " && ", " || ", "\n", " & ", " #", " \\\n"]);
                return format!("{line}{joint}{}", chance.pick::<String>(&self.effects));
            }
            13 => {
                let (open, close) = *chance.pick::<(&str, &str)>(FRAMES);
                return format!("{open}{line}{close}");
            }
            14 | 15 => {
                let programs: Vec<usize> =
                    (0..last).filter(|at| self.own.contains_key(&words[*at])).collect();
                if !programs.is_empty() {
                    let at = *chance.pick::<usize>(&programs);
                    let option = self.own_option(&words[at], chance).to_owned();
                    words.insert(at + 1 + chance.below(last - at), option);
                }
            }
            _ => {
                let (open, close) = *chance.pick::<(&str, &str)>(FRAMES);
                words[at] = format!("{open}{}{close}", chance.pick::<String>(&self.effects));
            }
        }
        words.join(" ")
    }
}

/// Returns the options of each program in the lines, each also with the word that follows.
fn own_options<'a>(lines: impl Iterator<Item = &'a String>) -> BTreeMap<String, Vec<String>> {
    let mut own: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let Some(at) = words.iter().position(|word| PROGRAMS.contains(word)) else { continue };
        let options = own.entry(words[at].to_owned()).or_default();
        for (index, word) in words.iter().enumerate().skip(at + 1).filter(|(_, word)| word.starts_with('-')) {
            options.push((*word).to_owned());
            options.extend(words.get(index + 1).map(|value| format!("{word} {value}")));
        }
    }
    own.retain(|_, options| !options.is_empty());
    own
}

fn quoted(word: &str, chance: &mut Chance) -> String {
    match chance.below(6) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("$'{word}'"),
        3 => format!("\\{word}"),
        4 => inserted(word, "''", chance),
        _ => inserted(word, "\\", chance),
    }
}

/// Inserts the piece at a random position of the word.
fn inserted(word: &str, piece: &str, chance: &mut Chance) -> String {
    let at = chance.below(word.chars().count() + 1);
    let before: String = word.chars().take(at).collect();
    let after: String = word.chars().skip(at).collect();
    format!("{before}{piece}{after}")
}

/// A deterministic pseudo-random generator.
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
        // Spreads neighbouring seeds; the generator never leaves the state zero.
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            chance.below(1);
        }
        chance
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
