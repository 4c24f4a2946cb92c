// A process with an engine takes tests of its providers and sends each by exactly that provider, also while its circuit breaker is
// open. While sending is held it sends none.
import type { Channel } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { cleanLine, cleanRef } from '../providers/clean.ts'
import type { ProviderGroup } from '../providers/failover.ts'
import type { EmailMessage, Outcome, TextMessage } from '../providers/port.ts'
import { replyClass } from '../providers/reply-class.ts'
import { within } from '../runtime/within.ts'
import { answer, take } from './sql/tests.ts'
import { TAKE_SECONDS, type TestAnswer } from './test.ts'

type App = {
  sql: Sql
  seal: Seal
  sendingDomain: string
  hold: { isHeld(): boolean }
  groups: { email: ProviderGroup<EmailMessage>; sms: ProviderGroup<TextMessage> }
  /** The name of this process. */
  process: string
  onFault(error: unknown): void
}

export type TestTaker = {
  /** A test may wait. */
  look(): void
  stop(): Promise<void>
}

/** Providers are stopped before: what they have not answered by then has no answer. */
const STOP_MS = 1_000

export function createTestTaker(app: App): TestTaker {
  const providers = Object.entries(app.groups).flatMap(([channel, group]) =>
    group.health().map(({ name }) => `${channel} ${name}`),
  )
  const running = new Set<Promise<void>>()
  let isStopped = false

  async function takeAll() {
    while (!isStopped) {
      const taken = await take(app.sql, { process: app.process, providers, withinSeconds: TAKE_SECONDS })
      if (!taken) return
      const { id, channel, provider, recipient } = taken
      // Not awaited: one that waits for its provider does not delay the next.
      track(run(id, channel, provider, app.seal.open('provider test recipient', recipient).toString('utf8')))
    }
  }

  async function run(id: Id, channel: Channel, provider: string, to: string) {
    const said = await send(app, id, channel, provider, to).catch(error => {
      app.onFault(error)
      return { kind: 'fault' } as const
    })
    const ref = said.kind === 'accepted' ? cleanRef(said.ref) || null : null
    await answer(app.sql, id, app.seal.seal('provider test answer', JSON.stringify(said)), ref)
  }

  function track(work: Promise<void>) {
    const tracked = work.catch(app.onFault).finally(() => running.delete(tracked))
    running.add(tracked)
  }

  return {
    look: () => track(takeAll()),
    async stop() {
      isStopped = true
      await within(STOP_MS, Promise.all(running), 'tests of providers did not end in time').catch(app.onFault)
    },
  }
}

async function send(app: App, id: Id, channel: Channel, provider: string, to: string): Promise<TestAnswer> {
  if (app.hold.isHeld()) return { kind: 'held' }
  return answerOf(await SENDS[channel](app, id, provider, to))
}

/** One text message, ahead of others. */
const FIRST = { cost: 1, urgent: true }

const SENDS: Readonly<Record<Channel, (app: App, id: Id, provider: string, to: string) => Promise<Outcome | null>>> = {
  email: ({ groups, sendingDomain }, id, provider, to) =>
    groups.email.sendBy(
      provider,
      {
        id,
        messageId: `<${id}@${sendingDomain}>`,
        from: { name: 'Herald', address: `herald@${sendingDomain}` },
        replyTo: null,
        to,
        subject: `Test of the provider ${provider}`,
        text: `${sentenceOf(provider)}\n`,
        html: '',
        attachments: [],
      },
      FIRST,
    ),
  sms: ({ groups }, id, provider, to) =>
    groups.sms.sendBy(provider, { id, to, from: null, text: sentenceOf(provider), encoding: 'GSM-7', parts: 1 }, FIRST),
}

/** The name of a provider has letters, digits and hyphens only, so the text is GSM-7 and one part. */
const sentenceOf = (provider: string) => `This is a test of the provider ${provider}, sent by an operator of Herald.`

function answerOf(outcome: Outcome | null): TestAnswer {
  if (outcome === null) return { kind: 'fault' }
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'accepted', ref: cleanLine(outcome.ref) }
    case 'rejected':
      return { kind: 'refused', class: replyClass(outcome.detail), detail: cleanLine(outcome.detail) }
    case 'deferred': {
      const { detail, uncertain = false, reason } = outcome
      const answer = { kind: 'deferred', class: replyClass(detail), detail: cleanLine(detail), uncertain } as const
      return reason === undefined ? answer : { ...answer, reason }
    }
  }
}
