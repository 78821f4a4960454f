//! Makes a question fit: into the model's window, and into what is left of the budgets.
//!
//! What is left out is decided here and nowhere else, by rule and in a fixed order, before the question is recorded:
//! so the journal holds what was sent, and a replay sends the same.

use setpoint_protocol::models::ModelCard;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::Usage;

use crate::model_call::ModelCall;
use crate::tokens;

/// Minimum answer that is worth asking for, in tokens.
pub const TOKENS_OUT_MIN: u32 = 256;
/// Share of a window that is filled, because our count of tokens is an estimate.
const FILLED: (u64, u64) = (9, 10);
/// Share of a window that an answer may take, if its limit would take more.
const ANSWER_SHARE: u64 = 4;

/// Limits on a question from the budgets. `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Tokens in and out.
    pub tokens: Option<u64>,
    /// Cost of the question and its answer.
    pub money: Option<Money>,
}

/// The maximum that a question takes; it is reserved until the answer arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Tokens in and out.
    pub tokens: u64,
    /// Cost of the question and its answer.
    pub money: Money,
    /// Whether the budgets limit its answer more than the role and the model do.
    pub is_tight: bool,
}

/// Why a question cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It is longer than the window, even without everything that may be left out.
    Window {
        /// Tokens that the question takes.
        tokens_in: u64,
        /// Tokens available for it.
        room: u64,
        /// The model's window in tokens.
        window: u32,
    },
    /// The budget of tokens is too small for it.
    Tokens {
        /// Tokens that it takes at least.
        least: u64,
        /// Tokens that are left.
        left: u64,
    },
    /// The budget of money is too small for it.
    Money {
        /// Minimum cost.
        least: Money,
        /// Money that is left.
        left: Money,
    },
    /// There is a budget of money, and the model's price is unknown.
    NoPrice,
}

/// Cuts the question to the model's window and its answer to what the budgets leave, and returns what it takes.
///
/// # Errors
/// Returns why it fits nowhere: then it must not be asked.
pub fn fit(ask: &mut ModelCall, card: &ModelCard, room: Room) -> Result<Need, Misfit> {
    let wanted = card.tokens_out_max.unwrap_or(u32::MAX).min(ask.limits.tokens_out_max);
    let wanted = match card.window_tokens {
        Some(window) => wanted.min(share_of(window)),
        None => wanted,
    };
    let thinking = thinking(card, wanted);
    ask.limits.tokens_out_max = wanted;
    ask.limits.tokens_thinking_max = thinking;
    if card.is_free {
        return match room.tokens {
            Some(0) => Err(Misfit::Tokens { least: 0, left: 0 }),
            _ => Ok(Need::default()),
        };
    }
    // Without a window or a limit nothing needs to be counted.
    if card.window_tokens.is_none() && room == Room::default() {
        return Ok(Need::default());
    }
    let thinking = u64::from(thinking);
    let overhead = overhead(ask, card);
    if let Some(window) = card.window_tokens {
        let filled = u64::from(window) * FILLED.0 / FILLED.1;
        let left = filled.saturating_sub(u64::from(wanted) + thinking + overhead);
        let tokens_in = ask.prompt.shrink(left, card.takes_tools);
        if tokens_in > left {
            return Err(Misfit::Window { tokens_in: tokens_in + overhead, room: left + overhead, window });
        }
    }
    let tokens_in = ask.prompt.tokens(card.takes_tools).saturating_add(overhead);
    let by_tokens = match room.tokens {
        Some(left) => by_tokens(left, tokens_in, thinking)?,
        None => u32::MAX,
    };
    let by_money = match room.money {
        Some(left) => by_money(left, card, tokens_in, thinking)?,
        None => u32::MAX,
    };
    let tokens_out = wanted.min(by_tokens).min(by_money);
    ask.limits.tokens_out_max = tokens_out;
    let usage = Usage { tokens_in, tokens_out: thinking + u64::from(tokens_out), tokens_cached: 0 };
    Ok(Need {
        tokens: tokens_in.saturating_add(usage.tokens_out),
        money: card.price.map_or(Money::ZERO, |price| price.of(usage)),
        is_tight: tokens_out < wanted,
    })
}

/// Estimates the tokens that go in with this question.
#[must_use]
pub fn tokens_in(ask: &ModelCall, card: &ModelCard) -> u64 {
    ask.prompt.tokens(card.takes_tools).saturating_add(overhead(ask, card))
}

/// Returns the tokens of thinking to ask for: what the card says, but at most the answer's share of the window, and
/// with the answer at most what the model puts out at once.
fn thinking(card: &ModelCard, wanted: u32) -> u32 {
    let by_window = card.window_tokens.map_or(u32::MAX, share_of);
    let by_model = card.tokens_out_max.map_or(u32::MAX, |most| most.saturating_sub(wanted));
    card.tokens_thinking_max.min(by_window).min(by_model)
}

/// Returns the tokens of an answer that the budget of tokens leaves.
fn by_tokens(left: u64, tokens_in: u64, thinking: u64) -> Result<u32, Misfit> {
    let fixed = tokens_in.saturating_add(thinking);
    let least = fixed.saturating_add(u64::from(TOKENS_OUT_MIN));
    if least > left {
        return Err(Misfit::Tokens { least, left });
    }
    Ok(u32::try_from(left - fixed).unwrap_or(u32::MAX))
}

/// Returns the tokens of an answer that the budget of money leaves.
fn by_money(left: Money, card: &ModelCard, tokens_in: u64, thinking: u64) -> Result<u32, Misfit> {
    let price = card.price.ok_or(Misfit::NoPrice)?;
    let fixed = price.token_in.times(tokens_in).plus(price.token_out.times(thinking));
    let least = fixed.plus(price.token_out.times(u64::from(TOKENS_OUT_MIN)));
    if least > left {
        return Err(Misfit::Money { least, left });
    }
    Ok(u32::try_from(left.minus(fixed).holds(price.token_out)).unwrap_or(u32::MAX))
}

/// Returns the tokens sent beside the prompt: the schema, and the tools if the provider has an interface for them.
fn overhead(ask: &ModelCall, card: &ModelCard) -> u64 {
    let schema = ask.schema.map_or(0, tokens::estimate);
    let tool = |tool: &std::sync::Arc<setpoint_protocol::tool::ToolSpec>| {
        tokens::estimate(&tool.name)
            + tokens::estimate(&tool.description)
            + tokens::estimate(&tool.input_schema.to_text())
    };
    let tools = if card.takes_tools { ask.tools().iter().map(tool).sum() } else { 0 };
    schema + tools
}

fn share_of(window: u32) -> u32 {
    u32::try_from(u64::from(window) / ANSWER_SHARE).unwrap_or(u32::MAX).max(TOKENS_OUT_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brief::{Brief, PerceiveBrief};
    use crate::model_call::ModelLimits;
    use crate::prompt::Prompt;

    fn ask(data_chars: usize, goal_chars: usize) -> ModelCall {
        let brief = PerceiveBrief {
            raw_input: String::new(),
            history: vec![],
            clarifications: vec![],
            title_only: false,
            may_ask: false,
            may_answer: false,
            surroundings: std::sync::Arc::default(),
            repair: None,
        };
        ModelCall {
            brief: Brief::Perceive(Box::new(brief)),
            prompt: Prompt::default().data("page", "a".repeat(data_chars), usize::MAX).task(
                "goal",
                "a".repeat(goal_chars),
                usize::MAX,
            ),
            schema: None,
            limits: ModelLimits::default(),
        }
    }

    fn window(tokens: u32) -> ModelCard {
        ModelCard { window_tokens: Some(tokens), ..ModelCard::named("m") }
    }

    #[test]
    fn a_question_never_takes_more_than_the_window() {
        for tokens in [2_000, 8_192, 16_384, 200_000] {
            for chars in [0, 1_000, 30_000, 1_000_000] {
                let mut ask = ask(chars, 2_000);
                let need = fit(&mut ask, &window(tokens), Room::default()).unwrap();
                assert!(need.tokens <= u64::from(tokens) * 9 / 10, "{tokens} {chars}: {need:?}");
                assert!(ask.limits.tokens_out_max <= (tokens / 4).max(TOKENS_OUT_MIN));
            }
        }
    }

    #[test]
    fn thinking_leaves_room_for_the_question_in_a_small_window() {
        let card = ModelCard { tokens_thinking_max: 24_576, ..window(16_384) };
        let need = fit(&mut ask(30_000, 2_000), &card, Room::default()).unwrap();
        assert!(need.tokens <= 16_384 * 9 / 10, "{need:?}");
    }

    #[test]
    fn thinking_and_answer_stay_within_the_models_output() {
        for (most, expected) in
            [(None, (8_192, 24_576)), (Some(32_000), (8_192, 23_808)), (Some(4_096), (4_096, 0))]
        {
            let card =
                ModelCard { tokens_thinking_max: 24_576, tokens_out_max: most, ..ModelCard::named("m") };
            let mut ask = ask(0, 400);
            fit(&mut ask, &card, Room::default()).unwrap();
            assert_eq!((ask.limits.tokens_out_max, ask.limits.tokens_thinking_max), expected);
        }
    }

    #[test]
    fn a_question_that_cannot_be_cut_to_fit_is_an_error() {
        let misfit = fit(&mut ask(1_000, 40_000), &window(8_192), Room::default()).unwrap_err();
        assert_eq!(misfit, Misfit::Window { tokens_in: 10_169, room: 5_324, window: 8_192 });
    }

    #[test]
    fn an_answer_is_bounded_by_model_role_and_budget() {
        let of = |card: ModelCard, room: Room| {
            let mut ask = ask(0, 400);
            fit(&mut ask, &card, room).map(|need| (ask.limits.tokens_out_max, need.tokens))
        };
        let card = ModelCard { tokens_out_max: Some(1_000), ..ModelCard::named("m") };
        let tokens = |left| Room { tokens: Some(left), money: None };
        assert_eq!(of(card.clone(), Room::default()), Ok((1_000, 0)));
        assert_eq!(of(card.clone(), tokens(10_000)), Ok((1_000, 1_116)));
        assert_eq!(of(card.clone(), tokens(600)), Ok((484, 600)));
        assert_eq!(of(card.clone(), tokens(371)), Err(Misfit::Tokens { least: 372, left: 371 }));
        let thinking = ModelCard { tokens_thinking_max: 200, ..card.clone() };
        assert_eq!(of(ModelCard { tokens_out_max: None, ..thinking }, tokens(600)), Ok((284, 600)));
        let money = Room { tokens: None, money: Money::of_units(1.0) };
        assert_eq!(of(card, money), Err(Misfit::NoPrice));
        let free = ModelCard { is_free: true, ..ModelCard::named("m") };
        assert_eq!(of(free.clone(), tokens(1)), Ok((8_192, 0)));
        assert_eq!(of(free, tokens(0)), Err(Misfit::Tokens { least: 0, left: 0 }));
    }
}
