// Makes the database of a release for test/upgrade.test.ts, with the built program of that release:
//   DATABASE_URL=postgresql://…/empty node scripts/release-fixture.mjs CHECKOUT test/fixtures/releases/VERSION
// It writes VERSION.sql.gz (pg_dump of an empty database that the release has filled) and VERSION.json (what is in it: the sealing
// secret, keys, templates, and each message with its status). Needs pg_dump; use the oldest PostgreSQL that Herald supports.
import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const [checkout, target] = process.argv.slice(2)
const { DATABASE_URL, PATH, HOME } = process.env
const SECRET = 'the sealing secret of a fixture 0123456789'
const RECEIPTS = 'the secret of receipts of a fixture 012345'
const GENERAL = '207b293c-2ae5-48e8-836d-fcabd60b2153' // the category of templates that are not urgent
const folder = mkdtempSync(join(tmpdir(), 'herald-fixture-'))

// Text messages to this number are refused by the provider.
const REFUSED = '+16132581299'
const provider = http.createServer((request, response) => {
  let body = ''
  request.on('data', chunk => {
    body += chunk
  })
  request.on('end', () => response.writeHead(body.includes(REFUSED) ? 400 : 200).end('{}'))
})
await new Promise(resolve => provider.listen(0, '127.0.0.1', resolve))

// clamd, away at first. Then it finds something in every file.
let isScanning = false
const scanner = net.createServer(socket => {
  socket.on('error', () => {})
  if (!isScanning) return socket.destroy()
  socket.on('data', chunk => {
    if (chunk.subarray(-4).equals(Buffer.alloc(4))) socket.end('stream: Fixture FOUND\0')
    else if (chunk.includes('PING')) socket.end('PONG\0')
  })
})
await new Promise(resolve => scanner.listen(0, '127.0.0.1', resolve))

const env = {
  ...{
    PATH,
    HOME,
    DATABASE_URL,
    HERALD_SECRET: SECRET,
    HERALD_DATA: folder,
    HERALD_PORT: '0',
    HERALD_LOG_LEVEL: 'warn',
  },
  HERALD_EMAIL_PROVIDERS: 'capture',
  HERALD_SCANNER: 'clamd',
  HERALD_CLAMD_URL: `tcp://127.0.0.1:${scanner.address().port}`,
  HERALD_TEXT_PROVIDERS: 'http',
  HERALD_HTTP_SMS_URL: `http://127.0.0.1:${provider.address().port}/`,
  HERALD_HTTP_SMS_BODY: '{"to": "{to}", "text": "{text}", "id": "{id}"}',
  HERALD_HTTP_SMS_RECEIPT_SECRET: RECEIPTS,
}
let running

try {
  running = await start()
  const service = herald('service', 'create', 'Parking permits', '--live')
  herald(
    'service',
    'set',
    service.id,
    '--email-retention-days',
    '365',
    '--sms-retention-days',
    '365',
    '--allow',
    'files',
  )
  herald('user', 'add', service.id, '--email', 'ada@example.org', '--name', 'Ada Byron')
  herald('reply-to', 'add', service.id, 'help@example.org')
  herald('sender', 'add', service.id, 'PERMITS')
  herald('safelist', 'add', service.id, 'grace@example.org')
  const keys = {}
  for (const type of ['live', 'team', 'test'])
    keys[type] = herald('key', 'create', service.id, '--name', type, '--type', type, '--manage-templates').key
  const gone = herald('key', 'create', service.id, '--name', 'gone', '--type', 'live')
  keys.revoked = gone.key
  herald('key', 'revoke', gone.id)

  const template = (type, content, more = {}) =>
    call('POST', '/v2/manage-template', {
      name: `A ${type}`,
      template_type: type,
      template_category_id: GENERAL,
      content,
      ...more,
    })
  const email = (await template('email', 'Hello ((name))', { subject: 'Dear ((name))' })).id
  await call('PATCH', `/v2/manage-template/${email}`, { content: 'Hello ((name)), your permit is ready.' })
  await call('PATCH', `/v2/manage-template/${email}`, { content: 'Hello ((name)), your permit is **ready**.' })
  const sms = (await template('sms', 'Hello ((name))')).id
  const file = (await template('email', 'Here: ((doc))', { subject: 'A file' })).id

  const messages = {}
  const soon = hours => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)
  const mail = (name, more = {}) =>
    call('POST', '/v2/notifications/email', {
      ...{ template_id: email, email_address: 'ada@example.org', personalisation: { name }, reference: name, ...more },
    })
  const text = (name, to = '+16132581201') =>
    call('POST', '/v2/notifications/sms', {
      template_id: sms,
      phone_number: to,
      personalisation: { name },
      reference: name,
    })
  const withFile = name => {
    const doc = { file: Buffer.from('A permit.').toString('base64'), filename: 'permit.txt', sending_method: 'attach' }
    return mail(name, { template_id: file, personalisation: { doc } })
  }
  const add = async (status, sent) => {
    messages[status] = { id: sent.id, status, reference: sent.reference }
    await reached(sent.id, status)
  }

  await add('delivered', await mail('delivered'))
  await add('technical-failure', await text('technical-failure', REFUSED))
  const found = await withFile('virus-scan-failed')
  await reached(found.id, 'pending-virus-check')
  isScanning = true
  await add('virus-scan-failed', found)
  isScanning = false
  await add('sending', await text('sending'))
  for (const [status, word] of [
    ['pending', 'pending'],
    ['permanent-failure', 'undelivered'],
    ['temporary-failure', 'expired'],
  ]) {
    const sent = await text(status)
    await reached(sent.id, 'sending')
    await receipt(sent.id, word)
    await add(status, sent)
  }
  const cancelled = await mail('cancelled', { scheduled_for: soon(48) })
  await call('DELETE', `/v2/notifications/${cancelled.id}`)
  messages.cancelled = { id: cancelled.id, status: 'cancelled', reference: 'cancelled' }
  messages.scheduled = { ...(await mail('scheduled', { scheduled_for: soon(90) })), status: 'created' }

  const rows = [
    ['email address', 'name'],
    ...Array.from({ length: 20 }, (_, n) => [`row-${n}@example.org`, `Row ${n}`]),
  ]
  const bulk = name => ({ name, template_id: email, rows })
  const job = (await call('POST', '/v2/notifications/bulk', bulk('A finished job'))).data.id
  const later = (await call('POST', '/v2/notifications/bulk', { ...bulk('A later job'), scheduled_for: soon(90) })).data
    .id
  await until(
    () => herald('job', 'show', job),
    shown => shown.job_status === 'finished' || shown.status === 'finished',
  )
  await running.stop()

  // Without an engine these wait.
  running = await start('--only', 'http')
  await add('created', await mail('created'))
  await add('pending-virus-check', await withFile('pending-virus-check'))
  await running.stop()
  running = undefined

  const args = ['--no-owner', '--no-privileges', '--inserts', '--rows-per-insert=100', DATABASE_URL]
  const dump = execFileSync('pg_dump', args, { encoding: 'utf8', maxBuffer: 1e8 }).replace(/^(\\.*|--.*|)\n/gm, '')
  writeFileSync(`${target}.sql.gz`, gzipSync(dump, { level: 9 }))
  const held = {
    ...{
      secret: SECRET,
      service: service.id,
      keys,
      templates: { email, sms, file },
      jobs: { finished: job, scheduled: later },
    },
    messages: Object.values(messages).map(({ id, status, reference }) => ({ id, status, reference })),
  }
  writeFileSync(`${target}.json`, `${JSON.stringify(held, null, 2)}\n`)

  async function call(method, path, body) {
    const headers = { authorization: `ApiKey-v1 ${keys.live}`, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(running.address + path, { method, headers, body: body && JSON.stringify(body) })
    const read = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${read}`)
    return read === '' ? {} : JSON.parse(read)
  }
  function reached(id, status) {
    return until(
      () => call('GET', `/v2/notifications/${id}`),
      one => one.status === status,
    )
  }
} finally {
  await running?.stop()
  provider.close()
  scanner.close()
  rmSync(folder, { recursive: true, force: true })
}

async function receipt(id, status) {
  const body = JSON.stringify({ id, status, time: new Date().toISOString(), event_id: `${id}-${status}` })
  const at = String(Math.floor(Date.now() / 1000))
  const headers = {
    ...{ 'content-type': 'application/json', 'x-timestamp': at },
    'x-signature': createHmac('sha256', RECEIPTS).update(`${at}.${body}`).digest('hex'),
  }
  const answer = await fetch(`${running.address}/receipts/http`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`the receipt was refused: ${answer.status} ${await answer.text()}`)
}

async function until(ask, isSo) {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await ask()
    if (isSo(answer)) return answer
    if (tries === 199) throw new Error(`it stays ${JSON.stringify(answer)}`)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

function herald(...argv) {
  return JSON.parse(
    execFileSync(process.execPath, ['bin/herald.js', ...argv, '--json'], { cwd: checkout, env, encoding: 'utf8' }),
  )
}

async function start(...argv) {
  const child = spawn(process.execPath, ['bin/herald.js', 'start', ...argv], {
    cwd: checkout,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise(resolve => child.once('close', resolve))
  const address = await new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', chunk => {
      said += chunk
      const [, found] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? []
      if (found) resolve(found)
    })
    void closed.then(code => reject(new Error(`it ended with ${code}`)))
  })
  return {
    address,
    stop: () => {
      child.kill('SIGTERM')
      return closed
    },
  }
}
