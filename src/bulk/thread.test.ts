import { expect, test } from 'vitest'
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { createBulkThread, type Examiner, type FileRules } from './thread.ts'

const rules: FileRules = {
  channel: 'email',
  names: ['name'],
  content: 'Hello ((name))',
  subject: 'Subject',
  prefix: null,
  international: true,
  homeCountry: 'CA',
  allowedRecipients: null,
  isTest: false,
  simulated: [],
  mostErrors: 20,
  dueMicros: 1_800_000_000_000_000,
}
const service = (name: string) => name as Id
const TEMPLATE = '207b293c-2ae5-48e8-836d-fcabd60b2153'
const bodyOf = (rows: unknown[]) => Buffer.from(JSON.stringify({ name: 'Job', template_id: TEMPLATE, rows }))
const honest = bodyOf([
  ['email address', 'name'],
  ['ann@example.org', 'Ann'],
])

async function whole(thread: Examiner) {
  const head = await thread.read(1_800_000_000_000)
  expect(head.ok).toBe(true)
  return thread.check(rules)
}

test('a body that uses up the memory is refused, and the other bodies are read again', async () => {
  const thread = createBulkThread({ limits: { maxOldGenerationSizeMb: 96 } })
  const greedy = bodyOf([
    ['email address', 'name'],
    ...Array.from({ length: 900_000 }, (_, at) => [`${at}@x.zz`, `n${at}`]),
  ])
  const others = ['b', 'c', 'd'].map(name => thread.examine(service(name), honest, whole))
  const refused = await thread.examine(service('a'), greedy, whole).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ kind: 'RequestEntityTooLarge' })
  for (const { problems, rowCount } of await Promise.all(others)) expect([problems, rowCount]).toEqual([[], 1])
  const after = await thread.examine(service('e'), honest, whole)
  expect(after.rowCount).toBe(1)
  await thread.stop()
}, 60_000)

test('a slice that does not end is interrupted, and the other bodies are read again', async () => {
  const thread = createBulkThread({ slicePatienceMs: 700 })
  await thread.examine(service('b'), honest, whole) // the thread is up
  // Parsing it takes a second or more, and cannot be interrupted.
  const slow = Buffer.concat([Buffer.from('{"rows":[['), Buffer.alloc(150_000_000, '"ab",'), Buffer.from('""]]}')])
  const stuck = thread.examine(service('a'), slow, whole).catch((error: unknown) => error)
  const other = await thread.examine(service('b'), honest, whole)
  expect(other.rowCount).toBe(1)
  expect(await stuck).toMatchObject({ kind: 'RequestEntityTooLarge' })
  await thread.stop()
}, 60_000)
