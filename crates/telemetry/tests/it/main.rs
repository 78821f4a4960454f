//! Whole organisations from seeds, the traces that their records give, and what the documentation says of them.

#[cfg(test)]
mod attempts;
#[cfg(test)]
mod documented;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod tree;
