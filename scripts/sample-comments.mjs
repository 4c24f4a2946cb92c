// node scripts/sample-comments.mjs [--seed N] [--count N] [FOLDER ...]: prints random comments of src (or the folders given), one line
// each. Every comment must be understood on the first read, without having seen the file. The same seed prints the same comments.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

/** The comments of a TypeScript source: consecutive line comments are one. Strings and regular expressions are not parsed. */
export function commentsOf(text) {
  const found = []
  let block // the text of the block comment that is open
  let previous // index of the line that ended the last line comment on a line of its own
  text.split('\n').forEach((line, index) => {
    const at = index + 1
    if (block) {
      block.text += ` ${line.replace(/^\s*\*\/?\s?|\s*\*\/.*$/g, '')}`
      if (line.includes('*/')) block = undefined
      return
    }
    const [, whole] = /^\s*\/\/ ?(.*)$/.exec(line) ?? []
    if (whole !== undefined && previous === index && found.length > 0) found.at(-1).text += ` ${whole}`
    else if (whole !== undefined) found.push({ line: at, text: whole })
    if (whole !== undefined) {
      previous = at
      return
    }
    const [, opened] = /^\s*\/\*\*? ?(.*)$/.exec(line) ?? []
    if (opened !== undefined) {
      found.push({ line: at, text: opened.replace(/\s*\*\/.*$/, '') })
      if (!opened.includes('*/')) block = found.at(-1)
      return
    }
    const [, after] = /[^:'"`/]\s\/\/ (\D.*)$/.exec(line) ?? []
    if (after !== undefined) found.push({ line: at, text: after, code: line.trim() })
  })
  return found
    .map(one => ({ ...one, text: one.text.trim() }))
    .filter(({ text }) => /[a-z]{3}/.test(text) && !/^biome-ignore/.test(text))
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map(file => join(folder, file))
    .sort()
}

/** Numbers between 0 and 1 that depend on the seed alone (mulberry32). */
function randomBy(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function main() {
  const { values, positionals } = parseArgs({
    options: { seed: { type: 'string' }, count: { type: 'string', default: '30' } },
    allowPositionals: true,
  })
  const seed = Number(values.seed ?? process.pid)
  const random = randomBy(seed)
  const all = (positionals.length > 0 ? positionals : ['src'])
    .flatMap(filesIn)
    .flatMap(file => commentsOf(readFileSync(file, 'utf8')).map(comment => ({ file, ...comment })))
  console.log(`seed ${seed}, ${values.count} of ${all.length} comments`)
  for (let left = Math.min(Number(values.count), all.length); left > 0; left -= 1) {
    const [{ file, line, text, code }] = all.splice(Math.floor(random() * all.length), 1)
    console.log(`${file}:${line}  ${code ?? text}`)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
