import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { startMaintenance, type Task } from './run.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

type Options = Parameters<typeof startMaintenance>[1]

function started(tasks: readonly Partial<Task>[], options: Partial<Options> = {}) {
  const steps: [string, number][] = []
  const faults: string[] = []
  const maintenance = startMaintenance(
    tasks.map(task => ({ name: 'task', everySeconds: 3_600, timeoutSeconds: 60, steps: () => counting([]), ...task })),
    {
      isLeader: () => true,
      onStep: (task, rows) => steps.push([task, rows]),
      onFault: (error, sentence) => faults.push(`${sentence}: ${(error as Error).message}`),
      interrupt() {},
      ...options,
    },
  )
  ends.push(maintenance.stop)
  return { steps, faults, stop: maintenance.stop }
}

async function* counting(rows: readonly number[]) {
  for (const one of rows) yield one
}

test('tasks run one after the other, and every step is reported with its rows', async () => {
  const { steps } = started([
    { name: 'first', steps: () => counting([10, 3]) },
    { name: 'second', steps: () => counting([7]) },
  ])
  await vi.waitUntil(() => steps.length === 3)
  expect(steps).toEqual([
    ['first', 10],
    ['first', 3],
    ['second', 7],
  ])
})

test('steps run only in the leader, and a task does not restart while it is unfinished', async () => {
  let isLeader = false
  let starts = 0
  const { steps } = started(
    [
      {
        name: 'long',
        steps: () => {
          starts++
          return counting([1, 1, 1])
        },
      },
      { name: 'short', steps: () => counting([1]) },
    ],
    { isLeader: () => isLeader && steps.length < 2 },
  )
  await sleep(1_200)
  expect(steps).toEqual([])
  isLeader = true
  await vi.waitUntil(() => steps.length === 2)
  await sleep(1_200)
  // Leadership was lost between two steps.
  expect(steps).toEqual([
    ['long', 1],
    ['long', 1],
  ])
  expect(starts).toBe(1)
})

test('a step that exceeds the timeout of its task is interrupted and reported, and the next task runs', async () => {
  let fail = (_error: Error) => {}
  const { steps, faults } = started(
    [
      {
        name: 'slow',
        timeoutSeconds: 0.05,
        async *steps() {
          await new Promise((_, reject) => {
            fail = reject
          })
          yield 1
        },
      },
      { name: 'next', steps: () => counting([2]) },
    ],
    { interrupt: () => fail(new Error('interrupted')) },
  )
  await vi.waitUntil(() => steps.length === 2)
  expect(faults).toEqual(['maintenance task failed: slow: a step took longer than 0.05 seconds'])
  expect(steps).toEqual([
    ['slow', 0],
    ['next', 2],
  ])
})

test('stop waits for the step in progress, and interrupts one that does not end', async () => {
  let fail: ((error: Error) => void) | undefined
  const { stop } = started(
    [
      {
        async *steps() {
          await new Promise((_, reject) => {
            fail = reject
          })
          yield 1
        },
      },
    ],
    { interrupt: () => fail?.(new Error('interrupted')) },
  )
  await vi.waitUntil(() => fail)
  const since = performance.now()
  await stop()
  expect(performance.now() - since).toBeGreaterThan(900)
})

test('no step begins after the signal has aborted', async () => {
  const stopping = new AbortController()
  const { steps } = started([{ steps: () => counting([1, 1, 1]) }], {
    signal: stopping.signal,
    onStep: () => {
      steps.push(['task', 1])
      stopping.abort()
    },
  })
  await vi.waitUntil(() => steps.length === 1)
  await sleep(300)
  expect(steps).toHaveLength(1)
})
