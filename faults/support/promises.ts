// Every promise, in one sentence with its bound. `test` names the test that covers it where that is not a block of this folder;
// `untested` says why there is none. The figures come from the runs (report.ts).
export type Promised = {
  id: string
  sentence: string
  bound: string
  test?: [file: string, title: string]
  untested?: string
}

const of = (id: string, sentence: string, bound: string, more: Partial<Promised> = {}): Promised => ({
  id,
  sentence,
  bound,
  ...more,
})
const by = (file: string, title: string): Partial<Promised> => ({ test: [file, title] })

const NEIGHBOURS = 'accepts and lists of others p95 ≤ 2 × (or + 50 ms), no error, lost 0'
const EXPORTS = [
  'test/console/exports.test.ts',
  'the third export of a person waits on a page that asks again by itself, and then starts',
] as const
const METRICS = ['test/admission.test.ts', 'is rendered once for everyone who asks within a second'] as const
const PAGES = [
  'test/admission.test.ts',
  'have an ETag, by which they are not sent again, and are compressed ahead of time',
] as const

export const CHAPTERS: readonly { title: string; promises: readonly Promised[] }[] = [
  {
    title: 'Nothing accepted is lost',
    promises: [
      of('D1', 'kill -9 of any process, at any moment', 'lost 0'),
      of('D2', 'kill -9 of PostgreSQL under load', 'lost 0, extra 0, processes stay up, accepts again ≤ 3 s'),
      of('D2b', 'the connection to PostgreSQL is reset, slow, silent, half-open', 'lost 0, extra 0, processes stay up'),
      of('D3', 'everything killed together, then started', 'lost 0, first send ≤ 10 s after the start'),
      of(
        'D4',
        'a database without durability is refused',
        'the start fails and says why',
        by('test/journeys/start.test.ts', 'refuses a database without durability, unless a setting allows it'),
      ),
      of('D5', 'the disk is full', '500 in the usual shape, nothing half-written, accepts again ≤ 2 s, lost 0'),
      of(
        'D6',
        'an accepted message can be read at once',
        '0 × 404 in 1,000',
        by(
          'test/spec/4.5-get.test.ts',
          '1.1 read your write: 1,000 times a GET straight after the 201 finds the message',
        ),
      ),
      of('D7', 'the tickets of a crashed worker are taken over', '≤ lease + 5 s'),
      of('D8', 'a message that kills the process or always throws', 'it alone fails, after ≤ 5 takes'),
      of('D9', 'a broker that loses its store', 'lost 0', { untested: 'there is no broker: PostgreSQL is the queue.' }),
    ],
  },
  {
    title: 'Duplicates only after uncertain sends, and counted',
    promises: [
      of('U1', 'after kill -9 only uncertain messages are sent again', '≤ 128 per kill'),
      of('U2', 'no fault, no duplicate, restarts included', '0 extra'),
      of('U3', 'one message has one Message-ID on all attempts', '100 %'),
      of(
        'U4',
        'rows of a bulk job become messages exactly once, whatever is killed',
        'rows = distinct rows = count',
        by(
          'test/bulk.test.ts',
          'U4 kill -9 of engines while 5,000 rows become messages: every row is one message, once',
        ),
      ),
      of('U5', 'one Idempotency-Key, one message', 'stored = answered'),
      of('U6', 'a worker that is frozen for two leases', 'extra ≤ its messages in flight, nothing overwritten'),
    ],
  },
  {
    title: 'Statuses are correct',
    promises: [
      of(
        'O1',
        'only the moves of the interface happen',
        '0 others',
        by('test/status.test.ts', '10,000 random sequences of receipts follow the model'),
      ),
      of('O2', 'receipts in any order, any number of times', 'the same status'),
      of('O3', 'a receipt that arrives before our own commit is not lost', 'all delivered'),
      of('O4', 'provider_response, completed_at and sent_at are set as the interface says', '0 others'),
      of('O5', 'nothing is stuck', '0 overdue messages without a ticket'),
      of(
        'O6',
        'cancelling against sending',
        'exactly one wins',
        by('test/races.test.ts', 'O6 500 times cancel versus due: exactly one wins'),
      ),
      of('O7', 'messages of test keys are delivered and never sent', '0 arrivals'),
    ],
  },
  {
    title: 'Events reach everybody',
    promises: [
      of(
        'E1',
        'kill -9 of processes and database at every step of writing, reading and delivering: statuses and events are the same',
        'each change of status one event, no other',
      ),
      of('E2', 'a reader that follows the feed, killed as well', 'every event once, in the order of the log'),
      of('E3', 'every live endpoint', 'every event at least once, with its id, signed, in order per message'),
      of('E4', 'several processes share the endpoints, no fault', 'every event once at each endpoint'),
      of(
        'E5',
        'endpoints that are paused, answer 410 or refuse single events; resumed and replayed under load',
        'nothing lost, in order per message, replayed with the same ids',
      ),
      of(
        'E6',
        'hostile endpoints: slow, hanging, failing, endless',
        'events of other endpoints p95 ≤ 500 ms, messages p95 ≤ 250 ms, nothing lost',
      ),
      of(
        'E7',
        'hostile endpoints gain nothing: redirects, endless answers, a name that changes to a forbidden address',
        'no redirect followed, no forbidden address connected, answers bounded, every attempt recorded',
      ),
    ],
  },
  {
    title: 'Counts are exact',
    promises: [
      of(
        'H1',
        'hourly counts while processes and the database are killed, receipts arrive and counts are added up',
        'every count = its messages, at any moment',
      ),
    ],
  },
  {
    title: 'Isolation: one load does not delay another',
    promises: [
      of(
        'L1',
        'a bulk job does not delay a one-time code',
        'p95 ≤ 250 ms, p99 ≤ 1 s, max ≤ 2 s',
        by('test/bulk.test.ts', 'L1 a one-time code does not wait for a job of 10,000'),
      ),
      of('L2', 'a million waiting messages do not slow accepting', '≥ 0.85 × the empty service'),
      of(
        'L3',
        'one service does not starve another',
        'a single message ≤ 2 s',
        by(
          'test/bulk.test.ts',
          'L3 a service with 20,000 messages in a lane does not starve another: its single message takes less than 2 s',
        ),
      ),
      of(
        'L4',
        'a bulk job of 50,000 rows is accepted',
        '201 ≤ 5 s, event loop p99 ≤ 50 ms',
        by('test/bulk.test.ts', 'L4 other requests are answered while 10,000 rows are accepted'),
      ),
      of(
        'L5',
        'scheduled messages',
        'never early; 99 % of 200 due together within 2 s; any number: the last within 1 s + 1.2 × a bulk job of the same size',
      ),
      of('L6', 'a list of 250 with 5,000,000 stored', 'p95 ≤ 50 ms'),
      of('L7', 'one service that sends 1,000 a second', 'p95 ≤ 100 ms'),
      of(
        'N1',
        'a hostile tenant lists messages of the largest size',
        'accepts of others p99 ≤ 250 ms, no error, lost 0',
      ),
      of(
        'N1b',
        'a hostile tenant sends a message that would render to 400 MB',
        'accepts of others p99 ≤ 250 ms, no error, lost 0',
      ),
      of(
        'N3',
        'a hostile tenant sends bodies of 67 MB very slowly',
        '400 kB e-mails of others p99 ≤ 2 × (or + 50 ms), no error, lost 0',
      ),
      of('N4', 'a hostile tenant sends 1,500,000 names', 'accepts of others p99 ≤ 250 ms, no error, lost 0'),
      of(
        'N4b',
        'a hostile tenant sends odd phone numbers',
        'accepts of others p99 ≤ 250 ms, bulks ≤ 5 s, no error, lost 0',
      ),
      of(
        'N4c',
        'a hostile tenant sends bulks of 50 MB',
        'accepts of others p99 ≤ 250 ms, bulks ≤ 5 s, no error, lost 0',
      ),
      of(
        'N5',
        'a hostile tenant reads in a loop on 300 connections',
        'accepts of others p95 ≤ 2 × (or + 50 ms), no error, lost 0',
        by(
          'test/spec/22-reads.test.ts',
          '§22.21 reads that hang in the database delay neither sends nor the reads of another service',
        ),
      ),
      of('N6', 'one viewer opens 20 exports of 50,000 messages', NEIGHBOURS, by(...EXPORTS)),
      of('N6b', 'one viewer opens 60 exports of 50,000 messages', NEIGHBOURS, by(...EXPORTS)),
      of('N7', 'someone on this machine opens /metrics on 10 connections', NEIGHBOURS, by(...METRICS)),
      of('N7b', 'anyone opens /openapi.json on 10 connections', NEIGHBOURS, by(...PAGES)),
      of('N7c', 'anyone opens /docs/api on 10 connections', NEIGHBOURS, by(...PAGES)),
      of(
        'N8',
        'strangers in one network ask for sign-in links, also for the addresses of the people here',
        'everyone elsewhere signs in; at most 6 mails per address in 15 minutes',
        by('test/security/sign-in.test.ts', 'from one network lock out nobody in another one'),
      ),
      of(
        'N8b',
        'strangers in 40 networks do',
        'everyone with a known browser signs in, and everyone who is signed in confirms',
        by(
          'test/security/sign-in.test.ts',
          'from many networks lock out neither a known browser nor a person who is signed in',
        ),
      ),
    ],
  },
  {
    title: 'Resources have bounds',
    promises: [
      of('C1', 'large bodies at once', '≤ 600 MB for 100 e-mails with 6 MB of files'),
      of(
        'C2',
        'slow callers (slow loris)',
        'disconnected after 10 s (headers) and 30 s (body)',
        by('test/bodies.test.ts', 'C2 a body that is sent too slowly is cut off, and nothing of it is stored'),
      ),
      of('C3', 'PostgreSQL is frozen', 'every answer ≤ 6 s, alive, recovered ≤ 2 s, lost 0'),
      of(
        'C4',
        'malformed requests',
        '0 × 5xx, every answer in the usual shape',
        by('test/fuzz.test.ts', 'malformed requests: no 5xx, always the envelope, alive afterwards'),
      ),
      of('C5', 'half an hour of mixed load', '≤ 1 MB a minute'),
      of(
        'C6',
        'two million expired rows of each kind are purged under load',
        'all deleted, no maintenance task fails, accept p95 ≤ 250 ms',
      ),
    ],
  },
  {
    title: 'Providers that misbehave',
    promises: [
      of('F1', 'connection refused', 'lost 0, extra 0, attempts unused, ≤ 50 writes/s'),
      of('F2', 'slow answers', 'urgent messages are not delayed'),
      of('F3', 'no answer at all', 'extra ≤ hangs after the data'),
      of('F4', 'disconnected before the end of the data', 'extra 0'),
      of('F5', 'disconnected after the data was accepted', 'extra = disconnects, all marked uncertain'),
      of('F6', 'temporary refusals (4xx, 421, 429, 503)', 'retried later, lost 0'),
      of('F7', 'no such recipient', 'final at once'),
      of('F8', 'garbage answers', 'alive, retried'),
      of(
        'F9',
        'the scanner is down, hangs or answers garbage',
        'nothing is sent unscanned',
        by('test/journeys/files.test.ts', 'S-18, F9, R18 the test virus never arrives'),
      ),
      of('F10', 'forged, repeated and malformed receipts', 'refused, 0 changes'),
      of('F11', 'the connection is reset, slow, silent, half-open', 'lost 0, extra only if uncertain'),
    ],
  },
  {
    title: 'Limits, stops, time, recovery',
    promises: [
      of(
        'A1',
        'the daily limit is never exceeded',
        'exact',
        by(
          'test/races.test.ts',
          'A1 3,000 concurrent sends against a daily limit of 1,000: exactly 1,000 are accepted',
        ),
      ),
      of(
        'A2',
        'the rate limit across processes',
        'exact',
        by(
          'test/races.test.ts',
          'a burst of 300 against 100: exactly 100 pass; refused ones prolong the block; other key types are separate',
        ),
      ),
      of('S1', 'rolling restart under load', '0 failed requests, 0 extra'),
      of('S2', 'SIGTERM: finish, record, exit', '≤ 10 s'),
      of('S3', 'a migration under load', '0 failed requests'),
      of('S4', 'every connection of the leader hangs: another process becomes leader', '≤ 10 s'),
      of('S5', 'SIGTERM while a provider is down', '≤ 10 s'),
      of(
        'T1',
        'the process has a wrong clock, or it is set while running; the database has its clock set',
        'no effect; followed',
      ),
      of('T2', 'time zones and daylight saving time', 'no effect'),
      of('B1', 'backup and restore', 'the checker finds nothing'),
      of('B2', 'a restored copy sends nothing on its own', '0 sends before an operator releases it'),
      of(
        'I1',
        'no service sees or changes data of another',
        '0 leaks',
        by('test/tenants.test.ts', 'every id that a route takes has a case here, and every case has its route'),
      ),
    ],
  },
]

/** Of a database with automatic failover: `npm run faults -- --cluster`. */
export const CLUSTER: readonly Promised[] = [
  of(
    'M1',
    'kill -9 of the primary node under load, with replication lag induced first',
    'lost 0, extra 0 beyond the uncertain, accepts again ≤ 1 s after the new leader',
  ),
  of('M2', 'the primary node is frozen for 30 s, then thawed', 'lost 0, the old one’s writes refused'),
  of(
    'M3',
    'the primary is cut off from the other nodes, callers on both sides',
    'lost 0, no 201 on the minority side after the old lease',
  ),
  of('M4', 'kill -9 of the synchronous standby', 'no 5xx, lost 0'),
  of('M5', 'switchover by command', 'no failed request, gap ≤ 3 s'),
  of(
    'M6',
    'three faults: replication is cut, the line breaks during the commit, the primary is lost',
    '500, also for the repeated request; lost 0',
  ),
  of('M7', 'a Herald machine disappears', 'taken over ≤ lease + 5 s, lost 0, extra ≤ in flight, all marked'),
  of(
    'M7b',
    'a Herald machine is cut off from the database and still reaches the providers',
    'taken over ≤ lease + 5 s, lost 0, extra ≤ in flight, all marked',
  ),
  of(
    'M8',
    'rolling restart of all machines and of all database nodes under load',
    'no failed request, lost 0, extra 0',
  ),
  of(
    'M9',
    'asynchronous replication with HERALD_REPLICATION=required',
    'refuses to start; a running one becomes not ready',
  ),
]
