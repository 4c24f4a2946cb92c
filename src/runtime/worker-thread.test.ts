import { afterEach, describe, expect, test } from 'vitest'
import type { TestCalls } from '../../test/support/thread/worker.ts'
import { createCalls, createThread, type Loss } from './worker-thread.ts'

const beside = new URL('../../test/support/thread/thread.ts', import.meta.url).href
const limits = { maxOldGenerationSizeMb: 64 }

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function started(options: { timeoutMs?: number; maxInFlight?: number; endsWhenIdle?: boolean } = {}) {
  const thread = createCalls<TestCalls>('test thread', { beside, limits, timeoutMs: 30_000, ...options })
  ends.push(thread.stop)
  return thread
}

/** On a busy machine the start of a thread from sources takes seconds, which count for the first call. */
async function up(call: ReturnType<typeof started>['call']) {
  while (!(await call('double', 1).catch(() => 0)));
}

describe('calls', () => {
  test('each gets its own reply', async () => {
    const { call } = started()
    expect(await Promise.all([1, 2, 3].map(n => call('double', n)))).toEqual([2, 4, 6])
  })

  test('a transferred buffer is not copied', async () => {
    const { call } = started()
    const bytes = new Uint8Array(1_000)
    expect(await call('length', bytes, [bytes.buffer])).toBe(1_000)
    expect(bytes.length).toBe(0)
  })

  test('a call that throws in the thread rejects, without the text of the error, and the thread keeps running', async () => {
    const { call } = started()
    await expect(call('throws', 'a secret')).rejects.toThrow('the test thread could not throws')
    expect(await call('double', 4)).toBe(8)
  })

  test('one that cannot be cloned rejects', async () => {
    const { call } = started()
    await expect(call('double', (() => 1) as never)).rejects.toThrow(/could not be cloned/)
    expect(await call('double', 4)).toBe(8)
  })

  test('a lost thread fails the calls in flight and is replaced', async () => {
    const { call } = started()
    const inFlight = [call('exit', 3), call('double', 1)]
    for (const one of await Promise.allSettled(inFlight))
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'the test thread ended' } })
    await expect(call('exhaust', null)).rejects.toThrow('the test thread failed')
    expect(await call('double', 4)).toBe(8)
  })

  test('a thread that ends when it is idle is started again for the next call', async () => {
    const { call } = started({ endsWhenIdle: true, maxInFlight: 1 })
    // How many such calls the thread has had.
    expect(await Promise.all([call('sleep', 1), call('sleep', 1)])).toEqual([1, 2])
    expect(await call('sleep', 1)).toBe(1)
    const { call: callOther } = started()
    expect([await callOther('sleep', 1), await callOther('sleep', 1)]).toEqual([1, 2])
  })

  test('a call that exceeds the timeout ends the thread', async () => {
    const { call } = started({ timeoutMs: 4_000 })
    await up(call)
    await expect(call('sleep', 60_000)).rejects.toThrow('the test thread took too long')
    await up(call)
  }, 60_000)

  test('with maxInFlight 1, the time that a call waits is not counted', async () => {
    const { call } = started({ timeoutMs: 4_000, maxInFlight: 1 })
    await up(call)
    expect(await Promise.all([1, 2, 3].map(() => call('sleep', 1_700)))).toEqual([1, 2, 3])
  }, 60_000)

  test('a stop rejects calls in flight, waiting ones, and later ones', async () => {
    const thread = started({ maxInFlight: 1 })
    await thread.call('double', 1)
    const calls = [thread.call('sleep', 10_000), thread.call('double', 2)]
    const settled = Promise.allSettled(calls)
    await thread.stop()
    calls.push(thread.call('double', 3))
    expect(await settled).toMatchObject([
      { reason: { message: 'the test thread ended' } },
      { reason: { message: 'the test thread is stopped' } },
    ])
    await expect(calls[2]).rejects.toThrow('the test thread is stopped')
  })
})

test('a thread is started by the first message, and every loss is reported once', async () => {
  const losses: Loss[] = []
  let starts = 0
  let replied = () => {}
  const thread = createThread<object, { value: unknown }>({
    beside,
    limits,
    onStart: () => starts++,
    onReply: () => replied(),
    onLost: why => losses.push(why),
  })
  const post = () =>
    new Promise<void>(resolve => {
      replied = resolve
      thread.post({ id: 1, name: 'double', request: 1 })
    })
  expect([thread.isRunning(), starts]).toEqual([false, 0])
  await post()
  thread.kill()
  thread.kill()
  expect([thread.isRunning(), losses]).toEqual([false, ['killed']])
  await post()
  await thread.stop()
  expect([thread.isRunning(), starts, losses]).toEqual([false, 2, ['killed', 'ended']])
})
