// What every e-mail adapter must do. Each adapter has a test server; servers that can misbehave are also tested in those modes.
import { afterEach, describe, expect, test } from 'vitest'
import { createClock } from '../../src/core/clock.ts'
import { createIds } from '../../src/core/id.ts'
import type { EmailMessage, EmailProvider } from '../../src/providers/port.ts'

export type Arrived = { to: readonly string[]; messageId: string }

/** `ok` accepts messages again; the others define what happens to each attempt from now on. */
export type Behaviour =
  | 'ok'
  | 'rejects'
  | 'defers'
  | 'garbage'
  | 'refuses-connections'
  | 'resets-before-end'
  | 'resets-after-end'

export type EmailPeer = {
  provider: EmailProvider
  /** What the server has received so far. */
  arrived(): Promise<readonly Arrived[]>
  /** Absent when the server cannot misbehave. */
  behave?(how: Behaviour): Promise<void>
  stop(): Promise<void>
}

const ids = createIds(createClock())

export function message(changes: Partial<EmailMessage> = {}): EmailMessage {
  const id = ids.next()
  return {
    id,
    messageId: `<${id}@herald.example>`,
    from: { name: 'Permits', address: 'permits@herald.example' },
    replyTo: null,
    to: 'jo@example.net',
    subject: 'Your permit',
    text: 'It is ready.\n',
    html: '<p>It is ready.</p>\n',
    attachments: [],
    ...changes,
  }
}

export function emailProviderSuite(name: string, make: () => Promise<EmailPeer>): void {
  describe(`an e-mail provider: ${name}`, () => {
    const peers: EmailPeer[] = []
    const peer = async () => {
      const made = await make()
      peers.push(made)
      return made
    }
    afterEach(async () => {
      for (const made of peers.splice(0)) {
        await made.provider.stop()
        await made.stop()
      }
    })

    test('has a name and a kind', async () => {
      const { provider } = await peer()
      expect(provider.channel).toBe('email')
      expect(provider.name).toMatch(/^[a-z][a-z0-9-]*$/)
      expect(typeof provider.reports).toBe('boolean')
      if (provider.webhook) expect(provider.webhook.name).toMatch(/^[a-z][a-z0-9-]*$/)
    })

    test('accepted gives a reference, and the message arrives once, at exactly its recipient', async () => {
      const { provider, arrived } = await peer()
      const sent = message()

      const outcome = await provider.send(sent)

      expect(outcome).toMatchObject({ kind: 'accepted', ref: expect.stringMatching(/^.{1,200}$/) })
      expect(await arrived()).toEqual([{ to: [sent.to], messageId: sent.messageId }])
    })

    test('the same message again keeps its Message-ID', async () => {
      const { provider, arrived } = await peer()
      const sent = message()
      await provider.send(sent)
      await provider.send(sent)
      expect((await arrived()).map(({ messageId }) => messageId)).toEqual([sent.messageId, sent.messageId])
    })

    test('many at once all arrive, each at its own recipient', async () => {
      const { provider, arrived } = await peer()
      const many = Array.from({ length: 200 }, (_, i) => message({ to: `user${i}@example.net` }))

      const outcomes = await Promise.all(many.map(message => provider.send(message)))

      expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([])
      const pairs = (list: readonly Arrived[]) => list.map(({ to, messageId }) => `${to.join()} ${messageId}`).sort()
      expect(pairs(await arrived())).toEqual(pairs(many.map(({ to, messageId }) => ({ to: [to], messageId }))))
    })

    test('a probe sends nothing', async () => {
      const { provider, arrived } = await peer()
      expect(await provider.probe()).toEqual({ ok: true })
      expect(await arrived()).toEqual([])
    })

    test('stop ends everything, may be called twice, and a late message is deferred', async () => {
      const { provider } = await peer()
      await provider.send(message())
      await Promise.all([provider.stop(), provider.stop()])
      await provider.stop()
      expect((await provider.send(message())).kind).toBe('deferred')
    })

    const expected: Record<Exclude<Behaviour, 'ok'>, object> = {
      rejects: { kind: 'rejected', detail: expect.stringMatching(/^.{1,500}$/), permanent: 'hard-bounce no-email' },
      defers: { kind: 'deferred', detail: expect.stringMatching(/^.{1,500}$/) },
      garbage: { kind: 'deferred', detail: expect.any(String), down: true },
      'refuses-connections': {
        kind: 'deferred',
        detail: expect.any(String),
        down: true,
        reason: expect.stringMatching(/:\d+: nothing listens there\. Start that server, or correct HERALD_\w+_URL\.$/),
      },
      'resets-before-end': { kind: 'deferred', detail: expect.any(String), down: true },
      'resets-after-end': { kind: 'deferred', detail: expect.any(String), uncertain: true },
    }
    for (const [how, outcome] of Object.entries(expected) as [Behaviour, object][])
      test(`far side ${how}: the right outcome, no throw, and it works again afterwards`, async context => {
        const { provider, behave, arrived } = await peer()
        if (!behave) return context.skip('this far side cannot misbehave')
        await behave(how)
        expect(await provider.send(message())).toEqual(outcome)
        if (how === 'refuses-connections') expect(await provider.probe()).toMatchObject({ ok: false })
        await behave('ok')
        const before = (await arrived()).length
        expect((await provider.send(message())).kind).toBe('accepted')
        expect(await arrived()).toHaveLength(before + 1)
      })
  })
}
