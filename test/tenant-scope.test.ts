// Every statement on a table with a service_id names the service (S-04). A statement that does not is listed here with the reason.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { declarationsIn } from './support/declarations.ts'
import { tablesIn } from './support/tables.ts'

const UNSCOPED: Readonly<Record<string, readonly string[]>> = {
  'The engine: messages, tickets, files and chunks that a process has leased, of all services.': [
    'bulk/sql/cancel.ts stop',
    'bulk/sql/spread.ts loadChunks',
    'bulk/sql/spread.ts spread',
    'bulk/sql/spread.ts stall',
    'files/sql.ts filesOfMessages',
    'files/sql.ts judged',
    'notifications/sql/apply.ts currentStates',
    'notifications/sql/apply.ts move',
    'notifications/sql/captured.ts rowsForInbox',
    'notifications/sql/captured.ts capturedContents',
    'notifications/sql/record.ts due',
    'notifications/sql/record.ts markUncertain',
    'notifications/sql/record.ts wasTried',
    'notifications/sql/record.ts markHandingOver',
    'notifications/sql/record.ts handingOver',
    'notifications/sql/record.ts record',
    'notifications/sql/scan.ts waitingForScan',
    'notifications/sql/scan.ts recordVerdicts',
    'queue/tickets.ts stillLeased',
    'queue/tickets.ts takenBefore',
    'queue/tickets.ts withdrawn',
    'queue/tickets.ts unqueued',
    'queue/tickets.ts leasedSubjects',
    'sheets/sql.ts readDone',
    'webhooks/sql/deliver.ts withTickets',
    'webhooks/sql/deliver.ts recordTurns',
    'webhooks/sql/positions.ts highestStamp',
    'webhooks/sql/watch.ts given',
    'webhooks/sql/watch.ts giveTicketsToAll',
  ],
  'Maintenance: purges, sealing again and recounting, for the whole installation.': [
    'bulk/sql/spread.ts purgeChunks',
    'events/sql/purge.ts remove',
    'files/sql.ts dropOf',
    'files/sql.ts dueForLook',
    'files/sql.ts lookAgain',
    'files/sql.ts lookSoon',
    'files/sql.ts lookNoMore',
    'files/sql.ts markEmptied',
    'files/sql.ts filesBefore',
    'files/sql.ts drop',
    'inbox/sql.ts purge',
    'keys/sql.ts keysSealedBefore',
    'keys/sql.ts unreadableKeys',
    'notifications/sql/unreadable.ts unreadableMessages',
    'webhooks/sql/manage.ts unreadableWebhooks',
    'keys/sql.ts resealKey',
    'limits/sql/usage.ts counters',
    'notifications/sql/expire.ts giveUp',
    'notifications/sql/expire.ts remove',
    'notifications/sql/read.ts statusOf',
    'notifications/sql/recount.ts messagesOf',
    'notifications/sql/recount.ts miscounted',
    'notifications/sql/recount.ts recountDay',
    'people/sql/purge.ts AGED',
    'people/sql/purge.ts purgeSignIns',
    'requests/sql.ts purge',
    'sheets/sql.ts purge',
    'templates/sql/samples.ts samplesSealedBefore',
    'templates/sql/samples.ts resealSamples',
    'webhooks/sql/manage.ts webhooksSealedBefore',
    'webhooks/sql/manage.ts resealWebhook',
  ],
  'Figures and searches of the operator, and commands on the machine.': [
    'bulk/sql/read.ts between',
    'inbox/sql.ts page',
    'live-requests/sql.ts open',
    'notifications/sql/read.ts history',
    'queue/figures.ts laneFigures',
    'queue/figures.ts waitingSubjects',
    'queue/figures.ts ticketFigures',
    'queue/release.ts releaseSince',
    'queue/release.ts releaseAll',
    'queue/release.ts endHold',
    'queue/release.ts keptTickets',
    'queue/release.ts purgeKept',
    'templates/sql.ts serviceOfTemplate',
    'templates/sql.ts templatesBetween',
    'webhooks/sql/manage.ts webhooksStartingWith',
    'webhooks/sql/troubled.ts troubled',
    'webhooks/sql/watch.ts figures',
  ],
  'A secret is the proof: the row is found by the digest of a key or of a token.': [
    'files/sql.ts findByToken',
    'keys/sql.ts byDigest',
    'keys/sql.ts markUsed',
    'people/sql/invitations.ts findByToken',
    'people/sql/invitations.ts take',
    'services/sql/origins.ts askedReplyTo',
  ],
  'A person belongs to several services: by the person.': [
    'people/sql/invitations.ts isInvited',
    'people/sql/invitations.ts isExpected',
    'people/sql/invitations.ts endWhere',
    'people/sql/invitations.ts endUnbacked',
    'people/sql/invitations.ts endInvitationsOf',
    'services/sql.ts membershipsOf',
    'services/sql.ts servicesOf',
    'services/sql.ts belongsSomewhere',
    'services/sql.ts memberNames',
    'services/sql.ts belongsBeside',
    'services/sql.ts removeEverywhere',
    'services/sql/members.ts renameMember',
    'services/sql/members.ts readdressMember',
  ],
  'Mails of Herald itself, which belong to no service.': ['inbox/sql.ts keep'],
  'Details of rows that a statement of the service has found before, in the same request.': [
    'audit/sql.ts whoDidEach',
    'audit/sql.ts whoDid',
    'bulk/sql/read.ts details',
    'bulk/sql/rows.ts fileOf',
    'bulk/sql/rows.ts repeatsOf',
    'bulk/sql/rows.ts repeat',
    'inbox/sql.ts among',
    'keys/sql.ts namesOf',
    'notifications/sql/cancel.ts isCancelled',
    'notifications/sql/details.ts details',
    'notifications/sql/details.ts wholeDetails',
    'notifications/sql/of-job.ts statesOfRows',
    'people/sql/invitations.ts invitedNames',
    'services/sql/origins.ts originNames',
    'sheets/sql.ts setMatch',
    'sheets/sql.ts setLeftOut',
    'sheets/sql.ts markSent',
    'sheets/sql.ts remove',
    'templates/sql.ts addVersion',
    'templates/sql.ts contents',
    'templates/sql/folders.ts folderNames',
    'templates/sql/names.ts templateNames',
    'webhooks/sql/manage.ts changeWebhook',
    'webhooks/sql/replay.ts addReplay',
    'webhooks/sql/replay.ts addSingle',
    'webhooks/sql/replay.ts retryFailed',
    'webhooks/sql/replay.ts tryNow',
  ],
  'Events by id: the caller compares the service and the type of the key (webhooks/read.ts, feed/read.ts).': [
    'events/sql.ts byId',
  ],
  'Parts of statements: the whole statement names the service, or is listed here.': [
    'queue/tickets.ts ticketOf',
    'bulk/sql/cancel.ts stopped',
    'bulk/sql/cancel.ts forgetStopped',
    'notifications/sql/accept.ts stored',
    'notifications/sql/browse.ts others',
    'notifications/sql/browse.ts hasStatus',
    'notifications/sql/browse.ts isDueLater',
    'notifications/sql/find.ts pageOf',
    'notifications/sql/lines.ts readLines',
    'notifications/sql/read.ts itsState',
    'services/sql/origins.ts origins',
  ],
}

const schema = readFileSync('schema.sql', 'utf8')
const tenantTables = new Set(
  [...schema.matchAll(/^create (?:unlogged )?table (\w+) \((.*?)^\)/gms)]
    .filter(([, , columns]) => /^ {2}service_id /m.test(columns ?? ''))
    .map(([, name]) => name ?? ''),
)

/** The service is compared, or written with a new row. */
const NAMES_SERVICE =
  /\bservice_id\s*(?:=|in\b|is not distinct from)|\binsert into\s+(?:\w+|\$\{[^}]*\})\s*\([^)]*\bservice_id\b/
/** A service that is null would mean all services. */
const NULL_IS_ANY = /is null or (?:\w+\.)?service_id\b|\bservice_id\s*=\s*coalesce\(/

const statements = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => /(?<!\.test)\.ts$/.test(file))
  .filter(file => /\/sql(\.ts|\/[^/]+\.ts)$/.test(file) || /^(db|queue|engine)\//.test(file))
  .flatMap(file =>
    declarationsIn(readFileSync(`src/${file}`, 'utf8'))
      .filter(({ text }) => tablesIn(text, tenantTables).length > 0)
      .map(({ name, text }) => ({ name: `${file} ${name}`, text })),
  )

describe("statements on a tenant's table", () => {
  test('are found', () => {
    expect(tenantTables.size).toBeGreaterThan(20)
    for (const table of ['notifications', 'states', 'templates', 'keys']) expect(tenantTables).toContain(table)
    expect(statements.length).toBeGreaterThan(250)
  })

  test('name the service, or are listed with a reason', () => {
    const unscoped = statements.filter(({ text }) => !NAMES_SERVICE.test(text)).map(({ name }) => name)
    expect([...new Set(unscoped)].sort()).toEqual(Object.values(UNSCOPED).flat().sort())
  })

  test('never take a missing service for any service', () => {
    expect(statements.filter(({ text }) => NULL_IS_ANY.test(text)).map(({ name }) => name)).toEqual([])
  })

  test('a statement has the parts of its file that it uses, and nothing else', () => {
    const found = declarationsIn(`const scope = id => part\`service_id = \${id}\`
/** from keys */
export const a = sql\`select 1 from keys where \${scope(1)}\`
const b = sql\`select service_id from keys\``)
    expect(found.map(({ name, text }) => [name, NAMES_SERVICE.test(text)])).toEqual([
      ['scope', true],
      ['a', true],
      ['b', false],
    ])
    expect(NULL_IS_ANY.test('($1::uuid is null or k.service_id = $1)')).toBe(true)
  })
})
