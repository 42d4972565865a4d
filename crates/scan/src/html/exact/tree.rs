//! A minimal document tree for html5ever's tree builder. It keeps only enough to determine which `base` elements are
//! in the document, and which of them is first (HTML, 4.2.3).
//!
//! ```
//! use baselink_scan::document::Standing;
//! use baselink_scan::Scanner;
//! // Foster parenting puts the second `base` before the table: first in tree order.
//! let page = b"<table><td><base href=a></td></tr><base href=b></table>";
//! let options = baselink_scan::ScanOptions { scanner: Scanner::Exact, ..Default::default() };
//! let bases = baselink_scan::scan(page, &options).bases;
//! let found: Vec<_> = bases.iter().map(|base| (base.span.start, base.standing)).collect();
//! assert_eq!(found, [(34, Standing::First), (11, Standing::Later)]);
//! ```
//!
//! Deliberately absent: text, the content of comments, and all attributes but the `href` of `base`. They do not
//! affect the order of `base` elements.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    rc::Rc,
};

use html5ever::{
    Attribute, ExpandedName, QualName, expanded_name, local_name, ns,
    tendril::StrTendril,
    tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
};

use crate::{attributes::Namespace, document::Standing};

/// The index that means "no node".
const NONE: u32 = u32::MAX;

/// A node: its name, and its index in [`Tree`]'s links.
pub type Node = Rc<NodeFacts>;

pub struct NodeFacts {
    id: u32,
    name: QualName,
    integration_point: bool,
}

#[derive(Clone, Copy)]
struct NodeLinks {
    parent: u32,
    previous: u32,
    next: u32,
    first: u32,
    last: u32,
    children: u32,
    /// The innermost marked element around the node's children, possibly the node itself.
    marked: Option<MarkedNode>,
}

const UNLINKED: NodeLinks = NodeLinks {
    parent: NONE,
    previous: NONE,
    next: NONE,
    first: NONE,
    last: NONE,
    children: 0,
    marked: None,
};

/// An open element of interest: a `style` in SVG, or an `annotation-xml` that contains HTML.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MarkedNode {
    /// The number of the node. Elements have higher numbers than the elements around them.
    pub id: u32,
    pub is_style: bool,
}

/// The place of the current node of the tree builder.
pub struct TreePlace {
    /// The current node, if it is marked.
    pub own: Option<MarkedNode>,
    /// The number of the innermost marked element around it; 0 if there is none.
    pub around: u32,
}

/// A `base` element with the offset of the tag that created it.
struct BaseNode {
    id: u32,
    tag: usize,
    href: bool,
    html: bool,
}

/// The name of nodes that are not elements.
fn nameless() -> QualName {
    QualName::new(None, ns!(), local_name!(""))
}

/// The tree that html5ever's tree builder builds.
pub struct Tree {
    document: Node,
    links: RefCell<Vec<NodeLinks>>,
    bases: RefCell<Vec<BaseNode>>,
    /// The offset of the tag that is being inserted.
    tag: Cell<usize>,
    /// The namespace of the last element created for that tag.
    namespace: Cell<Namespace>,
    /// The node whose name was last requested.
    named: Cell<u32>,
    calls: Cell<u64>,
    /// The number of steps that a tree with lists of children and attributes would have taken to search these lists.
    steps: Cell<u64>,
    /// The number of `option` elements.
    options: Cell<u64>,
    /// The number of attributes offered to existing elements.
    merged: Cell<u64>,
}

impl Tree {
    pub fn new() -> Self {
        Self {
            document: Rc::new(NodeFacts {
                id: 0,
                name: nameless(),
                integration_point: false,
            }),
            links: RefCell::new(vec![UNLINKED]),
            bases: RefCell::default(),
            tag: Cell::new(0),
            namespace: Cell::new(Namespace::Html),
            named: Cell::new(0),
            calls: Cell::new(0),
            steps: Cell::new(0),
            options: Cell::new(0),
            merged: Cell::new(0),
        }
    }

    /// The number of steps that a tree with lists, such as markup5ever_rcdom's, would have taken to search them.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    fn step(&self, steps: u64) {
        self.steps.set(self.steps.get() + steps);
    }

    /// The number of calls into the tree.
    pub fn calls(&self) -> u64 {
        self.calls.get()
    }

    fn count(&self) {
        self.calls.set(self.calls.get() + 1);
    }

    /// Records that the tree builder is about to process the tag at `tag`.
    pub fn enter_tag(&self, tag: usize) {
        self.tag.set(tag);
        self.namespace.set(Namespace::Html);
    }

    /// The namespace of the last element created for the current tag; HTML if there is none.
    pub fn namespace(&self) -> Namespace {
        self.namespace.get()
    }

    /// The place of the node whose name was last requested.
    pub fn place(&self) -> TreePlace {
        let (id, links) = (self.named.get(), self.links.borrow());
        let NodeLinks { parent, marked, .. } = links[id as usize];
        let own = marked.filter(|marked| marked.id == id);
        let around = match own {
            Some(_) => links.get(parent as usize).and_then(|parent| parent.marked),
            None => marked,
        };
        TreePlace {
            own,
            around: around.map_or(0, |marked| marked.id),
        }
    }

    /// Every `base` element by the offset of its tag: the effective one first, the others in source order.
    pub fn bases(&self) -> Vec<(usize, Standing)> {
        let bases = self.bases.borrow();
        if bases.is_empty() {
            return Vec::new();
        }
        let order = self.tree_order();
        let position = |base: &BaseNode| order[base.id as usize];
        let first = bases
            .iter()
            .filter(|base| base.html && base.href && position(base) != NONE)
            .min_by_key(|base| position(base))
            .map(|base| base.tag);
        let mut standings = Vec::with_capacity(bases.len());
        for base in bases.iter() {
            let standing = if Some(base.tag) == first {
                Standing::First
            } else if !base.html {
                Standing::Foreign
            } else if position(base) == NONE {
                Standing::Template
            } else if !base.href {
                Standing::NoHref
            } else {
                Standing::Later
            };
            standings.push((base.tag, standing));
        }
        standings.sort_by_key(|&(tag, standing)| (standing != Standing::First, tag));
        standings.dedup();
        standings
    }

    /// The position of each node in tree order, or [`NONE`] outside the document tree.
    fn tree_order(&self) -> Vec<u32> {
        let links = self.links.borrow();
        let mut order = vec![NONE; links.len()];
        let mut position = 0;
        let mut node = 0;
        loop {
            order[node] = position;
            position += 1;
            if links[node].first != NONE {
                node = links[node].first as usize;
                continue;
            }
            while links[node].next == NONE {
                node = match links[node].parent {
                    NONE | 0 => return order,
                    parent => parent as usize,
                };
            }
            node = links[node].next as usize;
        }
    }

    fn add(&self, name: QualName, integration_point: bool) -> Node {
        let mut links = self.links.borrow_mut();
        let id = links.len() as u32;
        links.push(UNLINKED);
        Rc::new(NodeFacts {
            id,
            name,
            integration_point,
        })
    }

    fn detach(&self, id: u32) {
        let mut links = self.links.borrow_mut();
        let NodeLinks {
            parent,
            previous,
            next,
            ..
        } = links[id as usize];
        if parent == NONE {
            return;
        }
        links[parent as usize].children -= 1;
        self.step(u64::from(links[parent as usize].children));
        match previous {
            NONE => links[parent as usize].first = next,
            _ => links[previous as usize].next = next,
        }
        match next {
            NONE => links[parent as usize].last = previous,
            _ => links[next as usize].previous = previous,
        }
        let own = &mut links[id as usize];
        (own.parent, own.previous, own.next) = (NONE, NONE, NONE);
    }

    /// Inserts `id` before `next`, or last, among the children of `parent`.
    fn attach(&self, parent: u32, next: u32, id: u32) {
        self.detach(id);
        let mut links = self.links.borrow_mut();
        let previous = match next {
            NONE => links[parent as usize].last,
            _ => links[next as usize].previous,
        };
        links[parent as usize].children += 1;
        if next != NONE {
            self.step(u64::from(links[parent as usize].children));
        }
        let around = links[parent as usize].marked;
        let own = &mut links[id as usize];
        (own.parent, own.previous, own.next) = (parent, previous, next);
        if own.marked.is_none_or(|marked| marked.id != id) {
            own.marked = around;
        }
        match previous {
            NONE => links[parent as usize].first = id,
            _ => links[previous as usize].next = id,
        }
        match next {
            NONE => links[parent as usize].last = id,
            _ => links[next as usize].previous = id,
        }
    }
}

impl TreeSink for Tree {
    type Handle = Node;
    type Output = ();
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) {}

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Node {
        self.document.clone()
    }

    fn elem_name<'a>(&'a self, target: &'a Node) -> ExpandedName<'a> {
        self.count();
        self.named.set(target.id);
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Node {
        self.count();
        let namespace = match name.ns {
            ns!(svg) => Namespace::Svg,
            ns!(mathml) => Namespace::MathMl,
            _ => Namespace::Html,
        };
        self.namespace.set(namespace);
        let is_point = flags.mathml_annotation_xml_integration_point;
        let is_style = name.expanded() == expanded_name!(svg "style");
        let node = self.add(name, is_point);
        if is_style || is_point {
            self.links.borrow_mut()[node.id as usize].marked = Some(MarkedNode {
                id: node.id,
                is_style,
            });
        }
        if flags.template {
            // The fragment that holds its contents has the next index.
            self.add(nameless(), false);
        }
        if node.name.local == local_name!("option") {
            self.options.set(self.options.get() + 1);
            self.step(self.options.get());
        }
        if node.name.local == local_name!("base") {
            self.bases.borrow_mut().push(BaseNode {
                id: node.id,
                tag: self.tag.get(),
                href: attrs
                    .iter()
                    .any(|one| one.name.expanded() == expanded_name!("", "href")),
                html: namespace == Namespace::Html,
            });
        }
        node
    }

    fn create_comment(&self, _text: StrTendril) -> Node {
        self.add(nameless(), false)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Node {
        self.add(nameless(), false)
    }

    fn append(&self, parent: &Node, child: NodeOrText<Node>) {
        self.count();
        if let NodeOrText::AppendNode(child) = child {
            self.attach(parent.id, NONE, child.id);
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &Node,
        prev_element: &Node,
        child: NodeOrText<Node>,
    ) {
        if self.links.borrow()[element.id as usize].parent == NONE {
            self.append(prev_element, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Node) -> Node {
        let mut links = self.links.borrow_mut();
        let id = target.id + 1;
        links[id as usize].marked = links[target.id as usize].marked;
        // html5ever needs only the index of the fragment.
        Rc::new(NodeFacts {
            id,
            name: nameless(),
            integration_point: false,
        })
    }

    fn same_node(&self, x: &Node, y: &Node) -> bool {
        self.count();
        x.id == y.id
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Node, new_node: NodeOrText<Node>) {
        self.count();
        if let NodeOrText::AppendNode(child) = new_node {
            let parent = self.links.borrow()[sibling.id as usize].parent;
            if parent != NONE {
                self.attach(parent, sibling.id, child.id);
            }
        }
    }

    fn add_attrs_if_missing(&self, _target: &Node, attrs: Vec<Attribute>) {
        self.merged.set(self.merged.get() + attrs.len() as u64);
        self.step(self.merged.get());
    }

    fn remove_from_parent(&self, target: &Node) {
        self.count();
        self.detach(target.id);
    }

    fn reparent_children(&self, node: &Node, new_parent: &Node) {
        loop {
            self.count();
            let child = self.links.borrow()[node.id as usize].first;
            if child == NONE {
                return;
            }
            self.attach(new_parent.id, NONE, child);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Node) -> bool {
        handle.integration_point
    }
}
