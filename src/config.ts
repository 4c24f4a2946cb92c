// One table of settings: name, kind, default, sentence. The only reader of the environment.
// docs/settings.md is made from it, and every problem is told at once before anything starts.
import { readFileSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { CAPTURE, captureProblems, NONE, type Part, PROVIDERS } from './channels.ts'
import { readEnvFile } from './env-file.ts'
import { httpSmsSettings } from './providers/http/settings.ts'
import { smppSettings } from './providers/smpp/settings.ts'
import { twilioSettings } from './providers/twilio/send.ts'
import { isCountry } from './recipients/plans.ts'
import { nearest } from './runtime/near.ts'
import { CRASH_POINTS, type CrashPoint, readCrashPoints } from './telemetry/crash.ts'

type Reader<T> = (text: string) => T | Problem
type Problem = { problem: string }
type Setting<T> = { name: string; read: Reader<T>; fallback: T; shown: string; secret?: true; sentence: string }

const setting = <T>(
  name: string,
  read: Reader<T>,
  fallback: T,
  sentence: string,
  options: { shown?: string; secret?: true } = {},
): Setting<T> => ({
  name,
  read,
  fallback,
  sentence,
  shown: options.shown ?? String(fallback),
  ...(options.secret && { secret: true }),
})

const settings = {
  envFile: setting<string | null>(
    'HERALD_ENV_FILE',
    text,
    null,
    'A file with settings, one NAME=value on each line; the environment decides over it. The command line reads the same one.',
    { shown: '`herald.env` in the working folder, else `/etc/herald/herald.env`' },
  ),
  dataFolder: setting(
    'HERALD_DATA',
    folder,
    resolve('data'),
    'Folder for the embedded database and the secrets made on first start.',
    { shown: './data' },
  ),
  databaseUrl: setting<string | null>(
    'DATABASE_URL',
    postgresUrl,
    null,
    'An external PostgreSQL (15 or newer) to use instead of the embedded one.',
    { shown: 'none: embedded', secret: true },
  ),
  allowUnsafeDatabase: setting(
    'HERALD_ALLOW_UNSAFE_DATABASE',
    flag,
    false,
    'Start even though the database may lose acknowledged commits (fsync, full_page_writes or synchronous_commit off). For tests only.',
  ),
  databaseConnections: setting(
    'HERALD_DATABASE_CONNECTIONS',
    whole(2, 500),
    10,
    'Connections to the database that one process uses to serve and to send. It holds two more, to listen and to lead, and the leader up to two for maintenance.',
  ),
  databaseSeconds: setting(
    'HERALD_DATABASE_SECONDS',
    whole(1, 60),
    5,
    'How long one statement may take before the request is answered with 500.',
  ),
  host: setting('HERALD_HOST', text, '127.0.0.1', 'Address to listen on; `0.0.0.0` for every network of the machine.'),
  port: setting('HERALD_PORT', whole(0, 65_535), 6011, 'Port to listen on; 0 takes any free one.'),
  metricsPort: setting<number | null>(
    'HERALD_METRICS_PORT',
    whole(0, 65_535),
    null,
    'Port for /metrics and /health of a process that only delivers (`start --only engine`); the others have them on HERALD_PORT.',
    { shown: 'none' },
  ),
  baseUrl: setting<string | null>(
    'HERALD_BASE_URL',
    webAddress,
    null,
    'Public address of the service, used in links. Without it, scheme and host of each request are used.',
    { shown: 'from the request' },
  ),
  trustedProxies: setting(
    'HERALD_TRUSTED_PROXIES',
    list,
    [] as string[],
    'Addresses or networks of proxies whose forwarded headers are believed, separated by commas.',
    { shown: 'none' },
  ),
  corsOrigins: setting(
    'HERALD_CORS_ORIGINS',
    list,
    [] as string[],
    'Web origins that may call the API from a browser, separated by commas.',
    { shown: 'none' },
  ),
  sealSecret: setting<string | null>(
    'HERALD_SECRET',
    secret,
    null,
    'Secret that seals keys and personal data, at least 32 characters. Without it one is made on first start and kept in the data folder.',
    { shown: 'made on first start', secret: true },
  ),
  oldSealSecrets: setting(
    'HERALD_OLD_SECRETS',
    secrets,
    [] as string[],
    'Earlier secrets, newest first, separated by commas: what they sealed stays readable after a change of HERALD_SECRET.',
    { shown: 'none', secret: true },
  ),
  keyPrefix: setting(
    'HERALD_KEY_PREFIX',
    word,
    'herald',
    'First word of every API key, so that secret scanners recognise it.',
  ),
  sendingDomain: setting(
    'HERALD_SENDING_DOMAIN',
    domain,
    'herald.example',
    'Domain of the addresses that e-mails are sent from.',
  ),
  homeCountry: setting(
    'HERALD_HOME_COUNTRY',
    country,
    'CA',
    'Home country of phone numbers (ISO 3166, two capital letters): numbers without a country code are read in it, and its numbers are not international. A service can have its own.',
  ),
  smsSender: setting<string | null>(
    'HERALD_SMS_SENDER',
    text,
    null,
    'Sender of text messages whose service has none. Without it the provider chooses, and answers show the name of the service, cut to 11 characters.',
    { shown: 'none' },
  ),
  simulatedRecipients: setting(
    'HERALD_SIMULATED_RECIPIENTS',
    list,
    [] as string[],
    'Smoke-test recipients: accepted, stored nowhere, never sent to. Separated by commas.',
    { shown: 'simulate-delivered(-2, -3)@ the sending domain; +16132532222, …3, …4' },
  ),
  emailProviders: setting(
    'HERALD_EMAIL_PROVIDERS',
    providerNames(PROVIDERS.email),
    [] as string[],
    'Who sends e-mails, in order of preference, separated by commas: smtp, ses; `capture` keeps them in the inbox and sends nothing; `none` switches e-mails off.',
    { shown: 'those that are configured, in this order; capture without any' },
  ),
  textProviders: setting(
    'HERALD_TEXT_PROVIDERS',
    providerNames(PROVIDERS.sms),
    [] as string[],
    'Who sends text messages, in order of preference, separated by commas: smpp, twilio, http; `capture` keeps them in the inbox and sends nothing; `none` switches text messages off.',
    { shown: 'those that are configured, in this order; capture without any' },
  ),
  capture: setting(
    'HERALD_CAPTURE',
    flag,
    false,
    'Declares a trial: a channel without a provider marks messages delivered and sends nothing, also where others than this machine can send. Without it such an installation does not start.',
  ),
  scanner: setting(
    'HERALD_SCANNER',
    oneOf('embedded', 'clamd', 'none'),
    'embedded' as 'embedded' | 'clamd' | 'none',
    'Who scans files: `clamd`, the few signatures of the embedded scanner (docs/files.md), or `none`, with a warning at every start.',
  ),
  clamdUrl: setting<string | null>(
    'HERALD_CLAMD_URL',
    clamdUrl,
    null,
    'Where clamd listens: `tcp://host:3310` or `unix:/run/clamav/clamd.ctl`.',
    { shown: 'none' },
  ),
  fileStore: setting(
    'HERALD_FILE_STORE',
    oneOf('postgres', 's3'),
    'postgres' as 'postgres' | 's3',
    'Where the contents of files are kept, always sealed: in the database, or in a bucket that speaks S3.',
  ),
  s3Url: setting<string | null>(
    'HERALD_S3_URL',
    webAddress,
    null,
    'Address of the S3 service, like `https://s3.eu-west-1.amazonaws.com`; the bucket goes into the path.',
    { shown: 'none' },
  ),
  s3Bucket: setting<string | null>('HERALD_S3_BUCKET', label, null, 'Bucket for the contents of files.', {
    shown: 'none',
  }),
  s3Region: setting('HERALD_S3_REGION', label, 'us-east-1', 'Region that signatures for the S3 service name.'),
  s3Key: setting<string | null>('HERALD_S3_KEY', text, null, 'Access key id for the bucket.', {
    shown: 'none',
    secret: true,
  }),
  s3Secret: setting<string | null>('HERALD_S3_SECRET', text, null, 'Secret access key for the bucket.', {
    shown: 'none',
    secret: true,
  }),
  readLimit: setting<number | null>(
    'HERALD_READ_LIMIT',
    whole(1, 2_147_483_647),
    null,
    'Reads (GET) that one service may make in 60 seconds; more are answered 429. Without it reads are not refused, they take turns.',
    { shown: 'none' },
  ),
  bodyBudget: setting(
    'HERALD_BODY_BUDGET',
    whole(8, 65_536),
    64,
    'Mebibytes of request bodies that may be in memory at the same time, shared by the services that send them; one body more is read beyond it, so that a large one can always be finished.',
  ),
  leaseSeconds: setting(
    'HERALD_LEASE_SECONDS',
    whole(1, 3_600),
    30,
    'How long a process may be silent before others take over what it was sending.',
  ),
  crashPoints: setting(
    'HERALD_CRASH_POINTS',
    crashPoints,
    [] as CrashPoint[],
    'Places at which the process ends itself or throws, for the fault harness only: `after-provider-ok=kill:0.01`.',
    { shown: 'none' },
  ),
  logLevel: setting(
    'HERALD_LOG_LEVEL',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'How much is logged.',
  ),
  requestSeconds: setting(
    'HERALD_REQUEST_SECONDS',
    whole(1, 600),
    30,
    'How long a caller may take to send a whole request; a body that brings less than 1 KiB a second over a third of this time is ended earlier.',
  ),
  headerSeconds: setting(
    'HERALD_HEADER_SECONDS',
    whole(1, 600),
    10,
    'How long a caller may take to send the headers of a request.',
  ),
  keepAliveSeconds: setting(
    'HERALD_KEEP_ALIVE_SECONDS',
    whole(1, 3_600),
    72,
    'How long an idle connection is kept; longer than the idle time-out of the proxy in front.',
  ),
  noticeSeconds: setting(
    'HERALD_NOTICE_SECONDS',
    whole(0, 600),
    0,
    'How long a stop still takes new connections while `/health/ready` says no already; longer than a load balancer needs to notice.',
  ),
  drainSeconds: setting('HERALD_DRAIN_SECONDS', whole(1, 600), 10, 'How long a stop waits for requests under way.'),
  smppUrl: setting<string | null>(
    'HERALD_SMPP_URL',
    text,
    null,
    'SMSC for text messages, `smpp://system_id:password@host:2775` or `smpps://` for TLS.',
    { shown: 'none', secret: true },
  ),
  smppCa: setting<string | null>(
    'HERALD_SMPP_CA',
    text,
    null,
    'Certificates (PEM) to trust for `smpps://` instead of the well-known ones; usually given as HERALD_SMPP_CA_FILE.',
    { shown: 'well-known ones' },
  ),
  smppSystemType: setting('HERALD_SMPP_SYSTEM_TYPE', text, '', 'The system_type of the bind, if the SMSC wants one.', {
    shown: 'none',
  }),
  smppBinds: setting('HERALD_SMPP_BINDS', whole(1, 20), 1, 'How many binds each process holds to the SMSC.'),
  smppWindow: setting(
    'HERALD_SMPP_WINDOW',
    whole(1, 1_000),
    10,
    'How many messages may wait for an answer of the SMSC on each bind.',
  ),
  smppPerSecond: setting(
    'HERALD_SMPP_PER_SECOND',
    whole(0, 100_000),
    0,
    'Parts per second the SMSC allows each process; 0: no limit.',
  ),
  smppSender: setting<string | null>(
    'HERALD_SMPP_SENDER',
    text,
    null,
    'Sender of text messages by SMPP whose service has none.',
    { shown: "the SMSC's own" },
  ),
  smppLong: setting(
    'HERALD_SMPP_LONG',
    oneOf('parts', 'payload'),
    'parts' as 'parts' | 'payload',
    'How long texts travel: as parts with a header, or whole in message_payload.',
  ),
  smppReceipts: setting(
    'HERALD_SMPP_RECEIPTS',
    flag,
    true,
    'Whether the SMSC is asked for receipts; without them acceptance counts as delivery.',
  ),
  smppIds: setting(
    'HERALD_SMPP_IDS',
    oneOf('same', 'hex-in-answer', 'hex-in-receipt'),
    'same' as 'same' | 'hex-in-answer' | 'hex-in-receipt',
    'Whether the SMSC writes message ids hexadecimally in one place and decimally in the other.',
  ),
  smppErrors: setting(
    'HERALD_SMPP_ERRORS',
    list,
    [] as string[],
    'What `err:` codes of receipts mean, `code=temporary`, `permanent`, `blocked` or `opted-out`, separated by commas.',
    { shown: 'none: permanent' },
  ),
  smppReplySeconds: setting(
    'HERALD_SMPP_REPLY_SECONDS',
    whole(1, 600),
    30,
    'How long the SMSC may take to answer before a message counts as uncertain and is tried again.',
  ),
  smppEnquireSeconds: setting(
    'HERALD_SMPP_ENQUIRE_SECONDS',
    whole(1, 3_600),
    30,
    'How often an idle bind is asked whether it is alive.',
  ),
  twilioUrl: setting(
    'HERALD_TWILIO_URL',
    webAddress,
    'https://api.twilio.com',
    'Address of the Twilio interface, or of anyone who speaks it.',
  ),
  twilioAccount: setting<string | null>(
    'HERALD_TWILIO_ACCOUNT',
    text,
    null,
    'Account SID at Twilio; receipts need HERALD_BASE_URL too.',
    { shown: 'none' },
  ),
  twilioToken: setting<string | null>('HERALD_TWILIO_TOKEN', text, null, 'Auth token at Twilio.', {
    shown: 'none',
    secret: true,
  }),
  twilioMessagingService: setting<string | null>(
    'HERALD_TWILIO_MESSAGING_SERVICE',
    text,
    null,
    'Messaging service SID that chooses the sender of text messages whose service has none.',
    { shown: 'none' },
  ),
  twilioSender: setting<string | null>(
    'HERALD_TWILIO_SENDER',
    text,
    null,
    'Sender of text messages by Twilio whose service has none, when there is no messaging service.',
    { shown: 'none' },
  ),
  twilioPerSecond: setting(
    'HERALD_TWILIO_PER_SECOND',
    whole(0, 100_000),
    0,
    'Parts per second the account at Twilio allows; 0: no limit.',
  ),
  httpSmsUrl: setting<string | null>(
    'HERALD_HTTP_SMS_URL',
    text,
    null,
    'Address of any other text provider that takes one HTTP request per message; its query may hold placeholders. See docs/providers-text.md.',
    { shown: 'none', secret: true },
  ),
  httpSmsMethod: setting(
    'HERALD_HTTP_SMS_METHOD',
    oneOf('POST', 'PUT', 'GET'),
    'POST' as 'POST' | 'PUT' | 'GET',
    'Method of that request.',
  ),
  httpSmsHeaders: setting<string | null>(
    'HERALD_HTTP_SMS_HEADERS',
    text,
    null,
    'Headers of that request, as a JSON object of texts.',
    { shown: 'none', secret: true },
  ),
  httpSmsBody: setting<string | null>(
    'HERALD_HTTP_SMS_BODY',
    text,
    null,
    'Body of that request, with the placeholders {to} {digits} {from} {text} {id}.',
    { shown: 'none', secret: true },
  ),
  httpSmsFormat: setting(
    'HERALD_HTTP_SMS_FORMAT',
    oneOf('json', 'form', 'query'),
    'json' as 'json' | 'form' | 'query',
    'How values are escaped in the body; `query`: there is no body, everything is in the address.',
  ),
  httpSmsSender: setting<string | null>(
    'HERALD_HTTP_SMS_SENDER',
    text,
    null,
    'Sender of text messages by that provider whose service has none.',
    { shown: 'none' },
  ),
  httpSmsRefPath: setting<string | null>(
    'HERALD_HTTP_SMS_REF_PATH',
    text,
    null,
    'Where the answer names the message, like `messages[0].id`. Without it, receipts must name our {id}.',
    { shown: 'none' },
  ),
  httpSmsRejectStatuses: setting(
    'HERALD_HTTP_SMS_REJECT_STATUSES',
    list,
    ['400', '409', '413', '422'] as string[],
    'HTTP statuses by which that provider refuses a message for good.',
  ),
  httpSmsErrorPath: setting<string | null>(
    'HERALD_HTTP_SMS_ERROR_PATH',
    text,
    null,
    'Where the answer gives the reason of a refusal, shown as provider_response.',
    { shown: 'the whole answer' },
  ),
  httpSmsRejectPattern: setting<string | null>(
    'HERALD_HTTP_SMS_REJECT_PATTERN',
    text,
    null,
    'Regular expression: an answer whose reason matches refuses for good, whatever its status.',
    { shown: 'none' },
  ),
  httpSmsPerSecond: setting(
    'HERALD_HTTP_SMS_PER_SECOND',
    whole(0, 100_000),
    0,
    'Parts per second that provider allows; 0: no limit.',
  ),
  httpSmsReceiptSecret: setting<string | null>(
    'HERALD_HTTP_SMS_RECEIPT_SECRET',
    secret,
    null,
    'Secret that signs receipts of that provider, at least 32 characters; without it acceptance counts as delivery.',
    { shown: 'none: no receipts', secret: true },
  ),
  httpSmsReceiptSignatureHeader: setting(
    'HERALD_HTTP_SMS_RECEIPT_SIGNATURE_HEADER',
    text,
    'x-signature',
    'Header with the HMAC-SHA-256 of `timestamp.body`.',
  ),
  httpSmsReceiptTimestampHeader: setting(
    'HERALD_HTTP_SMS_RECEIPT_TIMESTAMP_HEADER',
    text,
    'x-timestamp',
    'Header with the time of the signature, seconds or milliseconds since 1970.',
  ),
  httpSmsReceiptListPath: setting<string | null>(
    'HERALD_HTTP_SMS_RECEIPT_LIST_PATH',
    text,
    null,
    'Where the list of receipts is in the body.',
    { shown: 'the body itself' },
  ),
  httpSmsReceiptRefPath: setting('HERALD_HTTP_SMS_RECEIPT_REF_PATH', text, 'id', 'Where a receipt names its message.'),
  httpSmsReceiptStatusPath: setting(
    'HERALD_HTTP_SMS_RECEIPT_STATUS_PATH',
    text,
    'status',
    'Where a receipt says what happened.',
  ),
  httpSmsReceiptTimePath: setting(
    'HERALD_HTTP_SMS_RECEIPT_TIME_PATH',
    text,
    'time',
    'Where a receipt says when: ISO 8601, seconds or milliseconds since 1970.',
  ),
  httpSmsReceiptEventPath: setting(
    'HERALD_HTTP_SMS_RECEIPT_EVENT_PATH',
    text,
    'event_id',
    'Where a receipt has an id of its own; without one its digest is used.',
  ),
  httpSmsReceiptStatuses: setting(
    'HERALD_HTTP_SMS_RECEIPT_STATUSES',
    list,
    [] as string[],
    'What words of that provider mean, `word=meaning`, separated by commas; common ones are known. See docs/providers-text.md.',
    { shown: 'the common ones' },
  ),
  smtpUrl: setting<string | null>(
    'HERALD_SMTP_URL',
    smtpUrl,
    null,
    'Mail server to send e-mail by: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte.',
    { shown: 'none', secret: true },
  ),
  smtpTls: setting<'required' | 'opportunistic' | 'never' | null>(
    'HERALD_SMTP_TLS',
    oneOf('required', 'opportunistic', 'never'),
    null,
    'Whether mail may leave unencrypted. `opportunistic` encrypts where offered and checks no certificate.',
    { shown: 'required; to a mail server on this machine opportunistic' },
  ),
  smtpCa: setting<string | null>(
    'HERALD_SMTP_CA',
    pem('CERTIFICATE'),
    null,
    "Certificate authority of the mail server, PEM, instead of the system's.",
    { shown: "the system's" },
  ),
  smtpConnections: setting(
    'HERALD_SMTP_CONNECTIONS',
    whole(1, 200),
    20,
    'Connections to the mail server held by one process; a quarter of them is kept for urgent messages.',
  ),
  smtpReplySeconds: setting(
    'HERALD_SMTP_REPLY_SECONDS',
    whole(1, 600),
    30,
    'How long the mail server may take to answer before a message counts as uncertain and is tried again.',
  ),
  smtpPerSecond: setting<number | null>(
    'HERALD_SMTP_PER_SECOND',
    whole(1, 100_000),
    null,
    'Messages a second the mail server allows.',
    { shown: 'no limit' },
  ),
  dkimDomain: setting<string | null>('HERALD_DKIM_DOMAIN', domain, null, 'Domain that signs e-mails (DKIM).', {
    shown: 'the sending domain',
  }),
  dkimSelector: setting<string | null>(
    'HERALD_DKIM_SELECTOR',
    label,
    null,
    'Selector under which the public key stands in DNS: `<selector>._domainkey.<domain>`. E-mails are signed when it and the key are set.',
    { shown: 'none: not signed' },
  ),
  dkimKey: setting<string | null>(
    'HERALD_DKIM_KEY',
    pem('PRIVATE KEY'),
    null,
    'Private key that signs e-mails, PEM, RSA or Ed25519.',
    { shown: 'none: not signed', secret: true },
  ),
  bounceDomain: setting<string | null>(
    'HERALD_BOUNCE_DOMAIN',
    domain,
    null,
    'Domain of the return paths. When set, Herald listens for bounces itself; the MX of this domain must lead to it.',
    { shown: 'none: bounces go to the sender address' },
  ),
  bounceHost: setting('HERALD_BOUNCE_HOST', text, '127.0.0.1', 'Address on which bounces are listened for.'),
  bouncePort: setting('HERALD_BOUNCE_PORT', whole(0, 65_535), 2525, 'Port on which bounces are listened for.'),
  sesRegion: setting<string | null>(
    'HERALD_SES_REGION',
    label,
    null,
    'Region of Amazon SES to send e-mail by, like `eu-west-1`.',
    { shown: 'none' },
  ),
  sesUser: setting<string | null>('HERALD_SES_USER', text, null, 'SMTP user name of Amazon SES.', {
    shown: 'none',
    secret: true,
  }),
  sesPassword: setting<string | null>('HERALD_SES_PASSWORD', text, null, 'SMTP password of Amazon SES.', {
    shown: 'none',
    secret: true,
  }),
  sesConfigurationSet: setting<string | null>(
    'HERALD_SES_CONFIGURATION_SET',
    label,
    null,
    'Configuration set named in every message, if its events are to be told.',
    { shown: 'none' },
  ),
  sesTopics: setting(
    'HERALD_SES_TOPICS',
    list,
    [] as string[],
    'SNS topics (ARN) whose news about messages is believed, separated by commas.',
    { shown: 'none' },
  ),
  sesConnections: setting(
    'HERALD_SES_CONNECTIONS',
    whole(1, 200),
    20,
    'Connections to Amazon SES held by one process; a quarter of them is kept for urgent messages.',
  ),
  sesPerSecond: setting<number | null>(
    'HERALD_SES_PER_SECOND',
    whole(1, 100_000),
    null,
    'Messages a second that Amazon SES allows this account.',
    { shown: 'no limit' },
  ),
} satisfies Record<string, Setting<unknown>>

export type Config = { -readonly [K in keyof typeof settings]: (typeof settings)[K]['fallback'] }

/** Every problem at once, in plain words, so that a wrong start is mended in one go. */
export class ConfigProblems extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`Herald cannot start with these settings:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** The environment and the settings file. What stands in the environment decides. */
export function readSettings(
  warn: (sentence: string) => void,
  { env = process.env, part, places }: { env?: NodeJS.ProcessEnv; part?: Part; places?: readonly string[] } = {},
): Config {
  const file = readEnvFile(env.HERALD_ENV_FILE, places)
  if (file === null) return readConfig(env, part)
  const isSet = (name: string) => Boolean(env[name] || env[`${name}_FILE`])
  const ours = file.lines.filter(({ name }) => name.startsWith('HERALD_') || baseOf(name) === 'DATABASE_URL')
  const used = ours.filter(({ name }) => !isSet(baseOf(name)))
  if (file.isOpen && ours.some(({ name }) => secretNames.has(name)))
    warn(`${file.path} holds secrets, and every user of this machine may read it: chmod o-r ${file.path}`)
  const config = readConfig({ ...env, ...Object.fromEntries(used.map(({ name, value }) => [name, value])) }, part, {
    where: new Map(used.map(({ name, line }) => [name, `${file.path} line ${line}`])),
    problems: file.problems,
  })
  return { ...config, envFile: file.path }
}

type Source = { where: ReadonlyMap<string, string>; problems: readonly string[] }
const ENVIRONMENT: Source = { where: new Map(), problems: [] }

/**
 * Settings from variables alone. `part`: what is about to be started, for what only a start must be told; commands go without.
 * `source`: where variables that are not of the environment stand.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env, part?: Part, source = ENVIRONMENT): Config {
  const problems = [...source.problems]
  const told: Tell = (name, sentence) => {
    const where = source.where.get(name) ?? source.where.get(`${name}_FILE`)
    problems.push(where ? `${where}: ${sentence}` : sentence)
  }
  const config: Record<string, unknown> = {}
  const isSet = (name: string) => Boolean(env[name] || env[`${name}_FILE`])
  for (const [key, { name, read, fallback }] of Object.entries(settings) as [string, Setting<unknown>][]) {
    const given = value(env, name, told)
    const result = given === undefined ? fallback : read(given)
    config[key] = isProblem(result) ? fallback : result
    if (isProblem(result)) told(name, `${name} ${result.problem}`)
  }
  for (const name of Object.keys(env))
    if (name.startsWith('HERALD_') && !known.has(baseOf(name)))
      told(name, `${name} is not a setting of Herald; ${hint(name)}`)
  const read = config as Config
  read.emailProviders = providersOf('email', read.emailProviders, isSet, told)
  read.textProviders = providersOf('sms', read.textProviders, isSet, told)
  problems.push(...combinationProblems(read))
  if (part) problems.push(...captureProblems(read, part))
  if (problems.length > 0) throw new ConfigProblems(problems)
  return read
}

type Tell = (name: string, sentence: string) => void

function hint(name: string): string {
  const plain = (text: string) => text.replace(/^HERALD_/, '')
  const near = nearest([...known].map(plain), plain(baseOf(name)))
  return near === undefined ? 'docs/settings.md lists them all' : `did you mean HERALD_${near}?`
}

/** Settings that are fine one by one and do not fit together. */
function combinationProblems(config: Config): string[] {
  const { scanner, clamdUrl, fileStore, s3Url, s3Bucket, s3Key, s3Secret } = config
  const rows: [isWrong: boolean, problem: string][] = [
    [scanner === 'clamd' && clamdUrl === null, 'HERALD_SCANNER is clamd, but HERALD_CLAMD_URL is not set'],
    [
      fileStore === 's3' && !(s3Url && s3Bucket && s3Key && s3Secret),
      'HERALD_FILE_STORE is s3, but HERALD_S3_URL, HERALD_S3_BUCKET, HERALD_S3_KEY and HERALD_S3_SECRET are not all set',
    ],
    [
      config.sesRegion !== null && !(config.sesUser && config.sesPassword),
      'HERALD_SES_REGION is set, but HERALD_SES_USER and HERALD_SES_PASSWORD are not both set',
    ],
  ]
  const providers = [() => smppSettings(config), () => twilioSettings(config), () => httpSmsSettings(config)]
  return [...rows.filter(([isWrong]) => isWrong).map(([, problem]) => problem), ...providers.flatMap(sentenceOf)]
}

/** The adapters tell what is wrong with their settings by throwing. */
function sentenceOf(read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Providers that are named must be configured; without names, those that are configured are used. */
function providersOf(
  channel: keyof typeof PROVIDERS,
  named: string[],
  isSet: (setting: string) => boolean,
  told: Tell,
): string[] {
  const list = channel === 'email' ? 'HERALD_EMAIL_PROVIDERS' : 'HERALD_TEXT_PROVIDERS'
  const all = Object.entries<string>(PROVIDERS[channel])
  if (isSet(list)) {
    for (const [name, setting] of all)
      if (named.includes(name) && !isSet(setting)) told(list, `${list} names ${name}, but ${setting} is not set`)
    return named
  }
  const configured = all.filter(([, setting]) => isSet(setting)).map(([name]) => name)
  return configured.length > 0 ? configured : [CAPTURE]
}

const known = new Set<string>(Object.values(settings).map(setting => setting.name))
const secretNames = new Set(Object.values(settings).flatMap(setting => ('secret' in setting ? [setting.name] : [])))

/** The setting that a variable gives: HERALD_SECRET_FILE gives HERALD_SECRET. */
const baseOf = (name: string) => (known.has(name) ? name : name.replace(/_FILE$/, ''))

/** What docs/settings.md shows. */
export const settingsTable = () =>
  Object.values(settings).map(({ name, shown, sentence, ...rest }) => ({
    name,
    shown,
    sentence,
    secret: 'secret' in rest,
  }))

function value(env: NodeJS.ProcessEnv, name: string, told: Tell): string | undefined {
  const direct = env[name]
  const file = env[`${name}_FILE`]
  if (direct && file) told(name, `${name} and ${name}_FILE are both set; keep one`)
  if (direct) return direct
  if (!file) return undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    told(name, `${name}_FILE names ${file}, which cannot be read`)
    return undefined
  }
}

const isProblem = (result: unknown): result is Problem =>
  typeof result === 'object' && result !== null && 'problem' in result

function text(given: string) {
  return given
}
function folder(given: string) {
  return isAbsolute(given) ? given : resolve(given)
}
function flag(given: string): boolean | Problem {
  if (/^(1|true|yes|on)$/i.test(given)) return true
  if (/^(0|false|no|off)$/i.test(given)) return false
  return { problem: `is "${given}"; it must be true or false` }
}
function whole(from: number, to: number): Reader<number> {
  return given => {
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
    return number >= from && number <= to
      ? number
      : { problem: `is "${given}"; it must be a whole number from ${from} to ${to}` }
  }
}
function list(given: string): string[] {
  return given
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}
function providerNames(known: Readonly<Record<string, string>>): Reader<string[]> {
  const names = [...Object.keys(known), CAPTURE, NONE]
  return given => {
    const all = list(given)
    if (all.length === 0) return { problem: 'names no provider' }
    const wrong = all.find(name => !names.includes(name))
    if (wrong !== undefined) return { problem: `names "${wrong}"; there are ${names.join(', ')}` }
    if (new Set(all).size < all.length) return { problem: 'names a provider twice' }
    return all.includes(NONE) && all.length > 1 ? { problem: `names ${NONE}, which stands alone` } : all
  }
}
function crashPoints(given: string): CrashPoint[] | Problem {
  return (
    readCrashPoints(given) ?? {
      problem: `is "${given}"; it must be like before-record=kill:0.01, with one of ${CRASH_POINTS.join(', ')}`,
    }
  )
}
function word(given: string): string | Problem {
  return /^[a-z][a-z0-9]{1,19}$/.test(given)
    ? given
    : { problem: `is "${given}"; it must be 2 to 20 small letters and digits, starting with a letter` }
}
function domain(given: string): string | Problem {
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(given)
    ? given
    : { problem: `is "${given}"; it must be a domain name in small letters, like mail.example.org` }
}
function country(given: string): string | Problem {
  return isCountry(given) ? given : { problem: `is "${given}"; it must be a country like CA or FR` }
}
function oneOf<const T extends string>(...choices: T[]): Reader<T> {
  return given =>
    choices.find(choice => choice === given) ?? { problem: `is "${given}"; it must be one of ${choices.join(', ')}` }
}
// No comma, or it could not be listed among the old ones later.
function secret(given: string): string | Problem {
  if (given.length < 32) return { problem: `is too short: ${given.length} characters, at least 32 are needed` }
  return given.includes(',') ? { problem: 'must not contain a comma' } : given
}
function secrets(given: string): string[] | Problem {
  const all = list(given)
  const short = all.find(one => one.length < 32)
  return short === undefined
    ? all
    : { problem: `holds one that is too short: ${short.length} characters, at least 32 are needed` }
}
function webAddress(given: string): string | Problem {
  const wrong = {
    problem: `is "${given}"; it must be an address like https://notify.example.org, without a path at the end`,
  }
  if (!URL.canParse(given)) return wrong
  const url = new URL(given)
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) return wrong
  return given.replace(/\/+$/, '')
}
function clamdUrl(given: string): string | Problem {
  const isPath = /^unix:(\/\/)?\/[^\0]+$/.test(given)
  const isHost = /^tcp:\/\/[^/@?#]+$/.test(given) && URL.canParse(given)
  return isPath || isHost ? given : { problem: `is "${given}"; it must be tcp://host:3310 or unix:/path/of/the/socket` }
}
function postgresUrl(given: string): string | Problem {
  return /^postgres(ql)?:\/\//.test(given)
    ? given
    : { problem: 'must be an address like postgresql://user:password@host:5432/database' }
}
function label(given: string): string | Problem {
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/.test(given)
    ? given
    : { problem: `is "${given}"; it must be letters, digits, hyphens, dots and underscores` }
}
function pem(kind: string): Reader<string> {
  return given => {
    // One line with \n written out is how some platforms hand over a file.
    const whole = given.replaceAll('\\n', '\n')
    return new RegExp(`^-----BEGIN [A-Z ]*${kind}-----\\s[^]*-----END [A-Z ]*${kind}-----\\s*$`).test(whole)
      ? whole
      : { problem: `must be PEM text that begins with -----BEGIN ${kind}-----` }
  }
}
function smtpUrl(given: string): string | Problem {
  const wrong = { problem: 'must be an address like smtp://user:password@host:587 or smtps://user:password@host:465' }
  if (!/^smtps?:\/\/[^/?#]+\/?$/.test(given) || !URL.canParse(given)) return wrong
  try {
    const { hostname, username, password } = new URL(given)
    decodeURIComponent(username + password)
    return hostname === '' ? wrong : given
  } catch {
    return { problem: 'has a user or password with a % that must be written %25' }
  }
}
