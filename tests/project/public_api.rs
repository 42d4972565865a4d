//! `docs/public-api.txt` lists the public interface: every name that `crates/baselink/src/lib.rs` exports, with its
//! fields, variants, methods and traits.
//!
//! A change of the list affects users of the library: removals and modifications are breaking changes (RFC 1105 of
//! Rust), additions are not. After reviewing the difference, run `BASELINK_PUBLIC_API=write cargo test --test
//! project public_api` to rewrite the list.
//!
//! The sources are read directly rather than through rustdoc, so that every version of Rust produces the same list.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{
    Attribute, Field, Fields, File, FnArg, ImplItem, Item, ItemEnum, ItemImpl, Pat, Signature,
    TraitItem, Type, UseTree, Visibility,
};

type Names = Vec<String>;

/// The parsed files of the library, by module path, which begins with the name of the crate.
fn modules() -> BTreeMap<Names, File> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let (mut folders, mut files): (_, Vec<PathBuf>) = (vec![crates.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with("tests") => {}
                true => folders.push(path),
                false if path.ends_with("tests.rs") => {}
                false if path.extension().is_some_and(|extension| extension == "rs") => {
                    files.push(path);
                }
                false => {}
            }
        }
    }
    let parsed = files.into_iter().map(|path| {
        let module = path.strip_prefix(&crates).unwrap().with_extension("");
        let names = module.iter().map(|name| name.to_str().unwrap().to_owned());
        let names = names
            .filter(|name| name != "src" && name != "lib" && name != "mod")
            .collect();
        (
            names,
            with_named(syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap()),
        )
    });
    parsed.collect()
}

/// Adds the enums that the macro `named!` of `crates/text/src/named.rs` declares, each with its method `name`, and the
/// implementations of `parse_by_name!`.
fn with_named(mut file: File) -> File {
    let declared = file.items.iter().filter_map(|item| match item {
        Item::Macro(item) if item.mac.path.is_ident("named") => item.mac.parse_body().ok(),
        _ => None,
    });
    let generated = declared.flat_map(|mut declared: ItemEnum| {
        declared
            .variants
            .iter_mut()
            .for_each(|variant| variant.discriminant = None);
        let name = &declared.ident;
        let with_name =
            syn::parse_quote!(impl #name { pub const fn name(self) -> &'static str {} });
        let derived = syn::parse_quote!(#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]);
        declared.attrs.insert(0, derived);
        [Item::Enum(declared), with_name]
    });
    let parsed = file.items.iter().filter_map(|item| match item {
        Item::Macro(item) if item.mac.path.is_ident("parse_by_name") => {
            Some(item.mac.tokens.to_string())
        }
        _ => None,
    });
    let parsed = parsed.flat_map(|types| {
        let names = types.split(',').filter_map(|part| part.split_once(':'));
        let names = names.filter_map(|(name, _)| syn::parse_str::<syn::Ident>(name).ok());
        let from_str = |name| syn::parse_quote!(impl FromStr for #name {});
        names.map(from_str).collect::<Vec<Item>>()
    });
    let generated: Vec<_> = generated.chain(parsed).collect();
    file.items.extend(generated);
    file
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let mut lists = attributes
        .iter()
        .filter_map(|attribute| attribute.meta.require_list().ok());
    lists.any(|list| {
        let words = list.tokens.to_string();
        (list.path.is_ident("doc") && words == "hidden")
            || (list.path.is_ident("cfg") && words.starts_with("test"))
    })
}

fn is_public(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

/// Adds every name that a `use` tree imports, with its path.
fn flatten(tree: &UseTree, above: &[String], names: &mut Vec<(String, Names)>) {
    let below = |name: &syn::Ident| [above, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &below(&path.ident), names),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| flatten(tree, above, names)),
        UseTree::Name(name) => names.push((name.ident.to_string(), below(&name.ident))),
        UseTree::Rename(name) => names.push((name.rename.to_string(), below(&name.ident))),
        UseTree::Glob(_) => panic!("{above:?} exports whatever there is"),
    }
}

/// The re-exports of a module: each name, with its path from the root.
fn exports(module: &[String], file: &File) -> Vec<(String, Names)> {
    let mut names = Vec::new();
    for item in &file.items {
        if let Item::Use(item) = item
            && is_public(&item.vis, &item.attrs)
        {
            flatten(&item.tree, &[], &mut names);
        }
    }
    for (_, path) in &mut names {
        match path[0].as_str() {
            "crate" => path[0].clone_from(&module[0]),
            name if name.starts_with("baselink_") => path[0] = name[9..].to_owned(),
            "self" => drop(path.splice(..1, module.iter().cloned())),
            "super" => drop(path.splice(..1, module[..module.len() - 1].iter().cloned())),
            _ => *path = [module, path].concat(),
        }
    }
    names
}

/// The name of an item that can be exported, and true if the item is public.
fn named(item: &Item) -> Option<(String, bool)> {
    let (name, visibility, attributes) = match item {
        Item::Const(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Enum(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Fn(item) => (&item.sig.ident, &item.vis, &item.attrs),
        Item::Struct(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Trait(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Type(item) => (&item.ident, &item.vis, &item.attrs),
        _ => return None,
    };
    Some((name.to_string(), is_public(visibility, attributes)))
}

/// The module that defines the item to which `path` refers.
fn defined(modules: &BTreeMap<Names, File>, path: &[String]) -> Names {
    let (name, module) = path.split_last().unwrap();
    let file = modules
        .get(module)
        .unwrap_or_else(|| panic!("the module {module:?} is missing"));
    if file
        .items
        .iter()
        .filter_map(named)
        .any(|(other, _)| other == *name)
    {
        return module.to_vec();
    }
    let exported = exports(module, file);
    let (_, path) = exported
        .iter()
        .find(|(other, _)| other == name)
        .unwrap_or_else(|| panic!("{path:?}"));
    defined(modules, path)
}

/// Keeps only the attributes that belong to the interface.
fn keep_interface_attributes(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| {
        ["derive", "non_exhaustive"]
            .iter()
            .any(|name| attribute.path().is_ident(name))
    });
}

/// Keeps the public fields, and a marker if there are others.
fn only_public(fields: &mut Fields) {
    let is_shown = |field: &Field| is_public(&field.vis, &field.attrs);
    let is_whole = fields.iter().all(is_shown);
    let mut shown: Vec<Field> = fields
        .iter()
        .filter(|field| is_shown(field))
        .cloned()
        .collect();
    shown
        .iter_mut()
        .for_each(|field| keep_interface_attributes(&mut field.attrs));
    match fields {
        Fields::Named(named) => {
            let others: syn::FieldsNamed = syn::parse_quote!({ _others: _ });
            let others = others.named.into_iter().filter(|_| !is_whole);
            named.named = shown.into_iter().chain(others).collect();
        }
        Fields::Unnamed(unnamed) if !is_whole => *unnamed = syn::parse_quote!((_)),
        Fields::Unnamed(_) | Fields::Unit => {}
    }
}

/// Removes `mut` from arguments, because callers cannot see it.
fn only_signature(signature: &mut Signature) {
    for argument in &mut signature.inputs {
        match argument {
            FnArg::Receiver(own) if own.reference.is_none() => own.mutability = None,
            FnArg::Typed(typed) => {
                if let Pat::Ident(name) = &mut *typed.pat {
                    name.mutability = None;
                }
            }
            FnArg::Receiver(_) => {}
        }
    }
}

/// The item without its private parts.
fn shown(item: &Item) -> Item {
    let mut item = item.clone();
    match &mut item {
        Item::Enum(item) => {
            keep_interface_attributes(&mut item.attrs);
            let variants = item
                .variants
                .iter()
                .filter(|variant| !is_hidden(&variant.attrs))
                .cloned();
            item.variants = variants
                .map(|mut variant| {
                    keep_interface_attributes(&mut variant.attrs);
                    variant
                        .fields
                        .iter_mut()
                        .for_each(|field| keep_interface_attributes(&mut field.attrs));
                    variant
                })
                .collect();
        }
        Item::Fn(item) => {
            keep_interface_attributes(&mut item.attrs);
            only_signature(&mut item.sig);
            item.block.stmts.clear();
        }
        Item::Struct(item) => {
            keep_interface_attributes(&mut item.attrs);
            only_public(&mut item.fields);
        }
        Item::Trait(item) => {
            keep_interface_attributes(&mut item.attrs);
            for member in &mut item.items {
                if let TraitItem::Fn(function) = member {
                    keep_interface_attributes(&mut function.attrs);
                    function
                        .default
                        .iter_mut()
                        .for_each(|block| block.stmts.clear());
                }
            }
        }
        Item::Const(item) => keep_interface_attributes(&mut item.attrs),
        Item::Type(item) => keep_interface_attributes(&mut item.attrs),
        _ => {}
    }
    item
}

/// The public part of an `impl`: for a trait only the header, otherwise the public functions and constants.
fn implemented(item: &ItemImpl) -> Option<ItemImpl> {
    let mut item = item.clone();
    keep_interface_attributes(&mut item.attrs);
    if item.trait_.is_some() {
        item.items.clear();
        return Some(item);
    }
    item.items.retain_mut(|member| match member {
        ImplItem::Fn(function) => {
            let is_shown = is_public(&function.vis, &function.attrs);
            keep_interface_attributes(&mut function.attrs);
            only_signature(&mut function.sig);
            function.block.stmts.clear();
            is_shown
        }
        ImplItem::Const(constant) => {
            let is_shown = is_public(&constant.vis, &constant.attrs);
            keep_interface_attributes(&mut constant.attrs);
            constant.expr = syn::parse_quote!(_);
            is_shown
        }
        _ => true,
    });
    (!item.items.is_empty()).then_some(item)
}

fn text(item: Item) -> String {
    prettyplease::unparse(&File {
        shebang: None,
        attrs: Vec::new(),
        items: vec![item],
    })
}

fn listing() -> String {
    let modules = modules();
    let own = ["baselink".to_owned()];
    let root: &File = &modules[&own[..]];
    let mut lists = BTreeMap::new();
    for (name, path) in exports(&own, root) {
        if modules.contains_key(&path) {
            lists.insert(name.clone(), format!("pub mod {name};\n"));
            continue;
        }
        let module = defined(&modules, &path);
        let mut list = Vec::new();
        for item in &modules[&module].items {
            if named(item).is_some_and(|(other, is_public)| other == name && is_public) {
                list.push(text(shown(item)));
            }
        }
        assert_eq!(list.len(), 1, "{name} in {module:?}");
        let mut impls = Vec::new();
        for (other, file) in &modules {
            // This module has another type of the same name.
            let has_its_own = file
                .items
                .iter()
                .filter_map(named)
                .any(|(other, _)| other == name);
            if has_its_own && *other != module {
                continue;
            }
            for item in &file.items {
                if let Item::Impl(item) = item
                    && let Type::Path(of) = &*item.self_ty
                    && of
                        .path
                        .segments
                        .last()
                        .is_some_and(|last| last.ident == name)
                    && !is_hidden(&item.attrs)
                {
                    impls.extend(implemented(item).map(|item| text(Item::Impl(item))));
                }
            }
        }
        impls.sort();
        list.extend(impls);
        lists.insert(name, list.concat());
    }
    lists.into_values().collect::<Vec<_>>().join("\n")
}

#[test]
fn the_listing_matches_the_library() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/public-api.txt");
    let listing = listing();
    if std::env::var_os("BASELINK_PUBLIC_API").is_some() {
        fs::write(&path, &listing).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = listing
        .lines()
        .zip(kept.lines())
        .position(|(one, other)| one != other);
    let line = differs.unwrap_or(listing.lines().count().min(kept.lines().count()));
    assert!(
        listing == kept,
        "what the library exports is not what docs/public-api.txt lists, from line {} on:\n  {:?} is listed,\n  {:?} is \
         there; `BASELINK_PUBLIC_API=write cargo test --test project public_api` writes it anew",
        line + 1,
        kept.lines().nth(line),
        listing.lines().nth(line)
    );
}

/// The attributes of an item that can be exported.
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// The lines of the doc comment in `attributes`.
fn documentation(attributes: &[Attribute]) -> String {
    let values = attributes.iter().filter_map(|attribute| {
        let line = attribute.meta.require_name_value().ok()?;
        line.path.is_ident("doc").then_some(&line.value)
    });
    let lines = values.map(|value| match value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(line),
            ..
        }) => line.value() + "\n",
        _ => String::new(),
    });
    lines.collect()
}

/// The doc comment at the re-export of `name` in `root`. Rustdoc puts it before that of the item.
fn documentation_of_export(root: &File, name: &str) -> String {
    let of_uses = root.items.iter().filter_map(|item| match item {
        Item::Use(item) => {
            let mut names = Vec::new();
            flatten(&item.tree, &[], &mut names);
            let is_of_name = names.iter().any(|(other, _)| other == name);
            is_of_name.then(|| documentation(&item.attrs))
        }
        _ => None,
    });
    of_uses.collect()
}

/// The doc comments of the item `name`, which is defined in `module`, and of its public functions anywhere in its crate.
fn documentation_of(modules: &BTreeMap<Names, File>, module: &[String], name: &str) -> String {
    let of_item = modules[module].items.iter().filter_map(|item| {
        let (other, _) = named(item)?;
        (other == name).then(|| documentation(attributes(item)))
    });
    let of_crate = modules.iter().filter(|(path, _)| path[0] == module[0]);
    let impls = of_crate
        .flat_map(|(_, file)| &file.items)
        .filter_map(|item| match item {
            Item::Impl(item) => Some(item),
            _ => None,
        });
    let of_functions = impls
        .filter(|item| {
            let is_of_item = matches!(&*item.self_ty, Type::Path(of)
                if of.path.segments.last().is_some_and(|last| last.ident == name));
            is_of_item && !is_hidden(&item.attrs)
        })
        .flat_map(|item| &item.items)
        .filter_map(|member| match member {
            ImplItem::Fn(function) => {
                is_public(&function.vis, &function.attrs).then(|| documentation(&function.attrs))
            }
            _ => None,
        });
    of_item.chain(of_functions).collect()
}

#[test]
fn every_item_has_an_example_with_public_paths() {
    let modules = modules();
    for root in [&["baselink"][..], &["rewrite", "archive"]] {
        let root: Names = root.iter().map(|name| (*name).to_owned()).collect();
        for (name, path) in exports(&root, &modules[&root]) {
            if modules.contains_key(&path) || name.chars().all(|c| c.is_uppercase() || c == '_') {
                continue;
            }
            let of_item = documentation_of(&modules, &defined(&modules, &path), &name);
            let text = documentation_of_export(&modules[&root], &name) + &of_item;
            assert!(text.contains("use baselink::"), "{name} has no example");
            // The list of all items shows the first paragraph.
            assert!(
                !text.starts_with(" ```"),
                "{name} has an example before its sentence"
            );
            let is_private = |line: &str| !line.starts_with(" # ") && line.contains(" baselink_");
            assert!(!text.lines().any(is_private), "{name} has a private path");
        }
    }
}
