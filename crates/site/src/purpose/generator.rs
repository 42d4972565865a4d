//! Generators of sites whose scripts know the path of the site.
//!
//! ```
//! use baselink_site::purpose::generator::Generator;
//! let page = b"<meta name=generator content='VitePress v1.6.3'>";
//! assert_eq!(Generator::of_page(page), Some(Generator::VitePress));
//! ```
//!
//! Deliberately absent: generators whose sites work below any path.

use baselink_text::named;
use memchr::memmem;

named! {
    /// A generator of sites whose scripts know the path of the site.
    #[derive(PartialOrd, Ord)]
    #[allow(missing_docs)]
    pub enum Generator {
        Next = "Next.js",
        Docusaurus = "Docusaurus",
        Astro = "Astro",
        VitePress = "VitePress",
        VuePress = "VuePress",
        Nuxt = "Nuxt",
        Gatsby = "Gatsby",
        SvelteKit = "SvelteKit",
    }
}

impl Generator {
    /// The beginning of the paths of its scripts, and the way in which it builds a site for another path.
    pub fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Next => ("_next/", "basePath in next.config.js"),
            Self::Docusaurus => ("assets/js/runtime~main.", "baseUrl in docusaurus.config.js"),
            Self::Astro => ("_astro/", "base in astro.config.mjs"),
            Self::VitePress => (
                "assets/chunks/",
                "base in .vitepress/config.js; otherwise its router will break the pages",
            ),
            Self::VuePress => (
                "assets/app-",
                "base in .vuepress/config.js; otherwise each page will become \"404\"",
            ),
            Self::Nuxt => (
                "_nuxt/",
                "app.baseURL in nuxt.config.ts; otherwise its router will break the pages",
            ),
            Self::Gatsby => (
                "page-data/",
                "pathPrefix in gatsby-config.js and gatsby build --prefix-paths; otherwise its router will break the pages",
            ),
            Self::SvelteKit => ("_app/immutable/", "kit.paths.base in svelte.config.js"),
        }
    }

    /// The generator that a page names (HTML, 4.2.5.1).
    pub fn of_page(text: &[u8]) -> Option<Self> {
        let at = memmem::find(text, b"generator")?;
        let near = &text[at..text.len().min(at + 100)];
        let is_named = |one: &Self| memmem::find(near, one.name().as_bytes()).is_some();
        Self::ALL.into_iter().find(is_named)
    }
}
