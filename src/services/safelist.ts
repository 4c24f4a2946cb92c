// Recipients besides the team who may receive messages in trial mode and with team keys. Who manages keys manages it.
import { createHash } from 'node:crypto'
import { type Actor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Database } from '../db/connect.ts'
import type { PhonePlan } from '../recipients/plans.ts'
import { safelistForm } from '../recipients/recipient.ts'
import { recipientFrom } from './checks.ts'
import { narrowed } from './find.ts'
import { type HomeApp, planOf } from './home.ts'
import { refuse } from './refusals.ts'
import {
  addToSafelist as add,
  hold,
  listSafelist,
  removeFromSafelist,
  replaceInSafelist,
  type SafelistEntry,
} from './sql.ts'

type App = HomeApp

export async function addToSafelist(
  app: App & { ids: { next(): Id } },
  actor: Actor,
  service: Id,
  text: string,
): Promise<SafelistEntry> {
  requirePermission(actor, 'manage-keys', service)
  const recipient = recipientFrom(text, await planOf(app, service))
  const added = await add(app.db.sql, { id: app.ids.next(), service_id: service, recipient }, actor)
  if (!added) throw refuse.safelistTaken(recipient)
  return added
}

/** By id or by the recipient, in any spelling. */
export async function dropFromSafelist(app: App, actor: Actor, service: Id, text: string): Promise<SafelistEntry> {
  requirePermission(actor, 'manage-keys', service)
  const all = await listSafelist(app.db.sql, service)
  const plan = await planOf(app, service)
  const wanted = safelistForm(text, plan)
  const [entry, another] = narrowed(all, text, entry => safelistForm(entry.recipient, plan) === wanted)
  if (another) throw refuse.severalEntries(text)
  if (!entry || (await removeFromSafelist(app.db.sql, service, entry.id, actor)).length === 0)
    throw refuse.unknownSafelist(text)
  return entry
}

export const MOST_SAFELISTED = 1_000

/** A line that is no recipient; `line` counts from 1. */
export type SafelistProblem = { line: number; text: string; sentence: string }

/** `changedMeanwhile`: the list is not the one that `seen` stands for, and nothing was changed. */
export type ReplacedSafelist =
  | { kind: 'replaced'; added: number; removed: number; twice: number }
  | { kind: 'problems'; problems: SafelistProblem[] }
  | { kind: 'changedMeanwhile' }

/** Stands for the content of a list, so that a form can tell whether it was changed meanwhile. */
export const safelistDigest = (entries: readonly Pick<SafelistEntry, 'recipient'>[]): string =>
  createHash('sha256')
    .update(JSON.stringify(entries.map(({ recipient }) => recipient).toSorted()))
    .digest('base64url')
    .slice(0, 22)

/** The whole list, one recipient per line. Nothing is changed when a line has a problem. */
export async function replaceSafelist(
  app: { db: Database; config: App['config']; ids: { next(): Id } },
  actor: Actor,
  service: Id,
  { text, seen }: { text: string; seen: string },
): Promise<ReplacedSafelist> {
  requirePermission(actor, 'manage-keys', service)
  const { wanted, twice, problems } = readLines(text, await planOf(app, service))
  if (wanted.size > MOST_SAFELISTED) throw refuse.safelistFull(MOST_SAFELISTED)
  if (problems.length > 0) return { kind: 'problems', problems }
  return app.db.transaction(async sql => {
    await hold(sql, service)
    const before = await listSafelist(sql, service)
    if (safelistDigest(before) !== seen) return { kind: 'changedMeanwhile' }
    const there = new Set(before.map(({ recipient }) => recipient.toLowerCase()))
    const removed = before.filter(({ recipient }) => !wanted.has(recipient.toLowerCase())).map(({ id }) => id)
    const added = [...wanted]
      .filter(([form]) => !there.has(form))
      .map(([, recipient]) => ({ id: app.ids.next(), recipient }))
    if (added.length + removed.length > 0) await replaceInSafelist(sql, service, added, removed, actor)
    return { kind: 'replaced', added: added.length, removed: removed.length, twice }
  })
}

function readLines(text: string, plan: PhonePlan) {
  const wanted = new Map<string, string>()
  const problems: SafelistProblem[] = []
  let twice = 0
  for (const [at, line] of text.split('\n').entries()) {
    const entry = line.trim()
    if (entry === '') continue
    try {
      const recipient = recipientFrom(entry, plan)
      if (wanted.has(recipient.toLowerCase())) twice++
      else wanted.set(recipient.toLowerCase(), recipient)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      problems.push({ line: at + 1, text: entry, sentence: error.message })
    }
  }
  return { wanted, twice, problems }
}
