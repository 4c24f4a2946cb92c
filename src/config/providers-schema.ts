// The JSON Schema of HERALD_PROVIDERS_FILE, from the same rows as the environment variables. docs/providers.schema.json is
// generated from it, and every start validates the file with it.
import { channelNames, PLAIN } from '../channels/plain.ts'
import type { JsonSchema, Setting } from '../core/setting.ts'
import type { ProviderKind } from '../providers/kind.ts'
import { KINDS } from '../providers/kinds.ts'

/** The keys of a kind in the file: `url` for HERALD_SMTP_URL of smtp, `dkim_key` for HERALD_DKIM_KEY. */
export const rowsByKey = ({ prefix, settings, fileSettings }: ProviderKind): Map<string, Row> =>
  new Map(
    Object.entries({ ...settings, ...fileSettings }).map(([name, row]) => [keyOf(prefix, row.name), { name, row }]),
  )

type Row = { name: string; row: Setting<unknown> }

const keyOf = (prefix: string, variable: string) =>
  variable.slice(variable.startsWith(prefix) ? prefix.length : 'HERALD_'.length).toLowerCase()

export const kindsOf = (channel: keyof typeof KINDS): readonly ProviderKind[] => {
  const { sending, capture, none } = KINDS[channel]
  return [...sending, capture, none]
}

const NAME = {
  type: 'string',
  pattern: '^[a-z][a-z0-9-]{0,29}$',
  description:
    'Its name in metrics, logs and the address of its receipts (/receipts/<name>). Without it, the kind. Each provider has its own.',
}

const ENV = {
  type: 'object',
  description: 'Read from this environment variable.',
  properties: { env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } },
  required: ['env'],
  additionalProperties: false,
}

/** `isUsed`: leaves out other kinds, because compiling the schema takes longer than reading all other settings. */
export function providersSchema(isUsed: (kind: ProviderKind) => boolean = () => true): JsonSchema {
  const used = channelNames.flatMap(channel => kindsOf(channel).filter(isUsed))
  const definitions = Object.fromEntries(used.map(kind => [definitionName(kind), definition(kind)]))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Providers of Herald',
    description: 'The file that HERALD_PROVIDERS_FILE names: who sends by each channel, in order of preference.',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      ...Object.fromEntries(channelNames.map(channel => [channel, listOf(channel, isUsed)])),
    },
    additionalProperties: false,
    definitions: { env: ENV, ...definitions },
  }
}

const definitionName = ({ kind, channel }: ProviderKind) => `${channel}-${kind}`

function listOf(channel: keyof typeof KINDS, isUsed: (kind: ProviderKind) => boolean): JsonSchema {
  const kinds = kindsOf(channel)
  return {
    description: `Who sends ${PLAIN[channel].words.many}. The first that is up is used.`,
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      properties: { kind: { enum: kinds.map(({ kind }) => kind) } },
      required: ['kind'],
      allOf: kinds.filter(isUsed).map(kind => ({
        if: { properties: { kind: { const: kind.kind } }, required: ['kind'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { $ref: `#/definitions/${definitionName(kind)}` },
      })),
    },
  }
}

function definition(kind: ProviderKind): JsonSchema {
  const rows = [...rowsByKey(kind)]
  const needed = kind.configuredBy === null ? null : keyOf(kind.prefix, kind.configuredBy)
  return {
    type: 'object',
    properties: {
      name: NAME,
      kind: { const: kind.kind },
      ...Object.fromEntries(
        rows.flatMap(([key, { row }]) => [
          [key, schemaOf(row)],
          [`${key}_file`, { type: 'string', description: `A file that holds "${key}".` }],
        ]),
      ),
    },
    additionalProperties: false,
    ...(needed !== null && { anyOf: [{ required: [needed] }, { required: [`${needed}_file`] }] }),
  }
}

/** A value or a reference; a secret must be a reference. */
function schemaOf({ sentence, shown, secret, inline, reader }: Setting<unknown>): JsonSchema {
  const description = `${sentence} Default: ${shown}.`
  if (secret && !inline) return { description, $ref: '#/definitions/env' }
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { description, if: { type: 'object' }, then: { $ref: '#/definitions/env' }, else: reader.schema }
}
