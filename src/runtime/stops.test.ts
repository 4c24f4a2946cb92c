import { describe, expect, test } from 'vitest'
import { createStops, failStart } from './stops.ts'

const fails = (name: string, ran: string[]) => async () => {
  ran.push(name)
  throw new Error(`${name} failed`)
}

describe('stops', () => {
  test('run in reverse, once, and each waits for the one before', async () => {
    const ran: string[] = []
    const stops = createStops()
    stops.push(() => ran.push('first'))
    stops.push(async () => {
      await new Promise(resume => setImmediate(resume))
      ran.push('second')
    })
    await Promise.all([stops.run(), stops.run()])
    await stops.run()
    expect(ran).toEqual(['second', 'first'])
  })

  test('a step that fails does not keep the others from running, and every failure is told', async () => {
    const ran: string[] = []
    const stops = createStops()
    stops.push(() => ran.push('database'))
    stops.push(fails('engine', ran))
    stops.push(() => {
      ran.push('thread')
      throw new Error('thread failed')
    })
    const error = await stops.run().catch(error => error)
    expect(ran).toEqual(['thread', 'engine', 'database'])
    expect(error).toBeInstanceOf(AggregateError)
    expect(error.errors.map(String)).toEqual(['Error: thread failed', 'Error: engine failed'])
  })

  test('an aborted start registers the step and throws, so that the step runs with the others', async () => {
    const ran: string[] = []
    const asked = new AbortController()
    const stops = createStops(asked.signal)
    stops.push(() => ran.push('first'))
    asked.abort()
    expect(() => stops.push(() => ran.push('second'))).toThrow(/abort/)
    await stops.run()
    expect(ran).toEqual(['second', 'first'])
  })
})

test('a failed start throws its own error, with what failed while stopping', async () => {
  const ran: string[] = []
  const stops = createStops()
  stops.push(() => ran.push('database'))
  stops.push(fails('engine', ran))
  const error = await failStart(new Error('the port is in use'), stops.run).catch(error => error)
  expect(ran).toEqual(['engine', 'database'])
  expect(error.errors.map(String)).toEqual(['Error: the port is in use', 'Error: engine failed'])
  await expect(failStart(new Error('alone'), async () => {})).rejects.toThrow('alone')
})
