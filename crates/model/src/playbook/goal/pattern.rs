//! A pattern compiled for matching: a small program over words, and the values it sets.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::parse::{Part, PatternError, Slot, parse};

/// A goal pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Values that it sets independent of the goal.
    pub(crate) set: BTreeMap<String, Value>,
    pub(super) ops: Vec<Op>,
    slots: Vec<Slot>,
    always: BTreeSet<String>,
}

/// An instruction; addresses are indexes into the program.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// The next word must be this one.
    Word(String),
    /// The next words are the value of a parameter.
    Slot(Slot),
    /// Continue at one of these, tried in order.
    Split(Vec<usize>),
    /// Continue there.
    Jump(usize),
    /// The goal must end here.
    End,
}

impl Pattern {
    /// Compiles a pattern. `words` are the playbook's own named words.
    pub(crate) fn read(text: &str, words: &BTreeMap<String, String>) -> Result<Pattern, PatternError> {
        let parts = parse(text, words)?;
        let bound = sequence_bindings(&parts)?;
        if required_words(&parts) == 0 {
            return Err(PatternError::NoRequiredWord);
        }
        let mut ops = Vec::new();
        compile(&parts, &mut ops);
        ops.push(Op::End);
        let slots = ops
            .iter()
            .filter_map(|op| match op {
                Op::Slot(slot) => Some(slot.clone()),
                Op::Word(_) | Op::Split(_) | Op::Jump(_) | Op::End => None,
            })
            .collect();
        Ok(Pattern { set: BTreeMap::new(), ops, slots, always: bound.always })
    }

    /// Returns every parameter that it names.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns whether every match gives this parameter a value.
    pub(crate) fn always_binds(&self, param: &str) -> bool {
        self.always.contains(param) || self.set.contains_key(param)
    }
}

#[derive(Default)]
struct Bindings {
    ever: BTreeSet<String>,
    always: BTreeSet<String>,
}

fn sequence_bindings(parts: &[Part]) -> Result<Bindings, PatternError> {
    let mut all = Bindings::default();
    for part in parts {
        let inner = match part {
            Part::Word(_) => continue,
            Part::Slot(slot) => {
                let names = BTreeSet::from([slot.param.clone()]);
                Bindings { ever: names.clone(), always: names }
            }
            Part::Group { choices, optional } => {
                let mut group = Bindings::default();
                for (i, choice) in choices.iter().enumerate() {
                    let choice = sequence_bindings(choice)?;
                    group.always = if i == 0 { choice.always } else { &group.always & &choice.always };
                    group.ever.extend(choice.ever);
                }
                if *optional {
                    group.always.clear();
                }
                group
            }
        };
        if let Some(twice) = inner.ever.intersection(&all.ever).next() {
            return Err(PatternError::Twice(twice.clone()));
        }
        all.ever.extend(inner.ever);
        all.always.extend(inner.always);
    }
    Ok(all)
}

fn required_words(parts: &[Part]) -> usize {
    parts
        .iter()
        .map(|part| match part {
            Part::Word(_) => 1,
            Part::Slot(_) | Part::Group { optional: true, .. } => 0,
            Part::Group { choices, optional: false } => {
                choices.iter().map(|choice| required_words(choice)).min().unwrap_or(0)
            }
        })
        .sum()
}

fn compile(parts: &[Part], ops: &mut Vec<Op>) {
    for part in parts {
        match part {
            Part::Word(word) => ops.push(Op::Word(word.clone())),
            Part::Slot(slot) => ops.push(Op::Slot(slot.clone())),
            Part::Group { choices, optional } => {
                let split = ops.len();
                ops.push(Op::Split(Vec::new()));
                let mut starts = Vec::new();
                let mut jumps = Vec::new();
                for choice in choices {
                    starts.push(ops.len());
                    compile(choice, ops);
                    jumps.push(ops.len());
                    ops.push(Op::Jump(0));
                }
                let end = ops.len();
                if *optional {
                    starts.push(end);
                }
                if let Some(op) = ops.get_mut(split) {
                    *op = Op::Split(starts);
                }
                for jump in jumps {
                    if let Some(op) = ops.get_mut(jump) {
                        *op = Op::Jump(end);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pattern, PatternError> {
        Pattern::read(text, &BTreeMap::new())
    }

    #[test]
    fn parameters_that_are_always_bound_are_known() {
        let pattern = read("find ({a} b|c {a}) [in {d}]").unwrap();
        assert!(pattern.always_binds("a"));
        assert!(!pattern.always_binds("d"));
        assert_eq!(pattern.slots().len(), 3);
    }

    #[test]
    fn a_pattern_needs_a_word_and_binds_once() {
        assert_eq!(read("{a} [now]").unwrap_err(), PatternError::NoRequiredWord);
        assert_eq!(read("(x|{a})").unwrap_err(), PatternError::NoRequiredWord);
        assert_eq!(read("x {a} [y {a}]").unwrap_err(), PatternError::Twice("a".into()));
        assert!(read("x ({a}|{a} y)").is_ok());
    }
}
