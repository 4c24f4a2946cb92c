// A process's side of the link to its supervisor.
import cluster from 'node:cluster'
import type { HealthState } from '../telemetry/health.ts'
import type { MetricValues } from '../telemetry/metrics.ts'
import { type FromProcess, type FromSupervisor, isOurs, type Place } from './messages.ts'

export type Link = {
  started(place: Place): Promise<void>
  failed(sentences: readonly string[]): Promise<void>
  /** The metrics of all processes, as text; `own` while the supervisor does not answer. */
  metricsOfAll(own: () => Promise<string>): Promise<string>
  /** Tells the supervisor what /health/ready of this process answers. */
  tellHealth(state: HealthState): void
  /** Answers the supervisor with the metrics of this process. */
  offer(collect: (ofDatabase: boolean) => Promise<MetricValues>): void
}

/** A little longer than the supervisor waits for the slowest process. */
const ANSWER_MS = 4_000

/** `onStop`: the supervisor asks for a stop, or is gone. */
export function createLink(onStop: () => void): Link {
  const asked = new Map<number, (text: string | null) => void>()
  let asks = 0
  let collect: ((ofDatabase: boolean) => Promise<MetricValues>) | null = null

  // Without this a worker of node:cluster exits at once when its supervisor is gone, in the middle of requests.
  cluster.worker?.once('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
    for (const answer of asked.values()) answer(null)
    onStop()
  })
  process.on('message', (given: unknown) => {
    if (!isOurs(given)) return
    const message = given as FromSupervisor
    if (message.herald === 'stop') onStop()
    if (message.herald === 'metrics') asked.get(message.ask)?.(message.text)
    if (message.herald === 'collect') void answer(message)
  })

  async function answer({ ask, ofDatabase }: { ask: number; ofDatabase: boolean }) {
    const values = await collect?.(ofDatabase).catch(() => [])
    await send({ herald: 'collected', ask, values: values ?? [] })
  }

  return {
    started: place => send({ herald: 'started', place }),
    failed: sentences => send({ herald: 'failed', sentences }),
    tellHealth: state => void send({ herald: 'health', state }),
    async metricsOfAll(own) {
      const ask = ++asks
      const text = await new Promise<string | null>(resolve => {
        const timer = setTimeout(() => resolve(null), ANSWER_MS)
        asked.set(ask, text => {
          clearTimeout(timer)
          resolve(text)
        })
        void send({ herald: 'ask for metrics', ask })
      })
      asked.delete(ask)
      return text ?? own()
    },
    offer(given) {
      collect = given
    },
  }
}

/** Resolves when the message is written, or cannot be: the supervisor is gone. */
const send = (message: FromProcess) =>
  new Promise<void>(resolve => {
    if (!process.send || !process.connected) return resolve()
    process.send(message, undefined, undefined, () => resolve())
  })
