//! What may be answered at once.
//!
//! The model proposes an answer; this decides whether the input is small talk. A list of what is not small talk could
//! never be complete (the time, the news, a file, a president), and a model without tools would answer from training.
//! So this is an allow list: every word must be one of small talk's own. An input that is not recognised takes the
//! pipeline, which is slower and right.

use crate::words::{WordList, word_list};

/// Maximum length, in characters, of small talk.
const CHARS_MAX: usize = 60;

/// The vocabulary of small talk. Greetings and farewells, thanks, and questions about itself: no word names a thing, a
/// time or an action.
const WORDS: WordList = word_list!(
    "hi hello hey good morning afternoon evening night bye goodbye there hallo servus moin guten morgen tag \
     abend tschüss bonjour salut bonsoir hola buenos buenas días tardes noches ciao olá \
     thanks thank thx much very a lot danke schön vielen dank merci beaucoup gracias muchas grazie obrigado \
     obrigada \
     who are you how what is your name can do doing nice to meet wer bist du wie geht es dir heißt was kannst \
     qui es-tu tu êtes-vous quién eres cómo estás"
);

/// Whole inputs in scripts without spaces.
const PHRASES: WordList = word_list!(
    "你好 您好 早上好 晚上好 谢谢 谢谢你 多谢 再见 你是谁 你叫什么 你叫什么名字 你能做什么 你会做什么 \
    こんにちは こんばんは おはよう おはようございます ありがとう ありがとうございます さようなら \
    あなたは誰ですか 안녕 안녕하세요 감사합니다 고마워"
);

/// Returns whether the input is small talk that needs no outside fact. False in doubt.
pub(super) fn is_small_talk(raw_input: &str) -> bool {
    if raw_input.chars().count() > CHARS_MAX {
        return false;
    }
    let lower = raw_input.trim().to_lowercase();
    let bare = lower.trim_end_matches(['.', '!', '?', '。', '！', '？', '~', ' ']);
    if PHRASES.has(bare) {
        return true;
    }
    let mut any = false;
    let known =
        bare.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()).all(|word| {
            any = true;
            WORDS.has(word.trim_end_matches(['.', '!', '?']))
        });
    any && known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_thanks_and_questions_about_itself_are_small_talk() {
        for input in [
            "hi",
            "Hello there!",
            "thanks a lot",
            "Who are you?",
            "Hey, how are you?",
            "你好！",
            "Guten Morgen",
        ] {
            assert!(is_small_talk(input), "{input}");
        }
    }

    #[test]
    fn input_that_may_need_a_fact_is_not_small_talk() {
        for input in [
            "what time is it",
            "how many go files are here",
            "what is the date today",
            "what day is it today?",
            "who is the president of France",
            "hello.py",
            "hi, delete a.txt",
            "do it",
            "what is 2 + 2",
            "现在几点",
            "what is new",
            "what is today",
            "",
            "?!",
            "hello hello hello hello hello hello hello hello hello hello hello",
        ] {
            assert!(!is_small_talk(input), "{input}");
        }
    }
}
