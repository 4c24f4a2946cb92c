// HERALD_PROVIDERS_FILE: several providers in order of preference, every problem with its line, and no secret in any of them.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { checkSigning } from '../src/cli/mail-checks.ts'
import { captureProblems, providersInUse } from '../src/config/in-use.ts'
import { ConfigProblems, readConfig, readSettings } from '../src/config/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'herald-providers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function file(text: string, name = `providers-${++files}.json`): string {
  const path = join(folder, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
const described = (value: unknown) => file(JSON.stringify(value, null, 2))

function problemsOf(path: string, env: Record<string, string> = {}): readonly string[] {
  try {
    readConfig({ HERALD_PROVIDERS_FILE: path, ...env })
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems.map(problem => problem.replaceAll(`${path} `, ''))
    throw error
  }
  return []
}

file('s3cret-of-a\n', 'a')
const RELAYS = {
  $schema: './providers.schema.json',
  email: [
    { name: 'relay-a', kind: 'smtp', url: 'smtp://me@127.0.0.1:2501', password_file: 'a', connections: 3 },
    { name: 'relay-b', kind: 'smtp', url: { env: 'RELAY_B' }, tls: 'never' },
    {
      kind: 'ses',
      region: 'eu-west-1',
      user: { env: 'SES_USER' },
      password: { env: 'SES_PASSWORD' },
      topics: ['arn:1', 'arn:2'],
    },
  ],
}
const ENV = { RELAY_B: 'smtp://you:hunter2@127.0.0.1:2502', SES_USER: 'AKIA', SES_PASSWORD: 'hunter2' }

describe('what is read', () => {
  test('order is preference; keys are settings without their prefix; secrets come from files and variables', () => {
    const config = readConfig({ HERALD_PROVIDERS_FILE: described(RELAYS), ...ENV })
    expect(config.providers.email.map(({ name, kind }) => [name, kind.kind])).toEqual([
      ['relay-a', 'smtp'],
      ['relay-b', 'smtp'],
      ['ses', 'ses'],
    ])
    expect(config.providers.email.map(({ values }) => values)).toMatchObject([
      { smtpUrl: 'smtp://me@127.0.0.1:2501', smtpPassword: 's3cret-of-a', smtpConnections: 3, smtpReplySeconds: 30 },
      { smtpUrl: ENV.RELAY_B, smtpPassword: null, smtpConnections: 20, smtpTls: 'never' },
      { sesRegion: 'eu-west-1', sesUser: 'AKIA', sesPassword: 'hunter2', sesTopics: ['arn:1', 'arn:2'] },
    ])
    expect(providersInUse(config).map(({ sentence }) => sentence)).toEqual([
      'E-mails are sent by relay-a, and by relay-b, then ses while it is down.',
      'Text messages are captured, not sent: the inbox keeps them.',
    ])
  })

  test('a channel that the file leaves out is configured by variables', () => {
    const env = { HERALD_PROVIDERS_FILE: described(RELAYS), ...ENV, HERALD_TEXT_PROVIDERS: 'none' }
    expect(providersInUse(readConfig(env)).map(({ providers }) => providers)).toEqual([
      ['relay-a', 'relay-b', 'ses'],
      ['none'],
    ])
  })

  test('every kind, by the keys of its schema', () => {
    const path = described({
      sms: [
        {
          name: 'line-1',
          kind: 'smpp',
          url: 'smpp://me@127.0.0.1:2775',
          password: { env: 'P' },
          receipts: false,
          errors: ['1=blocked'],
        },
        { name: 'us', kind: 'twilio', account: 'AC01', token: { env: 'P' } },
        { kind: 'http', url: 'https://sms.example/?to={to}', format: 'query', per_second: 5 },
        { kind: 'capture' },
      ],
      email: [{ kind: 'none' }],
    })
    const config = readConfig({ HERALD_PROVIDERS_FILE: path, P: 'secret' })
    expect(config.providers.sms.map(({ name }) => name)).toEqual(['line-1', 'us', 'http', 'capture'])
    expect(config.providers.sms[0]?.values).toMatchObject({
      smppPassword: 'secret',
      smppReceipts: false,
      smppErrors: ['1=blocked'],
    })
    expect(config.providers.email.map(({ kind }) => kind.role)).toEqual(['off'])
  })

  test('a variable that the file refers to may begin with HERALD_, and may stand in the settings file', () => {
    const path = described({ email: [{ kind: 'smtp', url: { env: 'HERALD_RELAY' } }] })
    expect(problemsOf(path, { HERALD_RELAY: 'smtp://127.0.0.1' })).toEqual([])
    const env = file(
      `HERALD_PROVIDERS_FILE=${described({ email: [{ kind: 'smtp', url: { env: 'RELAY' } }] })}\nRELAY=smtp://h\n`,
      'x.env',
    )
    expect(readSettings(() => {}, { env: { HERALD_ENV_FILE: env } }).providers.email[0]?.values).toMatchObject({
      smtpUrl: 'smtp://h',
    })
  })
})

describe('what is refused, with its line', () => {
  test('text that is not JSON, a file that is not there', () => {
    expect(problemsOf(file('{\n  "email": [\n    {"kind": "smtp"\n  ]\n}'))).toEqual([
      'line 4: it is not JSON: a comma or } is missing here',
    ])
    const missing = join(folder, 'missing.json')
    expect(problemsOf(missing)).toEqual([`HERALD_PROVIDERS_FILE names ${missing}, which cannot be read`])
  })

  test('everything that the schema refuses, at once, in the order of the file', () => {
    const text = `{
  "emial": [],
  "email": [
    {"name": "Relay A", "kind": "smtp", "url": "smtp://127.0.0.1"},
    {"kind": "stmp"},
    {"kind": "smtp"},
    {"kind": "smtp", "url": 5, "conections": 1},
    {"kind": "smtp", "url": "smtp://h", "connections": 0, "tls": "always"},
    {"kind": "smtp", "url": "smtp://h", "connections": "5", "dkim_key": "-----BEGIN"},
    {"url": "smtp://h"}
  ],
  "sms": []
}`
    expect(problemsOf(file(text))).toEqual([
      'line 2: emial is not a key of this file; did you mean email?',
      'line 4: name must be up to 30 small letters, digits and hyphens, and begin with a letter',
      'line 5: kind is "stmp"; did you mean smtp?',
      'line 6: url is missing',
      'line 7: conections is not a key of the kind smtp; did you mean connections?',
      'line 7: url must be a text in quotes',
      'line 8: tls is "always"; it must be one of required, opportunistic, never',
      'line 8: connections is "0"; it must be a whole number from 1 to 200',
      'line 9: connections must be a whole number',
      'line 9: dkim_key is a secret: write it into a file and give its path as dkim_key_file, or give {"env": "NAME"}',
      'line 10: kind is missing',
      'line 12: sms names no provider; {"kind": "none"} switches a channel off',
    ])
  })

  test('values that only their setting can judge, and what does not fit together', () => {
    const text = `{
  "email": [
    {"name": "a", "kind": "smtp", "url": "mail.example.org"},
    {"name": "b", "kind": "smtp", "url": "smtp://me@h", "password": {"env": "NOT_SET"}},
    {"name": "c", "kind": "smtp", "url": "smtp://h", "password_file": "a"},
    {"name": "d", "kind": "smtp", "url": "smtp://h", "url_file": "a"},
    {"name": "e", "kind": "smtp",
     "url_file": "nowhere"},
    {"name": "f", "kind": "ses", "region": "eu-west-1"}
  ],
  "sms": [
    {"name": "g", "kind": "smpp", "url": "smpp://h"},
    {"name": "h", "kind": "twilio",
     "account": "AC01"},
    {"name": "i", "kind": "http", "url": "https://h"}
  ]
}`
    expect(problemsOf(file(text))).toEqual([
      'line 3: url must be an address like smtp://user:password@host:587 or smtps://user:password@host:465',
      'line 4: password refers to the environment variable NOT_SET, which is not set',
      'line 5: password is given, but url names no user',
      'line 6: url and url_file are both given; keep one',
      `line 8: url_file names ${join(folder, 'nowhere')}, which cannot be read`,
      'line 9: region is set, but user and password are not both set',
      'line 12: url must be an address like smpp://system_id:password@host:2775, or smpps://',
      'line 14: account and token go together; one of them is missing',
      'line 15: body is missing; or set format to query',
    ])
  })

  test('names that stand twice or mean something else, and a channel that is off and on', () => {
    const smtp = { kind: 'smtp', url: 'smtp://h' }
    const path = file(
      `{"email": [\n${[smtp, smtp, { ...smtp, name: 'twilio' }, { ...smtp, name: 'simulation' }].map(one => JSON.stringify(one)).join(',\n')}\n],
"sms": [{"kind": "none"},\n {"name": "smtp", "kind": "twilio", "account": "AC1", "token": {"env": "T"}}]}`,
    )
    expect(problemsOf(path, { T: 't' })).toEqual([
      'line 3: the provider on line 2 has the name "smtp" too; give each a name of its own',
      'line 4: the name "twilio" has another meaning; choose another',
      'line 5: the name "simulation" has another meaning; choose another',
      'line 7: "none" switches the channel off and stands alone',
      'line 8: the provider on line 3 has the name "smtp" too; give each a name of its own',
      'line 8: the name "smtp" has another meaning; choose another',
    ])
  })

  test('two receivers of bounces on one domain or port', () => {
    const relay = { kind: 'smtp', url: 'smtp://h', bounce_domain: 'bounces.example.org' }
    const path = file(
      `{"email": [\n${JSON.stringify({ ...relay, name: 'a' })},\n${JSON.stringify({ ...relay, name: 'b' })}]}`,
    )
    expect(problemsOf(path)).toEqual([
      'line 3: "b" and "a" have the same bounce_domain bounces.example.org; give each its own',
      'line 3: "b" and "a" have the same bounce_port 2525; give each its own',
    ])
  })

  test('variables of a channel that the file describes', () => {
    const path = described(RELAYS)
    const env = {
      ...ENV,
      HERALD_SMTP_URL: 'smtp://h',
      HERALD_EMAIL_PROVIDERS: 'smtp',
      HERALD_DKIM_SELECTOR: 'x',
      HERALD_SMPP_URL: 'smpp://a:b@h',
    }
    expect(problemsOf(path, env)).toEqual(
      ['HERALD_EMAIL_PROVIDERS', 'HERALD_SMTP_URL', 'HERALD_DKIM_SELECTOR'].map(name =>
        `${name} is set, and ${path} describes the providers of e-mails; keep one`.replace(`${path} `, ''),
      ),
    )
  })

  test('a file that captures where others can send', () => {
    const path = described({ email: [{ kind: 'capture' }] })
    const config = readConfig({ HERALD_PROVIDERS_FILE: path, HERALD_HOST: '0.0.0.0', HERALD_TEXT_PROVIDERS: 'none' })
    expect(captureProblems(config, 'all')).toEqual([
      `${path} line 3: capture marks e-mails delivered that nobody gets, and HERALD_HOST is 0.0.0.0: describe a provider that sends, or {"kind": "none"} to switch e-mails off, or set HERALD_CAPTURE=1 for a trial`,
    ])
  })
})

describe('S-38 secrets', () => {
  test('a password in an address is refused, and no problem quotes a secret', () => {
    const problems = problemsOf(
      described({
        email: [
          { name: 'a', kind: 'smtp', url: 'smtp://me:hunter2@h' },
          { name: 'b', kind: 'smtp', url: 'hunter2' },
          { name: 'c', kind: 'ses', region: 'r', user: 'hunter2', password: 'hunter2' },
          { name: 'd', kind: 'smtp', url: { env: 'ADDRESS' }, dkim_key: 'hunter2', password: ['hunter2'] },
        ],
        sms: [{ kind: 'http', url: 'hunter2', receipt_secret: 'hunter2', headers: 'hunter2', body: 'hunter2' }],
      }),
      { ADDRESS: 'hunter2' },
    )
    expect(problems.length).toBeGreaterThan(5)
    expect(problems.join()).not.toContain('hunter2')
    const alone = problemsOf(described({ email: [{ kind: 'smtp', url: 'smtp://me:hunter2@h' }] }))
    expect(alone).toEqual([
      'line 5: url holds a password: leave it out and give password_file, or the whole address as url_file',
    ])
    const readable = problemsOf(
      described({
        email: [
          { name: 'b', kind: 'smtp', url: 'hunter2' },
          { name: 'd', kind: 'smtp', url: { env: 'ADDRESS' } },
        ],
        sms: [{ kind: 'http', url: 'hunter2', body: 'hunter2' }],
      }),
      { ADDRESS: 'hunter2' },
    )
    expect(readable).toHaveLength(3)
    expect(readable.join()).not.toContain('hunter2')
  })

  test('a file with a text that may be secret, readable by everybody, gets a warning', () => {
    const warned = (value: unknown, mode: number) => {
      const path = described(value)
      chmodSync(path, mode)
      const warnings: string[] = []
      readSettings(sentence => warnings.push(sentence), { env: { HERALD_PROVIDERS_FILE: path }, places: [] })
      return warnings.map(sentence => sentence.replaceAll(path, 'FILE'))
    }
    const sms = [{ kind: 'http', url: 'https://h/?key=k&to={to}', format: 'query' }]
    expect(warned({ sms }, 0o644)).toEqual([
      'FILE holds secrets, and every user of this machine may read it: chmod o-r FILE',
    ])
    expect(warned({ sms }, 0o640)).toEqual([])
    expect(warned({ email: [{ kind: 'smtp', url: 'smtp://127.0.0.1' }] }, 0o644)).toEqual([])
  })
})

test('doctor looks at the signing of each provider, in the words of the file', async () => {
  const path = described({
    email: [
      { name: 'a', kind: 'smtp', url: 'smtp://127.0.0.1' },
      { name: 'b', kind: 'smtp', url: 'smtp://127.0.0.1', dkim_selector: 'mail' },
    ],
  })
  const checks = await checkSigning(readConfig({ HERALD_PROVIDERS_FILE: path }))
  expect(checks.map(({ ok, found }) => [ok, found])).toEqual([
    [true, expect.stringMatching(/^a: .*\(dkim_key, dkim_selector\)/)],
    [false, expect.stringMatching(/^b: dkim_selector is set and dkim_key is not/)],
  ])
})
