import { expect, test } from 'vitest'
import type { Id } from '../core/id.ts'
import type { Ticket } from '../queue/port.ts'
import {
  countEnd,
  countStart,
  createSuspectSlot,
  groupSize,
  hasPoison,
  isLastFault,
  isolate,
  isSuspect,
  mayStart,
  retryUnloadable,
  splitOff,
} from './suspects.ts'
import { leasedOf } from './work.ts'

const id = (n: number) => `id-${n}` as Id
const ticketOf = (takes: number, subjects = 3, faults = 0): Ticket => ({
  id: id(0),
  lane: 'a',
  service_id: 'service' as Id,
  subjects: Array.from({ length: subjects }, (_, n) => id(n + 1)),
  attempts: 7,
  faults,
  takes,
})
const leased = (ticket: Ticket) =>
  leasedOf(
    ticket,
    ticket.subjects.map((subject): [Id, string] => [subject, subject]),
    1,
  )

test('a ticket is suspect after two lost owners, and its first item is poison after five', () => {
  expect([1, 2, 3, 5, 6].map(takes => isSuspect(ticketOf(takes)))).toEqual([false, false, true, true, true])
  expect([5, 6].map(takes => hasPoison(ticketOf(takes)))).toEqual([false, true])
  expect([3, 4].map(faults => isLastFault(ticketOf(1, 1, faults)))).toEqual([false, true])
})

test('groups become smaller with every take, only in the part that was not finished', () => {
  expect([0, 64, 128].map(passed => groupSize(ticketOf(3), passed))).toEqual([64, 64, 64])
  expect([0, 56, 64].map(passed => groupSize(ticketOf(4), passed))).toEqual([8, 8, 64])
  expect([0, 7, 8, 63, 64].map(passed => groupSize(ticketOf(5), passed))).toEqual([1, 1, 8, 8, 64])
})

test('the next group starts when every item of the current one is recorded', () => {
  const suspect = leased(ticketOf(4, 20))
  while (mayStart(suspect)) countStart(suspect)
  expect(suspect.group).toEqual({ started: 8, unrecorded: 8, passed: 0 })
  expect(Array.from({ length: 8 }, () => countEnd(suspect))).toEqual([...Array(7).fill(false), true])
  expect(suspect.group).toEqual({ started: 0, unrecorded: 0, passed: 8 })
  expect(mayStart(suspect)).toBe(true)
})

test('a ticket that is not suspect has no groups', () => {
  const usual = leased(ticketOf(1, 200))
  for (let n = 0; n < 200; n++) countStart(usual)
  expect([mayStart(usual), countEnd(usual), usual.group.started]).toEqual([true, false, 0])
})

test('the poison is the first open item; the others continue without suspicion', () => {
  const suspect = leased(ticketOf(6))
  expect(isolate(suspect)).toEqual([id(1), id(1)])
  expect(suspect.retries).toEqual([2, 3].map(n => ({ id: id(n), delaySeconds: 0, attempts: 7, faults: 0, takes: 0 })))
})

test('items split off a suspect stay as suspect as they were', () => {
  const suspect = leased(ticketOf(4))
  suspect.items.shift()
  suspect.open--
  splitOff(suspect)
  expect(suspect).toMatchObject({ open: 0, items: [] })
  expect(suspect.retries).toEqual([2, 3].map(n => ({ id: id(n), delaySeconds: 0, attempts: 7, faults: 0, takes: 3 })))
})

test('a subject that cannot be loaded is retried soon, and at long intervals after five faults', () => {
  expect(retryUnloadable(id(1), ticketOf(1, 1, 0))).toMatchObject({ delaySeconds: 5, attempts: 7, faults: 1 })
  expect(retryUnloadable(id(1), ticketOf(1, 1, 4))).toMatchObject({ delaySeconds: 1_800, attempts: 7, faults: 5 })
})

test('one suspect at a time', () => {
  const slot = createSuspectSlot()
  expect([slot.tryAcquire(), slot.tryAcquire()]).toEqual([true, false])
  slot.release()
  expect(slot.tryAcquire()).toBe(true)
})
