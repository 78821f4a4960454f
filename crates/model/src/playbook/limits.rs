//! The limits of playbooks. The error for a file that exceeds one names it.

/// Largest playbook file, in bytes.
pub const PLAYBOOK_BYTES_MAX: usize = 256 * 1024;
/// Maximum files read from a user's directory, sorted by name; the rest are reported and not read.
pub const PLAYBOOK_FILES_MAX: usize = 256;
/// Longest name of a playbook, an approach, a variant, a parameter or a criterion, in characters.
pub const NAME_CHARS_MAX: usize = 64;
/// Longest title, description or note, in characters.
pub const PROSE_CHARS_MAX: usize = 2_000;
/// Maximum goal patterns of one playbook.
pub const PATTERNS_MAX: usize = 64;
/// Longest goal pattern in characters, before and after its named words are inserted.
pub const PATTERN_CHARS_MAX: usize = 2_000;
/// Maximum words, groups and parameters of one goal pattern.
pub const PATTERN_PARTS_MAX: usize = 400;
/// Deepest nesting of groups in a goal pattern.
pub const PATTERN_DEPTH_MAX: usize = 8;
/// Maximum parameters of one playbook.
pub const PARAMS_MAX: usize = 32;
/// Maximum values of one choice.
pub const CHOICES_MAX: usize = 32;
/// Maximum example goals of one playbook.
pub const EXAMPLES_MAX: usize = 64;
/// Maximum approaches of one playbook.
pub const APPROACHES_MAX: usize = 8;
/// Maximum variants of one approach.
pub const VARIANTS_MAX: usize = 8;
/// Maximum steps of one approach.
pub const STEPS_MAX: usize = 16;
/// Maximum calls of one step: fewer than R3 has rounds.
pub const CALLS_MAX: usize = 12;
/// Maximum named commands of one playbook.
pub const COMMANDS_MAX: usize = 16;
/// Maximum programs that a command declares.
pub const PROGRAMS_MAX: usize = 24;
/// Maximum criteria of one playbook.
pub const CRITERIA_MAX: usize = 24;
/// Longest template, in characters.
pub const TEMPLATE_CHARS_MAX: usize = 8_000;
/// Maximum placeholders of one template.
pub const SLOTS_MAX: usize = 32;
/// Maximum filters of one placeholder.
pub const FILTERS_MAX: usize = 8;
/// Deepest nesting of a templated value.
pub const VALUE_DEPTH_MAX: usize = 16;
/// Maximum repetitions of a `repeat`.
pub const REPEAT_MAX: u64 = 100;
/// Longest goal that is matched with patterns, in characters.
pub const GOAL_CHARS_MAX: usize = 2_000;
/// Maximum words of a goal that is matched with patterns.
pub const GOAL_WORDS_MAX: usize = 120;
/// Longest value that a parameter takes from a goal, in characters.
pub const VALUE_CHARS_MAX: usize = 1_000;
/// Maximum playbooks that are named as close to a goal that none matches.
pub const CLOSEST_MAX: usize = 3;
