// The systemd units: systemd itself reads them, and rates what they leave open.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

const ANALYZE = '/usr/bin/systemd-analyze'
const FOLDER = 'ops/systemd'
const units = readdirSync(FOLDER)
const services = units.filter(name => name.endsWith('.service'))
if (!existsSync(ANALYZE)) console.warn(`${ANALYZE} is not installed: the units of ops/systemd are not checked.`)

describe.skipIf(!existsSync(ANALYZE))('systemd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-units-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('reads every unit without a remark', () => {
    // Programs and documents are where an installation has them: here they are the checkout's.
    mkdirSync(join(folder, 'units'))
    for (const name of units) {
      const text = readFileSync(join(FOLDER, name), 'utf8')
        .replaceAll('/opt/herald/node_modules/herald', process.cwd())
        .replaceAll('/usr/bin/node', process.execPath)
      writeFileSync(join(folder, 'units', name), text)
    }
    const paths = units.map(name => join(folder, 'units', name))
    const { status, stderr } = spawnSync(ANALYZE, ['verify', '--man=no', ...paths], { encoding: 'utf8' })
    // Remarks about other units of the machine are not about ours.
    expect(stderr.split('\n').filter(line => line.includes('herald') && !line.includes('vitest'))).toEqual([])
    expect(status).toBe(0)
  })

  test('a wrong line is found', () => {
    const wrong = join(folder, 'herald-wrong.service')
    writeFileSync(
      wrong,
      readFileSync(join(FOLDER, 'herald.service'), 'utf8').replace('ProtectHome=yes', 'ProtectHme=yes'),
    )
    expect(spawnSync(ANALYZE, ['verify', '--man=no', wrong], { encoding: 'utf8' }).stderr).toContain('ProtectHme')
  })

  test.each(services)('%s leaves little open: at most 3.0', name => {
    const said = execFileSync(ANALYZE, ['security', '--offline=true', '--no-pager', join(FOLDER, name)], {
      encoding: 'utf8',
    })
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(said) ?? []
    expect(Number(level)).toBeGreaterThan(0)
    expect(Number(level)).toBeLessThanOrEqual(3)
  })
})

test('what the unit of the service needs is in it', () => {
  const text = readFileSync(join(FOLDER, 'herald.service'), 'utf8')
  // The default would send SIGTERM to PostgreSQL at the same moment as to Herald.
  expect(text).toMatch(/^KillMode=mixed$/m)
  // V8 writes code at run time.
  expect(text).not.toMatch(/^MemoryDenyWriteExecute=/m)
  expect(text).toMatch(/^User=herald$/m)
  for (const path of ['bin/herald.js', 'docs/running.md']) expect(existsSync(path)).toBe(true)
})
