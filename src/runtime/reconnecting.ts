// One dedicated connection, kept alive: one attempt at a time, a timeout for every step, a heartbeat that detects a dead connection,
// and no connection left open when it is stopped in the middle of an attempt.
import { pause, within } from './within.ts'

export type Dedicated = {
  connect(): Promise<unknown>
  /** Closes the connection and waits for the other side. */
  end(): Promise<void>
  /** Closes the socket at once. */
  destroy(): void
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
}

export type Timing = {
  /** For each step: connecting, preparing, one heartbeat. */
  deadlineMs: number
  heartbeatMs: number
  retryMs: number
}

export type Work<C> = {
  /** Makes a connection that is not connected yet. */
  make(): C
  /** The first statements on a new connection. */
  prepare(connection: C): Promise<unknown>
  heartbeat(connection: C): Promise<unknown>
  onUp?(): void
  /** Called once for each `onUp`, before the next attempt begins; also at stop. */
  onDown?(): void
}

export type Reconnecting<C> = {
  /** Null while there is no connection that works. */
  current(): C | null
  /** Settles with the first attempt. */
  first: Promise<void>
  stop(): Promise<void>
}

export function createReconnecting<C extends Dedicated>(
  work: Work<C>,
  { deadlineMs, heartbeatMs, retryMs }: Timing,
): Reconnecting<C> {
  const stopping = new AbortController()
  const { signal } = stopping
  let current: C | null = null
  let settleFirst: (error?: unknown) => void = () => {}
  const first = new Promise<void>((resolve, reject) => {
    settleFirst = error => (error === undefined ? resolve() : reject(error))
  })
  first.catch(() => {}) // the caller may not wait for the first attempt

  async function attempt() {
    const connection = work.make()
    let lose: (error?: Error) => void = () => {}
    const lost = new Promise<never>((_, reject) => {
      lose = error => reject(error ?? new Error('the connection has ended'))
    })
    lost.catch(() => {}) // handled where it is awaited
    const stopped = () => lose()
    connection.on('error', lose)
    connection.on('end', lose)
    signal.addEventListener('abort', stopped)
    const step = (what: Promise<unknown>) => within(deadlineMs, Promise.race([what, lost]), 'no answer in time')
    try {
      await step(connection.connect())
      await step(work.prepare(connection))
      current = connection
      work.onUp?.()
      settleFirst()
      for (;;) {
        await Promise.race([pause(heartbeatMs, signal), lost])
        await step(work.heartbeat(connection))
      }
    } finally {
      signal.removeEventListener('abort', stopped)
      if (current) {
        current = null
        work.onDown?.()
        if (signal.aborted) await within(END_MS, connection.end(), 'not closed in time').catch(() => {})
      }
      connection.destroy()
    }
  }

  async function series() {
    while (!signal.aborted) {
      await attempt().catch(settleFirst) // lost or never made: the next attempt follows
      await pause(retryMs, signal)
    }
  }

  const ended = series()
  return {
    current: () => current,
    first,
    stop() {
      stopping.abort()
      return ended
    },
  }
}

const END_MS = 500
