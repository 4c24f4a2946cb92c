// Issue 14, section 0: what a newcomer types on a fresh machine, and what a Node.js that is too old answers.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { projects } from '../vitest.config.ts'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

describe('a Node.js that is too old is refused in one sentence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-node-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A `node` on the PATH that says it is of this version; `.ci/run` does the same with a real old one. */
  function run(line: string, version: string) {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
    writeFileSync(join(folder, 'pretend.cjs'), pretend)
    writeFileSync(join(folder, 'node'), `#!/bin/sh\nexec "${process.execPath}" -r "${folder}/pretend.cjs" "$@"\n`)
    chmodSync(join(folder, 'node'), 0o755)
    const env = { PATH: `${folder}:${process.env.PATH}` }
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const npm = (name: string) => `${scripts[`pre${name}`]} && ${scripts[name]}`
  const refused = (version: string) => ({
    status: 1,
    stdout: '',
    stderr: `Herald needs Node.js 20.19 or newer, and this is Node.js ${version}.\n`,
  })

  for (const version of ['18.20.8', '20.18.3'])
    test(version, () => {
      expect(run(npm('start'), version)).toEqual(refused(version))
      expect(run(npm('test'), version)).toEqual(refused(version))
      expect(run('node bin/herald.js --help', version)).toEqual(refused(version))
    })

  test('20.19.0 and every later version is accepted', () => {
    for (const version of ['20.19.0', '21.0.0', '24.1.0'])
      expect(run('node bin/herald.js --version', version)).toMatchObject({ status: 0, stderr: '' })
  })
})

test('what npm test leaves out is run by npm run test:slow, in the gate and by .ci/run', () => {
  expect(scripts.test).toBe('vitest run --project fast')
  expect(scripts['test:slow']).toBe('vitest run --project slow --project quiet')
  const named = projects.flatMap(({ test: { name, include } }) => (name === 'fast' ? [] : include))
  expect(projects.map(({ test: { name } }) => name)).toEqual(['fast', 'slow', 'quiet'])
  expect(named.filter((file, at) => !existsSync(file) || named.indexOf(file) !== at)).toEqual([])
  expect(scripts.check).toContain('npm test && npm run --silent test:slow')
  expect(readFileSync('.ci/run', 'utf8')).toMatch(/^ {2}tests .* npm run --silent test:slow --$/m)
})

test('the README names two commands that are enough on a fresh machine, and how to test', () => {
  const text = readFileSync('README.md', 'utf8')
  const commands = [...text.matchAll(/^npm (?:ci|start|test|install|run).*$/gm)].map(([line]) => line)
  expect(commands).toEqual(['npm ci', 'npm start'])
  expect(text).toContain('`npm ci && npm test`')
})
