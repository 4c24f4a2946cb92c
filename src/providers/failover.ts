// Several providers of one channel, in order of preference. One that is down is passed by until a probe finds it up again;
// when all are down the caller is told to wait, and nothing has happened to the message.
import { type Periodic, startPeriodic } from '../runtime/periodic.ts'
import type { Outcome, Provider } from './port.ts'

export type Answer =
  | { kind: 'answered'; provider: Provider; outcome: Outcome }
  | { kind: 'wait'; until: Promise<void>; detail: string }

export type Channel<M> = {
  send(message: M, options: { cost: number; urgent: boolean }): Promise<Answer>
  health(): { name: string; isUp: boolean; downs: number }[]
  /** No probe begins after this, and none is under way when it resolves. */
  stop(): Promise<void>
}

type Sending<M> = { provider: Provider; send(message: M, urgent: boolean): Promise<Outcome> }

const FIRST_PROBE_MS = 100
const LAST_PROBE_MS = 15_000

export function createFailover<M>(
  sendings: readonly Sending<M>[],
  onChange: (provider: string, isUp: boolean, detail: string) => void,
): Channel<M> {
  const circuits = sendings.map(sending => createCircuit(sending.provider, onChange))
  const paces = sendings.map(({ provider }) => createPace(provider.perSecond))
  const gates = sendings.map(({ provider }) => createGate(provider.atOnce))

  return {
    async send(message, { cost, urgent }) {
      let detail = 'no provider is up'
      for (const [at, { provider, send }] of sendings.entries()) {
        const circuit = circuits[at]
        const pace = paces[at]
        const gate = gates[at]
        if (!circuit?.isUp() || !pace || !gate) continue
        await pace(cost, urgent)
        const outcome = await gate(urgent, () => send(message, urgent))
        if (outcome.kind !== 'deferred' || !outcome.down) return { kind: 'answered', provider, outcome }
        circuit.trip(outcome.detail)
        // It may have been taken: another provider must not be tried as if it had not.
        if (outcome.uncertain) return { kind: 'answered', provider, outcome }
        detail = outcome.detail
      }
      return { kind: 'wait', until: Promise.race(circuits.map(circuit => circuit.whenUp())), detail }
    },
    health: () =>
      sendings.map(({ provider }, at) => ({
        name: provider.name,
        isUp: circuits[at]?.isUp() ?? false,
        downs: circuits[at]?.downs() ?? 0,
      })),
    async stop() {
      await Promise.all(circuits.map(circuit => circuit.stop()))
    },
  }
}

function createCircuit(provider: Provider, onChange: (provider: string, isUp: boolean, detail: string) => void) {
  let up = true
  let downs = 0
  let stopped = false
  let probing: Periodic | undefined
  let waiting: (() => void)[] = []

  async function probe(signal: AbortSignal) {
    const answer = await provider.probe()
    if (answer.ok && !signal.aborted) close()
  }

  function close() {
    void probing?.stop()
    up = true
    onChange(provider.name, true, 'answers again')
    const waiters = waiting
    waiting = []
    for (const go of waiters) go()
  }

  return {
    isUp: () => up,
    downs: () => downs,
    trip(detail: string) {
      if (!up) return
      up = false
      downs++
      onChange(provider.name, false, detail)
      if (stopped) return
      // A probe that throws says the same as one that answers no.
      probing = startPeriodic(
        probe,
        probes => Math.min(FIRST_PROBE_MS * 2 ** probes, LAST_PROBE_MS),
        () => {},
      )
    },
    whenUp: () => (up ? Promise.resolve() : new Promise<void>(go => waiting.push(go))),
    async stop() {
      stopped = true
      await probing?.stop()
    },
  }
}

// A steady pace. What is urgent does not queue; it only makes the others wait a little longer.
function createPace(perSecond: number | null): (cost: number, urgent: boolean) => Promise<void> {
  let free = 0
  return async (cost, urgent) => {
    if (perSecond === null) return
    const now = performance.now()
    const at = Math.max(now, free)
    free = at + (cost * 1000) / perSecond
    if (!urgent && at > now) await new Promise(resume => setTimeout(resume, at - now))
  }
}

// Of the places a provider has, a quarter is kept for what is urgent: a slow provider full of newsletters still has one for
// a one-time code.
function createGate(atOnce: number | undefined): <T>(urgent: boolean, work: () => Promise<T>) => Promise<T> {
  const most = atOnce === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(atOnce * 0.75))
  let inside = 0
  const waiting: (() => void)[] = []
  return async (urgent, work) => {
    if (urgent) return work()
    if (inside >= most) await new Promise<void>(go => waiting.push(go))
    else inside++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inside--
    }
  }
}
