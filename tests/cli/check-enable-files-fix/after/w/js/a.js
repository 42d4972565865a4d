import "./b.js"; import "../up.js"; import "./b.js";
new URL("../index.html", import.meta.url);
