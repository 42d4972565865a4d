//! The role of each link, by its place. A row has a document and the roles of its links, in order. Roles follow the link
//! types of HTML, 4.6.7, and the resources that browsers load with a page.

use baselink::Role;
use baselink_rewrite::{Options, links, rewrite};
use baselink_scan::ScanOptions;
use baselink_scan::attributes::Groups;
use baselink_text::format::Format;

/// Format, document, and the roles: `e` embedded, `n` navigation, `m` metadata.
#[rustfmt::skip]
const ROWS: &[(Format, &str, &str)] = &[
    (Format::Html, "<a href=x ping=y><area href=z><form action=x><button formaction=y>", "nmnnn"),
    (Format::Html, "<img src=x srcset='y, z 2x' longdesc=w><video src=x poster=y></video><iframe src=x></iframe>", "eeeneee"),
    (Format::Html, "<script src=x></script><object data=x></object><input src=x><body background=x>", "eeee"),
    (Format::Html, "<base href=x><q cite=x></q><p itemid=x>", "mmm"),
    (Format::Html, "<meta http-equiv=refresh content='0;x'><meta property=og:image content=/x>", "nm"),
    (Format::Html, "<style>@import 'x'; p { background: url(y) }</style><p style='background: url(z)'>", "eee"),
    (Format::Html, "<svg><a href=x /><use href='x#a'/><image xlink:href=x /><rect fill='url(x#a)'/></svg>", "neee"),
    (Format::Html, "<script type=importmap>{\"imports\":{\"a\":\"/x\"}}</script><script>import('./x')</script>", "ee"),
    (Format::Html, "<script type=speculationrules>{\"prefetch\":[{\"urls\":[\"/x\"]}]}</script>", "n"),
    (Format::Html, "<script type=application/ld+json>{\"image\":\"/x\"}</script>", "m"),
    (Format::Html, "<iframe srcdoc='<a href=x><img src=y>'></iframe><noscript><img src=x></noscript>", "nee"),
    (Format::Html, "<!--[if mso]><v:fill src=x /><v:rect href=y /><![endif]-->", "en"),
    // The element `link`.
    (Format::Html, "<link rel=stylesheet href=x><link rel=icon href=x><link rel=preload href=x imagesrcset=y>", "eeee"),
    (Format::Html, "<link rel='Alternate\n StyleSheet' href=x><link href=x rel='shortcut ICON'><LINK REL=ModulePreload HREF=x>", "eee"),
    (Format::Html, "<link rel=alternate href=x><link rel=canonical href=x><link rel=manifest href=x><link rel=next href=x>", "mmmm"),
    (Format::Html, "<link href=x><link rel href=x><link rel='' href=x><link rel=icons href=x><link rel=stylesheet,icon href=x>", "mmmmm"),
    (Format::Html, "<link rel=ic&#111;n href=x><link rel=next rel=icon href=x><link rel=icon href='x&amp;y'><link rel=nex&#116; href=x>", "emem"),
    (Format::Html, "<link rel=icon href=http://b/><link rel=next href='#a'>", "em"),
    (Format::Xhtml, "<html xmlns='http://www.w3.org/1999/xhtml'><link rel='icon' href='x'/><link rel='next' href='x'/><a href='x'/></html>", "emn"),
    // XML.
    (Format::Xml, "<?xml-stylesheet href='x'?><?xml-model href='y'?><a xml:base='z/'/>", "emm"),
    (Format::Xml, "<feed xmlns='http://www.w3.org/2005/Atom'><link href='x'/><link rel='self' href='x'/><link rel='enclosure' href='x'/>\
        <icon>x</icon><entry><author><uri>x</uri></author><content src='x'/></entry></feed>", "nmeene"),
    (Format::Xml, "<rss><channel><link>x</link><docs>x</docs><image><url>x</url><link>x</link></image>\
        <item><enclosure url='x'/><source url='x'/><comments>x</comments></item></channel></rss>", "nmenemn"),
    (Format::Xml, "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://a/x</loc></url></urlset>", "m"),
    // Other formats.
    (Format::Css, "@import 'x'; @font-face { src: url(y) }", "ee"),
    (Format::Manifest, "{\"start_url\":\"x\",\"scope\":\"x\",\"icons\":[{\"src\":\"x\"}],\"shortcuts\":[{\"url\":\"x\"}]}", "nmen"),
    (Format::Message, "Content-Type: text/plain\nContent-Location: http://a/x\nList-Help: <y>\n\n<URL:z>\n", "mnn"),
    (Format::Message, "Link: <x>; rel=preload; as=style, <y>; rel=\"next\", <z>; title=\"rel=icon\"; rel=\"up ICON\", <w>\n\n", "emem"),
];

#[test]
fn links_have_the_role_of_their_place() {
    for &(format, text, expected) in ROWS {
        let scan = ScanOptions {
            groups: Groups::all(),
            ..ScanOptions::default()
        };
        let options = Options {
            format,
            scan,
            ..Options::at("http://a/b/")
        };
        let letter = |role: Role| role.name().chars().next().unwrap();
        let report = rewrite(text.as_bytes(), &options).report;
        let of_report: String = report.links.iter().map(|link| letter(link.role)).collect();
        assert_eq!(of_report, expected, "{text}");
        let mut listed = String::new();
        links(text.as_bytes(), &options, &mut |found| {
            listed.push(letter(found.link.role))
        });
        assert_eq!(listed, expected, "{text}");
    }
}
