import type { Clock } from '../core/clock.ts'
import { create } from '../keys/create.ts'
import type { KeyType } from '../keys/key.ts'
import { revoke } from '../keys/revoke.ts'
import { type ListedKey, list } from '../keys/sql.ts'
import { find } from '../services/find.ts'
import { type Command, KEY_TYPE_CHOICES, SERVICE, UsageError, withStore } from './command.ts'
import { facts, listing, minute, moment, SHORT_IDS } from './print.ts'

// Operators say live; the interface family calls the type normal (contract 15.3).
const stored = { live: 'normal', team: 'team', test: 'test' } as const satisfies Record<string, KeyType>
export const publicName = (type: KeyType) => (type === 'normal' ? 'live' : type)

export const commands: readonly Command[] = [
  {
    noun: 'key',
    verb: 'create',
    args: [SERVICE],
    options: [
      { name: 'name', value: 'NAME', required: true, sentence: 'Name of the key, which becomes part of its text.' },
      {
        name: 'type',
        value: 'TYPE',
        ...KEY_TYPE_CHOICES,
        required: true,
        sentence: 'live sends to anyone, team only to team members and the safelist, test sends nothing.',
      },
      { name: 'manage-templates', sentence: 'Allow it to create, change and archive templates.' },
      { name: 'manage-webhooks', sentence: 'Allow it to create, change and remove webhooks of its type of key.' },
      {
        name: 'created-by',
        value: 'EMAIL',
        sentence:
          'Author of the key. Default: the first team member, or operator@ the sending domain if there is none.',
      },
      {
        name: 'expires',
        value: 'WHEN',
        sentence: 'When it expires: 90d, 12h, 4w, or a date like 2027-01-31 (0:00 UTC). Default: never.',
      },
    ],
    sentence: 'Create an API key and show it once.',
    more: 'The key cannot be shown again.',
    examples: [
      'herald key create "Parking permits" --name website --type live --expires 90d',
      'herald key create 0190a1b2 --name ci --type test --manage-templates --json',
    ],
    run: withStore(async (store, input, operator) => {
      const service = await find(store, input.text('SERVICE'))
      const created_by = input.maybe('created-by')
      const expires = input.maybe('expires')
      const key_type = typeFrom(input.text('type'))
      const created = await create(store, operator, service, {
        name: input.text('name'),
        key_type,
        manage_templates: input.has('manage-templates'),
        manage_webhooks: input.has('manage-webhooks'),
        ...(created_by !== undefined && { created_by }),
        ...(expires !== undefined && { ends_at: endFrom(store.clock, expires) }),
      })
      const { key, ...rest } = created
      const text = [
        `Created a ${publicName(key_type)} key for "${service.name}". It cannot be shown again:`,
        '',
        `  ${key}`,
        '',
        facts([
          ['id', created.id],
          ['name', created.name],
          ['manages templates', created.manage_templates],
          ['manages webhooks', created.manage_webhooks],
          ['created by', created.created_by],
          ['expires', minute(created.expires_at) ?? 'never'],
        ]),
      ]
      const { key_type: _, ...shown } = rest
      return { text, data: { ...shown, type: publicName(key_type), expires_at: moment(created.expires_at), key } }
    }),
  },
  {
    noun: 'key',
    verb: 'list',
    args: [SERVICE],
    sentence: 'List the keys of a service, without their secrets.',
    run: withStore(async (store, input) => {
      const service = await find(store, input.text('SERVICE'))
      const keys = await list(store.db.sql, service.id)
      const now = store.clock.now()
      const rows = keys.map(key => [
        key.id,
        key.name,
        publicName(key.key_type),
        stateOf(key, now),
        key.manage_templates,
        key.manage_webhooks,
        key.created_by,
        minute(key.last_used_at) ?? 'never',
      ])
      return {
        text: listing(
          ['ID', 'NAME', 'TYPE', 'STATE', 'TEMPLATES', 'WEBHOOKS', 'CREATED BY', 'LAST USED'],
          rows,
          `"${service.name}" has no key yet. Create one: herald key create ${service.id} --name NAME --type test`,
          SHORT_IDS,
        ),
        data: { keys: keys.map(present) },
      }
    }),
  },
  {
    noun: 'key',
    verb: 'revoke',
    args: [{ name: 'KEY', sentence: 'Id of the key, its first characters (at least 8), or the whole key itself.' }],
    sentence: 'Revoke a key for good. A running Herald refuses it at once.',
    more: 'Prefer the id to the key: the shell history keeps what is typed.',
    run: withStore(async (store, input, operator) => {
      const key = await revoke(store, operator, input.text('KEY'))
      return {
        text: `The key "${key.name}" (${key.id}) was revoked at ${minute(key.revoked_at)}.`,
        data: present(key),
      }
    }),
  },
]

export function typeFrom(text: string): KeyType {
  return stored[text as keyof typeof stored]
}

const units = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const
const LAST = Date.UTC(9999, 0)

/** Milliseconds since 1970. */
function endFrom(clock: Clock, text: string): number {
  const [, count, unit] = /^(\d{1,5})\s*([hdw])$/i.exec(text.trim()) ?? []
  if (count && unit) return clock.now() + Number(count) * units[unit.toLowerCase() as keyof typeof units]
  // Only ISO 8601: other formats that Date.parse accepts depend on the machine's time zone.
  const isIso = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/i.test(text.trim())
  const moment = isIso ? Date.parse(text.trim().replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(moment) || moment > LAST)
    throw new UsageError(
      `--expires takes a duration like 90d, 12h or 4w, or a date like 2027-01-31 or 2027-01-31T18:00Z, not "${text}".`,
    )
  return moment
}

function stateOf(key: ListedKey, now: number): string {
  if (key.revoked_at) return 'revoked'
  if (!key.expires_at) return 'active'
  return Date.parse(moment(key.expires_at) ?? '') <= now ? 'expired' : `until ${minute(key.expires_at)}`
}

/** Fields are listed one by one, so that a new column with a secret is not shown by accident. */
const present = (key: ListedKey) => ({
  id: key.id,
  service_id: key.service_id,
  name: key.name,
  type: publicName(key.key_type),
  manage_templates: key.manage_templates,
  manage_webhooks: key.manage_webhooks,
  created_by: key.created_by,
  created_at: moment(key.created_at),
  expires_at: moment(key.expires_at),
  revoked_at: moment(key.revoked_at),
  last_used_at: moment(key.last_used_at),
})
