import { expect, test } from 'vitest'
import { createGate, createPlaces } from './places.ts'
import { createRecall } from './recall.ts'

test('urgent jobs go first, ordinary ones in their part of the places', () => {
  const places = createPlaces<string>(3, 1)
  for (const job of ['o1', 'o2']) places.add(job, false)
  for (const job of ['u1', 'u2']) places.add(job, true)
  expect([places.startable(), places.next(), places.next(), places.next(), places.next()]).toEqual([
    3,
    'u1',
    'u2',
    'o1',
    undefined,
  ])
  places.free(true)
  expect([places.startable(), places.next()]).toEqual([0, undefined]) // the free place is not for ordinary jobs
  places.free(false)
  expect(places.next()).toBe('o2')
})

test('a job that is put back is the next; removed and drained jobs are gone', () => {
  const places = createPlaces<string>(1, 1)
  for (const job of ['a', 'b', 'c', 'd']) places.add(job, false)
  places.remove('b', false)
  places.remove('unknown', false)
  expect(places.next()).toBe('a')
  places.free(false)
  places.putBack('a', false)
  expect([places.next(), places.drain(), places.startable()]).toEqual(['a', ['c', 'd'], 0])
})

test('a gate admits a fixed number; the others wait, urgent ones first', async () => {
  const gate = createGate(1, 1)
  const order: string[] = []
  expect(gate.enter(false)).toBe(undefined)
  const waiting = [
    gate.enter(false)?.then(() => order.push('ordinary')),
    gate.enter(true)?.then(() => order.push('urgent')),
  ]
  gate.leave(false)
  await waiting[1]
  gate.leave(true)
  await waiting[0]
  expect(order).toEqual(['urgent', 'ordinary'])
})

test('a waiter that times out gets false, and takes no place later', async () => {
  const gate = createGate(1, 1)
  void gate.enter(false)
  expect(await gate.enter(false, 10)).toBe(false)
  gate.leave(false)
  expect(gate.enter(false)).toBe(undefined)
})

test('what is recalled leaves the queue of a gate and takes no place', async () => {
  const gate = createGate(1, 1)
  const recall = createRecall()
  expect(gate.enter(false)).toBe(undefined)
  const entered = [gate.enter(false, undefined, recall), gate.enter(true, 60_000, recall), gate.enter(false)]
  recall.recall()
  expect(await Promise.all(entered.slice(0, 2))).toEqual([false, false])
  gate.leave(false)
  expect(await entered[2]).toBe(true)
})
