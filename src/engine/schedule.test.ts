import { expect, test } from 'vitest'
import type { Id } from '../core/id.ts'
import { createSchedule, type Schedule } from './schedule.ts'
import { leasedOf } from './work.ts'

const ROOM = { mayStart: () => true }

/** A ticket whose items are named after it: a/1, a/2, … */
function leased(name: string, service: string, items: number, takes = 1) {
  const subjects = Array.from({ length: items }, (_, n) => `${name}/${n + 1}` as Id)
  const ticket = { id: name as Id, lane: 'lane', service_id: service as Id, subjects, attempts: 0, takes }
  return leasedOf(
    ticket,
    subjects.map((id): [Id, string] => [id, id]),
    1,
  )
}

function drain(schedule: Schedule<string>, most = 100): string[] {
  const order: string[] = []
  for (let turn = schedule.next(); turn && order.push(turn.item) < most; turn = schedule.next());
  return order
}

test('services take turns, however many items one of them has', () => {
  const schedule = createSchedule<string>(ROOM)
  schedule.add(leased('a', 'one', 4))
  schedule.add(leased('b', 'two', 1))
  schedule.add(leased('c', 'three', 2))
  expect(drain(schedule)).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'c/2', 'a/3', 'a/4'])
  expect(schedule.next()).toBe(null)
})

test('within a service every other turn goes to the ticket with the fewest items', () => {
  const schedule = createSchedule<string>(ROOM)
  schedule.add(leased('large', 'one', 5))
  schedule.add(leased('small', 'one', 1))
  expect(drain(schedule, 3)).toEqual(['large/1', 'small/1', 'large/2'])
})

test('nothing starts without room in the lane share, nor while the lane is paused', async () => {
  let hasRoom = false
  let resumed = 0
  const schedule = createSchedule<string>({ mayStart: () => hasRoom })
  schedule.add(leased('a', 'one', 2))
  expect(schedule.next()).toBe(null)
  hasRoom = true
  let endPause: (reason: Error) => void = () => {}
  const first = new Promise<void>((_, reject) => {
    endPause = reject
  })
  schedule.pause(first, () => resumed++)
  schedule.pause(Promise.resolve(), () => resumed++)
  await Promise.resolve()
  expect([schedule.isPaused(), schedule.next()]).toEqual([true, null])
  endPause(new Error('a rejection ends the pause, too'))
  await first.catch(() => {})
  await Promise.resolve()
  expect([schedule.isPaused(), resumed]).toEqual([false, 1])
  expect(drain(schedule)).toEqual(['a/1', 'a/2'])
})

test('an item that is put back is the next one of its ticket', () => {
  const schedule = createSchedule<string>(ROOM)
  schedule.add(leased('a', 'one', 1))
  schedule.add(leased('b', 'two', 2))
  const [first, second] = [schedule.next(), schedule.next()]
  if (!first || !second) throw new Error('two were added')
  schedule.putBack(first)
  schedule.putBack(second)
  expect(drain(schedule).sort()).toEqual(['a/1', 'b/1', 'b/2'])
})

test('a suspect whose group is in flight is skipped, and a removed ticket is gone', () => {
  const schedule = createSchedule<string>(ROOM)
  const suspect = leased('suspect', 'one', 2, 5)
  const removed = leased('removed', 'one', 2)
  suspect.group.started = 1
  for (const one of [suspect, removed, leased('b', 'two', 2)]) schedule.add(one)
  schedule.remove(removed)
  expect(drain(schedule)).toEqual(['b/1', 'b/2'])
  suspect.group.started = 0
  expect(schedule.next()?.item).toBe('suspect/1')
})
