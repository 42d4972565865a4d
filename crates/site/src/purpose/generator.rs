//! Generators of sites whose scripts know the path of the site.
//!
//! ```
//! use baselink_site::purpose::generator::of_page;
//! let page = b"<meta name=generator content='VitePress v1.6.3'>";
//! assert_eq!(of_page(page).unwrap()[0], "VitePress");
//! ```
//!
//! Deliberately absent: generators whose sites work below any path.

use memchr::memmem;

/// A generator of sites whose scripts know the path of the site: its name, the beginning of the paths of its scripts, and the way
/// in which it builds a site for another path.
pub type Generator = [&'static str; 3];

/// The generators.
pub const GENERATORS: [Generator; 8] = [
    ["Next.js", "_next/", "basePath in next.config.js"],
    [
        "Docusaurus",
        "assets/js/runtime~main.",
        "baseUrl in docusaurus.config.js",
    ],
    ["Astro", "_astro/", "base in astro.config.mjs"],
    [
        "VitePress",
        "assets/chunks/",
        "base in .vitepress/config.js; otherwise its router will break the pages",
    ],
    [
        "VuePress",
        "assets/app-",
        "base in .vuepress/config.js; otherwise each page will become \"404\"",
    ],
    [
        "Nuxt",
        "_nuxt/",
        "app.baseURL in nuxt.config.ts; otherwise its router will break the pages",
    ],
    [
        "Gatsby",
        "page-data/",
        "pathPrefix in gatsby-config.js and gatsby build --prefix-paths; otherwise its router will break the pages",
    ],
    [
        "SvelteKit",
        "_app/immutable/",
        "kit.paths.base in svelte.config.js",
    ],
];

/// The generator that a page names (HTML, 4.2.5.1).
pub fn of_page(text: &[u8]) -> Option<Generator> {
    let at = memmem::find(text, b"generator")?;
    let near = &text[at..text.len().min(at + 100)];
    let is_named = |[name, ..]: &Generator| memmem::find(near, name.as_bytes()).is_some();
    GENERATORS.into_iter().find(is_named)
}
