// Which provider each channel uses, by settings alone, and which installations may capture messages instead of sending them.
import { describe, expect, test } from 'vitest'
import { captureProblems, type Part, providersInUse } from '../src/config/in-use.ts'
import { ConfigProblems, readConfig } from '../src/config/index.ts'

const SMTP = { HERALD_SMTP_URL: 'smtp://127.0.0.1:25' }
const SES = { HERALD_SES_REGION: 'eu-west-1', HERALD_SES_USER: 'AKIA', HERALD_SES_PASSWORD: 'x' }
const SMPP = { HERALD_SMPP_URL: 'smpp://id:pass@127.0.0.1' }
const TWILIO = { HERALD_TWILIO_ACCOUNT: 'AC01', HERALD_TWILIO_TOKEN: 'x' }
const HTTP = { HERALD_HTTP_SMS_URL: 'http://127.0.0.1/sms', HERALD_HTTP_SMS_FORMAT: 'query' }

const inUse = (env: Record<string, string>) => providersInUse(readConfig(env)).map(({ providers }) => providers)
const sentences = (env: Record<string, string>) => providersInUse(readConfig(env)).map(({ sentence }) => sentence)

function problemsOf(env: Record<string, string>, part?: Part): readonly string[] {
  try {
    readConfig(env, part)
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems
    throw error
  }
  return []
}

describe('the list of providers defaults to what is configured', () => {
  const rows: [string, Record<string, string>, string[], string[]][] = [
    ['nothing is configured', {}, ['capture'], ['capture']],
    ['smtp alone', SMTP, ['smtp'], ['capture']],
    ['ses alone', SES, ['ses'], ['capture']],
    [
      'every one, in a fixed order',
      { ...HTTP, ...TWILIO, ...SMPP, ...SES, ...SMTP },
      ['smtp', 'ses'],
      ['smpp', 'twilio', 'http'],
    ],
    [
      'a list decides over what is configured',
      { ...SMTP, ...SES, HERALD_EMAIL_PROVIDERS: 'ses' },
      ['ses'],
      ['capture'],
    ],
    ['capture asked for', { ...SMTP, HERALD_EMAIL_PROVIDERS: 'capture' }, ['capture'], ['capture']],
    ['a channel switched off', { ...SMTP, HERALD_TEXT_PROVIDERS: 'none' }, ['smtp'], ['none']],
  ]
  test.each(rows)('%s', (_name, env, email, text) => {
    expect(inUse(env)).toEqual([email, text])
  })

  test('and each channel says what it uses', () => {
    expect(sentences({})).toEqual([
      'E-mails are captured, not sent: the inbox keeps them.',
      'Text messages are captured, not sent: the inbox keeps them.',
    ])
    expect(sentences({ ...SMTP, HERALD_TEXT_PROVIDERS: 'none' })).toEqual([
      'E-mails are sent by smtp.',
      'Text messages are switched off.',
    ])
    expect(sentences({ ...SMTP, ...SMPP, ...TWILIO, ...HTTP })[1]).toBe(
      'Text messages are sent by smpp, and by twilio, then http while it is down.',
    )
  })

  test('names that do not fit are problems', () => {
    expect(problemsOf({ HERALD_EMAIL_PROVIDERS: 'smtp,ses', HERALD_TEXT_PROVIDERS: 'http', ...SMTP })).toEqual([
      'HERALD_EMAIL_PROVIDERS names ses, but HERALD_SES_REGION is not set',
      'HERALD_TEXT_PROVIDERS names http, but HERALD_HTTP_SMS_URL is not set',
    ])
    expect(problemsOf({ HERALD_EMAIL_PROVIDERS: 'stmp' })).toEqual([
      'HERALD_EMAIL_PROVIDERS names "stmp"; there are smtp, ses, capture, none',
    ])
    expect(problemsOf({ HERALD_EMAIL_PROVIDERS: 'smtp,none', ...SMTP })).toEqual([
      'HERALD_EMAIL_PROVIDERS names none, which stands alone',
    ])
    expect(problemsOf({ HERALD_EMAIL_PROVIDERS: 'smtp,smtp', ...SMTP })).toEqual([
      'HERALD_EMAIL_PROVIDERS names a provider twice',
    ])
    expect(problemsOf({ HERALD_EMAIL_PROVIDERS: ',' })).toEqual(['HERALD_EMAIL_PROVIDERS names no provider'])
  })
})

describe('a start without a provider', () => {
  const trials: [string, Record<string, string>, Part][] = [
    ['loopback', {}, 'all'],
    ['loopback by name', { HERALD_HOST: 'localhost' }, 'http'],
    ['loopback, IPv6', { HERALD_HOST: '::1' }, 'all'],
    ['a public address that is loopback', { HERALD_BASE_URL: 'http://localhost:8080' }, 'all'],
    ['declared a trial', { HERALD_HOST: '0.0.0.0', HERALD_CAPTURE: '1' }, 'all'],
    ['declared a trial, an engine alone', { HERALD_CAPTURE: '1' }, 'engine'],
    ['public, both channels decided', { HERALD_HOST: '0.0.0.0', ...SMTP, HERALD_TEXT_PROVIDERS: 'none' }, 'all'],
    ['public, both channels configured', { HERALD_HOST: '0.0.0.0', ...SMTP, ...TWILIO }, 'engine'],
  ]
  test.each(trials)('is allowed: %s', (_name, env, part) => {
    expect(problemsOf(env, part)).toEqual([])
  })

  const refused: [string, Record<string, string>, Part, string][] = [
    ['every network', { HERALD_HOST: '0.0.0.0' }, 'all', 'HERALD_HOST is 0.0.0.0'],
    ['one network', { HERALD_HOST: '192.0.2.7' }, 'http', 'HERALD_HOST is 192.0.2.7'],
    [
      'a public address behind a proxy of this machine',
      { HERALD_BASE_URL: 'https://notify.example.org' },
      'all',
      'HERALD_BASE_URL is https://notify.example.org',
    ],
    ['a proxy', { HERALD_TRUSTED_PROXIES: '127.0.0.1' }, 'all', 'HERALD_TRUSTED_PROXIES names a proxy'],
    ['an engine alone', {}, 'engine', 'an engine without the HTTP interface cannot tell who sends'],
  ]
  test.each(refused)('is refused: %s', (_name, env, part, reason) => {
    const email =
      `there is no provider for e-mails, and ${reason}: set HERALD_SMTP_URL or HERALD_SES_REGION,` +
      ' or HERALD_EMAIL_PROVIDERS=none to switch e-mails off, or HERALD_CAPTURE=1 for a trial that sends nothing'
    const text =
      `there is no provider for text messages, and ${reason}: set HERALD_SMPP_URL or HERALD_TWILIO_ACCOUNT or HERALD_HTTP_SMS_URL,` +
      ' or HERALD_TEXT_PROVIDERS=none to switch text messages off, or HERALD_CAPTURE=1 for a trial that sends nothing'
    expect(problemsOf(env, part)).toEqual([email, text])
    expect(problemsOf({ ...env, ...SMTP }, part)).toEqual([text])
    expect(problemsOf({ ...env, ...SMTP, ...SMPP }, part)).toEqual([])
    // A command that starts nothing is not affected.
    expect(problemsOf(env)).toEqual([])
    expect(captureProblems(readConfig(env), part)).toEqual([email, text])
  })

  test('capture behind a real provider is refused too: captured messages are marked delivered', () => {
    const env = {
      HERALD_HOST: '0.0.0.0',
      ...SMTP,
      HERALD_EMAIL_PROVIDERS: 'smtp,capture',
      HERALD_TEXT_PROVIDERS: 'none',
    }
    expect(problemsOf(env, 'all')).toEqual([
      'HERALD_EMAIL_PROVIDERS names capture beside others, which marks e-mails delivered that nobody gets, and HERALD_HOST is 0.0.0.0: leave it out, or set HERALD_CAPTURE=1 for a trial',
    ])
  })
})
