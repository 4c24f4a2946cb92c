// TLS to three database hosts, one of which has a certificate that the settings do not trust: doctor finds it before a switchover,
// and the log names it after one.
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { selfSigned } from './support/certificates.ts'
import { programs } from './support/program.ts'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'

const { start, herald } = programs()
const SOON = { timeout: 120_000, interval: 200 }

const certificates = ['a', 'b', 'c'].map(() => selfSigned('localhost'))
const absent = missing ?? (certificates.includes(null) ? 'openssl is not installed' : null)

async function encrypt(node: ReplicatedNode, own: { key: string; certificate: string }) {
  const [row] = await node.query(`select current_setting('data_directory') as folder`)
  const folder = String(row?.folder)
  const { uid, gid } = statSync(folder)
  for (const [name, text] of [
    ['server.crt', own.certificate],
    ['server.key', own.key],
  ] as const) {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    chownSync(join(folder, name), uid, gid)
  }
  await node.query('alter system set ssl = on')
  await node.query('select pg_reload_conf()')
}

describe.skipIf(absent)('three hosts with TLS', () => {
  let cluster: Replicated | null = null
  const folder = mkdtempSync(join(tmpdir(), 'herald-tls-'))
  chmodSync(folder, 0o711)
  afterAll(async () => {
    await cluster?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('a standby with a wrong certificate is found by doctor, and after a switchover the log names host and reason', async () => {
    cluster = await createReplicated({ standbys: 2 })
    const [a, b, c] = cluster.nodes as [ReplicatedNode, ReplicatedNode, ReplicatedNode]
    const own = certificates.flatMap(one => one ?? [])
    for (const [at, node] of cluster.nodes.entries()) await encrypt(node, own[at] as (typeof own)[number])
    const roots = join(folder, 'roots.pem')
    writeFileSync(
      roots,
      own
        .slice(0, 2)
        .map(({ certificate }) => certificate)
        .join('\n'),
    )
    const env = {
      DATABASE_URL: `${cluster.urls()}?sslmode=verify-full&sslrootcert=${roots}`,
      HERALD_DATA: join(folder, 'data'),
      HERALD_SECRET: 'a secret of the tests for TLS to the database',
      HERALD_CAPTURE: '1',
      HERALD_DATABASE_SECONDS: '30',
    }
    const program = await start(env)
    const ready = async () => (await fetch(`${program.address}/health/ready`)).status
    const log = () => program.out() + program.err()
    expect(await ready()).toBe(200)

    const doctor = await herald(['doctor', '--json'], env)
    const { checks } = JSON.parse(doctor.out) as { checks: { name: string; ok: boolean; found: string }[] }
    const hosts = checks.find(({ name }) => name === 'Database hosts')
    expect(hosts).toMatchObject({
      ok: false,
      found: `127.0.0.1:${a.port} is the primary; 127.0.0.1:${b.port} is a standby; 127.0.0.1:${c.port} fails: self-signed certificate`,
      remedy: expect.stringContaining('sslrootcert'),
    })

    await cluster.switchover(a, c)
    await vi.waitFor(() => expect(log()).toContain('"msg":"no primary database was found"'), SOON)
    expect(log()).toContain(
      `"host":"127.0.0.1:${c.port}","reason":"self-signed certificate","msg":"a database host cannot be used"`,
    )
    await vi.waitFor(async () => expect(await ready()).toBe(503), SOON)

    // The file is read again for each connection.
    appendFileSync(roots, `\n${own[2]?.certificate}`)
    await vi.waitFor(async () => expect(await ready()).toBe(200), SOON)
    expect((await herald(['doctor'], env)).out).toContain(`127.0.0.1:${c.port} is the primary`)
    await program.end('SIGTERM')
  }, 400_000)
})
