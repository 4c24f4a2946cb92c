// What only a secret opens that is not configured any more: it was removed from HERALD_OLD_SECRETS while data still needed it.
import { floorOf } from '../core/id.ts'
import type { StoredPurpose } from '../core/purposes.ts'
import { openable, type Seal } from '../core/seal.ts'
import { bytes, type Sql } from '../db/connect.ts'
import { sealChecks } from '../db/seal.ts'
import { unreadableKeys } from '../keys/sql.ts'
import { unreadableMessages } from '../notifications/sql/unreadable.ts'
import { unreadableWebhooks } from '../webhooks/sql/manage.ts'

/** By kind, what cannot be opened. `isMore`: there may be more, because only the oldest rows were looked at. */
export type Unreadable = { messages: number; keys: number; webhooks: number; isMore: boolean }

/** The most rows of a table that are looked at: a start stays short, however many there are. */
const MOST = 100_000
/** Processes of other machines go on with their secret until they are restarted, too. */
const OVERLAP_MICROS = 3_600_000_000

/**
 * Every secret that has been the current one is recorded when a process starts with it. So without an unknown record nothing is
 * looked at, and otherwise only what is older than the record after it: most of that is what the unknown secret has sealed.
 */
export async function findUnreadable(sql: Sql, seal: Seal): Promise<Unreadable | null> {
  const checks = await sealChecks(sql)
  const last = checks.findLastIndex(({ sealed }) => !isOpened(seal, sealed))
  if (last === -1) return null
  const successor = checks[last + 1]
  if (!successor) return null // the current secret is not the right one, which checkSeal reports
  const before = floorOf(successor.micros + OVERLAP_MICROS)
  const known = (purpose: StoredPurpose) => bytes(seal.ids(purpose))
  const [[messages], [keys], [webhooks]] = await Promise.all([
    unreadableMessages(sql, known('message'), before, MOST),
    unreadableKeys(sql, known('key secret'), MOST),
    unreadableWebhooks(sql, known('webhook target'), MOST),
  ])
  const found = [messages, keys, webhooks].filter(one => one !== undefined && one.unreadable > 0)
  if (found.length === 0) return null
  return {
    messages: messages?.unreadable ?? 0,
    keys: keys?.unreadable ?? 0,
    webhooks: webhooks?.unreadable ?? 0,
    isMore: found.some(one => one?.rows === MOST),
  }
}

const isOpened = (seal: Seal, sealed: Buffer) => openable(seal, 'secret check', sealed) !== null

/** For example `2,000 messages and 1 API key need a secret that was removed too early.` */
export function unreadableText({ messages, keys, webhooks, isMore }: Unreadable): string {
  const parts = [counted(messages, 'message'), counted(keys, 'API key'), counted(webhooks, 'webhook')].flatMap(
    part => part ?? [],
  )
  const what = parts.length === 3 ? `${parts[0]}, ${parts[1]} and ${parts[2]}` : parts.join(' and ')
  const verb = messages + keys + webhooks === 1 ? 'needs' : 'need'
  return `${isMore ? 'At least ' : ''}${what} ${verb} a sealing secret that was removed too early.`
}

const counted = (count: number, noun: string) =>
  count === 0 ? null : `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`

export const UNREADABLE_REMEDY =
  'Add that secret to HERALD_OLD_SECRETS again until its messages are deleted (the retention of the services). If it is lost, HERALD_ALLOW_UNREADABLE_DATA=true starts without it: what it sealed stays unreadable, and requests for it are answered with 503.'

/** Refuses a start that could not read what it has stored. */
export async function checkRemovedSecrets(sql: Sql, seal: Seal, isAllowed: boolean): Promise<void> {
  if (isAllowed) return
  const unreadable = await findUnreadable(sql, seal)
  if (unreadable) throw new Error(`${unreadableText(unreadable)} ${UNREADABLE_REMEDY}`)
}
