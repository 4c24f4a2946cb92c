// Templates as files: front matter and content in NAME.md or NAME.txt, samples in NAME.samples.json beside it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHANNELS, type Channel, channelNames } from '../channels/index.ts'
import { type Id, readId } from '../core/id.ts'
import type { Values } from '../rendering/placeholders.ts'
import { UsageError } from './command.ts'

export type TemplateFile = {
  path: string
  /** Null: not in the service yet. */
  id: Id | null
  /** The version that was pulled or pushed last. */
  version: number | null
  name: string
  type: Channel
  category: string
  folder: string | null
  literal_values: boolean
  subject: string | null
  content: string
  samples: readonly Sample[]
}

/** `expected` absent: only that the values suffice is tested. */
export type Sample = { name: string; values: Values; expected?: Rendering }
export type Rendering = { subject: string | null; body: string }

const EXTENSIONS: Readonly<Record<Channel, string>> = { email: '.md', sms: '.txt' }
const KEYS = ['id', 'version', 'name', 'type', 'category', 'folder', 'values', 'subject'] as const

export function readFolder(folder: string): TemplateFile[] {
  if (!existsSync(folder)) throw new UsageError(`The folder ${folder} does not exist.`)
  const names = readdirSync(folder).filter(name => Object.values(EXTENSIONS).some(end => name.endsWith(end)))
  return names.sort().map(name => readTemplate(join(folder, name)))
}

function readTemplate(path: string): TemplateFile {
  const text = readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
  const parts = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text)
  if (!parts) throw new UsageError(`${path} has no front matter: lines between two lines of ---.`)
  const given = new Map<string, string>()
  for (const [at, line] of (parts[1] ?? '').split('\n').entries()) {
    const [, key, value = ''] = /^([a-z]+):(?: (.*))?$/.exec(line) ?? []
    if (key === undefined || !(KEYS as readonly string[]).includes(key))
      throw new UsageError(`${path} line ${at + 2} is not one of ${KEYS.join(', ')}, a colon, a space and a value.`)
    given.set(key, plain(path, at + 2, value))
  }
  const needed = (key: (typeof KEYS)[number]) => {
    const value = given.get(key)
    if (!value) throw new UsageError(`${path} has no ${key} in its front matter.`)
    return value
  }
  const type = channelNames.find(name => name === given.get('type'))
  if (!type) throw new UsageError(`${path}: type must be ${channelNames.join(' or ')}.`)
  const id = given.has('id') ? readId(needed('id')) : null
  if (given.has('id') && !id) throw new UsageError(`${path}: id is not the id of a template.`)
  const version = given.has('version') ? Number(needed('version')) : null
  if (version !== null && !Number.isInteger(version)) throw new UsageError(`${path}: version is not a whole number.`)
  const values = given.get('values') ?? 'formatted'
  if (values !== 'plain' && values !== 'formatted') throw new UsageError(`${path}: values must be plain or formatted.`)
  return {
    path,
    id,
    version,
    name: needed('name'),
    type,
    category: needed('category'),
    folder: given.get('folder') ?? null,
    literal_values: values === 'plain',
    subject: CHANNELS[type].template.hasSubject ? needed('subject') : null,
    content: (parts[2] ?? '').replace(/\n$/, ''),
    samples: readSamples(samplesPath(path)),
  }
}

/** A value in double quotes is a JSON string, for texts that begin or end with spaces or contain line breaks. */
function plain(path: string, line: number, value: string): string {
  if (!value.startsWith('"')) return value.trim()
  try {
    return String(JSON.parse(value))
  } catch {
    throw new UsageError(`${path} line ${line}: the text in double quotes is not a JSON string.`)
  }
}

function readSamples(path: string): Sample[] {
  if (!existsSync(path)) return []
  const wrong = () =>
    new UsageError(
      `${path} must be a list like [{"name": "a", "values": {…}, "expected": {"subject": "…", "body": "…"}}].`,
    )
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw wrong()
  }
  if (!Array.isArray(value) || !value.every(isSample)) throw wrong()
  return value
}

function isSample(value: unknown): value is Sample {
  if (typeof value !== 'object' || value === null) return false
  const { name, values, expected } = value as Partial<Record<keyof Sample, unknown>>
  const isObject = (one: unknown): one is object => typeof one === 'object' && one !== null && !Array.isArray(one)
  return typeof name === 'string' && isObject(values) && (expected === undefined || isObject(expected))
}

const samplesPath = (path: string) => path.replace(/\.[a-z]+$/, '.samples.json')

export const writeSamples = (path: string, samples: readonly Sample[]): void =>
  writeFileSync(samplesPath(path), `${JSON.stringify(samples, null, 2)}\n`)

export function writeTemplate(file: TemplateFile): void {
  const values: Record<(typeof KEYS)[number], string | number | null> = {
    ...{ id: file.id, version: file.version, name: file.name, type: file.type, category: file.category },
    ...{ folder: file.folder, values: file.literal_values ? 'plain' : null, subject: file.subject },
  }
  const lines = KEYS.flatMap(key => (values[key] === null ? [] : `${key}: ${written(String(values[key]))}`))
  writeFileSync(file.path, ['---', ...lines, '---', file.content, ''].join('\n'))
}

const written = (text: string) => (/^"|^\s|\s$|[\n\r]/.test(text) || text === '' ? JSON.stringify(text) : text)

/** A name for a new file: of the template, with a number where it is taken. */
export function newPath(folder: string, { name, type }: { name: string; type: Channel }, taken: Set<string>): string {
  mkdirSync(folder, { recursive: true })
  const plainName = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const base =
    plainName
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 60) || 'template'
  for (let n = 1; ; n++) {
    const path = join(folder, (n === 1 ? base : `${base}-${n}`) + EXTENSIONS[type])
    if (taken.has(samplesPath(path))) continue
    taken.add(samplesPath(path))
    return path
  }
}

/** By the path of its samples, which e-mails and text messages of one name would share. */
export const takenBy = (files: readonly TemplateFile[]): Set<string> =>
  new Set(files.map(({ path }) => samplesPath(path)))
