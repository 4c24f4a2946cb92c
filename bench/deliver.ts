// Accepted and delivered at the same time by one process: 64 callers, every message handed to a mail server.
// npm run bench -- deliver [--seconds 4] [--repeats 3] [--profile FOLDER]
import { acceptAndDeliver, warmUp } from './support/delivering.ts'
import { createEnvironment } from './support/environment.ts'
import { mailYardstick, source, startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'

const { seconds, repeats, profile } = sizes({ seconds: 4, repeats: 3 }, { seconds: 0.5, repeats: 1 })

const environment = await createEnvironment()
const mail = await startMail()
const running = await environment.start({ mail: mail.port, profile })
try {
  await warmUp(environment, mail, [running])
  const rounds = []
  for (let round = 0; round < repeats; round++) {
    await environment.settle()
    const yardstick = await mailYardstick(mail, seconds * 5_000)
    const mixed = await acceptAndDeliver(environment, mail, [running], seconds)
    // Both ends of the mix, shorter.
    const latin = await acceptAndDeliver(environment, mail, [running], seconds / 2, 'latin')
    const scripts = await acceptAndDeliver(environment, mail, [running], seconds / 2, 'scripts')
    rounds.push({ yardstick, ...mixed, latin: latin.delivered, scripts: scripts.delivered })
  }
  const yardstick = of(rounds, 'yardstick')
  table(
    [`at the same time, to ${mail.name}`, '/s', '× yardstick', 'node µs', 'pg µs'],
    [
      ['accepted', of(rounds, 'accepted'), of(rounds, 'accepted') / yardstick, '', ''],
      [
        'delivered, to the last one',
        of(rounds, 'delivered'),
        of(rounds, 'delivered') / yardstick,
        of(rounds, 'nodeMicros'),
        of(rounds, 'databaseMicros'),
      ],
      ['delivered, Latin values', of(rounds, 'latin'), of(rounds, 'latin') / yardstick, '', ''],
      ['delivered, other scripts', of(rounds, 'scripts'), of(rounds, 'scripts') / yardstick, '', ''],
      [`${source()} to the same mail server`, yardstick, 1, '', ''],
    ],
  )
  print([
    figure('deliver_accepted', of(rounds, 'accepted'), '/s', yardstick),
    figure('deliver_delivered', of(rounds, 'delivered'), '/s', yardstick),
    figure('deliver_scripts_over_latin', of(rounds, 'scripts'), '/s', of(rounds, 'latin')),
    figure('deliver_cpu_service', of(rounds, 'nodeMicros'), 'µs', 1e6 / yardstick),
    figure('deliver_cpu_database', of(rounds, 'databaseMicros'), 'µs', 1e6 / yardstick),
  ])
} finally {
  await running.stop()
  mail.stop()
  await environment.stop()
}
