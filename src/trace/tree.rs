//! Texts that programs write alike, as a tree of what stands before each value: a text that is like an earlier one is
//! read by comparing. Knows no values.

use crate::trace::literal::Literal;
use crate::trace::scan::Cursor;

/// Nodes of a tree. What needs more was not written by a program in a few forms; then the tree is grown anew, from one
/// unknown text in as many as [`EAGER`].
const MAX_NODES: usize = 256;

/// Bytes that may stand before a value.
const MAX_LITERAL: usize = 96;

/// Values that one text may have.
const MAX_STEPS: usize = 48;

/// So many texts are learnt at once; after them one of as many.
const EAGER: u32 = 64;

/// What stands before values, and the values behind it.
#[derive(Debug)]
pub struct Tree<V> {
    /// Every text begins with the first one or an alternative to it.
    nodes: Vec<Node<V>>,
    unknown: u32,
}

/// A value, and what stands before it.
#[derive(Debug)]
pub struct Node<V> {
    before: Literal,
    /// The value.
    pub value: V,
    /// The node that may stand in its place; [`NONE`]: none.
    other: usize,
    /// The node that follows, or an alternative to that; [`NONE`]: none.
    then: usize,
}

/// The number of no node.
const NONE: usize = usize::MAX;

/// What a text is made of.
#[derive(Debug)]
pub struct Steps<'a, V> {
    text: &'a str,
    /// Where the latest value ends.
    from: usize,
    steps: Vec<(Literal, V)>,
}

impl<V> Default for Tree<V> {
    fn default() -> Self {
        Tree { nodes: Vec::new(), unknown: 0 }
    }
}

impl<V: Copy + PartialEq> Tree<V> {
    /// Past what stands before the first value of a text.
    #[inline]
    pub fn first(&self, cursor: &mut Cursor<'_>) -> Option<&Node<V>> {
        self.find(self.nodes.first()?, cursor)
    }

    /// Past what stands before the value behind `node`.
    #[inline]
    pub fn next(&self, node: &Node<V>, cursor: &mut Cursor<'_>) -> Option<&Node<V>> {
        self.find(self.nodes.get(node.then)?, cursor)
    }

    #[inline]
    fn find<'t>(&'t self, mut node: &'t Node<V>, cursor: &mut Cursor<'_>) -> Option<&'t Node<V>> {
        while !cursor.eat_literal(&node.before) {
            node = self.nodes.get(node.other)?;
        }
        Some(node)
    }

    /// Whether nothing was learnt.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether a text that was not found should be learnt: where hardly two are alike, to learn takes longer than to
    /// read.
    pub fn wants_more(&mut self) -> bool {
        self.unknown = self.unknown.wrapping_add(1);
        self.unknown < EAGER || self.unknown.is_multiple_of(EAGER)
    }

    /// Learns a text.
    pub fn grow(&mut self, steps: Steps<'_, V>) {
        if self.nodes.len() + steps.steps.len() > MAX_NODES {
            self.nodes.clear();
        }
        let (mut parent, mut number) = (NONE, 0);
        for (before, value) in steps.steps {
            let mut last = NONE;
            while let Some(node) = self.nodes.get(number)
                && (&node.before, node.value) != (&before, value)
            {
                (last, number) = (number, node.other);
            }
            if self.nodes.get(number).is_none() {
                number = self.nodes.len();
                match (self.nodes.get_mut(last), parent) {
                    (Some(last), _) => last.other = number,
                    (None, NONE) => {}
                    (None, parent) => self.nodes[parent].then = number, // found or pushed above
                }
                self.nodes.push(Node { before, value, other: NONE, then: NONE });
            }
            parent = number;
            number = self.nodes[parent].then; // as above
        }
    }
}

impl<'a, V> Steps<'a, V> {
    /// Of `text`, none yet.
    pub fn new(text: &'a str) -> Steps<'a, V> {
        Steps { text, from: 0, steps: Vec::new() }
    }

    /// Skips the text before `place`.
    pub fn go_on(&mut self, place: usize) {
        self.from = place;
    }

    /// Adds the value that begins at `start`; none where there are too many, or too much stands between them.
    pub fn push(&mut self, start: usize, value: V) -> Option<()> {
        let before = Literal::new(self.text.get(self.from..start)?, MAX_LITERAL)?;
        self.steps.push((before, value));
        (self.steps.len() <= MAX_STEPS).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a text like `a:1;b:2;`, which are its digits.
    fn steps(text: &str) -> Steps<'_, usize> {
        let mut steps = Steps::new(text);
        for (place, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
            steps.push(place, place).unwrap();
            steps.go_on(place + 1);
        }
        steps
    }

    fn is_known(tree: &Tree<usize>, text: &str, values: usize) -> bool {
        let padded = format!("{text}                ");
        let mut cursor = Cursor::new(&padded);
        let mut node = tree.first(&mut cursor);
        for _ in 1..values {
            cursor.skip(1);
            node = node.and_then(|node| tree.next(node, &mut cursor));
        }
        node.is_some()
    }

    #[test]
    fn texts_are_known_by_what_stands_between_their_values() {
        let mut tree = Tree::default();
        for text in ["a:1;b:2;", "a:1;c:2;d:3", "x:1", "a:1;b:2;"] {
            tree.grow(steps(text));
        }
        assert_eq!(tree.nodes.len(), 5, "what texts have in common is kept once");
        assert!(is_known(&tree, "a:7;b:8;", 2) && is_known(&tree, "a:7;c:8;d:9", 3) && is_known(&tree, "x:0", 1));
        assert!(!is_known(&tree, "a:7;d:8;", 2) && !is_known(&tree, "y:0", 1) && !is_known(&tree, "a:7;b:8;d:9", 3));
    }

    #[test]
    fn long_texts_between_values_are_compared_whole() {
        let (long, other) = (format!("{}1", "x".repeat(60)), format!("{}y1", "x".repeat(59)));
        let mut tree = Tree::default();
        tree.grow(steps(&long));
        assert!(is_known(&tree, &long, 1) && !is_known(&tree, &other, 1));
        assert!(Steps::new(&"x".repeat(MAX_LITERAL + 1)).push(MAX_LITERAL + 1, 0).is_none());
    }

    #[test]
    fn a_tree_stays_small_and_learns_less_where_no_two_texts_are_alike() {
        let mut tree = Tree::default();
        let mut learnt = 0;
        for n in 0..10_000 {
            if tree.wants_more() {
                learnt += 1;
                let text = format!("{}:1;", "abcdefghij".chars().nth(n % 10).unwrap().to_string().repeat(n % 80 + 1));
                tree.grow(steps(&text));
            }
            assert!(tree.nodes.len() <= MAX_NODES);
        }
        assert!(learnt < 300, "{learnt}");
    }
}
