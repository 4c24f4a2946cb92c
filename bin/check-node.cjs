// Refuses a Node.js that is too old, in one sentence. Plain old JavaScript, so that an old Node.js can read it.
'use strict'
var needed = require('../package.json').engines.node.replace('>=', '')
var floor = needed.split('.').map(Number)
var version = process.versions.node.split('.').map(Number)

if (version[0] < floor[0] || (version[0] === floor[0] && version[1] < floor[1])) {
  console.error(`Herald needs Node.js ${needed} or newer, and this is Node.js ${process.versions.node}.`)
  process.exit(1)
}
