// Health and metrics. Liveness never queries the database. Readiness does, and needs three failures in a row to change, so that
// one slow moment of the database does not remove every process from the load balancer.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isFromThisMachine } from '../core/network.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import { createReading, type Metrics } from './metrics.ts'

export type Readiness = {
  /** What is missing; null: nothing. */
  missing(): string | null
  stop(): Promise<void>
}

/** Something other than the database is missing. The message is for /health/ready. */
export class NotReady extends Error {}

export const DATABASE_MISSING = 'waiting for the database'

const EVERY_SECONDS = 2
const MISSES = 3

/** `ask` rejects while the service cannot serve requests: with NotReady, or with an error of the database. */
export function createReadiness(ask: () => Promise<unknown>): Readiness {
  let misses = 0
  let asking = false
  let missing = DATABASE_MISSING
  // A check that is still waiting for its answer counts as a miss each time the next one is due.
  async function check() {
    if (asking) {
      misses++
      missing = DATABASE_MISSING
      return
    }
    asking = true
    ask()
      .then(
        () => (misses = 0),
        error => {
          misses++
          missing = error instanceof NotReady ? error.message : DATABASE_MISSING
        },
      )
      .finally(() => {
        asking = false
      })
  }
  const checks = startPeriodic(check, EVERY_SECONDS * 1000, () => {})
  return { missing: () => (misses < MISSES ? null : missing), stop: checks.stop }
}

/** Also in the body of /health/ready: the id of the installation and its providers. No secrets, no addresses. */
export type About = {
  instance: string
  /** Providers in order of preference, by channel. */
  providers: Readonly<Record<string, readonly string[]>>
  /** The same as text for people; a captured channel says so. */
  details: readonly string[]
}

export const live = async () => ({ status: 'ok' })

export const ready =
  ({ readiness, isDraining, about }: { readiness: Readiness; isDraining(): boolean; about: About }) =>
  async (_request: FastifyRequest, reply: FastifyReply) => {
    const { status, body } = readyAnswer(readiness.missing(), isDraining(), about)
    return reply.code(status).send(body)
  }

export function readyAnswer(missing: string | null, isDraining: boolean, about: About) {
  const status = isDraining ? 'stopping' : (missing ?? 'ok')
  return { status: status === 'ok' ? 200 : 503, body: { status, ...about } }
}

/** Slower than any scrape that succeeds. */
const PATIENCE_MS = 10_000

export type MetricsPage = {
  type: string
  /** Null: it cannot be rendered now. Rendered once a second at most, and shared by everyone who asks meanwhile. */
  text(): Promise<Buffer | null>
  /** Figures are the operator's: for requests from this machine, or with HERALD_METRICS_TOKEN where there is one. */
  isFor(request: Pick<IncomingMessage, 'socket' | 'headers'>): boolean
}

export function createMetricsPage(metrics: Pick<Metrics, 'registry' | 'text'>, token: string | null): MetricsPage {
  const wanted = token === null ? null : digestOf(`Bearer ${token}`)
  return {
    type: metrics.registry.contentType,
    text: createReading(async () => Buffer.from(await metrics.text()), { seconds: 1, patienceMs: PATIENCE_MS }),
    isFor: request =>
      wanted ? timingSafeEqual(digestOf(request.headers.authorization ?? ''), wanted) : isFromThisMachine(request),
  }
}

const digestOf = (text: string) => createHash('sha256').update(text).digest()
