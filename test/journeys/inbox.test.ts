// What the capture provider kept, for the operator on this machine and for nobody else.
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { CATEGORY, type World, world } from '../support/world.ts'

let here: World
let id: string

beforeAll(async () => {
  here = await world({}, { engine: true })
  const key = await (await here.service()).key()
  const template = await key.post('/v2/manage-template', {
    name: 'Welcome',
    template_type: 'email',
    subject: 'Hello ((name))',
    content: '# Welcome\n\n((name)) <script>',
    template_category_id: CATEGORY.general,
  })
  const sent = await key.post('/v2/notifications/email', {
    email_address: 'ada@example.org',
    template_id: template.body.id,
    personalisation: { name: 'Ada' },
  })
  id = sent.body.id
  await vi.waitFor(async () => expect((await key.get(`/v2/notifications/${id}`)).body.status).toBe('delivered'))
})

describe('GET /inbox', () => {
  test('shows what would have been sent, as data and as a page without scripts', async () => {
    const { messages } = (await here.call('GET', '/inbox')).body
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({ id, type: 'email', to: 'ada@example.org', subject: 'Hello Ada' })
    expect((await here.call('GET', `/inbox/${id}`)).body.text).toContain('Ada <script>')
    const page = await here.call('GET', `/inbox/${id}`, { headers: { accept: 'text/html' } })
    expect(page.text).toContain('Hello Ada')
    expect(page.text).not.toContain('<script>')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('is an unknown path to whoever comes by way of a proxy or under another name', async () => {
    const strangers: Record<string, string>[] = [
      { host: 'notify.example.org' },
      { host: 'localhost.evil.example' },
      { 'x-forwarded-for': '203.0.113.7' },
      { forwarded: 'for=203.0.113.7' },
    ]
    const { port } = new URL(here.address)
    for (const headers of strangers)
      for (const path of ['/inbox', `/inbox/${id}`]) expect(await asked(Number(port), path, headers)).toBe(404)
    expect(await asked(Number(port), '/inbox', { host: `localhost:${port}` })).toBe(200)
  })
})

test('nothing of it can be read in the database', async () => {
  const [row] = await here.parts.db.sql<{ dump: string }>`select string_agg(inbox::text, '') as dump from inbox`
  expect(row?.dump).not.toContain(Buffer.from('ada@example.org').toString('hex'))
})

// fetch does not let a caller choose the Host header.
async function asked(port: number, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const http = await import('node:http')
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path, headers }, response => {
        response.resume()
        resolve(response.statusCode)
      })
      .on('error', reject)
  })
}
