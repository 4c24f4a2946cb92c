// What every text adapter must do, whatever its protocol. One suite, run on each of them.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import type { Outcome, ProviderWorld, Receipt, TextMessage, TextProvider } from '../../src/providers/port.ts'

export type PeerMode = 'ok' | 'reject' | 'throttle' | 'hang' | 'drop' | 'garbage' | 'half' | 'huge'

/** The test server: how it behaves, and what it received. */
export type Peer = {
  mode(next: PeerMode): void
  messages(): readonly { to: string; from: string; text: string }[]
  stop(): Promise<void>
}

/** An adapter with short timeouts and its test server. `whenReady` waits for a bind, for example. */
export type Made = { provider: TextProvider; peer: Peer; whenReady?(): Promise<unknown> }

export type Recorded = { world: ProviderWorld; receipts: Receipt[]; lines: string[] }

export function recordedWorld(now = () => Date.UTC(2026, 10, 15, 5)): Recorded {
  const receipts: Receipt[] = []
  const lines: string[] = []
  const world: ProviderWorld = {
    async accept(_, more) {
      receipts.push(...more)
    },
    now,
    warn: (fields, sentence) => void lines.push(`${sentence} ${JSON.stringify(fields)}`),
  }
  return { world, receipts, lines }
}

let made = 0
export function textMessage(some: Partial<TextMessage> = {}): TextMessage {
  made += 1
  const id = `01939a3c-0000-7000-8000-${made.toString(16).padStart(12, '0')}` as Id
  return { id, to: '+16135550123', from: '12345', text: 'Your code is 4711', encoding: 'GSM-7', parts: 1, ...some }
}

export function smsProviderSuite(name: string, make: (world: ProviderWorld) => Promise<Made>) {
  describe(`text provider: ${name}`, () => {
    let recorded: Recorded
    let it: Made
    beforeEach(async () => {
      recorded = recordedWorld()
      it = await make(recorded.world)
    })
    afterEach(async () => {
      await it.provider.stop()
      await it.peer.stop()
    })

    test('has a name', () => {
      expect(it.provider).toMatchObject({ name: expect.any(String), channel: 'sms', reports: expect.any(Boolean) })
    })

    test('an accepted message has a reference, and the provider received it', async () => {
      const outcome = await it.provider.send(textMessage({ text: 'Café, 5 € [ok] {to} %41 "quoted" & more' }))

      expect(outcome).toEqual({ kind: 'accepted', ref: expect.stringMatching(/^[\w-]+$/) })
      expect(it.peer.messages()).toEqual([
        {
          to: expect.stringMatching(/^\+?16135550123$/),
          from: '12345',
          text: 'Café, 5 € [ok] {to} %41 "quoted" & more',
        },
      ])
    })

    test('characters outside the GSM alphabet arrive unchanged', async () => {
      const text = 'ᐃᓄᒃᑎᑐᑦ à Œuvre 🙂 ok'

      await it.provider.send(textMessage({ text, encoding: 'UCS-2' }))

      expect(it.peer.messages().map(message => message.text)).toEqual([text])
    })

    test('a permanent refusal is rejected, with a reason that contains no recipient', async () => {
      it.peer.mode('reject')

      const outcome = await it.provider.send(textMessage())

      expect(outcome).toEqual({ kind: 'rejected', detail: expect.stringMatching(/^[\x20-\x7e…]{3,500}$/) })
      expect(JSON.stringify(outcome)).not.toContain('6135550123')
    })

    test('a throttling provider is deferred, neither down nor uncertain', async () => {
      it.peer.mode('throttle')

      const outcome = await it.provider.send(textMessage())

      expect(outcome).toEqual({
        kind: 'deferred',
        detail: expect.any(String),
        retryAfterSeconds: expect.any(Number),
      })
    })

    test('no answer in time: deferred and uncertain, and the next message is sent', async () => {
      it.peer.mode('hang')
      expect(await it.provider.send(textMessage())).toMatchObject({ kind: 'deferred', uncertain: true })

      it.peer.mode('ok')
      expect(await it.provider.send(textMessage())).toMatchObject({ kind: 'accepted' })
    })

    for (const mode of ['drop', 'garbage', 'half'] as const)
      test(`${mode} instead of an answer: deferred and uncertain, never thrown`, async () => {
        it.peer.mode(mode)
        expect(await it.provider.send(textMessage())).toMatchObject({ kind: 'deferred', uncertain: true })

        it.peer.mode('ok')
        expect(await acceptedSoon(it.provider)).toMatchObject({ kind: 'accepted' })
      })

    test('an answer of a megabyte is not read completely, and nothing is thrown', async () => {
      it.peer.mode('huge')

      const outcome = await it.provider.send(textMessage())

      expect(JSON.stringify(outcome).length).toBeLessThan(700)
      expect(outcome).not.toMatchObject({ kind: 'rejected' })
    })

    test('concurrent messages each get their own answer', async () => {
      const messages = Array.from({ length: 100 }, (_, n) => textMessage({ text: `number ${n}` }))

      const outcomes = await Promise.all(messages.map(message => it.provider.send(message)))

      expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([])
      expect(new Set(outcomes.map(refIn)).size).toBe(100)
      expect(
        it.peer
          .messages()
          .map(({ text }) => text)
          .sort(),
      ).toEqual(messages.map(({ text }) => text).sort())
    })

    test('S-13 control characters never reach the wire', async () => {
      const hostile = 'a\x00b\x1bc\x07d\x85e\u202ef\u2066g\u200fh\ud800i\x7f\r\nj\tk\x9b'

      await it.provider.send(textMessage({ text: hostile, encoding: 'GSM-7' }))
      await it.provider.send(textMessage({ text: `${hostile}ᐃ`, encoding: 'UCS-2' }))

      expect(it.peer.messages().map(({ text }) => text)).toEqual(['abcdefghi\nj k', 'abcdefghi\nj kᐃ'])
    })

    test('an unreachable provider is down, not uncertain; the probe reports it', async () => {
      expect(await it.provider.probe()).toEqual({ ok: true })
      await it.peer.stop()

      const outcome = await downSoon(it.provider)

      const reason = expect.stringMatching(
        /:\d+: nothing listens there\. Start that server, or correct HERALD_\w+_URL\.$/,
      )
      expect(outcome).toEqual({ kind: 'deferred', detail: expect.any(String), down: true, reason })
      expect(await it.provider.probe()).toEqual({ ok: false, detail: expect.any(String), reason })
    })

    test('stop may be called twice; afterwards nothing is sent', async () => {
      await it.provider.send(textMessage())
      await Promise.all([it.provider.stop(), it.provider.stop()])
      await it.provider.stop()

      expect(await it.provider.send(textMessage())).toMatchObject({ kind: 'deferred', down: true })
      expect(it.peer.messages().length).toBe(1)
    })

    test('no personal data and no credential in the log', async () => {
      for (const mode of ['reject', 'drop', 'garbage', 'huge'] as const) {
        it.peer.mode(mode)
        await it.provider.send(textMessage({ text: 'canary-text' }))
      }
      expect(recorded.lines.join('\n')).not.toMatch(/6135550123|canary|secret/)
    })
  })
}

const refIn = (outcome: Outcome) => (outcome.kind === 'accepted' ? outcome.ref : null)

/** The connection may need a moment to come back; the test waits for the acceptance itself. */
async function acceptedSoon(provider: TextProvider): Promise<Outcome> {
  return soon(provider, outcome => outcome.kind === 'accepted')
}

/** On a kept connection, the first request may be the one that notices the close. */
async function downSoon(provider: TextProvider): Promise<Outcome> {
  return soon(provider, outcome => outcome.kind === 'deferred' && outcome.down === true && !outcome.uncertain)
}

async function soon(provider: TextProvider, isIt: (outcome: Outcome) => boolean): Promise<Outcome> {
  for (let tries = 0; ; tries++) {
    const outcome = await provider.send(textMessage())
    if (isIt(outcome) || tries > 200) return outcome
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
