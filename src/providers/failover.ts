// Several providers of one channel, in order of preference, each with a circuit breaker. A provider that is down is skipped until a
// probe finds it up again. When all are down the caller has to wait, and nothing was sent.
import { type BreakerState, createCircuitBreaker } from '../runtime/circuit-breaker.ts'
import { createRecentCount } from '../runtime/recent.ts'
import type { Outcome, Provider } from './port.ts'
import { replyClass } from './reply-class.ts'

export type SendResult =
  /** `took`: milliseconds that the provider took. */
  | { kind: 'answered'; provider: Provider; outcome: Outcome; took: number }
  /** No provider is up. `until` resolves when one is. */
  | { kind: 'wait'; until: Promise<void>; detail: string }

export type ProviderGroup<M> = {
  /** `cost`: what the message uses of a provider's rate. */
  send(message: M, options: { cost: number; urgent: boolean }): Promise<SendResult>
  /** By exactly this provider, also while its circuit breaker is open; null: the group has no such provider. */
  sendBy(provider: string, message: M, options: { cost: number; urgent: boolean }): Promise<Outcome | null>
  health(): ProviderHealth[]
  /** No probe begins after this, and none is in progress when it resolves. */
  stop(): Promise<void>
}

export type ProviderHealth = {
  name: string
  isUp: boolean
  /** How often the circuit breaker has opened. */
  downs: number
  state: BreakerState
  /** Milliseconds since the circuit breaker opened; null: it is closed. */
  openMs: number | null
  /** Messages that the provider accepted. */
  acceptedLastMinute: number
  /** The last answer that was not about the recipient or the content: its class, without personal data, and its age. */
  lastError: { class: string; reason?: string; agoMs: number } | null
}

/** `reason`: why it cannot be reached, for operators. */
type OnChange = (provider: string, isUp: boolean, detail: string, reason?: string) => void

type ChannelMember<M> = { provider: Provider; send(message: M, urgent: boolean): Promise<Outcome> }

const FIRST_PROBE_MS = 100
const LAST_PROBE_MS = 15_000

export function createProviderGroup<M>(members: readonly ChannelMember<M>[], onChange: OnChange): ProviderGroup<M> {
  const group = members.map(member => ({
    ...member,
    circuit: createCircuit(member.provider, onChange),
    record: createOutcomeRecord(),
  }))

  return {
    async send(message, { cost, urgent }) {
      let detail = 'no provider is up'
      for (const { provider, circuit, record, send } of group) {
        if (circuit.isOpen()) continue
        const { outcome, took } = await admitted(provider, cost, urgent, () => send(message, urgent))
        record.add(outcome)
        if (outcome.kind !== 'deferred' || !outcome.down) return { kind: 'answered', provider, outcome, took }
        circuit.trip(outcome)
        // The provider may have taken the message: another one must not send it, too.
        if (outcome.uncertain) return { kind: 'answered', provider, outcome, took }
        detail = outcome.detail
      }
      return { kind: 'wait', until: Promise.race(group.map(({ circuit }) => circuit.whenClosed())), detail }
    },
    async sendBy(name, message, { cost, urgent }) {
      const member = group.find(({ provider }) => provider.name === name)
      if (!member) return null
      const { outcome } = await admitted(member.provider, cost, urgent, () => member.send(message, urgent))
      member.record.add(outcome)
      if (outcome.kind === 'deferred' && outcome.down) member.circuit.trip(outcome)
      return outcome
    },
    health: () =>
      group.map(({ provider: { name }, circuit, record }) => ({
        name,
        isUp: !circuit.isOpen(),
        downs: circuit.openings(),
        state: circuit.state(),
        openMs: circuit.openMs(),
        ...record.read(),
      })),
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

/** What a provider answered lately. */
function createOutcomeRecord() {
  const accepted = createRecentCount()
  let error: { class: string; reason?: string; at: number } | null = null
  return {
    add(outcome: Outcome) {
      if (outcome.kind === 'accepted') accepted.add()
      else if (outcome.kind === 'deferred' || outcome.permanent === undefined)
        error = {
          class: replyClass(outcome.detail),
          ...('reason' in outcome && outcome.reason !== undefined && { reason: outcome.reason }),
          at: performance.now(),
        }
    },
    read: () => ({
      acceptedLastMinute: accepted.lastMinute(),
      lastError: error && aged(error),
    }),
  }
}

const aged = ({ at, ...error }: { class: string; reason?: string; at: number }) => ({
  ...error,
  agoMs: performance.now() - at,
})

/** A circuit breaker that reports its changes. */
function createCircuit(provider: Provider, onChange: OnChange) {
  const breaker = createCircuitBreaker({
    probe: async () => (await provider.probe()).ok,
    pauseMs: failed => Math.min(FIRST_PROBE_MS * 2 ** failed, LAST_PROBE_MS),
    onClose: () => onChange(provider.name, true, 'answers again'),
  })
  return {
    ...breaker,
    trip({ detail, reason }: { detail: string; reason?: string }) {
      if (breaker.isOpen()) return
      breaker.trip()
      onChange(provider.name, false, detail, reason)
    },
  }
}
