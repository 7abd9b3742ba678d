// The table of failures, which the Python client has, too. In the package for npm its text stands here.
"use strict";

module.exports = require("../../python/playproof/failures.json");
