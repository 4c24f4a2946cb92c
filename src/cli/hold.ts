// Whether anything is sent: stop it, see what waits, let it go.
import { zulu } from '../core/clock.ts'
import { readId } from '../core/id.ts'
import { wasTried } from '../notifications/sql/record.ts'
import { holdingOf, holdSending } from '../queue/hold.ts'
import { keptTickets, type Released, releaseAll, releaseChosen, releaseSince } from '../queue/release.ts'
import { HELD_LANES, IDENTITY_TABLES } from '../sending.ts'
import { type Command, UsageError, withStore } from './command.ts'
import { listing, moment } from './print.ts'

const MOST = 100

export const holdCommands: readonly Command[] = [
  {
    noun: 'hold',
    options: [{ name: 'restored', sentence: 'This database is a copy; what its original was sending is not known.' }],
    sentence: 'Send nothing from now on; messages are still accepted, and wait.',
    more: 'What is being handed over at this moment is finished. Running processes hear of it at once. Use it before the first start of a database that was copied by other means than herald restore.',
    run: withStore(async ({ db: { sql } }, input) => {
      await holdSending(sql, input.has('restored') ? 'restored' : 'asked', IDENTITY_TABLES)
      return { text: 'Nothing is sent any more. To go on: herald release', data: await present(sql) }
    }),
  },
  {
    noun: 'held',
    sentence: 'Show whether sending is held, and the messages that a release has kept back.',
    run: withStore(async ({ db: { sql } }) => {
      const data = await present(sql)
      const state = data.held_since
        ? `Nothing is sent since ${data.held_since} (${data.reason === 'restored' ? 'a restored copy' : 'asked for'}). To go on: herald release`
        : 'Messages are sent.'
      const rows = data.kept.flatMap(({ lane, due_at, ids, tried }) =>
        ids.map(id => [id, lane, due_at.slice(0, 16).replace('T', ' '), tried]),
      )
      const table = listing(['ID', 'LANE', 'DUE (UTC)', 'MAYBE TRIED'], rows.slice(0, MOST), 'Nothing is kept back.')
      return { text: `${state}\n\n${table}${rows.length > MOST ? '\n…' : ''}`, data }
    }),
  },
  {
    noun: 'release',
    options: [
      {
        name: 'cut-off',
        value: 'TIME',
        sentence:
          'When the original stopped sending, e.g. 2026-06-15T12:30:00Z, or `now`: what was due before, or was tried, is kept back.',
      },
      { name: 'id', value: 'ID', many: true, sentence: 'Let go this one message of those kept back.' },
      { name: 'all', sentence: 'Let go everything, whatever the original may have sent.' },
    ],
    sentence: 'Send again after a hold: what came after a cut-off, chosen messages, or everything.',
    more: 'What is kept back stays so until it is chosen; 72 hours after it was due such a message ends as technical-failure.',
    examples: ['herald release --cut-off 2026-06-15T12:30:00Z', 'herald release --id 0197…', 'herald release --all'],
    run: withStore(
      async ({ db, clock }, input) => {
        const [cutOff, ids, all] = [input.maybe('cut-off'), input.list('id'), input.has('all')]
        if ([cutOff !== undefined, ids.length > 0, all].filter(Boolean).length !== 1)
          throw new UsageError('Say one of --cut-off, --id and --all: what was sent before cannot be called back.')
        if (all) return told(await releaseAll(db, HELD_LANES))
        if (cutOff !== undefined)
          return told(await releaseSince(db, HELD_LANES, readTime(cutOff, clock.now()), wasTried))
        const wanted = ids.map(text => readId(text) ?? wrongId(text))
        const chosen = await releaseChosen(db.sql, HELD_LANES, wanted)
        const missing = wanted.filter(id => !chosen.includes(id))
        const text = [
          `${chosen.length} of ${wanted.length} let go.`,
          ...missing.map(id => `${id} is not among those kept back.`),
        ].join('\n')
        return { text, data: { released: chosen, missing }, ...(missing.length > 0 && { failed: true as const }) }
      },
      { statementSeconds: 3_600 },
    ),
  },
]

const told = ({ released, kept }: Released) => ({
  text: `Messages are sent again: ${released} wait their turn, ${kept} are kept back${kept > 0 ? ' (herald held lists them)' : ''}.`,
  data: { released, kept },
})

function readTime(text: string, now: number): string {
  const ms =
    text === 'now' ? now : /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw new UsageError(`"${text}" is not a moment: write it like 2026-06-15T12:30:00Z, or now.`)
  return new Date(ms).toISOString()
}

function wrongId(text: string): never {
  throw new UsageError(`"${text}" is not an id.`)
}

async function present(sql: Parameters<typeof holdingOf>[0]) {
  const holding = await holdingOf(sql)
  const kept = await keptTickets(sql, HELD_LANES, MOST)
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
