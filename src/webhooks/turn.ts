// A turn posts events to one endpoint: several requests at the same time, never two for one message, in the order of each message.
// It tells apart an endpoint that fails and a single event that the endpoint refuses: an event is set aside only when a request that
// was started after its failure succeeds.
import type { Id } from '../core/id.ts'
import type { EventToSend } from './body.ts'
import type { Posted } from './post.ts'

export type TurnOptions = {
  batch: number
  /** Requests at the same time; may change during the turn. */
  window(): number
  /** The endpoint failed when it was last tried: it gets one request at a time until one succeeds. */
  isFailing: boolean
  /** These events were refused before: each has a verdict of its own, and says nothing about the endpoint. */
  isRetry?: boolean
  /** No request begins after this; by performance.now(). */
  until: number
  isStopping(): boolean
  post(events: readonly EventToSend[]): Promise<Posted>
}

/**
 * sent. refused: alone, while the endpoint takes others. behind: not sent, because an earlier event of its message was refused.
 * open: not sent, or without a verdict.
 */
export type Verdict = 'sent' | 'refused' | 'behind' | 'open'

/** gone: the endpoint answered 410. failing: it takes nothing. enough: too many retries failed. interrupted: this process stops. */
export type Halt = 'gone' | 'failing' | 'enough' | 'interrupted'

export type Turn = {
  /** Posts events; resolves when nothing is in flight. Subjects in `blocked` are not sent. */
  send(events: readonly EventToSend[], blocked?: ReadonlySet<Id>): Promise<void>
  /** A later moment until which requests may begin. */
  extend(until: number): void
  /** Decides about failures that no later success has explained. `isLast`: there was nothing else to send. */
  conclude(isLast: boolean): void
  verdictOf(event: Id): Verdict
  /** The answer to an event that failed; null: it did not fail, or there was no answer. */
  statusOf(event: Id): number | null
  hasFailed(event: Id): boolean
  halted(): Halt | null
  sent(): number
  requestedSeconds(): number
}

type Failure = { events: readonly EventToSend[]; startedBefore: number }

/** Failures in a row, each of a request that was started after the failure before it, after which the endpoint counts as failing. */
const PROBES = 2
const PROBES_OF_RETRIES = 20

export function createTurn({
  batch,
  window,
  isFailing,
  isRetry = false,
  isStopping,
  post,
  ...options
}: TurnOptions): Turn {
  let { until } = options
  const verdicts = new Map<Id, Verdict>()
  const statuses = new Map<Id, number | null>()
  /** Subjects of which an event was refused, or has failed without a verdict yet. */
  const stuck = new Set<Id>()
  let failures: Failure[] = []
  let halt: Halt | null = null
  let started = 0
  let sent = 0
  let requestedSeconds = 0
  let isProbing = isFailing
  let failedProbes = 0

  async function send(events: readonly EventToSend[], blocked: ReadonlySet<Id> = new Set()) {
    const ready = [...events].reverse()
    const waiting = new Map<Id, EventToSend[]>()
    const busy = new Set<Id>()
    let inFlight = 0

    /** The next events to post together. Those of a message in flight wait for its end. */
    function take(): EventToSend[] {
      const taken: EventToSend[] = []
      while (taken.length < batch) {
        const event = ready.pop()
        if (!event) break
        if (blocked.has(event.subject) || stuck.has(event.subject)) verdicts.set(event.id, 'behind')
        else if (busy.has(event.subject)) waiting.get(event.subject)?.push(event)
        else taken.push(event)
      }
      for (const { subject } of taken) {
        busy.add(subject)
        waiting.set(subject, [])
      }
      return taken
    }

    function free(taken: readonly EventToSend[]) {
      for (const { subject } of taken) {
        busy.delete(subject)
        const next = waiting.get(subject)
        waiting.delete(subject)
        if (next) ready.push(...next.reverse())
      }
    }

    const mayStart = () =>
      halt === null && !isStopping() && performance.now() < until && inFlight < (isProbing ? 1 : window())

    await new Promise<void>((resolve, reject) => {
      const advance = () => {
        while (mayStart()) {
          const taken = take()
          if (taken.length === 0) break
          inFlight++
          const place = ++started
          post(taken).then(posted => {
            inFlight--
            settle(taken, posted, place)
            free(taken)
            advance()
          }, reject)
        }
        if (inFlight === 0) resolve()
      }
      advance()
    })
  }

  function settle(taken: readonly EventToSend[], posted: Posted, place: number) {
    const { kind, status } = posted
    if (kind === 'answered' && status !== null && status >= 200 && status <= 299) return succeed(taken, place)
    if (kind === 'interrupted') {
      halt ??= 'interrupted'
      return
    }
    for (const { id, subject } of taken) {
      statuses.set(id, status)
      stuck.add(subject)
    }
    failures.push({ events: taken, startedBefore: started })
    requestedSeconds = Math.max(requestedSeconds, posted.retryAfterSeconds)
    if (status === 410) halt = 'gone'
    else if (kind === 'unreachable' || status === 429 || status === 503) halt ??= 'failing'
    else if (isProbing && ++failedProbes >= (isRetry ? PROBES_OF_RETRIES : PROBES))
      halt ??= isRetry ? 'enough' : 'failing'
    isProbing = true
  }

  function succeed(taken: readonly EventToSend[], place: number) {
    for (const { id } of taken) verdicts.set(id, 'sent')
    sent += taken.length
    // Failures that were known when this request began are not the endpoint's.
    for (const failure of failures) if (failure.startedBefore < place) refuse(failure)
    failures = failures.filter(failure => failure.startedBefore >= place)
    isProbing = failures.length > 0
    if (!isProbing) failedProbes = 0
  }

  function refuse({ events }: Failure) {
    for (const { id } of events) verdicts.set(id, 'refused')
  }

  return {
    send,
    extend(later) {
      until = later
    },
    conclude(isLast) {
      const [failure, ...others] = failures
      if (!failure || halt !== null) return
      const isOnly = isLast && others.length === 0
      // One event alone says little. It is set aside, so that it does not delay others; if the next one fails too, the endpoint fails.
      if (isOnly && (sent > 0 || !isFailing)) refuse(failure)
      else if (sent === 0 || others.length > 0) halt = 'failing'
    },
    verdictOf: event => verdicts.get(event) ?? 'open',
    statusOf: event => statuses.get(event) ?? null,
    hasFailed: event => statuses.has(event),
    halted: () => halt,
    sent: () => sent,
    requestedSeconds: () => requestedSeconds,
  }
}
