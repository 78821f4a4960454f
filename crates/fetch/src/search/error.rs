//! Why a search told nothing.

use crate::{FetchError, TargetError};

/// Why a search told nothing. What is on the web is not known then.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The engine needs a key, and there is none.
    #[error(
        "it needs a key; name the environment variable that holds it as `search.key_env` in the configuration"
    )]
    NoKey,
    /// The query does not fit into an address.
    #[error("the query does not fit into its address; use a shorter one")]
    Address(#[source] TargetError),
    /// It could not be asked.
    #[error("it could not be asked")]
    Fetch(#[source] FetchError),
    /// It refused the key, or everybody.
    #[error(
        "it refused: the key is wrong or used up, or the server does not allow answers as JSON; check `search` in the configuration"
    )]
    Refused,
    /// It was asked too often.
    #[error("it was asked too often; wait, or configure another engine")]
    Busy,
    /// It wants to know whether a person is there.
    #[error(
        "it takes this program for a robot and shows a puzzle instead of results; wait, or configure another engine"
    )]
    Robot,
    /// It asks other engines, and none of them answered.
    #[error("none of the engines that it asks answered ({names}); try again later")]
    Engines {
        /// Some of them.
        names: String,
    },
    /// It answered something else than a list of results.
    #[error("its answer is not a list of results; try again later, or configure another engine")]
    Unfit,
}
