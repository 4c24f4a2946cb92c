// What a benchmark of sending needs: an environment, a mail server, and a process of the service that sends to it.
import { createEnvironment, type Environment, type Running } from './environment.ts'
import { type Mail, startMail } from './mail.ts'

/** Starts everything, runs the benchmark, and stops everything, also when the benchmark fails. */
export async function withMail(
  profile: string | undefined,
  bench: (environment: Environment, running: Running, mail: Mail) => Promise<void>,
): Promise<void> {
  const environment = await createEnvironment()
  const mail = await startMail()
  const running = await environment.start({ mail: mail.port, profile })
  try {
    await bench(environment, running, mail)
  } finally {
    await running.stop()
    mail.stop()
    await environment.stop()
  }
}
