// Several providers of one channel, in order of preference, each with a circuit breaker. A provider that is down is skipped until a
// probe finds it up again. When all are down the caller has to wait, and nothing was sent.
import { type BreakerState, createCircuitBreaker } from '../runtime/circuit-breaker.ts'
import type { Recall } from '../runtime/recall.ts'
import { createRecentCount } from '../runtime/recent.ts'
import type { Outcome, Provider, Send } from './port.ts'
import { replyClass } from './reply-class.ts'

export type SendResult =
  /** `took`: milliseconds that the provider took. */
  | { kind: 'answered'; provider: Provider; outcome: Outcome; took: number }
  /** No provider is up. `until` resolves when one is. */
  | { kind: 'wait'; until: Promise<void>; detail: string }
  /** It was recalled while it waited for its turn: no provider got anything of it. */
  | { kind: 'recalled' }

export type ProviderGroup<M> = {
  /** `cost`: what the message uses of a provider's rate. */
  send(message: M, options: { cost: number; urgent: boolean; recall?: Recall }): Promise<SendResult>
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

type ChannelMember<M> = { provider: Provider; send: Send<M> }

const FIRST_PROBE_MS = 100
const LAST_PROBE_MS = 15_000

export function createProviderGroup<M>(members: readonly ChannelMember<M>[], onChange: OnChange): ProviderGroup<M> {
  const group = members.map(member => ({
    ...member,
    circuit: createCircuit(member.provider, onChange),
    record: createOutcomeRecord(),
  }))

  return {
    async send(message, { cost, urgent, recall }) {
      let detail = 'no provider is up'
      for (const { provider, circuit, record, send } of group) {
        if (circuit.isOpen()) continue
        const admission = { cost, urgent, recall }
        const sent = await admitted(provider, admission, () => send(message, urgent, recall))
        if (sent === 'recalled') return { kind: 'recalled' }
        const { outcome, took } = sent
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
      const sent = await admitted(member.provider, { cost, urgent }, () => member.send(message, urgent))
      if (sent === 'recalled') return null
      const { outcome } = sent
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

async function admitted(
  { capacity }: Provider,
  { cost, urgent, recall }: { cost: number; urgent: boolean; recall?: Recall | undefined },
  send: () => Promise<Outcome>,
) {
  if (recall?.isRecalled() || (await capacity.enter(cost, urgent, recall)) === false) return 'recalled'
  const began = performance.now()
  try {
    if (recall?.isRecalled()) return 'recalled'
    const outcome = await send()
    if (outcome.kind === 'deferred' && outcome.recalled) return 'recalled'
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
