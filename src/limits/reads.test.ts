import { expect, test } from 'vitest'
import { createReads } from './reads.ts'

const reads = () =>
  createReads({ sql: () => Promise.reject(new Error('nothing is asked')), connections: 10, limit: null })

test('between two parts of a read, a send in progress ends first', async () => {
  const { besides, giveWay } = reads()
  const order: string[] = []
  const read = async () => {
    for (let piece = 1; piece <= 2; piece++) {
      await giveWay()
      order.push(`piece ${piece}`)
    }
  }
  const send = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise(resume => setImmediate(resume))
    order.push('sent')
  }
  await Promise.all([besides(send), read()])
  expect(order).toEqual(['sent', 'piece 1', 'piece 2'])
})

test('a read continues although sends never end', async () => {
  const { besides, giveWay } = reads()
  let end = () => {}
  const sending = besides(
    () =>
      new Promise<void>(resolve => {
        end = resolve
      }),
  )
  await giveWay()
  end()
  await sending
})

test('a send that fails does not block reads for ever, and its caller gets the error', async () => {
  const { besides, run } = reads()
  await expect(besides(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await run('0190a0b0-0000-7000-8000-000000000000' as never, true, async () => 'read')).toBe('read')
})
