// Example documents of the page. Each gets its base from a different source.

export const EXAMPLES = [
  {
    title: "a page",
    name: "timetable.html",
    url: "https://rail.example/2026/summer/index.html",
    text: `<!doctype html>
<title>Timetable</title>
<base href="/trains/">
<link rel="stylesheet" href="css/print.css">

<h1 style="background: url('img/rail.svg')">Summer</h1>
<a href="?day=mon">Monday</a>
<a href="../../contact.html#desk">Lost property</a>
<img srcset="map.png, map@2x.png 2x" alt="Map">
<a href="https://www.example.org/">The operator</a>
<a href="{{ next_season }}">Winter</a>
`,
  },
  {
    title: "a page saved as MHTML",
    name: "letters.mhtml",
    url: "",
    text: `From: <Saved by Blink>
Snapshot-Content-Location: https://archive.example/letters/june.html
Subject: Letters
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="part"

--part
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable
Content-Location: https://archive.example/letters/june.html

<h1>Letters of June</h1>
<img src=3D"stamp.gif"> <a href=3D"may.html">May</a>
<p>The letters of this month, as they came, and <a href=3D"../about.html?l=
ang=3Den">a note about them</a>.</p>
--part
Content-Type: text/css
Content-Location: https://static.example/css/letters.css

h1 { background: url(paper.png) }
--part
Content-Type: image/gif
Content-Transfer-Encoding: base64
Content-Location: https://archive.example/letters/stamp.gif

R0lGODlhAQABAAAAADs=
--part--
`,
  },
  {
    title: "a mail",
    name: "mail.eml",
    url: "",
    text: `From: Ann <ann@example.net>
Subject: Three levels
Base: http://www.example.net/letters/
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: text/html

<a href="june.html">June</a>, by the heading of the mail
--outer
Base: http://www.example.org/guide/
Content-Type: text/html

<a href="june.html">June</a>, by the heading of its part
--outer
Base: http://www.example.org/guide/
Content-Type: text/html

<base href="http://www.example.edu/"><a href="june.html">June</a>, by its own element
--outer--
`,
  },
  {
    title: "a feed",
    name: "feed.xml",
    url: "https://news.example/feed.xml",
    text: `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/2026/">
  <title>News</title>
  <link href="/"/>
  <entry xml:base="june/">
    <title>Letters</title>
    <link href="letters.html"/>
    <content type="html">&lt;img src="stamp.png"&gt; &lt;a href="#may"&gt;May&lt;/a&gt;</content>
  </entry>
</feed>
`,
  },
  {
    title: "a WARC record",
    name: "record.warc",
    url: "",
    text: `WARC/1.1
WARC-Type: response
WARC-Target-URI: https://a.example/guide/
WARC-Date: 2026-06-09T10:00:00Z
WARC-Record-ID: <urn:uuid:6a1a1f54-7a0f-4f36-9a3c-3c3f5e0c1808>
Content-Type: application/http; msgtype=response
Content-Length: 148

HTTP/1.1 200 OK
Content-Type: text/html

<title>Guide</title>
<a href="start.html">Start</a>
<img src="../img/a.png">
<a href="//b.example/c">C</a>


`,
  },
];
