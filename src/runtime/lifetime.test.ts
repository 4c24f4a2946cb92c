import { describe, expect, test } from 'vitest'
import { createLifetime, stopAll, stopTogether } from './lifetime.ts'

const fails =
  (name: string, ran: string[] = []) =>
  async () => {
    ran.push(name)
    throw new Error(`${name} failed`)
  }

describe('stop', () => {
  test('runs the steps in reverse, once, each after the one before has ended', async () => {
    const ran: string[] = []
    const lifetime = createLifetime()
    lifetime.add(() => ran.push('first'))
    lifetime.add(async () => {
      await new Promise(resume => setImmediate(resume))
      ran.push('second')
    })
    await Promise.all([lifetime.stop(), lifetime.stop()])
    await lifetime.stop()
    expect(ran).toEqual(['second', 'first'])
  })

  test('runs every step although some fail, and rejects with all failures', async () => {
    const ran: string[] = []
    const lifetime = createLifetime()
    lifetime.add(() => ran.push('database'))
    lifetime.add(fails('engine', ran))
    lifetime.add(() => {
      ran.push('thread')
      throw new Error('thread failed')
    })
    const error = await lifetime.stop().catch(error => error)
    expect(ran).toEqual(['thread', 'engine', 'database'])
    expect(error).toBeInstanceOf(AggregateError)
    expect(error.errors.map(String)).toEqual(['Error: thread failed', 'Error: engine failed'])
  })

  test('reports the failures of nested stops as one list', async () => {
    const lifetime = createLifetime()
    lifetime.add(() => stopTogether([fails('smtp')(), fails('smpp')()]))
    lifetime.add(() => stopAll([fails('pool'), fails('server')]))
    const error = await lifetime.stop().catch(error => error)
    expect(error.errors.map((one: Error) => one.message)).toEqual([
      'pool failed',
      'server failed',
      'smtp failed',
      'smpp failed',
    ])
  })

  test('aborts the signal before the first step runs', async () => {
    const lifetime = createLifetime()
    expect(lifetime.signal.aborted).toBe(false)
    let seen: boolean | undefined
    lifetime.add(() => {
      seen = lifetime.signal.aborted
    })
    await lifetime.stop()
    expect(seen).toBe(true)
  })
})

describe('start', () => {
  test('when it is cancelled, add registers the step and throws, so that the step runs with the others', async () => {
    const ran: string[] = []
    const cancelled = new AbortController()
    const lifetime = createLifetime(cancelled.signal)
    lifetime.add(() => ran.push('first'))
    cancelled.abort()
    expect(lifetime.signal.aborted).toBe(true)
    expect(() => lifetime.add(() => ran.push('second'))).toThrow(/abort/)
    await lifetime.stop()
    expect(ran).toEqual(['second', 'first'])
  })

  test('when it fails, throws its own error, with what failed while stopping', async () => {
    const ran: string[] = []
    const lifetime = createLifetime()
    lifetime.add(() => ran.push('database'))
    lifetime.add(fails('engine', ran))
    const error = await lifetime.fail(new Error('the port is in use')).catch(error => error)
    expect(ran).toEqual(['engine', 'database'])
    expect(error.errors.map(String)).toEqual(['Error: the port is in use', 'Error: engine failed'])
    await expect(createLifetime().fail(new Error('alone'))).rejects.toThrow('alone')
  })
})
