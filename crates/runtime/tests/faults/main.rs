//! Whole tasks against a model server that misbehaves: every fault of the list, at every place that asks a model.

#[cfg(test)]
mod checks;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod world;
