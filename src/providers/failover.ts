// Several providers of one channel, in order of preference, each with a circuit breaker. A provider that is down is skipped until a
// probe finds it up again. When all are down the caller has to wait, and nothing was sent.
import { createCircuitBreaker } from '../runtime/circuit-breaker.ts'
import type { Outcome, Provider } from './port.ts'

export type SendResult =
  /** `took`: milliseconds that the provider took. */
  | { kind: 'answered'; provider: Provider; outcome: Outcome; took: number }
  /** No provider is up. `until` resolves when one is. */
  | { kind: 'wait'; until: Promise<void>; detail: string }

export type ProviderGroup<M> = {
  /** `cost`: what the message uses of a provider's rate. */
  send(message: M, options: { cost: number; urgent: boolean }): Promise<SendResult>
  health(): { name: string; isUp: boolean; downs: number }[]
  /** No probe begins after this, and none is in progress when it resolves. */
  stop(): Promise<void>
}

type ChannelMember<M> = { provider: Provider; send(message: M, urgent: boolean): Promise<Outcome> }

const FIRST_PROBE_MS = 100
const LAST_PROBE_MS = 15_000

export function createProviderGroup<M>(
  members: readonly ChannelMember<M>[],
  onChange: (provider: string, isUp: boolean, detail: string) => void,
): ProviderGroup<M> {
  const group = members.map(member => ({ ...member, circuit: createCircuit(member.provider, onChange) }))

  return {
    async send(message, { cost, urgent }) {
      let detail = 'no provider is up'
      for (const { provider, circuit, send } of group) {
        if (circuit.isOpen()) continue
        const { outcome, took } = await admitted(provider, cost, urgent, () => send(message, urgent))
        if (outcome.kind !== 'deferred' || !outcome.down) return { kind: 'answered', provider, outcome, took }
        circuit.trip(outcome.detail)
        // The provider may have taken the message: another one must not send it, too.
        if (outcome.uncertain) return { kind: 'answered', provider, outcome, took }
        detail = outcome.detail
      }
      return { kind: 'wait', until: Promise.race(group.map(({ circuit }) => circuit.whenClosed())), detail }
    },
    health: () =>
      group.map(({ provider: { name }, circuit }) => ({ name, isUp: !circuit.isOpen(), downs: circuit.openings() })),
    async stop() {
      await Promise.all(group.map(({ circuit }) => circuit.stop()))
    },
  }
}

async function admitted({ capacity }: Provider, cost: number, urgent: boolean, send: () => Promise<Outcome>) {
  await capacity.enter(cost, urgent)
  const began = performance.now()
  try {
    const outcome = await send()
    return { outcome, took: Math.round(performance.now() - began) }
  } finally {
    capacity.leave(urgent)
  }
}

/** A circuit breaker that reports its changes. */
function createCircuit(provider: Provider, onChange: (provider: string, isUp: boolean, detail: string) => void) {
  const breaker = createCircuitBreaker({
    probe: async () => (await provider.probe()).ok,
    pauseMs: failed => Math.min(FIRST_PROBE_MS * 2 ** failed, LAST_PROBE_MS),
    onClose: () => onChange(provider.name, true, 'answers again'),
  })
  return {
    ...breaker,
    trip(detail: string) {
      if (breaker.isOpen()) return
      breaker.trip()
      onChange(provider.name, false, detail)
    },
  }
}
