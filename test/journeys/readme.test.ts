// The commands of the README's tour, executed literally.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, expect, test, vi } from 'vitest'
import { type Env, hasCurl, type Program, programs } from '../support/program.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const blocks = (mark: string) =>
  [...readFileSync('README.md', 'utf8').matchAll(new RegExp(`<!-- ${mark} -->\n\`\`\`sh\n(.*?)\`\`\``, 'gs'))].map(
    ([, script]) => String(script),
  )

const { newDatabase, start, sample } = programs()
let env: Env
let program: Program

beforeAll(async () => {
  env = await newDatabase()
  program = await start(env)
})

/** The output of a shell; a command that fails or is refused ends it. */
async function typed(script: string, more: Env): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const { name: _, ...settings } = env
  const strict = `set -eu\ncurl() { command curl --fail-with-body "$@"; }\n${script}`
  const { stdout } = await promisify(execFile)('sh', ['-c', strict], { env: { PATH, HOME, ...settings, ...more } })
  return stdout
}

test.skipIf(!hasCurl())('the tour by curl', async () => {
  const { keys, templates } = await sample(env)
  const tour = { HERALD: program.address, KEY: keys.test, TEMPLATE: templates.email.id }
  const [send = '', read = '', ...more] = blocks('tour')
  expect(more).toEqual([])
  expect(await typed(send, tour)).toContain('"subject":"Hello Ada"')
  expect(await typed(read, tour)).toMatch(
    /"reference":"tour".*"email_address":"ada@example.org".*"messages":.*"Hello Ada"/s,
  )
})

test('the commands', async () => {
  const [commands = '', ...more] = blocks('commands')
  expect(more).toEqual([])
  const said = await typed(commands, { HERALD_PORT: '0' })
  expect(said).toMatch(/"Parking permits" \(trial\).*herald-website-.*No problem found\./s)
})
