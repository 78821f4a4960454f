//! Whole organisations from seeds, and the traces that their records give.

#[cfg(test)]
mod seeds;
#[cfg(test)]
mod tree;
