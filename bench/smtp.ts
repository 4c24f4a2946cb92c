// The SMTP client alone: rendered, composed and sent from this process to mail servers with and without CHUNKING, without a database.
// npm run bench -- smtp [--messages 30000] [--connections 10] [--repeats 5]
import { createClock } from '../src/core/clock.ts'
import { createIds } from '../src/core/id.ts'
import type { EmailMessage, EmailProvider } from '../src/providers/port.ts'
import { createSmtp } from '../src/providers/smtp/send.ts'
import { smtpSettings } from '../src/providers/smtp/settings.ts'
import { compileEmail } from '../src/rendering/compile.ts'
import { now } from './support/clock.ts'
import { EMAIL } from './support/environment.ts'
import { type Mail, mailYardstick, source, startMail, startOwnMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'
import { personalisation } from './support/values.ts'

const { messages, connections, repeats } = sizes(
  { messages: 30_000, connections: 10, repeats: 5 },
  { messages: 1_000, repeats: 1 },
)
/** So many wait at the same time, as the engine's lanes let them. */
const AT_ONCE = 100

const clock = createClock()
const ids = createIds(clock)
const template = compileEmail({ subject: 'Your appointment on ((date))', content: EMAIL })

const sink = await startMail()
const own = { data: await startOwnMail(), chunks: await startOwnMail(undefined, { chunking: true }) }
const clients = { sink: clientOf(sink), data: clientOf(own.data), chunks: clientOf(own.chunks) }
try {
  for (const client of Object.values(clients)) await round(client)
  const rounds = []
  for (let n = 0; n < repeats; n++) {
    const yardstick = await mailYardstick(sink, messages)
    const sent = await round(clients.sink)
    const data = await round(clients.data)
    const chunks = await round(clients.chunks)
    rounds.push({
      ...{ yardstick, perSecond: sent.perSecond, micros: sent.micros },
      ...{ dataPerSecond: data.perSecond, dataMicros: data.micros },
      ...{ chunksPerSecond: chunks.perSecond, chunksMicros: chunks.micros },
    })
  }
  const yardstick = of(rounds, 'yardstick')
  table(
    [`${connections} connections`, '/s', '× yardstick', 'node µs'],
    [
      [`to ${sink.name}`, of(rounds, 'perSecond'), of(rounds, 'perSecond') / yardstick, of(rounds, 'micros')],
      [`${source()} to the same mail server`, yardstick, 1, ''],
      ['to a mail server of our own, with DATA', of(rounds, 'dataPerSecond'), '', of(rounds, 'dataMicros')],
      ['the same with BDAT', of(rounds, 'chunksPerSecond'), '', of(rounds, 'chunksMicros')],
    ],
  )
  print([
    figure('smtp_sent', of(rounds, 'perSecond'), '/s', yardstick),
    figure('smtp_cpu', of(rounds, 'micros'), 'µs', 1e6 / yardstick),
    figure('smtp_chunks_cpu', of(rounds, 'chunksMicros'), 'µs', of(rounds, 'dataMicros')),
  ])
} finally {
  await Promise.all(Object.values(clients).map(client => client.stop()))
  for (const mail of [sink, own.data, own.chunks]) mail.stop()
}

function clientOf(mail: Mail): EmailProvider {
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
  return createSmtp(settings, { accept: async () => {}, now: clock.now, warn: () => {} })
}

async function round(smtp: EmailProvider): Promise<{ perSecond: number; micros: number }> {
  let begun = 0
  const before = process.cpuUsage()
  const from = now()
  const work = async () => {
    while (begun < messages) {
      begun += 1
      const outcome = await smtp.send(message(begun))
      if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const perSecond = (messages / (now() - from)) * 1000
  const { user, system } = process.cpuUsage(before)
  return { perSecond, micros: (user + system) / messages }
}

function message(n: number): EmailMessage {
  const id = ids.next()
  return {
    id,
    messageId: `<${id}@herald.example>`,
    from: { name: 'Permits', address: 'permits@herald.example' },
    replyTo: null,
    to: `person.${n}@example.org`,
    ...template.renderInPieces(personalisation(n)),
    attachments: [],
  }
}
