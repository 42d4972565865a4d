import "./b.js"; import "../up.js"; import "http://a.example/docs/js/b.js";
new URL("../index.html", import.meta.url);
