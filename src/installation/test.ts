// An operator sends one message by one provider, to see whether it works. The process that is asked may have no engine, so the test is
// a row: a process with an engine takes it, sends and writes the answer. Nothing is tried again, and a test that nobody takes in time
// is never sent.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { CHANNELS, type Channel } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Hold } from '../queue/hold.ts'
import { homePlan } from '../recipients/plans.ts'
import { isLate } from './process.ts'
import { refuse } from './refusals.ts'
import { list } from './sql/processes.ts'
import { ask, find } from './sql/tests.ts'

type App = {
  db: { sql: Sql }
  ids: { next(): Id }
  seal: Seal
  hold: Pick<Hold, 'isHeld' | 'look'>
  config: { homeCountry: string }
}

export type NewTest = { channel: Channel; provider: string; recipient: string }

/** What the provider answered. `detail` may name the recipient: it is sealed. */
export type TestAnswer =
  | { kind: 'accepted'; ref: string }
  | { kind: 'refused'; class: string; detail: string }
  /** Not now; `uncertain`: the provider may have accepted it; `reason`: why it cannot be reached. */
  | { kind: 'deferred'; class: string; detail: string; uncertain: boolean; reason?: string }
  /** Sending was held after the test was asked for. */
  | { kind: 'held' }
  /** An error of ours; the log of the process has it. */
  | { kind: 'fault' }

export type ProviderTest = { id: Id; channel: Channel; provider: string; process: string | null } & (
  | { state: 'waiting' | 'not taken' | 'no answer'; answer: null }
  | { state: 'answered'; answer: TestAnswer }
)

/** A test that no process has taken by then is not sent. */
export const TAKE_SECONDS = 10
/** What comes later is still shown. */
const ANSWER_SECONDS = 30
const MOST_A_MINUTE = 10

/** Returns the id of the test. */
export async function testProvider(app: App, actor: Actor, { channel, provider, recipient }: NewTest): Promise<Id> {
  requirePermission(actor, 'manage-installation', null)
  await app.hold.look()
  if (app.hold.isHeld()) throw refuse.testWhileHeld()
  const plan = homePlan(app.config.homeCountry)
  const reading = CHANNELS[channel].recipient.read(recipient.trim(), { international: true, plan })
  if (!reading.ok) throw refuse.testRecipient(ENTER[channel])
  const running = (await list(app.db.sql)).filter(one => !isLate(one))
  const isThere = running.some(one => one.providers.some(it => it.channel === channel && it.name === provider))
  if (!isThere) throw refuse.testNoEngine(provider)
  const id = app.ids.next()
  const asked = { id, channel, provider, recipient: app.seal.seal('provider test recipient', reading.key) }
  const isAsked = (await ask(app.db.sql, asked, MOST_A_MINUTE, actor)).length > 0
  if (!isAsked) throw refuse.testsTooMany(MOST_A_MINUTE)
  return id
}

const ENTER: Readonly<Record<Channel, string>> = {
  email: 'an e-mail address such as name@example.org',
  sms: 'a phone number with its country code',
}

/** Null: there is no such test, or it is over for an hour. */
export async function readTest(app: Pick<App, 'db' | 'seal'>, actor: Actor, id: Id): Promise<ProviderTest | null> {
  requirePermission(actor, 'manage-installation', null)
  const row = await find(app.db.sql, id)
  if (!row) return null
  const { channel, provider, taken_by: process, asked_seconds: age } = row
  const about = { id, channel, provider, process }
  if (row.answer)
    return {
      ...about,
      state: 'answered',
      answer: JSON.parse(app.seal.open('provider test answer', row.answer).toString('utf8')) as TestAnswer,
    }
  const state =
    process === null ? (age > TAKE_SECONDS ? 'not taken' : 'waiting') : age > ANSWER_SECONDS ? 'no answer' : 'waiting'
  return { ...about, state, answer: null }
}
