// npm run vectors -- <folder>: runs every vector of the folder against the real functions. Fails if one of them does.

import { inspect } from 'node:util'
import { readFolder, runVector } from './vectors/run.ts'

const folder = process.argv[2] ?? 'test/vectors'
let passed = 0
let failed = 0
for (const { file, vectors } of readFolder(folder)) {
  for (const vector of vectors) {
    const outcome = runVector(file, vector)
    if (outcome.passed) {
      passed++
      continue
    }
    failed++
    console.log(`${outcome.id} (${file})`)
    console.log(`  expected ${inspect(outcome.expected, { depth: 8, breakLength: 120, compact: 5 })}`)
    console.log(`  actual   ${inspect(outcome.actual, { depth: 8, breakLength: 120, compact: 5 })}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1
