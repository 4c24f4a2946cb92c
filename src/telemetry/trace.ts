// Spans of OpenTelemetry. The trace id of a message or a job is its own id, and the id of the first span in it is the second half of
// that. So every process adds spans to a trace without a stored context, hours later, too, and a trace is found by the id.
import { randomBytes } from 'node:crypto'
import type { Id } from '../core/id.ts'

export type Kind = 'internal' | 'server' | 'client' | 'consumer'
/** Ids, numbers and our own words; never a recipient, a value or a text of a provider. */
export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>
export type SpanRef = { traceId: string; spanId: string }

export type Span = SpanRef & {
  parent: string | null
  name: string
  kind: Kind
  /** Milliseconds since 1970. */
  from: number
  to: number
  attributes: Attributes
  links: readonly SpanRef[]
  /** A class of errors; null: no error. */
  error: string | null
}

export type OpenSpan = { end(attributes?: Attributes, error?: string | null): void }

/** What the rooms call. They get null while no collector is set, and do nothing then. */
export type Tracer = {
  now(): number
  /**
   * A message or a job was accepted. `isRequest`: the request that answers with its id is the first span of its trace; otherwise this
   * one is, and `cause` is the job that it comes from.
   */
  accepted(id: Id, from: number, isRequest: boolean, attributes: Attributes, cause?: Id): void
  /** Work of a lane on a message or a job. */
  work(id: Id, name: string, attributes: Attributes): OpenSpan
  /** Something that happens within the work on a message, such as a provider that is asked. */
  within(id: Id, name: string, attributes: Attributes): OpenSpan
  /** Something about a message or a job that is no part of its work, such as a webhook. */
  about(id: Id, name: string, attributes: Attributes): OpenSpan
  /** A request was answered; `made` is the id of what it created, `traceparent` the header of its caller. */
  answered(request: {
    name: string
    ms: number
    made: string | null
    traceparent: string | undefined
    attributes: Attributes
    error: string | null
  }): void
}

export type Sampling = { ratio: number; followsCaller: boolean }

const traceOf = (id: string) => id.replaceAll('-', '')
const firstIn = (id: string): SpanRef => ({ traceId: traceOf(id), spanId: traceOf(id).slice(16) })
const newId = (bytes: number) => randomBytes(bytes).toString('hex')

/** Accepted and not answered yet; a request that is cut off is never answered. */
const MOST_UNANSWERED = 10_000

export function createTracer({ ratio, followsCaller }: Sampling, record: (span: Span) => void): Tracer {
  /** The span of the work in progress, by message. */
  const working = new Map<Id, string>()
  const unanswered = new Set<string>()
  const now = () => performance.timeOrigin + performance.now()
  // By the last 52 bits, which are random in our ids: all processes decide the same.
  const isSampled = (traceId: string) => Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 >= 1 - ratio

  function open(
    ref: SpanRef,
    parent: string,
    name: string,
    kind: Kind,
    given: Attributes,
    onEnd?: () => void,
  ): OpenSpan {
    const from = now()
    return {
      end(attributes = {}, error = null) {
        onEnd?.()
        if (isSampled(ref.traceId))
          record({
            ...ref,
            parent,
            name,
            kind,
            from,
            to: now(),
            attributes: { ...given, ...attributes },
            links: [],
            error,
          })
      },
    }
  }

  return {
    now,
    accepted(id, from, isRequest, attributes, cause) {
      const first = firstIn(id)
      if (isRequest) {
        if (unanswered.size >= MOST_UNANSWERED) unanswered.clear()
        unanswered.add(id)
      }
      if (!isSampled(first.traceId)) return
      record({
        ...{
          traceId: first.traceId,
          spanId: isRequest ? newId(8) : first.spanId,
          parent: isRequest ? first.spanId : null,
        },
        ...{ name: 'accept', kind: 'internal', from, to: now(), attributes, error: null },
        links: cause ? [firstIn(cause)] : [],
      })
    },
    work(id, name, attributes) {
      const { traceId, spanId: parent } = firstIn(id)
      const spanId = newId(8)
      working.set(id, spanId)
      return open({ traceId, spanId }, parent, name, 'consumer', attributes, () => {
        if (working.get(id) === spanId) working.delete(id)
      })
    },
    within(id, name, attributes) {
      const { traceId, spanId } = firstIn(id)
      return open({ traceId, spanId: newId(8) }, working.get(id) ?? spanId, name, 'client', attributes)
    },
    about(id, name, attributes) {
      const { traceId, spanId } = firstIn(id)
      return open({ traceId, spanId: newId(8) }, spanId, name, 'client', attributes)
    },
    answered({ name, ms, made, traceparent, attributes, error }) {
      const to = now()
      const span = { name, from: to - ms, to, attributes, error }
      const caller = callerIn(traceparent)
      const first = made !== null && unanswered.delete(made) ? firstIn(made) : null
      // Without a caller's trace the request is the first span of its message.
      if (first && !caller) {
        if (isSampled(first.traceId)) record({ ...span, ...first, parent: null, kind: 'server', links: [] })
        return
      }
      const own = { traceId: caller?.traceId ?? newId(16), spanId: newId(8) }
      const made_ = first ?? (made === null ? null : firstIn(made))
      if (caller && followsCaller ? caller.isSampled : isSampled(own.traceId))
        record({ ...span, ...own, parent: caller?.spanId ?? null, kind: 'server', links: made_ ? [made_] : [] })
      // With it, the message has a trace of its own, and each trace refers to the other.
      if (first && isSampled(first.traceId)) record({ ...span, ...first, parent: null, kind: 'internal', links: [own] })
    },
  }
}

/** W3C trace context: the header traceparent. */
function callerIn(header: string | undefined): (SpanRef & { isSampled: boolean }) | null {
  const [, traceId = '', spanId = '', flags = ''] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(header ?? '') ?? []
  if (traceId === '' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
