import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

/** Work that ends when it is told to, and the order in which pieces have begun. */
function createWork(turns: ReturnType<typeof createTurns>) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const add = (owner: string, name: string) =>
    turns.run(
      owner,
      () =>
        new Promise<string>(resolve => {
          begun.push(name)
          ends.set(name, () => resolve(name))
        }),
    )
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(resume => setImmediate(resume))
  }
  return { begun, add, end }
}

test('one owner with many waiting does not hold up another: turns go round', async () => {
  const turns = createTurns({ atOnce: 1, ofOne: 1 })
  const { begun, add, end } = createWork(turns)
  const all = [...['a1', 'a2', 'a3', 'a4'].map(name => add('a', name)), add('b', 'b1'), add('c', 'c1'), add('b', 'b2')]
  expect([turns.running(), turns.waiting()]).toEqual([1, 6])
  await end('none')
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) await end(name)
  expect(await Promise.all(all)).toHaveLength(7)
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  expect([turns.running(), turns.waiting()]).toEqual([0, 0])
})

test('one owner never has all places: another begins at once', async () => {
  const turns = createTurns({ atOnce: 3, ofOne: 2 })
  const { begun, add, end } = createWork(turns)
  const all = ['a1', 'a2', 'a3'].map(name => add('a', name))
  await end('none')
  expect(begun).toEqual(['a1', 'a2'])
  all.push(add('b', 'b1'))
  await end('none')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  for (const name of ['a1', 'a3', 'a2', 'b1']) await end(name)
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1'])
})

test('work that fails gives its place back, and its caller is told', async () => {
  const turns = createTurns({ atOnce: 1, ofOne: 1 })
  const failed = turns.run('a', () => Promise.reject(new Error('no')))
  const second = turns.run('a', () => Promise.resolve('yes'))
  await expect(failed).rejects.toThrow('no')
  expect(await second).toBe('yes')
})
