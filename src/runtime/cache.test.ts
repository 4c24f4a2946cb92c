import { expect, test } from 'vitest'
import { createCache } from './cache.ts'

function world() {
  let now = 0
  const rows = new Map([['a', 'one']])
  const loads: string[] = []
  const cache = createCache<string, string | null>(
    { now: () => now },
    async key => {
      loads.push(key)
      return rows.get(key) ?? null
    },
    { ownerOf: (_, value) => value && `owner of ${value}`, seconds: 5, most: 2 },
  )
  return { cache, rows, loads, pass: (ms: number) => (now += ms) }
}

test('a row is loaded once within its time to live', async () => {
  const { cache, loads, pass } = world()
  expect(await cache.get('a')).toBe('one')
  expect(cache.get('a')).toBe('one')
  pass(5_000)
  expect(await cache.get('a')).toBe('one')
  expect(loads).toEqual(['a', 'a'])
})

test('a missing row is not cached', async () => {
  const { cache, rows } = world()
  expect(await cache.get('b')).toBe(null)
  rows.set('b', 'two')
  expect(await cache.get('b')).toBe('two')
})

test('dropping an owner removes its rows only', async () => {
  const { cache, rows, loads } = world()
  rows.set('b', 'two')
  await cache.get('a')
  await cache.get('b')
  cache.drop('owner of one')
  await cache.get('a')
  await cache.get('b')
  expect(loads).toEqual(['a', 'b', 'a'])
})

test('a row that was loading when a change came is returned but not cached', async () => {
  const { cache, loads } = world()
  const loading = cache.get('a')
  cache.drop('somebody else')
  expect(await loading).toBe('one')
  await cache.get('a')
  expect(loads).toEqual(['a', 'a'])
})

test('a failed load is not cached', async () => {
  let fails = true
  const load = async () => {
    if (fails) throw new Error('no database')
    return 'row'
  }
  const cache = createCache({ now: () => 0 }, load, { ownerOf: () => null })
  await expect(cache.get('a')).rejects.toThrow('no database')
  fails = false
  expect(await cache.get('a')).toBe('row')
})

test('a full cache is emptied', async () => {
  const { cache, rows, loads } = world()
  rows.set('b', 'two').set('c', 'three')
  for (const key of ['a', 'b', 'a', 'b', 'c', 'a']) await cache.get(key)
  expect(loads).toEqual(['a', 'b', 'c', 'a'])
})
