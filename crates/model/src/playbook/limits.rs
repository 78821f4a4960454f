//! Every limit of playbooks, with its name. A file that passes one is broken and says which.

/// Bytes of one playbook file.
pub const PLAYBOOK_BYTES_MAX: usize = 256 * 1024;
/// Files read from a user's directory, in order of their names; the rest are reported and not read.
pub const PLAYBOOK_FILES_MAX: usize = 256;
/// Characters of a name: of a playbook, an approach, a variant, a parameter, a criterion.
pub const NAME_CHARS_MAX: usize = 64;
/// Characters of a title, a description, a note.
pub const PROSE_CHARS_MAX: usize = 2_000;
/// Goal patterns of one playbook.
pub const PATTERNS_MAX: usize = 64;
/// Characters of one goal pattern, before and after its words are put in.
pub const PATTERN_CHARS_MAX: usize = 2_000;
/// Words, groups and parameters of one goal pattern.
pub const PATTERN_PARTS_MAX: usize = 400;
/// Nesting of groups in a goal pattern.
pub const PATTERN_DEPTH_MAX: usize = 8;
/// Parameters of one playbook.
pub const PARAMS_MAX: usize = 32;
/// Values of one choice.
pub const CHOICES_MAX: usize = 32;
/// Example goals of one playbook.
pub const EXAMPLES_MAX: usize = 64;
/// Approaches of one playbook.
pub const APPROACHES_MAX: usize = 8;
/// Variants of one approach.
pub const VARIANTS_MAX: usize = 8;
/// Steps of one approach.
pub const STEPS_MAX: usize = 16;
/// Calls of one step: fewer than R3 has rounds.
pub const CALLS_MAX: usize = 12;
/// Named commands of one playbook.
pub const COMMANDS_MAX: usize = 16;
/// Programs that a command is said to run.
pub const PROGRAMS_MAX: usize = 24;
/// Criteria of one playbook.
pub const CRITERIA_MAX: usize = 24;
/// Characters of one template.
pub const TEMPLATE_CHARS_MAX: usize = 8_000;
/// Placeholders of one template.
pub const SLOTS_MAX: usize = 32;
/// Filters of one placeholder.
pub const FILTERS_MAX: usize = 8;
/// Nesting of a templated value.
pub const VALUE_DEPTH_MAX: usize = 16;
/// Times that a `repeat` may repeat.
pub const REPEAT_MAX: u64 = 100;
/// Characters of a goal that is held against patterns; no playbook knows a longer one.
pub const GOAL_CHARS_MAX: usize = 2_000;
/// Words of a goal that is held against patterns; no playbook knows one with more.
pub const GOAL_WORDS_MAX: usize = 120;
/// Characters that a parameter may take from a goal.
pub const VALUE_CHARS_MAX: usize = 1_000;
/// Playbooks that are named as close to a goal that none knows.
pub const CLOSEST_MAX: usize = 3;
