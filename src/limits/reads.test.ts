import { expect, onTestFinished, test, vi } from 'vitest'
import type { Id } from '../core/id.ts'
import { createReads } from './reads.ts'

const NO_SQL = () => Promise.reject(new Error('nothing is asked'))
const reads = () => createReads({ sql: NO_SQL, connections: 10, limit: null })

test('between two parts of a read, a send in progress ends first', async () => {
  // A read waits for 25 ms, and the turns of a busy machine may take as long.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { besides, giveWay } = reads()
  const order: string[] = []
  const read = async () => {
    for (let piece = 1; piece <= 2; piece++) {
      await giveWay()
      order.push(`piece ${piece}`)
    }
  }
  const send = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise(resume => setImmediate(resume))
    order.push('sent')
  }
  await Promise.all([besides(send), read()])
  expect(order).toEqual(['sent', 'piece 1', 'piece 2'])
})

test('a read continues although sends never end', async () => {
  const { besides, giveWay } = reads()
  let end = () => {}
  const sending = besides(
    () =>
      new Promise<void>(resolve => {
        end = resolve
      }),
  )
  await giveWay()
  end()
  await sending
})

test('a send that fails does not block reads for ever, and its caller gets the error', async () => {
  const { besides, run } = reads()
  await expect(besides(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await run('0190a0b0-0000-7000-8000-000000000000' as never, true, async () => 'read')).toBe('read')
})

const [SERVICE, PERSON, OTHER] = ['service', 'person', 'other'] as unknown as [Id, Id, Id]

/** Work that ends when the test says so, and later at once. */
function held() {
  const started: string[] = []
  let end = () => {}
  const released = new Promise<void>(resolve => {
    end = resolve
  })
  const work = (name: string) => () => {
    started.push(name)
    return released
  }
  return { started, work, end }
}

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(resume => setImmediate(resume))
}

test('a person reads two pages at a time, in however many services, and others go on', async () => {
  const { visit } = createReads({ sql: NO_SQL, connections: 30, limit: null })
  const { started, work, end } = held()
  const pages = [1, 2, 3, 4].map(n => visit({ owner: `service ${n}`, person: PERSON }, work(`person ${n}`)))
  const other = visit({ owner: 'service 1', person: OTHER }, work('other'))
  await settled()
  expect(started.toSorted()).toEqual(['other', 'person 1', 'person 2'])
  end()
  await Promise.all([...pages, other])
  expect(started).toHaveLength(5)
})

async function* numbers(to: number) {
  for (let n = 1; n <= to; n++) yield n
}

test('a long answer takes a turn for each piece, and none while its reader has a piece', async () => {
  const { pieces, run } = createReads({ sql: NO_SQL, connections: 3, limit: null })
  const read: number[] = []
  for await (const piece of pieces({ owner: SERVICE, person: PERSON }, numbers(3))) {
    read.push(piece)
    // There is one turn for all: it is free now.
    expect(await run(OTHER, false, async () => 'read')).toBe('read')
  }
  expect(read).toEqual([1, 2, 3])
})

test('pieces of long answers take half of the turns, whatever services they are of: short reads go on', async () => {
  const { pieces, run } = reads()
  const { started, work, end } = held()
  async function* slow(name: string) {
    await work(name)()
    yield 1
  }
  const answers = ['one', 'two', 'three'].map(owner => pieces({ owner, person: null }, slow(owner)).next())
  await settled()
  expect(started).toEqual(['one'])
  const short = ['four', 'five'].map(service => run(service as Id, false, work(service)))
  await settled()
  expect(started).toEqual(['one', 'four', 'five'])
  end()
  await Promise.all([...answers, ...short])
})

test('a service with many reads waiting delays its own long answer, and no other', async () => {
  const { pieces, run } = reads()
  const { started, work, end } = held()
  const many = [1, 2, 3, 4].map(n => run(SERVICE, false, work(`read ${n}`)))
  const own = pieces({ owner: SERVICE, person: null }, numbers(1)).next()
  expect(await pieces({ owner: OTHER, person: null }, numbers(1)).next()).toEqual(FIRST)
  expect(started).toEqual(['read 1', 'read 2'])
  end()
  await Promise.all([...many, own])
})

test('of a service two long answers run at a time; the third starts when one of them is given up', async () => {
  const { stream } = reads()
  const [one, two, three] = [1, 2, 3].map(() => stream(SERVICE, numbers(5))) as [Stream, Stream, Stream]
  expect([await one.next(), await two.next()]).toEqual([FIRST, FIRST])
  let hasBegun = false
  const third = three.next().finally(() => {
    hasBegun = true
  })
  await settled()
  expect(hasBegun).toBe(false)
  expect(await stream(OTHER, numbers(5)).next()).toEqual(FIRST)
  await one.return(undefined)
  expect(await third).toEqual(FIRST)
})

type Stream = AsyncGenerator<number>
const FIRST = { done: false, value: 1 }
