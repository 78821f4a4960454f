//! Whole tasks with a faulty model server: every fault of the list, at every place that asks a model.

#[cfg(test)]
mod checks;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod organisation;
#[cfg(test)]
mod world;
