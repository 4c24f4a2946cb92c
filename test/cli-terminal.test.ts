// The command line on a pseudo-terminal (`script`), beside a running Herald: colours, tables, progress, an editor; and what a
// command loads that uses the database: a command takes as long as its modules.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { widthOf } from '../src/cli/terminal.ts'
import { readConfig } from '../src/config/index.ts'
import type { Id } from '../src/core/id.ts'
import { hasScript } from './support/program.ts'
import { emailTemplate, type Key } from './support/sends.ts'
import { type World, world } from './support/world.ts'

const SECRET = 'the secret that the service and the commands share'
const NAME = '李明 Parking permits of the whole town and its suburbs'
const folder = mkdtempSync(join(tmpdir(), 'herald-cli-terminal-'))
let here: World
let key: Key
let email: Id
let env: Record<string, string>

beforeAll(async () => {
  here = await world({ HERALD_SECRET: SECRET }, { engine: true })
  key = await (await here.service({ name: NAME })).key()
  email = await emailTemplate(key)
  env = {
    DATABASE_URL: here.config.databaseUrl ?? '',
    HERALD_SECRET: SECRET,
    HERALD_DATA: folder,
    HERALD_LOG_LEVEL: 'silent',
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Said = { code: number; out: string; err: string }
const TERMINAL = { TERM: 'xterm-256color', PATH: process.env.PATH ?? '' }

function started(command: string, argv: readonly string[], more: Record<string, string>) {
  const child = spawn(command, argv, { env: { ...TERMINAL, ...env, ...more } })
  const said = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    said.out += String(chunk)
  })
  child.stderr.on('data', chunk => {
    said.err += String(chunk)
  })
  const ended = new Promise<Said>(resolve => child.once('close', code => resolve({ code: code ?? -1, ...said })))
  return { said, ended }
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** On a terminal of 80 columns; both streams are `out`. */
const atTerminal = (argv: readonly string[], more: Record<string, string> = {}) =>
  started(
    'script',
    [
      '-qefc',
      `stty cols 80 rows 24; exec ${[process.execPath, 'bin/herald.js', ...argv].map(quoted).join(' ')}`,
      '/dev/null',
    ],
    more,
  )
const piped = (argv: readonly string[], more: Record<string, string> = {}) =>
  started(process.execPath, ['bin/herald.js', ...argv], more)

const ESCAPE = '\u001b'
const plain = (text: string) => text.replaceAll(/\u001b\[[0-9;]*[mK]/g, '').replaceAll('\r\n', '\n')
/** What is left on the screen when a line was painted again and again. */
const seen = (text: string) =>
  plain(text)
    .split('\n')
    .map(line => line.split('\r').at(-1) ?? '')

async function quick(...argv: string[]): Promise<string> {
  let out = ''
  const streams = {
    out: (text: string) => {
      out += text
    },
    err() {},
  }
  expect(await run(argv, streams, () => readConfig(env))).toBe(0)
  return out
}

describe.skipIf(!hasScript)('on a terminal', () => {
  test('tables have colours and fit; other programs get everything, plain', async () => {
    const { code, out } = await atTerminal(['service', 'list']).ended
    expect(code).toBe(0)
    expect(out).toContain(`${ESCAPE}[1mNAME${ESCAPE}[22m`)
    expect(out).toContain(`${ESCAPE}[32mactive${ESCAPE}[39m`)
    const lines = seen(out)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80)
    const row = lines.find(line => line.includes('李明')) ?? ''
    expect(row).toContain('…')
    const column = (line: string, word: string) => widthOf(line.slice(0, line.indexOf(word)))
    expect(column(row, 'active')).toBe(column(lines.find(line => line.startsWith('ID')) ?? '', 'STATE'))
    const other = await piped(['service', 'list']).ended
    expect(other.out).not.toContain(ESCAPE)
    expect(other.out).toContain(`  ${NAME}  `)
    expect((await piped(['service', 'list'], { FORCE_COLOR: '1' }).ended).out).toContain(`${ESCAPE}[32mactive`)
  })

  test.each([
    ['NO_COLOR', [], { NO_COLOR: '1' }],
    ['TERM=dumb', [], { TERM: 'dumb' }],
    ['FORCE_COLOR=0', [], { FORCE_COLOR: '0' }],
    ['--json', ['--json'], {}],
  ])('no colours with %s', async (_, more, variables: Record<string, string>) => {
    const { code, out } = await atTerminal(['service', 'show', NAME, ...more], variables).ended
    expect(code).toBe(0)
    expect(out.replaceAll(/\r[^\n]*\u001b\[K/g, '')).not.toContain(ESCAPE)
    if (more.length > 0) expect(JSON.parse(out)).toMatchObject({ name: NAME })
  })

  test('an error is red and says what to do next; with --json it is JSON', async () => {
    const { code, out } = await atTerminal(['service', 'lst']).ended
    expect(code).toBe(2)
    expect(out).toContain(
      `${ESCAPE}[31mThere is no command "service lst". Did you mean npx herald service list?${ESCAPE}[39m`,
    )
    const told = await atTerminal(['service', 'lst', '--json']).ended
    expect(JSON.parse(told.out)).toMatchObject({ exit_code: 2, errors: [{ error: 'UsageError' }] })
  })

  test('a template opens in the editor; a text that cannot be saved is kept', async () => {
    const edit = async (script: string) => {
      const path = join(folder, 'editor')
      writeFileSync(path, `#!/bin/sh\n${script}\n`)
      chmodSync(path, 0o755)
      const { code, out } = await atTerminal(['template', 'edit', email], { EDITOR: path, TMPDIR: folder }).ended
      return { code, text: plain(out) }
    }
    const shown = async () => JSON.parse(await quick('template', 'show', email, '--json'))
    const before = await shown()
    expect(await edit('true')).toEqual({ code: 0, text: expect.stringContaining('Nothing was changed.') })
    const saved = await edit(`sed -i -e 's/Hello/Good day/' -e 's/^subject: .*/subject: Hi ((name))/' "$1"`)
    expect(saved).toEqual({ code: 0, text: expect.stringContaining('Good day ((name))') })
    expect(await shown()).toMatchObject({ version: before.version + 1, subject: 'Hi ((name))' })
    expect(await edit('exit 3')).toEqual({ code: 2, text: expect.stringMatching(/The editor ".*" failed/) })
    const broken = await edit(`sed -i -e 's/Good/Very good/' -e 's/^category: .*/category: None/' "$1"`)
    expect(broken).toEqual({ code: 2, text: expect.stringMatching(/There is no category "None"/) })
    const kept = /Your text is in (\S+)/.exec(broken.text)?.[1] ?? ''
    expect(existsSync(kept)).toBe(true)
    expect(readFileSync(kept, 'utf8')).toContain('Very good day')
    expect((await shown()).version).toBe(before.version + 1)
  }, 60_000)

  test('job watch: a bar that follows the job, lines for a program, the outcome at the end', async () => {
    await quick('hold')
    const rows = Array.from({ length: 1_000 }, (_, n) => [`p${n}@example.org`, 'Ann'])
    const body = { name: 'Spring', template_id: email, rows: [['email address', 'name'], ...rows] }
    const { id } = (await key.post('/v2/notifications/bulk', body)).body.data
    const [bar, lines] = [atTerminal(['job', 'watch', id]), piped(['job', 'watch', id, '--json'])]
    await expect.poll(() => bar.said.out, { timeout: 20_000 }).toMatch(/Job \S+ \[\.{24}\] {3}0% {2}0 of 1000 {2}\d+ s/)
    await expect.poll(() => lines.said.err, { timeout: 20_000 }).toMatch(/^Job \S+: 0 of 1000\n/)
    await quick('release', '--all')
    const [seenBar, seenLines] = await Promise.all([bar.ended, lines.ended])
    expect([seenBar.code, seenLines.code]).toEqual([0, 0])
    expect(seen(seenBar.out).join('\n')).toMatch(/^\s*id +\S+\n.*\n {2}delivered +1000\n/s)
    expect(seen(seenBar.out).join('\n')).not.toContain('[....')
    expect(JSON.parse(seenLines.out)).toMatchObject({ id, statistics: [{ status: 'delivered', count: 1_000 }] })
    expect(seenLines.err).not.toContain('\r')
  }, 90_000)
})

describe('start-up of a command with the database', () => {
  const loadedBy = (...argv: string[]): string[] => {
    const list = join(folder, 'modules')
    rmSync(list, { force: true })
    const hook = `import { appendFileSync } from 'node:fs'
      export const load = (url, context, next) => (appendFileSync(${JSON.stringify(list)}, url + '\\n'), next(url, context))`
    const register = `import { register } from 'node:module'; register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}))`
    const importing = `data:text/javascript,${encodeURIComponent(register)}`
    const { status, stderr } = spawnSync(process.execPath, ['--import', importing, 'bin/herald.js', ...argv], {
      env: { ...TERMINAL, ...env },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return readFileSync(list, 'utf8').trimEnd().split('\n')
  }

  test.each([
    ['service list', ['service', 'list']],
    ['job list', ['job', 'list', NAME]],
    ['key list', ['key', 'list', NAME]],
    ['audit', ['audit']],
  ])('%s loads neither the renderer nor the service', (_, argv) => {
    const loaded = loadedBy(...argv)
    const heavy =
      /\/dist\/(rendering|engine|console|delivery|main)(\/(?!settings)|\.js)|\/(fastify|ajv|pino|prom-client|entities|preact|libphonenumber-js)\//
    expect(loaded.filter(url => heavy.test(url))).toEqual([])
    expect(loaded.length).toBeLessThan(190)
  })
})
