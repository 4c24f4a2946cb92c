// Strangers ask for sign-in links without pause, five times for each person here and then for any addresses, while these people sign
// in: with a browser in which they have signed in before, with a new one, and to confirm that it is them.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { inboxToken } from '../../src/inbox/link.ts'
import { MAIL_LANE } from '../../src/mails/mail.ts'
import { printLink } from '../../src/people/links.ts'
import { MOST_TRIES } from '../../src/people/tries.ts'
import { addUser } from '../../src/services/people.ts'
import { request } from '../../test/console/support/session.ts'
import { type Visitor, visitor } from '../../test/console/support/visitor.ts'
import type { Sender } from '../support/client.ts'
import { type Environment, OPERATOR, type Scenario } from '../support/environment.ts'
import { type Block, type Verdict, verdict } from '../support/promise.ts'

/** The mails are captured, because the people read them. */
const ENV = {
  ...{ HERALD_CAPTURE: '1', HERALD_EMAIL_PROVIDERS: '', HERALD_SMTP_URL: '', HERALD_SMTP_TLS: '' },
  HERALD_TRUSTED_PROXIES: '127.0.0.1',
}
const CONNECTIONS = 8
/** How many requests strangers have sent when the people come: more than the limit of the installation. */
const BEFORE = MOST_TRIES.installation + 50
const REQUESTS_EACH = 5
const PEOPLE_EACH_WAY = 2
const GIVE_UP_MS = 15_000
/** In 15 minutes: three immediately, one in five minutes, and the person's own. */
const MOST_MAILS = MOST_TRIES.address + 3 + 1

type Way = 'known browser' | 'new browser' | 'signed in'
type Case = { id: string; promise: string; networks: number; bound: string; ways: readonly Way[] }

const CASES: readonly Case[] = [
  {
    id: 'N8',
    promise: 'strangers in one network ask for sign-in links, also for the addresses of the people here',
    networks: 1,
    bound: 'everyone elsewhere signs in; at most 6 mails per address in 15 minutes',
    ways: ['known browser', 'new browser', 'signed in'],
  },
  {
    id: 'N8b',
    promise: 'strangers in 40 networks do',
    networks: 40,
    bound: 'everyone with a known browser signs in, and everyone who is signed in confirms',
    ways: ['known browser', 'signed in'],
  },
]

export const strangersAtSignIn: Block = {
  name: 'strangers at sign-in',
  async run(environment) {
    const verdicts: Verdict[] = []
    for (const one of CASES) verdicts.push(await tried(environment, one))
    return verdicts
  },
}

async function tried(environment: Environment, one: Case): Promise<Verdict> {
  await environment.store.db.sql`delete from sign_in_tries`
  const result = await environment.scenario({ apps: 1, services: 1, env: ENV }, async scenario => {
    const address = scenario.apps[0]?.address ?? ''
    const wanted = one.ways.flatMap(way => Array<Way>(PEOPLE_EACH_WAY).fill(way))
    const people = await Promise.all(wanted.map((way, at) => person(environment, scenario, way, at)))
    const hostile = attack(address, one.networks, people)
    try {
      for (const until = performance.now() + 4 * GIVE_UP_MS; hostile.answered() < BEFORE; await sleep(20))
        if (performance.now() > until) throw new Error(`strangers got only ${hostile.answered()} answers`)
      // All ask before anyone's mail is sent early: a request that joins a mail would come after it.
      const asked = await Promise.all(people.map(each => asks(environment, address, each)))
      const took = await Promise.all(asked.map(one => one && signsIn(environment, address, one)))
      const mails = await mailsIn(environment, address)
      const most = Math.max(...people.map(({ email }) => mails.filter(({ to }) => to === email).length))
      return { took, most, statuses: hostile.statuses() }
    } finally {
      await hostile.stop()
    }
  })
  // A mail that answers several requests waits up to five minutes: the next block would send it to its mail server.
  await environment.store.db.sql`delete from tickets where lane = ${MAIL_LANE}`
  await environment.store.db.sql`delete from mails`
  const signedIn = result.took.filter(ms => ms !== null)
  return verdict(
    one.id,
    one.promise,
    one.bound,
    `${signedIn.length} of ${result.took.length} signed in, the slowest in ${Math.max(0, ...signedIn).toFixed(0)} ms; ${result.most} mails to one address at most; strangers were answered ${result.statuses}`,
    {
      'everyone signs in': signedIn.length === result.took.length,
      'mails to one address are bounded': result.most <= MOST_MAILS,
    },
    result.violations,
  )
}

type Honest = { way: Way; email: string; browser: Visitor }

async function person({ store }: Environment, scenario: Scenario, way: Way, at: number): Promise<Honest> {
  const [{ service }] = scenario.senders as [Sender]
  const email = `${randomUUID()}@example.org`
  await addUser(store, OPERATOR, service, { name: `Person ${at}`, email_address: email })
  const browser = visitor(scenario.apps[0]?.address ?? '', `198.51.100.${at}`)
  if (way === 'new browser') return { way, email, browser }
  const { path } = await printLink(store, OPERATOR, email)
  await browser.open(path)
  await browser.send(path, {})
  await browser.open('/account')
  if (way === 'known browser') await browser.send('/sign-out', {})
  return { way, email, browser }
}

type Asked = Honest & { since: number; before: readonly string[] }

/** Null: the request was refused. */
async function asks(environment: Environment, address: string, honest: Honest): Promise<Asked | null> {
  const { way, email, browser } = honest
  const since = performance.now()
  const before = await linksOf(environment, address, email)
  const { status } =
    way === 'signed in' ? await browser.send('/sign-in/confirm', { return: '/' }) : await browser.ask(email)
  return status === 303 ? { ...honest, since, before } : null
}

const linksOf = async (environment: Environment, address: string, email: string) =>
  (await mailsIn(environment, address)).filter(({ to }) => to === email).map(({ link }) => link)

/** Resolves to how long it took, or to null for someone who could not sign in. */
async function signsIn(environment: Environment, address: string, { email, browser, since, before }: Asked) {
  const { store } = environment
  while (performance.now() - since < GIVE_UP_MS) {
    // A new browser waits up to five minutes for a mail that answers several requests: it is sent now, so that the run is short.
    await store.db.sql`
      update tickets set due_at = now() where lane = ${MAIL_LANE} and due_at > now() + interval '10 seconds'`
    const links = await linksOf(environment, address, email)
    for (const link of links.filter(one => !before.includes(one))) {
      if ((await browser.open(link)).status !== 200) continue // a stranger asked for it
      await browser.send(link, {})
      return (await browser.open('/account')).status === 200 ? performance.now() - since : null
    }
    await sleep(50)
  }
  return null
}

async function mailsIn({ store }: Environment, address: string): Promise<{ to: string; link: string }[]> {
  const reply = await fetch(`${address}/inbox?token=${inboxToken(store)}`)
  const { messages } = (await reply.json()) as { messages: { to: string; text: string }[] }
  return messages.flatMap(({ to, text }) => {
    const link = /\/sign-in\/link\/\S+/.exec(text)?.[0]
    return link ? [{ to, link }] : []
  })
}

/** Each request is from a browser of its own. */
function attack(address: string, networks: number, people: readonly Honest[]) {
  const statuses: Record<number, number> = {}
  let sent = 0
  let isOver = false
  const one = async () => {
    while (!isOver) {
      const at = sent++
      const email = at < REQUESTS_EACH * people.length ? people[at % people.length]?.email : undefined
      const network = networks === 1 ? '203.0.113.66' : `2001:db8:0:${(at % networks).toString(16)}::1`
      const { status } = await request(address, null, '/sign-in', {
        form: { email: email ?? `${randomUUID()}@example.org` },
        headers: { 'x-forwarded-for': network },
      })
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  const all = Array.from({ length: CONNECTIONS }, one)
  return {
    answered: () => Object.values(statuses).reduce((sum, times) => sum + times, 0),
    statuses: () =>
      Object.entries(statuses)
        .map(([status, times]) => `${times} × ${status}`)
        .join(', '),
    async stop() {
      isOver = true
      await Promise.all(all)
    },
  }
}
