// The table of settings: what each takes, that every problem is told at once, and that no secret is told at all.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigProblems, readConfig, settingsTable } from '../src/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'herald-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SECRET = 'thirty-two characters of a secret'

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems
    throw error
  }
  return []
}

test('without any setting everything has its default', () => {
  expect(readConfig({})).toMatchObject({
    dataFolder: resolve('data'),
    databaseUrl: null,
    host: '127.0.0.1',
    port: 6011,
    sealSecret: null,
    oldSealSecrets: [],
    allowUnsafeDatabase: false,
  })
})

test('an empty setting is one that is not set', () => {
  expect(readConfig({ HERALD_PORT: '', DATABASE_URL: '', HERALD_SECRET: '' })).toEqual(readConfig({}))
})

test('a name without a setting is a problem, other programs have theirs', () => {
  expect(problemsOf({ HERALD_PROT: '1', HERALD_PROT_FILE: 'x', PORT: 'x', HERALDRY: 'x' })).toEqual([
    'HERALD_PROT is not a setting of Herald; docs/settings.md lists them all',
    'HERALD_PROT_FILE is not a setting of Herald; docs/settings.md lists them all',
  ])
})

describe('what is taken', () => {
  const rows: [name: string, given: string, key: string, value: unknown][] = [
    ['HERALD_PORT', '0', 'port', 0],
    ['HERALD_PORT', '65535', 'port', 65_535],
    ['HERALD_ALLOW_UNSAFE_DATABASE', 'Yes', 'allowUnsafeDatabase', true],
    ['HERALD_ALLOW_UNSAFE_DATABASE', '0', 'allowUnsafeDatabase', false],
    ['HERALD_TRUSTED_PROXIES', ' 10.0.0.1 , 10.1.0.0/16,', 'trustedProxies', ['10.0.0.1', '10.1.0.0/16']],
    ['HERALD_BASE_URL', 'https://notify.example.org/', 'baseUrl', 'https://notify.example.org'],
    ['HERALD_DATA', 'here', 'dataFolder', resolve('here')],
    ['HERALD_DATA', '/there', 'dataFolder', '/there'],
    ['HERALD_SECRET', SECRET, 'sealSecret', SECRET],
    ['HERALD_OLD_SECRETS', `${SECRET}1, ${SECRET}2`, 'oldSealSecrets', [`${SECRET}1`, `${SECRET}2`]],
    ['DATABASE_URL', 'postgres://u:p@h/d', 'databaseUrl', 'postgres://u:p@h/d'],
  ]
  test.each(rows)('%s=%s', (name, given, key, value) => {
    expect(readConfig({ [name]: given })).toMatchObject({ [key]: value })
  })
})

describe('what is refused', () => {
  const rows: [name: string, given: string, problem: string][] = [
    ['HERALD_PORT', 'x', 'is "x"; it must be a whole number from 0 to 65535'],
    ['HERALD_PORT', '65536', 'is "65536"; it must be a whole number from 0 to 65535'],
    ['HERALD_PORT', ' ', 'is " "; it must be a whole number from 0 to 65535'],
    ['HERALD_PORT', '1e3', 'is "1e3"; it must be a whole number from 0 to 65535'],
    ['HERALD_PORT', '-1', 'is "-1"; it must be a whole number from 0 to 65535'],
    ['HERALD_ALLOW_UNSAFE_DATABASE', 'maybe', 'is "maybe"; it must be true or false'],
    [
      'HERALD_KEY_PREFIX',
      'My-Keys',
      'is "My-Keys"; it must be 2 to 20 small letters and digits, starting with a letter',
    ],
    ['HERALD_SENDING_DOMAIN', 'mail', 'is "mail"; it must be a domain name in small letters, like mail.example.org'],
    ['HERALD_SECRET', 'short', 'is too short: 5 characters, at least 32 are needed'],
    ['HERALD_SECRET', `${SECRET},more`, 'must not contain a comma'],
    ['HERALD_OLD_SECRETS', `${SECRET},short`, 'holds one that is too short: 5 characters, at least 32 are needed'],
    ['DATABASE_URL', 'localhost', 'must be an address like postgresql://user:password@host:5432/database'],
  ]
  test.each(rows)('%s=%s', (name, given, problem) => {
    expect(problemsOf({ [name]: given })).toEqual([`${name} ${problem}`])
  })

  test.each(['notify.example.org', 'ftp://example.org', 'https://example.org/?a', 'https://me@example.org'])(
    'HERALD_BASE_URL=%s',
    given => {
      expect(problemsOf({ HERALD_BASE_URL: given })).toEqual([expect.stringMatching(/^HERALD_BASE_URL is ".*must be/)])
    },
  )

  test('all of it at once, in the order of the table, as one text', () => {
    const env = { HERALD_NO: '1', HERALD_PORT: 'x', HERALD_SECRET: 'short', DATABASE_URL: 'x', HERALD_LOG_LEVEL: 'x' }
    const problems = problemsOf(env)
    expect(problems.map(problem => problem.split(' ')[0])).toEqual([
      'DATABASE_URL',
      'HERALD_PORT',
      'HERALD_SECRET',
      'HERALD_LOG_LEVEL',
      'HERALD_NO',
    ])
    expect(new ConfigProblems(problems).message).toBe(
      `Herald cannot start with these settings:\n${problems.map(problem => `  - ${problem}`).join('\n')}`,
    )
  })
})

describe('values from files', () => {
  test('every setting has the variant; white space around the value is not part of it', () => {
    const env = { HERALD_SECRET_FILE: file('secret', `${SECRET}\n`), HERALD_PORT_FILE: file('port', '8080\r\n') }
    expect(readConfig(env)).toMatchObject({ sealSecret: SECRET, port: 8080 })
    for (const { name } of settingsTable())
      expect(problemsOf({ [`${name}_FILE`]: join(folder, 'missing') })).toEqual([
        `${name}_FILE names ${join(folder, 'missing')}, which cannot be read`,
      ])
  })

  test('both variants at once are a problem, and what is read is checked like any other', () => {
    const env = { HERALD_SECRET: SECRET, HERALD_SECRET_FILE: file('other', SECRET), HERALD_PORT_FILE: file('no', '') }
    expect(problemsOf(env)).toEqual([
      'HERALD_PORT is ""; it must be a whole number from 0 to 65535',
      'HERALD_SECRET and HERALD_SECRET_FILE are both set; keep one',
    ])
  })
})

test('S-38 what is secret is known as such, and no problem quotes it', () => {
  const all = settingsTable()
  const named = all.filter(({ name }) => /SECRET|PASSWORD|TOKEN$|_KEY$|DATABASE_URL|SMTP_URL|SMPP_URL/.test(name))
  expect(named.filter(({ secret }) => !secret)).toEqual([])
  expect(named.length).toBeGreaterThanOrEqual(3)
  for (const { name } of all.filter(({ secret }) => secret)) {
    const twice = { [name]: 'hunter2', [`${name}_FILE`]: file('hidden', 'hunter2') }
    const problems = [...problemsOf({ [name]: 'hunter2' }), ...problemsOf(twice)]
    expect(problems).toContain(`${name} and ${name}_FILE are both set; keep one`)
    expect(problems.join()).not.toContain('hunter2')
  }
})
