import "./b.js"; import "http://a.example/docs/up.js"; import "./b.js";
new URL("../index.html", import.meta.url);
