// Health and metrics. Liveness never queries the database. Readiness does, and needs three failures in a row to change, so that
// one slow moment of the database does not remove every process from the load balancer.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { startPeriodic } from '../runtime/periodic.ts'
import type { Metrics } from './metrics.ts'

export type Readiness = { isReady(): boolean; stop(): Promise<void> }

const EVERY_SECONDS = 2
const MISSES = 3

/** `ask` rejects while the service cannot serve requests. */
export function createReadiness(ask: () => Promise<unknown>): Readiness {
  let misses = 0
  let asking = false
  // A check that is still waiting for its answer counts as a miss each time the next one is due.
  async function check() {
    if (asking) {
      misses++
      return
    }
    asking = true
    ask()
      .then(
        () => (misses = 0),
        () => misses++,
      )
      .finally(() => {
        asking = false
      })
  }
  const checks = startPeriodic(check, EVERY_SECONDS * 1000, () => {})
  return { isReady: () => misses < MISSES, stop: checks.stop }
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
    const { status, body } = readyAnswer(readiness.isReady(), isDraining(), about)
    return reply.code(status).send(body)
  }

export function readyAnswer(isReady: boolean, isDraining: boolean, about: About) {
  const ok = isReady && !isDraining
  const status = ok ? 'ok' : isDraining ? 'stopping' : 'waiting for the database'
  return { status: ok ? 200 : 503, body: { status, ...about } }
}

export const metricsPage = (metrics: Metrics) => async (_request: FastifyRequest, reply: FastifyReply) =>
  reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
