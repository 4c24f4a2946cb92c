// Checks one message before it is sent: everything that a send would refuse, what the recipient would get, and what it would use. The
// checks are those of a send (checks.ts). Nothing is stored, sent or reserved; the request counts against the rate limit.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import type { Channel, Compiled } from '../channels/index.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { type Problem, problemsOf } from '../core/refusal.ts'
import type { Sql } from '../db/connect.ts'
import type { Contents } from '../files/file.ts'
import type { KeyType } from '../keys/key.ts'
import { dayOf, tooMany } from '../limits/daily.ts'
import { type RateAnswer, tooFast } from '../limits/rate.ts'
import { countRequest } from '../limits/sql/rates.ts'
import { usedOf } from '../limits/sql/usage.ts'
import { codePoints } from '../rendering/characters.ts'
import type { Values } from '../rendering/placeholders.ts'
import type { RenderThread } from '../rendering/thread.ts'
import type { Services } from '../services/load.ts'
import { dailyLimit, rateLimit } from '../services/service.ts'
import type { LoadedService } from '../services/sql.ts'
import { examinersOf } from './body.ts'
import {
  type Asked,
  type ChecksApp,
  contentProblems,
  createKnown,
  fileProblems,
  type Known,
  loadTemplate,
  recipientProblems,
  type Skipped,
  serviceProblems,
} from './checks.ts'
import { emailFrom } from './content.ts'
import { laneOf } from './lane.ts'
import { versionOf } from './message.ts'
import { refuse } from './refusals.ts'
import { dueOf } from './send.ts'
import { bodyOf, type HandSent } from './send-as.ts'

export type CheckApp = ChecksApp & {
  clock: Clock
  db: { sql: Sql }
  renderThread: Pick<RenderThread, 'email'>
}

/** Whose rules apply: a person checks with those of a live key. */
export type CheckCaller = { service: LoadedService; key_type: KeyType }

/** The daily limit of the day on which the messages are due. */
export type Daily = { day: string; limit: number; used: number; remaining: number }

export type Alphabet = 'GSM-7' | 'UCS-2'

/** Null: not known, or not of this channel. */
export type OneReport = {
  /** A send with this body would be accepted now. */
  ok: boolean
  /** In the order of the contract; the first is the one that a send would be refused with. */
  problems: readonly Problem[]
  /** What could not be checked because of a problem. */
  skipped: readonly Skipped[]
  template: { id: Id; version: number } | null
  /** `body`: as the answer to a send shows it. `text` and `html`: as the recipient gets it. */
  content: { subject: string | null; body: string; text: string; html: string | null } | null
  /** Of a text message: how many it is charged as, and their alphabet. */
  parts: number | null
  alphabet: Alphabet | null
  /** Of a text message: units of its alphabet, of which 612 are allowed. Of an e-mail: characters of the text. */
  characters: number | null
  /** Of an e-mail: subject, body and files, of which 6,291,456 are allowed. */
  bytes: number | null
  files: readonly { name: string; bytes: number; method: 'attach' | 'link'; media_type: string; is_scanned: boolean }[]
  /** Null also for a recipient of smoke tests, whose messages are not stored. */
  lane: string | null
  /** Null also for test keys and recipients of smoke tests, which have no daily limit. */
  daily: Daily | null
  recipient: {
    /** In its normal form. */
    address: string
    is_allowed: boolean
    reason: 'team-only' | 'trial' | 'international' | null
    is_international: boolean
    is_smoke_test: boolean
  } | null
}

export type CheckedOne = { report: OneReport; rate: RateAnswer }

/** `body`: parsed JSON; `contents`: the decoded files in it. `base`: the public address, for links to files. */
export async function checkOne(
  app: CheckApp,
  { service, key_type }: CheckCaller,
  channel: Channel,
  body: unknown,
  contents: Contents,
  { base }: { base: string },
): Promise<CheckedOne> {
  const rate = await countCheck(app, { service, key_type })
  const { input, unread, refusals: ofBody } = examinersOf(app.clock)[channel](service.home_country)(body, contents)
  const asked: Asked = { service, key_type, channel, input, unread, base }
  const known = createKnown(app, asked)

  const refusals = [...ofBody]
  for (const refusal of serviceProblems(service, channel)) refusals.push(refusal)
  await loadTemplate(app, asked, known)
  for (const refusal of contentProblems(asked, known)) refusals.push(refusal)
  const daily = await dailyOf(app, asked, known)
  if (daily?.remaining === 0) refusals.push(tooMany(daily.limit, app.clock.now()))
  for (const refusal of recipientProblems(asked, known)) refusals.push(refusal)
  for await (const refusal of fileProblems(app, asked, known)) refusals.push(refusal)

  const problems = refusals.flatMap(problemsOf)
  return { report: { ok: problems.length === 0, problems, ...(await shown(app, asked, known, daily)) }, rate }
}

/** The same for a person who fills in a form. */
export async function checkOneAs(
  app: CheckApp & { services: Services },
  actor: PersonActor,
  serviceId: Id,
  given: HandSent,
  { base }: { base: string },
): Promise<OneReport> {
  requirePermission(actor, 'send-messages', serviceId)
  const service = await app.services.get(serviceId)
  if (!service) throw refuse.notFound()
  const { channel, contents = new Map() } = given
  const caller: CheckCaller = { service, key_type: 'normal' }
  const { report } = await checkOne(app, caller, channel, bodyOf[channel](given), contents, { base })
  return report
}

/** Every check counts as a request, also one that finds problems. */
export async function countCheck(
  { db }: Pick<CheckApp, 'db'>,
  { service, key_type }: CheckCaller,
): Promise<RateAnswer> {
  const rate = await countRequest(db.sql, service.id, key_type, rateLimit(service))
  if (!rate.passed) throw tooFast(key_type, rate)
  return rate
}

async function dailyOf(app: CheckApp, asked: Asked, known: Known): Promise<Daily | null> {
  if (asked.key_type === 'test' || known.isSmokeTest) return null
  if (asked.unread.has('scheduled_for')) {
    known.skipped = [...known.skipped, 'daily limit']
    return null
  }
  return readDaily(app, asked.service, asked.channel, dueOf(asked.input, app.clock.now()))
}

/** `due`: milliseconds since 1970. */
export async function readDaily(
  { db }: Pick<CheckApp, 'db'>,
  service: LoadedService,
  channel: Channel,
  due: number,
): Promise<Daily> {
  const day = dayOf(due)
  const limit = dailyLimit(service, channel)
  const used = await usedOf(db.sql, { service_id: service.id, channel, day })
  return { day, limit, used, remaining: Math.max(0, limit - used) }
}

type ShownParts = Omit<OneReport, 'ok' | 'problems'>

async function shown(app: CheckApp, asked: Asked, known: Known, daily: Daily | null): Promise<ShownParts> {
  const { template, recipient, isSmokeTest, scanned, skipped } = known
  return {
    skipped,
    template: template && { id: template.id, version: template.version },
    ...(await rendered(app, asked, known)),
    files: scanned.map(({ name, content, method, mediaType, verdict }) => ({
      name,
      bytes: content.length,
      method,
      media_type: mediaType,
      is_scanned: verdict === 'clean',
    })),
    lane: template?.type !== asked.channel || isSmokeTest ? null : laneOf(template.type, template.pace, asked.key_type),
    daily,
    recipient: recipient && {
      address: recipient.key,
      ...allowanceOf(asked, known),
      is_international: recipient.international,
      is_smoke_test: isSmokeTest,
    },
  }
}

function allowanceOf({ service }: Asked, { verdict, recipient }: Known) {
  const reason =
    verdict !== null && verdict !== 'allowed'
      ? verdict
      : recipient?.international && !service.may_send_international
        ? ('international' as const)
        : null
  return { is_allowed: reason === null, reason }
}

type Rendered = Pick<OneReport, 'content' | 'parts' | 'alphabet' | 'characters' | 'bytes'>

const NOT_RENDERED: Rendered = { content: null, parts: null, alphabet: null, characters: null, bytes: null }

async function rendered(app: CheckApp, { service }: Asked, known: Known): Promise<Rendered> {
  const { version, values, content } = known
  if (!version || !values || !content) return NOT_RENDERED
  return RENDERED[version.type](app, service, version, { values, content, bytes: known.bytes })
}

type RenderedBy = (
  app: CheckApp,
  service: LoadedService,
  version: Compiled,
  known: Pick<Known, 'bytes'> & { values: Values; content: { body: string; subject?: string } },
) => Promise<Rendered>

const RENDERED: Readonly<Record<Channel, RenderedBy>> = {
  email: async (app, _service, version, { values, content, bytes }) => {
    const { text, html } = await emailFrom(app, versionOf(version, 'email'), values)
    const { subject = '', body } = content
    const parts = { parts: null, alphabet: null }
    return { content: { subject, body, text, html }, ...parts, characters: codePoints(text), bytes }
  },
  sms: async (_app, service, version, { values, content: { body } }) => {
    const { compiled } = versionOf(version, 'sms')
    const { text, units, encoding, fragments } = compiled.render(values, service.sms_prefix ? service.name : null)
    const content = { subject: null, body, text, html: null }
    return { content, parts: fragments, alphabet: encoding, characters: units, bytes: null }
  },
}
