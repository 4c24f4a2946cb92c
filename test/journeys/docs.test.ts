// The examples of the tutorial, the guides and the page about clients, run as they are printed. `<!-- run: TEXT -->` before a block says that it is run,
// and what it must print.
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Env, hasCurl, type Program, programs } from '../support/program.ts'
import { smtpServer } from '../support/smtp-server.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

type Example = { language: string; text: string; prints: string }

const pages = ['docs/tutorial.md', 'docs/clients.md', ...readdirSync('docs/guides').map(name => `docs/guides/${name}`)]
const examplesOf = (page: string): Example[] =>
  [...readFileSync(page, 'utf8').matchAll(/<!-- run(?:: (.*?))? -->\n```(\w+)\n(.*?)\n```/gs)].map(
    ([, prints = '', language = '', text = '']) => ({ language, text, prints }),
  )

// The published clients for Python and PHP come from their registries: scripts/install-clients.sh puts them into a folder. Without it only what needs
// the language alone is run.
const { CLIENTS_FOLDER = '' } = process.env
const succeeds = (command: string, ...argv: string[]) =>
  spawnSync(command, argv, { env: { ...process.env, PYTHONPATH: `${CLIENTS_FOLDER}/python` } }).status === 0
const PYTHON = ['/usr/bin/python3', 'python3'].find(command => succeeds(command, '--version')) ?? 'python3'
const hasPythonClient = succeeds(PYTHON, '-c', 'import notifications_python_client.notifications')
const hasPhpClient = succeeds('php', '-r', `require '${CLIENTS_FOLDER}/php/vendor/autoload.php';`)
for (const [name, isThere] of [['Python', hasPythonClient] as const, ['PHP', hasPhpClient] as const])
  if (!isThere)
    console.warn(`The published client for ${name} is not tried here: it is not installed (CLIENTS_FOLDER).`)

type Runner = { command: string; ending: string; env: Env; isThere(text: string): boolean }
const LANGUAGES: Readonly<Record<string, Runner>> = {
  js: { command: process.execPath, ending: '.mjs', env: {}, isThere: () => true },
  python: {
    ...{ command: PYTHON, ending: '.py', env: { PYTHONPATH: `${CLIENTS_FOLDER}/python` } },
    isThere: text => (text.includes('notifications_python_client') ? hasPythonClient : succeeds(PYTHON, '--version')),
  },
  php: { command: 'php', ending: '.php', env: {}, isThere: () => hasPhpClient },
}

const { newDatabase, herald, start, sample } = programs()
const folder = mkdtempSync(join(tmpdir(), 'herald-docs-'))
let env: Env
let program: Program
let given: Env
let mail: Awaited<ReturnType<typeof smtpServer>>

beforeAll(async () => {
  mail = await smtpServer({ hideSTARTTLS: true })
  env = { ...(await newDatabase()), HERALD_SMTP_URL: `smtp://127.0.0.1:${mail.port}` }
  program = await start(env)
  const { templates, service } = await sample(env)
  const argv = ['key', 'create', service.id, '--name', 'docs', '--type', 'test']
  const made = await herald([...argv, '--manage-templates', '--manage-webhooks', '--json'], env)
  const { key } = JSON.parse(made.out) as { key: string }
  given = { HERALD: program.address, KEY: key, TEMPLATE: templates.email.id }
  // As in a project that has installed both.
  mkdirSync(join(folder, 'node_modules'))
  for (const [name, place] of [
    ['herald', '.'],
    ['notifications-node-client', 'node_modules/notifications-node-client'],
  ] as const)
    symlinkSync(resolve(place), join(folder, 'node_modules', name))
  if (hasPhpClient) symlinkSync(join(CLIENTS_FOLDER, 'php/vendor'), join(folder, 'vendor'))
})
afterAll(async () => {
  await mail?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function run(command: string, argv: readonly string[], cwd: string, more: Env = {}): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const { name: _, ...settings } = env
  const all = { PATH, HOME, ...settings, ...given, ...more }
  return promisify(execFile)(command, argv, { cwd, env: all }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => Promise.reject(new Error(`${stdout}${stderr}`)),
  )
}

test('every page has examples that are run', () => {
  expect(pages).toHaveLength(10)
  expect(pages.filter(page => examplesOf(page).length === 0)).toEqual([])
})

for (const page of pages) {
  const examples = examplesOf(page)
  const shell = examples.filter(({ language }) => language === 'sh')
  // One shell for a page, because later blocks use variables of earlier ones.
  const withShell = shell.length > 0 ? test.skipIf(!hasCurl()) : () => {}
  withShell(`${page}: shell`, async () => {
    const marked = shell.map(({ text }, at) => `echo "@@ ${at}"\n${text}\necho`).join('\n')
    const strict = 'set -eu\ncurl() { command curl --fail-with-body "$@"; }\n'
    const said = (await run('sh', ['-c', strict + marked], '.')).split(/^@@ \d+$/m).slice(1)
    expect(said).toHaveLength(shell.length)
    for (const [at, { prints }] of shell.entries()) expect(said[at]).toContain(prints)
    if (page.endsWith('tutorial.md')) {
      const arrived = mail.letters.filter(({ raw }) => raw.includes('Subject: Your permit is ready, Ada'))
      expect(arrived.map(({ to }) => to)).toEqual([['ada@example.org']])
    }
  })

  for (const [at, { language, text, prints }] of examples.entries()) {
    const other = LANGUAGES[language]
    if (other)
      test.skipIf(!other.isThere(text))(`${page}: ${language} ${at}`, async () => {
        const file = join(folder, `example-${at}${other.ending}`)
        writeFileSync(file, text)
        const said = await run(other.command, [file], folder, other.env)
        expect(said).toMatch(/\S/)
        expect(said).toContain(prints)
      })
    else expect(language).toBe('sh')
  }
}
