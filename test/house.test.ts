// The rules of docs/architecture.md, as a test. It checks walls, not taste.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { connect } from '../src/db/connect.ts'
import { databaseUrl, poolOptions } from './support/database.ts'
import { generated } from './support/generated.ts'
import { schemaOf } from './support/schema.ts'
import { quotedTablesIn, tablesIn } from './support/tables.ts'

const NOUNS = [
  'audit',
  'recipients',
  'rendering',
  'channels',
  'services',
  'limits',
  'keys',
  'replays',
  'files',
  'templates',
  'events',
  'statistics',
  'notifications',
  'bulk',
  'sheets',
  'receipts',
  'inbox',
  'mails',
  'people',
  'live-requests',
  'feed',
  'webhooks',
  'timeline',
  'reports',
  'requests',
  'transfers',
  'moves',
  'installation',
  'maintenance',
]
const MACHINES = ['http', 'db', 'queue', 'engine', 'providers', 'processes', 'telemetry', 'runtime']
const TOP = ['', 'config', 'console', 'cli', 'reference', 'client']
const MACHINE_MAY: Record<string, readonly string[]> = { queue: ['db'], engine: ['db', 'queue'] }

/** The tables of each room. Others use functions and parts of statements that the owner exports. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  db: ['migrations', 'seal_checks'],
  queue: ['tickets', 'sending'],
  audit: ['audit'],
  services: ['services', 'users', 'reply_tos', 'senders', 'safelist'],
  limits: ['usage', 'rates', 'rate_hits'],
  keys: ['keys'],
  replays: ['replays'],
  files: ['files', 'file_pieces', 'uploads'],
  templates: [
    'templates',
    'template_versions',
    'template_categories',
    'template_samples',
    'template_drafts',
    'folders',
  ],
  events: ['events', 'event_clock'],
  statistics: ['hourly_counts', 'template_counts', 'key_counts', 'hourly_changes'],
  notifications: ['notifications', 'states', 'handovers', 'job_counts'],
  bulk: ['jobs', 'chunks'],
  sheets: ['sheets', 'sheet_chunks'],
  receipts: ['receipts'],
  inbox: ['inbox'],
  mails: ['mails'],
  people: [
    'people',
    'sessions',
    'sign_in_links',
    'sign_in_challenges',
    'spent_challenges',
    'sign_in_tries',
    'passkeys',
    'identities',
    'invitations',
  ],
  'live-requests': ['live_requests'],
  requests: ['requests'],
  installation: ['installation', 'processes', 'provider_tests'],
  webhooks: ['webhooks', 'webhook_attempts', 'webhook_retries', 'webhook_replays'],
}
const SQL_MACHINES = ['db', 'queue', 'engine']
/** Here a table may be a value that becomes part of a statement. */
const makesStatements = (file: string) => file.startsWith('queue/') || file === 'db/partitions.ts'
const isSqlFile = (file: string) => /\/sql(\.ts|\/[^/]+\.ts)$/.test(file)

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => /(?<!\.test)\.tsx?$/.test(file))
  .map(file => ({
    file,
    room: file.includes('/') ? (dirname(file).split('/')[0] ?? '') : '',
    text: readFileSync(join('src', file), 'utf8'),
  }))

const importsOf = (file: string, text: string) =>
  [...text.matchAll(/^(?:import|export)\s[^;]*?from '(\.[^']+)'/gms)].map(([, path]) =>
    normalize(join(dirname(file), String(path))),
  )
const roomOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '')
const floorOf = (room: string) =>
  room === 'core' ? 0 : MACHINES.includes(room) ? 1 : NOUNS.includes(room) ? 2 : TOP.includes(room) ? 3 : -1

describe('walls', () => {
  test('every room has its floor', () => {
    expect(files.filter(({ room }) => floorOf(room) === -1).map(({ file }) => file)).toEqual([])
  })

  test('imports go down, and on the nouns floor to the left', () => {
    const wrong = files.flatMap(({ file, room, text }) =>
      importsOf(file, text)
        .filter(target => !mayImport(room, roomOf(target)))
        .map(target => `${file} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('no import cycles', () => {
    const graph = new Map(files.map(({ file, text }) => [file, importsOf(file, text)]))
    const done = new Set<string>()
    const walk = (file: string, path: readonly string[]): string[] => {
      if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')]
      if (done.has(file)) return []
      done.add(file)
      return (graph.get(file) ?? []).flatMap(next => walk(next, [...path, file]))
    }
    expect([...graph.keys()].flatMap(file => walk(file, []))).toEqual([])
  })

  test('SQL only in sql.ts of a noun and in db, queue, engine', () => {
    expect(
      breaking(
        /(?<![`\w]|\} )(sql|part)(<[^`]*>)?`/,
        ({ file, room }) => isSqlFile(file) || SQL_MACHINES.includes(room),
      ),
    ).toEqual([])
  })

  test('every table has one owner, and no other room names it', () => {
    const schema = [...readFileSync('schema.sql', 'utf8').matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(
      ([, name]) => name,
    )
    expect(Object.values(TABLES).flat().sort()).toEqual(schema.sort())
    const known = new Set(Object.values(TABLES).flat())
    const foreign = files
      .filter(({ file, room }) => isSqlFile(file) || SQL_MACHINES.includes(room))
      .flatMap(({ file, room, text }) =>
        [...tablesIn(text, known), ...(makesStatements(file) ? quotedTablesIn(text, known) : [])]
          .filter(table => !TABLES[room]?.includes(table))
          .map(table => `${file} names ${table}`),
      )
    expect(foreign).toEqual([])
  })

  test('the tables of a statement are found', () => {
    const known = new Set(['keys', 'states', 'jobs', 'usage'])
    expect(tablesIn('with a as (update states s set x = 1) select from a join jobs j on true', known)).toEqual([
      'jobs',
      'states',
    ])
    expect(tablesIn("-- from keys\n// from keys\nselect 'usage'::regclass from only jobs", known)).toEqual([
      'jobs',
      'usage',
    ])
    expect(tablesIn("import { x } from './keys.ts' // from the states\n/** from jobs */", known)).toEqual([])
    expect(tablesIn('const table = part`keys`', known)).toEqual(['keys'])
    expect(quotedTablesIn("const TABLES = ['jobs', 'states_today']", known)).toEqual(['jobs'])
  })

  test('a status is written only through moved() and created() of notifications/sql/moved.ts', () => {
    const updates = files.flatMap(({ file, text }) =>
      [...text.matchAll(/update states\b.*?\bset\b(.*?)\n\s*(?:from|where)\b/gs)]
        .filter(([, set]) => /(^|[\s,(])status\s*=/.test(set ?? ''))
        .map(({ index, 1: set }) => ({
          file,
          isMoved: /\bmoved\(\s*part`\s*$/.test(text.slice(0, index)) && /\bwas = s\.status\b/.test(set ?? ''),
        })),
    )
    expect(updates.length).toBeGreaterThanOrEqual(5)
    expect(updates.filter(update => !update.isMoved)).toEqual([])
    // How the events of a message are found, and that they are logged.
    const logs = files.flatMap(({ file, text }) =>
      [...text.matchAll(/\bmoved\(\s*part`\s*(update states s\b.*?)`,\s*\{\s*cause: '/gs)].map(([, update]) => ({
        file,
        isMarked: /,\s*\$\{marked\}\s*(from|where)\b/.test(update ?? ''),
      })),
    )
    expect(logs.length).toBeGreaterThan(updates.length) // one more for a mark that changes no status
    expect(logs.filter(one => !one.isMarked)).toEqual([])
    expect(breaking(/\b(insert|merge) into states\b/, ({ file }) => file === 'notifications/sql/moved.ts')).toEqual([])
  })

  test('Fastify and http/ only at the edge of a room', () => {
    const edge =
      /(^|\/)(routes|hook|schemas|body|present|worker|main|request-log|delivery|parts|route|sentences)\.ts$|^console\/serve\/|^reference\//
    const speaks = ({ file, text }: (typeof files)[number]) =>
      /from 'fastify'/.test(text) ||
      importsOf(file, text).some(target => roomOf(target) === 'http' && target !== 'http/settings.ts')
    const wrong = files.filter(file => file.room !== 'http' && !edge.test(file.file) && speaks(file))
    expect(wrong.map(({ file }) => file)).toEqual([])
  })

  test('the environment only in config/, the time only in core/clock.ts', () => {
    expect(breaking(/process\.env/, ({ room }) => room === 'config')).toEqual([])
    // The client runs in programs of others and imports nothing of ours.
    expect(
      breaking(/Date\.now\(|new Date\(\)/, ({ file, room }) => file === 'core/clock.ts' || room === 'client'),
    ).toEqual([])
    expect(files.filter(({ room }) => room === 'client').flatMap(({ file, text }) => importsOf(file, text))).toEqual([
      'client/api.ts',
    ])
  })

  test('keys of the installation only in core/seal.ts, which asks for a purpose; others have secrets of their own', () => {
    const OWN_SECRETS: Record<string, string> = {
      'core/seal-before.ts': 'the format without purposes, which seal.ts reads',
      'core/xaes.ts': 'the cipher of seal.ts',
      'files/s3.ts': 'requests, by the secret key of the store',
      'keys/token.ts': 'tokens that callers sign with the secret of their key',
      'moves/signed.ts': 'secrets that another program has signed',
      'people/token.ts': 'the field of a form, by the random token of its session',
      'providers/http/signature.ts': 'receipts, by a secret shared with the provider',
      'providers/smtp/client/auth.ts': 'CRAM-MD5, by the password at the mail server',
      'providers/twilio/signature.ts': 'receipts, by the token of the account',
      'transfers/file.ts': 'an export, by a passphrase',
      'webhooks/sign.ts': 'events, by the secret of the webhook',
    }
    const primitives = /createHmac|create(Dec|C)ipheriv|hkdf|crypto_(aead|generichash)|createSign\(/
    const users = breaking(primitives, ({ file }) => file === 'core/seal.ts')
    expect(users.toSorted()).toEqual(Object.keys(OWN_SECRETS))
    // Tokens expire, which token.ts checks. A return path has no room for a time.
    const tokens = /\.(sealToken|openToken|sign|isSigned)\('/
    expect(breaking(tokens, ({ file }) => file === 'providers/smtp/verp.ts')).toEqual([])
    // A second seal would open by secrets of its choice.
    expect(breaking(/createSeal\(/, ({ file }) => SEALS.includes(file)).toSorted()).toEqual([])
  })

  test('only a check of a machine asks for a process or a database in providers', () => {
    expect(breaking(/from '\.\.\/\.\.\/db\//, ({ room }) => room !== 'providers')).toEqual([])
  })
})

/** The store makes the seal of the process. The others open files by their own keys, or run in a thread or before the store. */
const SEALS = [
  'core/seal.ts',
  'store.ts',
  'cli/restore.ts',
  'files/keep.ts',
  'providers/smtp/verp.ts',
  'timeline/worker.ts',
]

function mayImport(from: string, to: string): boolean {
  if (from === to) return true
  const [upper, lower] = [floorOf(from), floorOf(to)]
  if (upper > lower) return true
  if (upper < lower) return false
  if (upper === 2) return NOUNS.indexOf(to) < NOUNS.indexOf(from)
  if (upper === 1) return to === 'telemetry' || to === 'runtime' || (MACHINE_MAY[from] ?? []).includes(to)
  // On top: the tables of contents and main know everyone, everyone knows the settings; console and cli do not know each other.
  return from === '' || to === '' || to === 'config'
}

function breaking(pattern: RegExp, allowed: (file: (typeof files)[number]) => boolean): string[] {
  return files.filter(file => !allowed(file) && pattern.test(file.text)).map(({ file }) => file)
}

describe('generated files are fresh (npm run generate)', async () => {
  const wanted = await generated()
  for (const [name, text] of Object.entries(wanted))
    test(name, () => {
      expect(existsSync(name) ? readFileSync(name, 'utf8') : '').toBe(text)
    })

  test.skipIf(process.env.DATABASE_URL)('schema.sql', async () => {
    const db = connect({ url: databaseUrl(inject('server'), inject('template')) }, poolOptions)
    try {
      expect(readFileSync('schema.sql', 'utf8')).toBe(await schemaOf(db.sql))
    } finally {
      await db.stop()
    }
  })
})

test('no path of a machine and no registry address in any file', () => {
  const lock = readFileSync('package-lock.json', 'utf8')
  expect(lock.match(/"resolved": "https?:/g)).toBe(null)
})
