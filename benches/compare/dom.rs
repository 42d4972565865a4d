//! The job with a tree: html5ever parses the page, the attributes of the tree are changed, and the tree is
//! serialized.
//!
//! Deliberately absent: the original bytes of the page. html5ever writes its own form.

use html5ever::serialize::{SerializeOpts, TraversalScope, serialize};
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{NodeData, RcDom, SerializableHandle};

use crate::lol;
use crate::tools::Tools;

pub(crate) fn rewrite(tools: &Tools, page: &[u8], out: &mut Vec<u8>) {
    let dom = html5ever::parse_document(RcDom::default(), html5ever::ParseOpts::default())
        .from_utf8()
        .one(page);
    let mut nodes = vec![dom.document.clone()];
    while let Some(node) = nodes.pop() {
        if let NodeData::Element { name, attrs, .. } = &node.data {
            let places = lol::places(&name.local);
            for attribute in attrs.borrow_mut().iter_mut().filter(|_| !places.is_empty()) {
                let place = places
                    .iter()
                    .find(|(known, _)| *known == &*attribute.name.local);
                if let Some((_, syntax)) = place
                    && let Some(value) = lol::absolute(&tools.base, &attribute.value, *syntax)
                {
                    attribute.value = value.into();
                }
            }
        }
        nodes.extend(node.children.borrow().iter().cloned());
    }
    let options = SerializeOpts {
        traversal_scope: TraversalScope::ChildrenOnly(None),
        ..Default::default()
    };
    serialize(out, &SerializableHandle::from(dom.document), options).unwrap();
}
