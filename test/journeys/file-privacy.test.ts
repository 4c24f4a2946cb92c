// The built program with files: its worker thread works when compiled, and no token, name or content is in its output.
import { expect, test, vi } from 'vitest'
import { EICAR } from '../support/documents.ts'
import { programs } from '../support/program.ts'
import { scannerPeer } from '../support/scanner.ts'
import { EMAIL, emailTemplate, LIST } from '../support/sends.ts'
import { callerWith } from '../support/world.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const { newDatabase, start, sample } = programs()
const file = (content: string, method: string, filename = 'canary-name.txt') => ({
  file: Buffer.from(content).toString('base64'),
  filename,
  sending_method: method,
})

test('S-20, S-30 no token, name or content in the log; HERALD_SCANNER=none causes a warning at every start', async () => {
  const settings = { ...(await newDatabase()), HERALD_LOG_LEVEL: 'trace', HERALD_SCANNER: 'none' }
  const program = await start(settings)
  await program.hasSaid('files are not scanned for viruses')
  const { keys } = await sample(settings)
  const template = await emailTemplate(callerWith(program.address, keys.live), '((link))', 'A file')
  const reply = await callerWith(program.address, keys.test).post(EMAIL, {
    email_address: 'simon@example.org',
    template_id: template,
    // Large enough for the worker thread.
    personalisation: { link: file('canary-content '.repeat(40_000), 'link'), more: file('canary-attached', 'attach') },
  })
  expect(reply.status).toBe(201)
  const url: string = reply.body.content.body
  for (const accept of ['*/*', 'text/html']) {
    const response = await fetch(url, { headers: { accept } })
    expect([response.status, (await response.text()).includes('canary')]).toEqual([200, true])
  }
  await fetch(`${url.slice(0, -1)}-`)
  await fetch(`${program.address}/download/canary-token`)
  const said = program.err() + program.out()
  expect(said).toContain('/download/:token')
  expect(said).not.toContain('canary')
  expect(said).not.toContain(url.split('/').at(-1))
  expect((await program.end('SIGTERM')).code).toBe(0)

  const again = await start(settings)
  await again.hasSaid('files are not scanned for viruses')
  await again.end('SIGTERM')
})

test('R18 killed while a file waits for the scanner: the message still waits after the restart, and is never sent', async () => {
  const scanner = await scannerPeer('error')
  const settings = {
    ...(await newDatabase()),
    HERALD_SCANNER: 'clamd',
    HERALD_CLAMD_URL: scanner.url,
    HERALD_LEASE_SECONDS: '1',
  }
  const program = await start(settings)
  const { keys } = await sample(settings)
  const testing = keys.test
  const template = await emailTemplate(callerWith(program.address, keys.live), 'Hello', 'News')
  const key = callerWith(program.address, testing)
  const post = (content: string) =>
    key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation: { doc: file(content, 'attach') },
    })
  const [bad, good] = [await post(EICAR), await post('fine')]
  expect([bad.status, good.status]).toEqual([201, 201])
  await program.end('SIGKILL')

  scanner.state.mode = 'ok'
  const again = await start(settings)
  const reader = callerWith(again.address, testing)
  const statuses = () =>
    Promise.all([bad, good].map(async ({ body }) => (await reader.get(`${LIST}/${body.id}`)).body.status))
  await expect.poll(statuses, { timeout: 60_000, interval: 500 }).toEqual(['virus-scan-failed', 'delivered'])
  await again.end('SIGTERM')
  await scanner.stop()
})
