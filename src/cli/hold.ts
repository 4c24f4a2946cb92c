// Holds sending, shows what waits, and releases it.
import { zulu } from '../core/clock.ts'
import { readId } from '../core/id.ts'
import { hold, release } from '../maintenance/sending.ts'
import { type Holding, holdingOf } from '../queue/hold.ts'
import { keptTickets, type Released, releaseChosen } from '../queue/release.ts'
import { IDENTITY_TABLES, RELEASED_LANES } from '../sending.ts'
import { type Command, UsageError, withStore } from './command.ts'
import { listing, moment } from './print.ts'

const MOST = 100

export const commands: readonly Command[] = [
  {
    noun: 'hold',
    options: [
      { name: 'restored', sentence: 'This database is a copy, and it is not known what its original has sent since.' },
    ],
    sentence: 'Hold sending: messages are still accepted, but nothing is sent until herald release.',
    more: 'Every running process stops within a second: what it has loaded goes back to the queue, and only messages that a provider is already receiving are finished. Use it before the first start of a database that was copied by other means than herald restore.',
    run: withStore(async (store, input, operator) => {
      await hold(store, operator, IDENTITY_TABLES, input.has('restored') ? 'restored' : 'asked')
      const data = await present(store.db.sql)
      return { text: `Sending is held. To resume: ${resumeBy(data.reason)}`, data }
    }),
  },
  {
    noun: 'held',
    sentence: 'Show whether sending is held, and the messages that herald release has kept back.',
    run: withStore(async ({ db: { sql } }) => {
      const data = await present(sql)
      const state = data.held_since
        ? `Sending is held since ${data.held_since} (${data.reason === 'restored' ? 'a restored copy' : 'by herald hold'}). To resume: ${resumeBy(data.reason)}`
        : 'Sending is not held.'
      const rows = data.kept.flatMap(({ lane, due_at, ids, tried }) =>
        ids.map(id => [id, lane, due_at.slice(0, 16).replace('T', ' '), tried]),
      )
      const table = listing(['ID', 'LANE', 'DUE (UTC)', 'MAYBE TRIED'], rows.slice(0, MOST), 'Nothing is kept back.')
      return { text: [state, '', table, ...(rows.length > MOST ? ['…'] : [])], data }
    }),
  },
  {
    noun: 'release',
    options: [
      {
        name: 'cut-off',
        value: 'TIME',
        sentence:
          'When the original stopped sending, for example 2026-06-15T12:30:00Z, or `now`. Messages that were due before, or that were tried, are kept back.',
      },
      { name: 'id', value: 'ID', many: true, sentence: 'Release this message, one of those kept back.' },
      { name: 'all', sentence: 'Release everything, whatever the original may have sent.' },
    ],
    sentence: 'Resume sending after herald hold: messages after a cut-off, chosen messages, or everything.',
    more: 'A message that is kept back is not sent until it is released by --id. It ends as technical-failure 72 hours after it was due.',
    examples: ['herald release --cut-off 2026-06-15T12:30:00Z', 'herald release --id 0197…', 'herald release --all'],
    run: withStore(
      async (store, input, operator) => {
        const { db, clock } = store
        const [cutOff, ids, all] = [input.maybe('cut-off'), input.list('id'), input.has('all')]
        if ([cutOff !== undefined, ids.length > 0, all].filter(Boolean).length !== 1)
          throw new UsageError('Give exactly one of --cut-off, --id and --all. What is sent cannot be recalled.')
        if (all) return outputOf(await release(store, operator, RELEASED_LANES))
        if (cutOff !== undefined)
          return outputOf(await release(store, operator, RELEASED_LANES, readTime(cutOff, clock.now())))
        const wanted = ids.map(text => readId(text) ?? wrongId(text))
        const chosen = await releaseChosen(db.sql, RELEASED_LANES, wanted)
        const missing = wanted.filter(id => !chosen.includes(id))
        const text = [
          `${chosen.length} of ${wanted.length} released.`,
          ...missing.map(id => `${id} is not among those kept back.`),
        ].join('\n')
        return { text, data: { released: chosen, missing }, ...(missing.length > 0 && { failed: true as const }) }
      },
      { statementSeconds: 3_600 },
    ),
  },
]

/** The command that ends a hold. After a restore only the operator knows what the original has sent. */
export const resumeBy = (reason: Holding['reason'] | null): string =>
  reason === 'restored'
    ? 'herald release --cut-off TIME, where TIME is when the original stopped sending'
    : 'herald release --all'

const outputOf = ({ released, kept }: Released) => ({
  text: `Sending has resumed: ${released} released, ${kept} kept back${kept > 0 ? ' (herald held lists them)' : ''}.`,
  data: { released, kept },
})

function readTime(text: string, now: number): string {
  const ms =
    text === 'now' ? now : /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw new UsageError(`"${text}" is not a time: write it like 2026-06-15T12:30:00Z, or now.`)
  return new Date(ms).toISOString()
}

function wrongId(text: string): never {
  throw new UsageError(`"${text}" is not an id.`)
}

async function present(sql: Parameters<typeof holdingOf>[0]) {
  const holding = await holdingOf(sql)
  const kept = await keptTickets(sql, RELEASED_LANES, MOST)
  return {
    held_since: moment(holding?.held_since ?? null),
    reason: holding?.reason ?? null,
    kept: kept.map(({ lane, due_at, subjects, attempts, takes }) => ({
      lane,
      due_at: zulu(due_at),
      tried: attempts > 0 || takes > 0,
      ids: subjects,
    })),
  }
}
