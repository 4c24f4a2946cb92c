import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

/** Work that ends when it is told to, and the order in which pieces have begun. */
function createWork(turns: ReturnType<typeof createTurns>) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const add = (owner: string, name: string, length?: 'long') =>
    turns.run(
      owner,
      () =>
        new Promise<string>(resolve => {
          begun.push(name)
          ends.set(name, () => resolve(name))
        }),
      length,
    )
  const end = (name: string) => ends.get(name)?.()
  const began = (name: string) => expect.poll(() => begun.includes(name)).toBe(true)
  return { begun, add, end, began }
}

test('one owner with many waiting does not delay another: round robin', async () => {
  const turns = createTurns({ atOnce: 1, ofOne: 1 })
  const begun: string[] = []
  const add = (name: string) =>
    turns.run(name.charAt(0), async () => {
      begun.push(name)
      await new Promise(resume => setTimeout(resume, 30))
    })
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(add)
  expect([turns.running(), turns.waiting()]).toEqual([1, 6])
  await Promise.all(all)
  expect(begun.indexOf('b1')).toBe(1) // while a rests
  expect(begun.indexOf('c1')).toBeLessThanOrEqual(3)
  expect(begun.filter(name => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4'])
  expect([turns.running(), turns.waiting()]).toEqual([0, 0])
})

test('one owner never has all places: another begins at once', async () => {
  const turns = createTurns({ atOnce: 3, ofOne: 2 })
  const { begun, add, end, began } = createWork(turns)
  const all = ['a1', 'a2', 'a3'].map(name => add('a', name))
  await began('a2')
  expect([turns.running(), turns.waiting()]).toEqual([2, 1])
  all.push(add('b', 'b1'))
  await began('b1')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  for (const name of ['a1', 'a3', 'a2', 'b1']) {
    await began(name)
    end(name)
  }
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1'])
})

test('an owner with more waiting pauses as long as long work took; short work and single requests do not', async () => {
  const turns = createTurns({ atOnce: 2, ofOne: 1 })
  const took = 60
  const work = () => new Promise<number>(resolve => setTimeout(() => resolve(performance.now()), took))
  const since = performance.now()
  const [first, second] = await Promise.all([turns.run('a', work), turns.run('a', work)])
  expect(first - since).toBeLessThan(second - since - 2 * took + 10)
  const alone = performance.now()
  await turns.run('b', async () => {})
  await turns.run('b', async () => {})
  expect(performance.now() - alone).toBeLessThan(took)
})

test('work that fails releases its place, and its caller gets the error', async () => {
  const turns = createTurns({ atOnce: 1, ofOne: 1 })
  const failed = turns.run('a', () => Promise.reject(new Error('no')))
  const second = turns.run('a', () => Promise.resolve('yes'))
  await expect(failed).rejects.toThrow('no')
  expect(await second).toBe('yes')
})

test('long work that waits for its owner takes no place of the long ones, and goes before other work of its owner', async () => {
  const turns = createTurns({ atOnce: 3, ofOne: 2, ofLong: 1 })
  const { begun, add, end, began } = createWork(turns)
  const all = ['a1', 'a2', 'a3'].map(name => add('a', name))
  all.push(add('a', 'long a', 'long'), add('b', 'long b', 'long'), add('c', 'long c', 'long'))
  await began('long b')
  end('long b')
  await began('long c')
  expect(begun).toEqual(['a1', 'a2', 'long b', 'long c'])
  end('a1')
  await began('a3') // the only place of long work is taken
  end('long c')
  end('a2')
  await began('long a')
  for (const name of ['a3', 'long a']) end(name)
  expect(await Promise.all(all)).toHaveLength(6)
  expect([turns.running(), turns.waiting()]).toEqual([0, 0])
})
