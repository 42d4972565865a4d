import "./b.js"; const c = "not closed
