//! The Merkle tree over the entries: that of RFC 6962, with blake3 in the place of SHA-256.
//!
//! A leaf is the hash of an entry (see [`crate::log::chain`]), a node is the hash of 0x01 and its two children. The
//! tree is kept as its frontier, the roots of the full subtrees from left to right, so that one more entry costs
//! one node on average and a root costs as many as the tree is deep.

use crate::log::chain::Hash;

/// A tree that grows by one leaf at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    size: u64,
    frontier: Vec<Hash>,
}

impl Tree {
    /// The tree of this size with these full subtrees; `None` where so many cannot be.
    pub(crate) fn at(size: u64, frontier: Vec<Hash>) -> Option<Self> {
        (u32::try_from(frontier.len()).ok()? == size.count_ones()).then_some(Self { size, frontier })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn frontier(&self) -> &[Hash] {
        &self.frontier
    }

    /// One more leaf.
    pub(crate) fn push(&mut self, leaf: Hash) {
        let mut root = leaf;
        for _ in 0..self.size.trailing_ones() {
            // There is a subtree for each bit of the size.
            let Some(left) = self.frontier.pop() else { break };
            root = node(&left, &root);
        }
        self.frontier.push(root);
        self.size += 1;
    }

    /// The root; of an empty tree the hash of nothing.
    pub(crate) fn root(&self) -> Hash {
        let mut subtrees = self.frontier.iter().rev();
        match subtrees.next() {
            None => Hash::of(b""),
            Some(last) => subtrees.fold(*last, |right, left| node(left, &right)),
        }
    }
}

/// A node over two subtrees.
pub(crate) fn node(left: &Hash, right: &Hash) -> Hash {
    let mut bytes = [0x01; 65];
    let (_, children) = bytes.split_at_mut(1);
    let (first, second) = children.split_at_mut(32);
    first.copy_from_slice(&left.0);
    second.copy_from_slice(&right.0);
    Hash::of(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, word for word: RFC 6962, section 2.1.
    fn by_definition(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => Hash::of(b""),
            [leaf] => *leaf,
            _ => {
                // The largest power of two smaller than their number.
                let split = leaves.len().next_power_of_two() / 2;
                node(&by_definition(&leaves[..split]), &by_definition(&leaves[split..]))
            }
        }
    }

    #[test]
    fn the_root_is_that_of_the_definition_at_every_size() {
        let leaves: Vec<Hash> = (0..300u32).map(|n| Hash::of(&n.to_le_bytes())).collect();
        let mut tree = Tree::default();
        for size in 0..leaves.len() {
            assert_eq!(tree.root(), by_definition(&leaves[..size]), "{size}");
            assert_eq!(Tree::at(size as u64, tree.frontier().to_vec()).as_ref(), Some(&tree));
            tree.push(leaves[size]);
        }
        assert_eq!(tree.size(), 300);
    }

    #[test]
    fn a_node_is_told_from_a_leaf_and_left_from_right() {
        let (a, b) = (Hash::of(b"a"), Hash::of(b"b"));
        assert_ne!(node(&a, &b), node(&b, &a));
        assert_ne!(node(&a, &b), Hash::of(&[[0x00].as_slice(), &a.0, &b.0].concat()));
    }

    #[test]
    fn a_frontier_of_another_size_is_refused() {
        assert_eq!(Tree::at(3, vec![Hash::NONE]), None);
        assert_eq!(Tree::at(u64::MAX, vec![Hash::NONE; 63]), None);
    }
}
