// The SMTP client alone: composed messages of the usual size from this process to a mail server, without a database.
// npm run bench -- smtp [--messages 30000] [--connections 10] [--repeats 5]
import { createClock } from '../src/core/clock.ts'
import { createIds } from '../src/core/id.ts'
import { createSmtp } from '../src/providers/smtp/send.ts'
import { smtpSettings } from '../src/providers/smtp/settings.ts'
import { now } from './support/clock.ts'
import { mailYardstick, source, startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'

const { messages, connections, repeats } = sizes(
  { messages: 30_000, connections: 10, repeats: 5 },
  { messages: 1_000, repeats: 1 },
)
/** So many wait at the same time, as the engine's lanes let them. */
const AT_ONCE = 100

const clock = createClock()
const ids = createIds(clock)
const text = 'Please bring your letter and a proof of identity.\r\n'.repeat(30)
const html = `<p>${text.replaceAll('\r\n', '</p>\r\n<p>')}</p>\r\n`

const mail = await startMail()
const settings = smtpSettings(
  {
    smtpUrl: `smtp://127.0.0.1:${mail.port}`,
    smtpTls: null,
    smtpCa: null,
    smtpConnections: connections,
    smtpReplySeconds: 30,
    smtpPerSecond: null,
    dkimDomain: null,
    dkimSelector: null,
    dkimKey: null,
    bounceDomain: null,
    bounceHost: '127.0.0.1',
    bouncePort: 0,
    sendingDomain: 'herald.example',
  },
  ['secret'],
)
if (!settings) throw new Error('there are no settings')
const smtp = createSmtp(settings, { accept: async () => {}, now: clock.now, warn: () => {} })
try {
  await round()
  const rounds = []
  for (let n = 0; n < repeats; n++) rounds.push({ yardstick: await mailYardstick(mail, messages), ...(await round()) })
  const yardstick = of(rounds, 'yardstick')
  table(
    [`to ${mail.name}, ${connections} connections`, '/s', '× yardstick', 'node µs'],
    [
      ['sent', of(rounds, 'perSecond'), of(rounds, 'perSecond') / yardstick, of(rounds, 'micros')],
      [`${source()} to the same mail server`, yardstick, 1, ''],
    ],
  )
  print([
    figure('smtp_sent', of(rounds, 'perSecond'), '/s', yardstick),
    figure('smtp_cpu', of(rounds, 'micros'), 'µs', 1e6 / yardstick),
  ])
} finally {
  await smtp.stop()
  mail.stop()
}

async function round(): Promise<{ perSecond: number; micros: number }> {
  let begun = 0
  const before = process.cpuUsage()
  const from = now()
  const work = async () => {
    while (begun < messages) {
      begun += 1
      const outcome = await smtp.send(message())
      if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const perSecond = (messages / (now() - from)) * 1000
  const { user, system } = process.cpuUsage(before)
  return { perSecond, micros: (user + system) / messages }
}

function message() {
  const id = ids.next()
  return {
    id,
    messageId: `<${id}@herald.example>`,
    from: { name: 'Permits', address: 'permits@herald.example' },
    replyTo: null,
    to: `jo.${id}@example.net`,
    subject: 'Your permit is ready',
    text,
    html,
    attachments: [],
  }
}
