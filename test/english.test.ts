// Words of the private dialect of the first build that must not come back in comments and names of src. Established terms replace
// them: docs/architecture.md has the glossary. The sentences of the interface are in strings, which are not checked.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

// Plain JavaScript, because it is also a command.
const { commentsOf } = (await import(`${process.cwd()}/scripts/sample-comments.mjs`)) as {
  commentsOf(text: string): { line: number; text: string }[]
}

/** A word or phrase of the dialect, and what to write instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bfor company\b/, 'wait for a larger batch'],
  [/\bborn\b/, 'inserted, created, leased at insert'],
  [/\bdoors?\b/, 'endpoint, port'],
  [/\boutlets?\b/, 'dispatcher'],
  [/\bfriends\b/, 'allowed recipients'],
  [/\bchores?\b/, 'maintenance task'],
  [/\b(is|are|was) told\b|\btold (to|about|in|by|at|together|no)\b/, 'reported, notified, answered'],
  [/\bwhoever\b|\beverybody\b/, 'name the subject'],
  [/\bby (itself|themselves)\b/, 'automatically, separately'],
  [/\btime-outs?\b/, 'timeout'],
  [/\bunder way\b/, 'in progress'],
  [/\bfor good\b/, 'permanently'],
  [/\b(the|its|late|no|new|what) news\b|\bnews is\b/, 'receipt, event'],
  [/\bhonest\b/, 'ordinary'],
  [/\b(hold|holds|held|holding) up\b/, 'delay, block'],
  [/\bbelieved\b/, 'trusted, accepted'],
  [/\bin vain\b/, 'without success'],
  [/\brides?\b/, 'has the priority, uses the lane'],
  [/\b(mends?|mended)\b/, 'fix, repair'],
  [/\bstory\b|\bstories\b/, 'scenario'],
  [/\bholds? least\b/, 'uses the least'],
  [/\bin nobody's hands\b|\bnobody in particular\b/, 'name the subject'],
]

/** Parts of names, in camelCase and snake_case. */
const NAMES = ['born', 'birth', 'door', 'outlet', 'friend', 'friends', 'chore', 'chores', 'told', 'company', 'guilty']

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map(file => ({ file, text: readFileSync(join('src', file), 'utf8') }))

describe('plain technical English in src', () => {
  test('comments have none of the phrases', () => {
    const found = files.flatMap(({ file, text }) =>
      commentsOf(text).flatMap(comment =>
        PHRASES.filter(([phrase]) => phrase.test(comment.text.toLowerCase())).map(
          ([phrase, instead]) =>
            `${file}:${comment.line} ${phrase.exec(comment.text.toLowerCase())?.[0]}: write ${instead}`,
        ),
      ),
    )
    expect(found).toEqual([])
  })

  test('names have none of the words', () => {
    const found = files.flatMap(({ file, text }) =>
      [...new Set(namesIn(text))]
        .filter(name => wordsOf(name).some(word => NAMES.includes(word)))
        .map(name => `${file} ${name}`),
    )
    expect(found).toEqual([])
  })
})

/** Identifiers of a source, without its comments and strings. */
const namesIn = (text: string) =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, ' ')
    .match(/[A-Za-z_$][\w$]*/g) ?? []

const wordsOf = (name: string) => name.split(/_|(?=[A-Z])/).map(word => word.toLowerCase())

test('a phrase and a name of the dialect are found', () => {
  const source = '/** Whoever asks is told. */\nconst friendsOf = 1 // a chore\n// by itself\n'
  const hits = commentsOf(source).filter(({ text }) => PHRASES.some(([phrase]) => phrase.test(text.toLowerCase())))
  expect(hits).toHaveLength(3)
  expect(namesIn(source).filter(name => wordsOf(name).some(word => NAMES.includes(word)))).toEqual(['friendsOf'])
})
