// The rules of docs/architecture.md, as a test. It checks walls, not taste.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { connect } from '../src/db/connect.ts'
import { databaseUrl, poolOptions } from './support/database.ts'
import { generated } from './support/generated.ts'
import { schemaOf } from './support/schema.ts'

const NOUNS = [
  'audit',
  'recipients',
  'rendering',
  'services',
  'limits',
  'keys',
  'replays',
  'files',
  'templates',
  'notifications',
  'bulk',
  'receipts',
  'inbox',
  'maintenance',
]
const MACHINES = ['http', 'db', 'queue', 'engine', 'providers', 'telemetry', 'runtime']
const TOP = ['', 'config', 'console', 'cli']
const MACHINE_MAY: Record<string, readonly string[]> = { queue: ['db'], engine: ['db', 'queue'] }

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
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
        /\bsql(<[^`]*>)?`/,
        ({ file, room }) => /\/sql(\.ts|\/[^/]+\.ts)$/.test(file) || ['db', 'queue', 'engine'].includes(room),
      ),
    ).toEqual([])
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
    expect(breaking(/\b(insert|merge) into states\b/, ({ file }) => file === 'notifications/sql/moved.ts')).toEqual([])
  })

  test('Fastify and http/ only at the edge of a room', () => {
    const edge = /(^|\/)(routes|hook|schemas|present|worker|main|delivery|parts|route|sentences)\.ts$/
    const speaks = ({ file, text }: (typeof files)[number]) =>
      /from 'fastify'/.test(text) ||
      importsOf(file, text).some(target => roomOf(target) === 'http' && target !== 'http/settings.ts')
    const wrong = files.filter(file => file.room !== 'http' && !edge.test(file.file) && speaks(file))
    expect(wrong.map(({ file }) => file)).toEqual([])
  })

  test('the environment only in config/, the time only in core/clock.ts', () => {
    expect(breaking(/process\.env/, ({ room }) => room === 'config')).toEqual([])
    expect(breaking(/Date\.now\(|new Date\(\)/, ({ file }) => file === 'core/clock.ts')).toEqual([])
  })

  test('only a check of a machine asks for a process or a database in providers', () => {
    expect(breaking(/from '\.\.\/\.\.\/db\//, ({ room }) => room !== 'providers')).toEqual([])
  })
})

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
