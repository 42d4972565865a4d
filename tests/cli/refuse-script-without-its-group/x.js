import "./a.js"
