// scripts/release.sh: the files of a release, made in a folder and published nowhere.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const work = mkdtempSync(join(tmpdir(), 'herald-release-'))
const folder = join(work, 'release')
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const release = (args: readonly string[], env = process.env) =>
  spawnSync('bash', ['scripts/release.sh', ...args], { encoding: 'utf8', env })
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' })

afterAll(() => rmSync(work, { recursive: true, force: true }))

describe('scripts/release.sh', () => {
  let made: ReturnType<typeof release>
  let before: string
  beforeAll(() => {
    before = git('status', '--porcelain')
    made = release(['--no-image', folder])
  })

  test('writes the package, the notes and the checksums, and leaves nothing in the checkout', () => {
    expect([made.status, made.stderr.replaceAll(/^npm warn.*\n/gm, '')]).toEqual([0, ''])
    expect(readdirSync(folder).sort()).toEqual(['NOTES.md', 'SHA256SUMS', `herald-${version}.tgz`])
    expect(spawnSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: folder }).status).toBe(0)
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n')).toHaveLength(2)
    expect(git('status', '--porcelain')).toBe(before)
  })

  test('the notes are the section of the changelog, and name the commit', () => {
    const [, section = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## .*\n/m)
    const notes = readFileSync(join(folder, 'NOTES.md'), 'utf8')
    expect(notes).toMatch(new RegExp(`^# Herald ${version.replaceAll('.', '\\.')}\n`))
    expect(notes).toContain(git('rev-parse', 'HEAD').trim())
    expect(notes.endsWith(section)).toBe(true)
  })

  test('a folder that holds something is refused, and so is no folder', () => {
    expect(release(['--no-image', folder])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not empty'),
    })
    expect(release([])).toMatchObject({ status: 2, stderr: expect.stringContaining('scripts/release.sh [--no-image]') })
  })
})

test('without buildah the image is left out, and that is said', () => {
  const programs = join(work, 'programs')
  mkdirSync(programs)
  for (const name of ['bash', 'node', 'npm', 'git', 'sed', 'grep', 'awk', 'ls', 'mkdir', 'mv', 'dirname', 'sha256sum'])
    symlinkSync(execFileSync('bash', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(programs, name))
  symlinkSync('/usr/bin/env', join(programs, 'env'))
  const other = join(work, 'without-image')
  const made = release([other], { ...process.env, PATH: programs })
  expect(made).toMatchObject({ status: 0, stderr: expect.stringContaining('No image: buildah is not installed') })
  expect(readdirSync(other)).not.toContain(`herald-${version}-image.tar`)
})

test('the package that scripts/pack.mjs leaves in a checkout is ignored by git', () => {
  expect(spawnSync('git', ['check-ignore', '-q', `herald-${version}.tgz`]).status).toBe(0)
  expect(spawnSync('git', ['check-ignore', '-q', 'release/NOTES.md']).status).toBe(0)
})
