import { expect, test } from 'vitest'
import { createCapacity } from '../runtime/admission.ts'
import { createProviderGroup } from './failover.ts'
import type { Outcome, TextProvider } from './port.ts'

/** A provider whose sends end when the test says so. */
function provider(name: string, messages: number) {
  const sends: { text: string; end(outcome: Outcome): void; fail(): void }[] = []
  const made: TextProvider = {
    name,
    channel: 'sms',
    reports: false,
    capacity: createCapacity({ perSecond: null, messages }),
    send: ({ text }) =>
      new Promise((end, reject) => sends.push({ text, end, fail: () => reject(new Error('a bug in the adapter')) })),
    probe: async () => ({ ok: false, detail: 'down' }),
    stop: async () => {},
  }
  return { made, sends, texts: () => sends.map(({ text }) => text) }
}

function groupOf(...providers: TextProvider[]) {
  const group = createProviderGroup<string>(
    providers.map(one => ({
      provider: one,
      send: (text, urgent) => one.send({ text } as Parameters<TextProvider['send']>[0], urgent),
    })),
    () => {},
  )
  const send = (text: string, urgent = false) => group.send(text, { cost: 1, urgent })
  return { group, send }
}

const ACCEPTED: Outcome = { kind: 'accepted', ref: '1' }
const turn = () => new Promise(resume => setImmediate(resume))

test('ordinary messages wait for a place in their part of the capacity, urgent ones do not', async () => {
  const { made, sends, texts } = provider('one', 4)
  const { send } = groupOf(made)
  const results = ['a', 'b', 'c', 'd', 'e'].map(text => send(text))
  results.push(send('code', true))
  await turn()
  expect(texts()).toEqual(['a', 'b', 'c', 'code'])
  sends[3]?.end(ACCEPTED)
  await turn()
  expect(texts()).toHaveLength(4)
  sends[0]?.end(ACCEPTED)
  await turn()
  expect(texts().slice(4)).toEqual(['d'])
  sends[1]?.fail()
  await expect(results[1]).rejects.toThrow('a bug in the adapter')
  await turn()
  expect(texts().at(-1)).toBe('e')
})

test('a provider that is down is skipped, its place is free, and a message it may have accepted goes nowhere else', async () => {
  const [first, second] = [provider('first', 1), provider('second', 1)]
  const { group, send } = groupOf(first.made, second.made)
  const moved = send('moved')
  await turn()
  first.sends[0]?.end({ kind: 'deferred', detail: 'gone', down: true })
  await turn()
  second.sends[0]?.end(ACCEPTED)
  expect(await moved).toMatchObject({ kind: 'answered', provider: { name: 'second' } })
  expect(first.made.capacity.enter(1, false)).toBe(undefined)
  const stays = send('stays')
  await turn()
  second.sends[1]?.end({ kind: 'deferred', detail: 'gone', down: true, uncertain: true })
  expect(await stays).toMatchObject({ kind: 'answered', provider: { name: 'second' } })
  expect(await send('waits')).toMatchObject({ kind: 'wait', detail: 'no provider is up' })
  expect(group.health()).toMatchObject([{ isUp: false }, { isUp: false, downs: 1 }])
  await group.stop()
})

test('a provider reports its state, what it accepted and its last error by class; a recipient that is refused is none', async () => {
  const { made, sends } = provider('one', 4)
  const { group, send } = groupOf(made)
  const ends: Outcome[] = [
    ACCEPTED,
    { kind: 'rejected', detail: '550 5.1.1 anna@example.org is unknown', permanent: 'hard-bounce no-email' },
  ]
  for (const outcome of ends) {
    const sent = send('text')
    await turn()
    sends.at(-1)?.end(outcome)
    await sent
  }
  expect(group.health()).toMatchObject([{ state: 'closed', openMs: null, acceptedLastMinute: 1, lastError: null }])
  const deferred = send('text')
  await turn()
  sends.at(-1)?.end({ kind: 'deferred', detail: '421 anna@example.org is busy', down: true })
  await deferred
  const [health] = group.health()
  expect(health).toMatchObject({ state: 'open', acceptedLastMinute: 1, lastError: { class: '421' } })
  expect(health?.openMs).toBeGreaterThanOrEqual(0)
  await group.stop()
})

test('a message for one provider goes to no other, also while its circuit breaker is open', async () => {
  const [first, second] = [provider('first', 1), provider('second', 1)]
  const { group } = groupOf(first.made, second.made)
  const options = { cost: 1, urgent: true }
  for (const text of ['closed', 'open']) {
    const sent = group.sendBy('second', text, options)
    await turn()
    second.sends.at(-1)?.end({ kind: 'deferred', detail: 'gone', down: true })
    expect(await sent).toMatchObject({ kind: 'deferred', detail: 'gone' })
  }
  expect(second.texts()).toEqual(['closed', 'open'])
  expect(first.texts()).toEqual([])
  expect(group.health()).toMatchObject([{ isUp: true }, { isUp: false, downs: 1 }])
  expect(await group.sendBy('third', 'text', options)).toBe(null)
  await group.stop()
})
