import { expect, test } from 'vitest'
import { createSliceScheduler, type Sliced } from './slices.ts'

/** Work of so many steps, each as long as `ms` on a clock that only work moves. */
function scene() {
  let time = 0
  const seen: string[] = []
  const slices = createSliceScheduler(() => time)
  function* work(name: string, steps: number, ms: number): Sliced<void> {
    for (let step = 0; step < steps; step++) {
      time += ms
      if (step < steps - 1) yield
    }
    seen.push(`${name} at ${time}`)
  }
  const add = (service: string, name: string, steps: number, ms: number) =>
    slices.add({ service, begin: () => {}, work: work(name, steps, ms) })
  const runAll = () => {
    while (slices.run());
    return seen
  }
  return { add, runAll, slices }
}

test('a short piece of work does not wait for a long one of another service', () => {
  const { add, runAll } = scene()
  add('hostile', 'long', 1_000, 20)
  add('honest', 'short', 10, 20)
  expect(runAll()).toEqual(['short at 400', 'long at 20200'])
})

test('a slice that cannot be interrupted is charged later', () => {
  const { add, runAll } = scene()
  add('hostile', 'parsing', 1, 2_000)
  add('hostile', 'parsing again', 1, 2_000)
  add('honest', 'fifty slices', 50, 20)
  expect(runAll()).toEqual(['parsing at 2000', 'fifty slices at 3000', 'parsing again at 5000'])
})

test('a service that comes later is served at once, whatever the first one has used', () => {
  const { add, runAll, slices } = scene()
  add('hostile', 'first', 100, 20)
  for (let i = 0; i < 10; i++) slices.run()
  add('honest', 'new', 2, 20)
  expect(runAll()[0]).toBe('new at 260')
})

test('work of one service runs in order', () => {
  const { add, runAll } = scene()
  add('one', 'first', 5, 20)
  add('one', 'second', 1, 1)
  expect(runAll()).toEqual(['first at 100', 'second at 101'])
})
