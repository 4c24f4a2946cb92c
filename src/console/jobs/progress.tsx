// How far a job is: the bar with its numbers, and the stream that keeps them current. A browser without script has the time of the
// numbers and a link that loads the page again.
import { createPace, minutesLeft, type Pace, type Progress, paceOf } from '../../bulk/progress.ts'
import { fromMicros } from '../../core/clock.ts'
import { type Id, readId } from '../../core/id.ts'
import { pause } from '../../runtime/within.ts'
import type { Ending } from '../../timeline/endings.ts'
import { progressNow, type WholeJob } from '../../timeline/jobs.ts'
import type { Tone } from '../components/basics.tsx'
import { ENDED, ENDINGS, endingOfJob } from '../components/captured.tsx'
import { notFound } from '../errors.tsx'
import type { Formats } from '../formats.ts'
import { listPath } from '../messages/query.ts'
import type { Handler, ServiceVisit } from '../page.ts'
import { inLanguage, language, plural, say, t } from '../words/index.ts'
import { badgeOf, statusWords } from './status.tsx'

/** The parts of the bar from left to right. */
const partsFor = (ending: Ending) =>
  [
    ['delivered', ENDINGS[ending][0]],
    ['inTransit', 'info'],
    ['failed', 'bad'],
    ['cancelled', 'idle'],
  ] as const satisfies readonly (readonly [keyof Progress, Tone])[]

/** What the script puts into the page; also how the page is made at first. */
type Live = {
  title: string
  note: string
  label: string
  at: string
  now: number
  /** x and width of each part, in percent. */
  bars: Readonly<Record<string, readonly [x: string, width: string]>>
  counts: Readonly<Record<string, string>>
  /** Class, icon and words of the badge. */
  badge: readonly [tone: string, icon: string, words: string]
  isOver: boolean
}

/**
 * `lately`: messages of the last minute. `startedAt`: when the first rows became messages; null: not yet. `ending`: what became of
 * those that did not fail.
 */
type Measured = { progress: Progress; lately: number; startedAt: string | null; ending: Ending }

function liveOf({ progress, lately, startedAt, ending }: Measured, formats: Formats, micros: number): Live {
  const aMinute = paceOf(lately, startedAt === null ? null : Date.parse(startedAt), micros / 1000)
  const { whole, delivered, inTransit, failed, waiting, cancelled, handedOver } = progress
  const { number } = formats
  let at = 0
  const bars = partsFor(ending).map(([name]) => {
    const value = progress[name]
    const width = value === 0 || whole === 0 ? 0 : Math.min(100 - at, Math.max(0.5, (value / whole) * 100))
    const x = at
    at += width
    return [name, [percent(x), percent(width)]] as const
  })
  return {
    title: titleOf(progress, formats),
    note: noteOf(progress, aMinute, formats),
    label: [
      ENDED[ending](number(delivered)),
      t`${number(inTransit)} in transit`,
      t`${number(failed)} failed`,
      ...(cancelled > 0 ? [t`${number(cancelled)} cancelled`] : []),
      t`${number(waiting)} waiting`,
    ].join(', '),
    at: formats.brief(fromMicros(micros)),
    now: handedOver,
    bars: Object.fromEntries(bars),
    counts: {
      delivered: number(delivered),
      inTransit: number(inTransit),
      failed: number(failed),
      waiting: number(waiting),
      cancelled: number(cancelled),
    },
    badge: badgeOf(progress.status),
    isOver: progress.isOver,
  }
}

const percent = (part: number) => `${Math.round(part * 10) / 10}%`

function titleOf(progress: Progress, formats: Formats): string {
  const { status, whole, handedOver, waiting } = progress
  if (status === 'cancelled' || status === 'over-limit' || status === 'scheduled') return statusWords(status)
  if (waiting > 0) return t`${formats.share(handedOver, whole)} handed over`
  if (!progress.isOver) return t`All handed over`
  return plural(whole, t`The message has its outcome`, t`All ${formats.number(whole)} messages have their outcome`)
}

function noteOf(progress: Progress, aMinute: number | null, { number }: Formats): string {
  if (progress.isOver || progress.status === 'scheduled') return ''
  if (progress.waiting === 0)
    return plural(
      progress.inTransit,
      t`The provider has not said yet what became of ${number(progress.inTransit)} message`,
      t`The provider has not said yet what became of ${number(progress.inTransit)} messages`,
    )
  if (progress.handedOver === 0 && progress.status === 'waiting') return t`It waits for its turn`
  if (aMinute === null) return t`It has just begun`
  const pace = plural(aMinute, t`${number(aMinute)} message a minute`, t`${number(aMinute)} messages a minute`)
  const left = minutesLeft(progress, aMinute)
  if (left === null) return aMinute === 0 ? t`Nothing was handed over in the last minute` : pace
  if (left < 1) return t`less than a minute left, ${pace}`
  const minutes = Math.ceil(left)
  if (minutes < 90)
    return plural(minutes, t`about ${minutes} minute left, ${pace}`, t`about ${minutes} minutes left, ${pace}`)
  return t`about ${number(Math.round(left / 60))} hours left, ${pace}`
}

export function ProgressCard({ visit, job }: { visit: ServiceVisit; job: WholeJob }) {
  const { service, url, formats, parts } = visit
  const { progress } = job
  const ending = endingOfJob(visit, job, job.provider)
  const [tone, ended] = ENDINGS[ending]
  const measured = { progress, lately: job.aMinute, startedAt: job.processing_started, ending }
  const live = liveOf(measured, formats, parts.clock.micros())
  const messages = (status: string) => url(listPath(service.id, { job: job.id, status }))
  const path = `/s/${service.id}/jobs/${job.id}`
  return (
    <section
      class="card"
      aria-labelledby="progress"
      {...(!live.isOver && {
        'data-progress': url(`${path}/events`),
        'data-href': url(path),
        'data-lost': t`No connection to Herald. These numbers are old.`,
      })}
    >
      <div class="card-body stack">
        <div class="row row-between">
          <h2 id="progress" data-put="title">
            {live.title}
          </h2>
          <p class="muted">
            {!live.isOver && <span class="dot info is-live" data-pulse="" />} <span data-put="note">{live.note}</span>
          </p>
        </div>
        <div
          role="progressbar"
          aria-labelledby="progress"
          aria-valuemin={0}
          aria-valuemax={progress.whole}
          aria-valuenow={live.now}
        >
          <svg class="bar bar-lg" role="img" aria-label={live.label}>
            {partsFor(ending).map(([name, tone]) => {
              const [x, width] = live.bars[name] ?? ['0%', '0%']
              return <rect key={name} class={`fill ${tone}`} x={x} width={width} height="100%" data-bar={name} />
            })}
          </svg>
        </div>
        <ul class="legend">
          <li>
            <span class={`dot ${tone}`} /> <a href={messages('delivered')}>{say(ended)}</a>{' '}
            <b data-put="delivered">{live.counts.delivered}</b>
          </li>
          <li>
            <span class="dot info" /> <a href={messages('in-transit')}>{t`In transit`}</a>{' '}
            <b data-put="inTransit">{live.counts.inTransit}</b>
          </li>
          <li>
            <span class="dot bad" /> <a href={messages('failed')}>{t`Failed`}</a>{' '}
            <b data-put="failed">{live.counts.failed}</b>
          </li>
          {progress.cancelled > 0 && (
            <li>
              <span class="dot idle" /> {progress.status === 'over-limit' ? t`Not sent` : t`Cancelled`}{' '}
              <b data-put="cancelled">{live.counts.cancelled}</b>
            </li>
          )}
          {(progress.waiting > 0 || !progress.isOver) && (
            <li>
              <span class="dot" /> {t`Waiting`} <b data-put="waiting">{live.counts.waiting}</b>
            </li>
          )}
        </ul>
        {ending === 'captured' && progress.delivered > 0 && (
          <p class="hint">{t`These messages are captured, not delivered to anyone.`}</p>
        )}
        {ending === 'simulated' && (
          <p class="hint">{t`Messages of test keys are simulated, not delivered to anyone.`}</p>
        )}
        <p class="vh" role="status" data-say="" />
      </div>
      <div class="card-foot">
        <span>
          {t`Numbers of`} <time data-put="at">{live.at}</time>
        </span>
        {!live.isOver && (
          <a class="no-print" href={url(path)} data-again="">
            {t`Refresh`}
          </a>
        )}
      </div>
    </section>
  )
}

/** How often a stream looks: while messages wait for their turn, and later. */
const OFTEN_MS = 1_000
const SELDOM_MS = 5_000
/** A stream ends after this time, and the browser asks for a new one: then it is known anew who asks. */
const LONGEST_MS = 300_000

/** Numbers for the script, until nothing will change any more. */
export const jobEvents: Handler<ServiceVisit> = async visit => {
  const id = readId(visit.params.id)
  if (id === null) return notFound(visit.service)
  // A job that does not exist is an answer of its own, not a stream that breaks.
  await progressNow(visit.parts, visit.actor, visit.service, id, { lately: false })
  return { kind: 'events', values: liveValues(visit, id) }
}

async function* liveValues(visit: ServiceVisit, id: Id): AsyncGenerator<Live> {
  const { parts, actor, service, formats, signal } = visit
  const spoken = language()
  const until = performance.now() + LONGEST_MS
  let pace: Pace | null = null
  let ending: Ending | null = null
  while (!signal.aborted) {
    const lately = pace === null
    const { progress, aMinute, job, provider } = await parts.reads.visit({ owner: service.id, person: actor.id }, () =>
      progressNow(parts, actor, service, id, { lately }),
    )
    const now = performance.now()
    ending ??= endingOfJob(visit, job, provider)
    pace ??= createPace(now, progress.handedOver, aMinute)
    const lastMinute = pace.add(now, progress.handedOver)
    const measured = { progress, lately: lastMinute, startedAt: job.processing_started, ending }
    yield inLanguage(spoken, () => liveOf(measured, formats, parts.clock.micros()))
    if (progress.isOver || now > until) return
    await pause(progress.waiting > 0 && progress.status !== 'scheduled' ? OFTEN_MS : SELDOM_MS, signal)
  }
}
