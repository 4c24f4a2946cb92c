// The same load, accepted and delivered, by one process and by three: two for HTTP and one engine, on one database.
// npm run bench -- processes [--seconds 3] [--repeats 3]
import { acceptAndDeliver, type Delivered, warmUp } from './support/delivering.ts'
import { createEnvironment, type StartOptions } from './support/environment.ts'
import { startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, median, print, table } from './support/report.ts'

const { seconds, repeats } = sizes({ seconds: 3, repeats: 3 }, { seconds: 0.5, repeats: 1 })

const environment = await createEnvironment()
const mail = await startMail()
try {
  const whole: StartOptions = { mail: mail.port }
  const split: StartOptions[] = [
    { only: 'http', mail: mail.port },
    { only: 'http', mail: mail.port },
    { only: 'engine', mail: mail.port },
  ]
  const one: Delivered[] = []
  const three: Delivered[] = []
  // Alternating, so that a slow phase of the machine affects both.
  for (let round = 0; round < repeats; round++) {
    one.push(await runWith([whole]))
    three.push(await runWith(split))
  }
  const row = (name: string, rounds: Delivered[]) => [
    name,
    of(rounds, 'accepted'),
    of(rounds, 'delivered'),
    of(rounds, 'nodeMicros'),
    of(rounds, 'databaseMicros'),
  ]
  table(
    [`to ${mail.name}`, 'accepted/s', 'delivered/s', 'node µs', 'pg µs'],
    [row('one process', one), row('two for HTTP, one engine', three)],
  )
  // Round by round: both figures of a round were measured under the same conditions.
  const beside = (what: 'accepted' | 'delivered') =>
    median(three.map((round, at) => round[what] / (one[at]?.[what] ?? Number.NaN)))
  print([
    figure('processes_accepted', of(three, 'accepted'), '/s', of(one, 'accepted'), beside('accepted')),
    figure('processes_delivered', of(three, 'delivered'), '/s', of(one, 'delivered'), beside('delivered')),
  ])
} finally {
  mail.stop()
  await environment.stop()
}

async function runWith(options: readonly StartOptions[]): Promise<Delivered> {
  const running = await Promise.all(options.map(environment.start))
  try {
    await warmUp(environment, mail, running)
    await environment.settle()
    return await acceptAndDeliver(environment, mail, running, seconds)
  } finally {
    await Promise.all(running.map(one => one.stop()))
  }
}
