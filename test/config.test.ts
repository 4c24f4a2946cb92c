// The table of settings: accepted values, all problems reported together, and no secret in any of them.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigProblems, readConfig, readSettings, settingsTable } from '../src/config/index.ts'
import { shownSettings } from '../src/config/settings.ts'

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

test('an empty setting counts as not set', () => {
  expect(readConfig({ HERALD_PORT: '', DATABASE_URL: '', HERALD_SECRET: '' })).toEqual(readConfig({}))
})

test('an unknown HERALD_ name is a problem, names of other programs are not', () => {
  expect(problemsOf({ HERALD_PROT: '1', HERALD_PROT_FILE: 'x', PORT: 'x', HERALDRY: 'x' })).toEqual([
    'HERALD_PROT is not a setting of Herald; did you mean HERALD_PORT?',
    'HERALD_PROT_FILE is not a setting of Herald; did you mean HERALD_PORT?',
  ])
  expect(problemsOf({ HERALD_SMTP: '1', HERALD_NONSENSE: '1' })).toEqual([
    'HERALD_SMTP is not a setting of Herald; did you mean HERALD_SMTP_URL?',
    'HERALD_NONSENSE is not a setting of Herald; docs/settings.md lists them all',
  ])
})

describe('accepted values', () => {
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
    [
      'HERALD_WEBHOOK_ALLOW',
      '10.1.0.0/16, fd12::/16,127.0.0.1',
      'webhookAllow',
      ['10.1.0.0/16', 'fd12::/16', '127.0.0.1'],
    ],
    [
      'HERALD_WEBHOOK_PORTS',
      '443,8000-8999',
      'webhookPorts',
      [
        { from: 443, to: 443 },
        { from: 8000, to: 8999 },
      ],
    ],
    ['HERALD_WEBHOOK_SCHEMES', 'http,https', 'webhookSchemes', ['https', 'http']],
    ['DATABASE_URL', 'postgres://u:p@h/d', 'databaseUrl', 'postgres://u:p@h/d'],
  ]
  test.each(rows)('%s=%s', (name, given, key, value) => {
    expect(readConfig({ [name]: given })).toMatchObject({ [key]: value })
  })
})

describe('refused values', () => {
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
    ...['10.1.0.0/33', '10.1', 'example.org', 'fd12::/129', '10.1.0.0/-1'].map((given): [string, string, string] => [
      'HERALD_WEBHOOK_ALLOW',
      given,
      `contains "${given}"; it must be IP addresses and ranges like 10.1.0.0/16, separated by commas`,
    ]),
    ...['0', '65536', '90-80', 'https', '1-'].map((given): [string, string, string] => [
      'HERALD_WEBHOOK_PORTS',
      given,
      `contains "${given}"; it must be ports like 443 or 8000-8999, separated by commas`,
    ]),
    ['HERALD_WEBHOOK_PORTS', ',', 'names no port'],
    ['HERALD_WEBHOOK_SCHEMES', 'ftp', 'is "ftp"; it must be https, http or both, separated by a comma'],
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

  test('all problems together, in the order of the table, as one text', () => {
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
  test('every setting has the variant; white space around the value is removed', () => {
    const env = { HERALD_SECRET_FILE: file('secret', `${SECRET}\n`), HERALD_PORT_FILE: file('port', '8080\r\n') }
    expect(readConfig(env)).toMatchObject({ sealSecret: SECRET, port: 8080 })
    for (const { name } of settingsTable())
      expect(problemsOf({ [`${name}_FILE`]: join(folder, 'missing') })).toEqual([
        `${name}_FILE names ${join(folder, 'missing')}, which cannot be read`,
      ])
  })

  test('both variants together are a problem, and a value from a file is checked like any other', () => {
    const env = { HERALD_SECRET: SECRET, HERALD_SECRET_FILE: file('other', SECRET), HERALD_PORT_FILE: file('no', '') }
    expect(problemsOf(env)).toEqual([
      'HERALD_PORT is ""; it must be a whole number from 0 to 65535',
      'HERALD_SECRET and HERALD_SECRET_FILE are both set; keep one',
    ])
  })
})

describe('settings that do not fit together', () => {
  const rows: [string, Record<string, string>, string][] = [
    [
      'clamd without its address',
      { HERALD_SCANNER: 'clamd' },
      'HERALD_SCANNER is clamd, but HERALD_CLAMD_URL is not set',
    ],
    [
      'a bucket by half',
      { HERALD_FILE_STORE: 's3', HERALD_S3_BUCKET: 'files' },
      'HERALD_FILE_STORE is s3, but HERALD_S3_URL, HERALD_S3_BUCKET, HERALD_S3_KEY and HERALD_S3_SECRET are not all set',
    ],
    [
      'SES without its login',
      { HERALD_SES_REGION: 'eu-west-1' },
      'HERALD_SES_REGION is set, but HERALD_SES_USER and HERALD_SES_PASSWORD are not both set',
    ],
    [
      'Twilio by half',
      { HERALD_TWILIO_TOKEN: 'x' },
      'HERALD_TWILIO_ACCOUNT and HERALD_TWILIO_TOKEN go together; one of them is missing',
    ],
    [
      'SMPP with a wrong address',
      { HERALD_SMPP_URL: 'http://example.org' },
      'HERALD_SMPP_URL must be an address like smpp://system_id:password@host:2775, or smpps://',
    ],
    [
      'HTTP without a body',
      { HERALD_HTTP_SMS_URL: 'http://example.org' },
      'HERALD_HTTP_SMS_BODY is missing; or set HERALD_HTTP_SMS_FORMAT to query',
    ],
  ]
  test.each(rows)('%s', (_name, env, problem) => {
    expect(problemsOf(env)).toEqual([problem])
  })

  test('are reported together with all others', () => {
    const env = {
      HERALD_PROT: '1',
      HERALD_PORT: 'x',
      HERALD_HOST: '0.0.0.0',
      HERALD_SCANNER: 'clamd',
      HERALD_SMPP_URL: 'x',
    }
    expect(() => readConfig(env, 'all')).toThrow(
      expect.objectContaining({
        problems: [
          'HERALD_PORT is "x"; it must be a whole number from 0 to 65535',
          'HERALD_PROT is not a setting of Herald; did you mean HERALD_PORT?',
          'HERALD_SCANNER is clamd, but HERALD_CLAMD_URL is not set',
          expect.stringMatching(/^HERALD_SMPP_URL must be/),
          expect.stringMatching(/^there is no provider for e-mails, and HERALD_HOST is 0\.0\.0\.0/),
        ],
      }),
    )
  })
})

describe('the settings file', () => {
  const warnings: string[] = []
  function read(env: Record<string, string>, places: readonly string[] = []) {
    warnings.length = 0
    return readSettings(warning => warnings.push(warning), { env, places })
  }
  function problemsIn(path: string): readonly string[] {
    try {
      read({ HERALD_ENV_FILE: path })
    } catch (error) {
      if (error instanceof ConfigProblems) return error.problems
      throw error
    }
    return []
  }

  test('is found in the working folder, else in /etc/herald; HERALD_ENV_FILE names another; without any there is none', () => {
    const [here, there, named] = ['here', 'there', 'named'].map((name, at) =>
      file(`${name}.env`, `HERALD_PORT=${at + 1}\n`),
    )
    const missing = join(folder, 'missing.env')
    expect(read({}, [missing, there ?? ''])).toMatchObject({ port: 2, envFile: there })
    expect(read({}, [here ?? '', there ?? ''])).toMatchObject({ port: 1, envFile: here })
    expect(read({ HERALD_ENV_FILE: named ?? '' }, [here ?? ''])).toMatchObject({ port: 3, envFile: named })
    expect(read({}, [missing])).toMatchObject({ port: 6011, envFile: null })
    expect(problemsIn(missing)).toEqual([`${missing} is not there (HERALD_ENV_FILE)`])
  })

  test('the environment takes precedence, whichever variant it uses', () => {
    const path = file(
      'both.env',
      `HERALD_PORT=1\nHERALD_SECRET=${SECRET} of the file\nHERALD_HOST=::1\nHERALD_DATA=/x\n`,
    )
    const env = { HERALD_PORT: '2', HERALD_SECRET_FILE: file('own-secret', SECRET), HERALD_HOST: '' }
    expect(read({ ...env, HERALD_ENV_FILE: path })).toMatchObject({
      port: 2,
      sealSecret: SECRET,
      host: '::1',
      dataFolder: '/x',
    })
  })

  test('is written as a shell and systemd read it', () => {
    const path = file(
      'forms.env',
      [
        '\ufeff# a comment',
        '',
        'export HERALD_PORT=8080   # and why',
        "HERALD_SMPP_SENDER='it is #1 \\n'",
        'HERALD_TWILIO_SENDER="a \\"b\\" \\\\ c" # end',
        'HERALD_HTTP_SMS_SENDER=a#b',
        'TMPDIR=/run/herald',
        'HERALD_DATA=',
        'DATABASE_URL=postgres://u:p@h/d\r',
      ].join('\n'),
    )
    expect(read({ HERALD_ENV_FILE: path })).toMatchObject({
      port: 8080,
      smppSender: 'it is #1 \\n',
      twilioSender: 'a "b" \\ c',
      httpSmsSender: 'a#b',
      dataFolder: resolve('data'),
      databaseUrl: 'postgres://u:p@h/d',
    })
  })

  test('every problem names the file and the line', () => {
    const path = file(
      'wrong.env',
      [
        'HERALD_PORT=x',
        'nonsense',
        'HERALD_PROT=1',
        'HERALD_HOST="open',
        'HERALD_DATA=/a',
        'HERALD_DATA=/b',
        'HERALD_ENV_FILE=other',
        'HERALD_SECRET_FILE=/nowhere/secret',
      ].join('\n'),
    )
    expect(problemsIn(path)).toEqual([
      `${path} line 2: it must be NAME=value`,
      `${path} line 4: the value of HERALD_HOST has a quote that is not closed, or something after it`,
      `${path} line 6: HERALD_DATA stands on line 5 already`,
      `${path} line 7: HERALD_ENV_FILE names this file and cannot stand in it`,
      `${path} line 1: HERALD_PORT is "x"; it must be a whole number from 0 to 65535`,
      `${path} line 8: HERALD_SECRET_FILE names /nowhere/secret, which cannot be read`,
      `${path} line 3: HERALD_PROT is not a setting of Herald; did you mean HERALD_PORT?`,
    ])
  })

  test('a world-readable file with secrets causes a warning, others do not', () => {
    const secret = file('secret.env', `HERALD_SECRET=${SECRET}\n`)
    const plain = file('plain.env', 'HERALD_PORT=1\n')
    const asked = (path: string, mode: number) => {
      chmodSync(path, mode)
      read({ HERALD_ENV_FILE: path })
      return [...warnings]
    }
    expect(asked(secret, 0o644)).toEqual([
      `${secret} holds secrets, and every user of this machine may read it: chmod o-r ${secret}`,
    ])
    expect(asked(secret, 0o640)).toEqual([])
    expect(asked(plain, 0o644)).toEqual([])
  })
})

test('S-38 secret settings are marked as such, and no problem quotes them', () => {
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

test('settings are shown as they could be written', () => {
  const of = (env: Record<string, string>) =>
    Object.fromEntries(shownSettings(readConfig(env)).map(({ name, value }) => [name, value]))
  expect(of({}).HERALD_WEBHOOK_PORTS).toBe('443')
  const given = { HERALD_WEBHOOK_PORTS: '443,8000-8999', HERALD_WEBHOOK_ALLOW: '10.1.0.0/16', HERALD_PORT: '7000' }
  expect(of(given)).toMatchObject(given)
  for (const [name, value] of Object.entries({ ...of({}), ...of(given) }))
    expect(String(value), name).not.toMatch(/\[object/)
})
