// The parts of the service by name: the types that routes, lanes and commands depend on.
import type { BulkThread } from './bulk/thread.ts'
import type { Config } from './config/index.ts'
import type { Clock } from './core/clock.ts'
import type { Id } from './core/id.ts'
import type { Seal } from './core/seal.ts'
import type { Database } from './db/connect.ts'
import type { EventHints } from './events/hints.ts'
import type { Waits } from './feed/waits.ts'
import type { Fetched } from './files/fetch.ts'
import type { Files } from './files/place.ts'
import type { Links } from './http/links.ts'
import type { Inbox } from './inbox/inbox.ts'
import type { InboxWaits } from './inbox/waits.ts'
import type { Heartbeat } from './installation/heartbeat.ts'
import type { Authenticate } from './keys/authenticate.ts'
import type { Reads } from './limits/reads.ts'
import type { Accept, Dispatcher } from './notifications/accept.ts'
import type { ProviderGroups, RenderLarge } from './notifications/hand-over.ts'
import type { OidcClient } from './people/oidc.ts'
import type { AcceptReceipts, WebhookEndpoint } from './providers/port.ts'
import type { Hold } from './queue/hold.ts'
import type { RenderThread } from './rendering/thread.ts'
import type { Replays } from './replays/replay.ts'
import type { RequestBuffer } from './requests/buffer.ts'
import type { Services } from './services/load.ts'
import type { Simulated } from './services/simulated.ts'
import type { SheetReading } from './sheets/reading.ts'
import type { Log, Note } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { About, MetricsPage, Readiness } from './telemetry/routes.ts'
import type { Tracer } from './telemetry/trace.ts'
import type { Templates } from './templates/cache.ts'
import type { ReportThread } from './timeline/thread.ts'
import type { WebhookMeter } from './webhooks/measure.ts'
import type { Poster } from './webhooks/post.ts'
import type { SendTest } from './webhooks/test.ts'

/** What a command or a service needs to work on the data. */
export type Store = {
  config: Config
  db: Database
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  /** The current sealing secret first, then earlier ones. */
  secrets: readonly string[]
  /** Restarts the embedded database if it has ended; does nothing for an external one. */
  revive(): Promise<void>
  stop(): Promise<void>
}

/** Everything that routes and lanes are built from. */
export type Parts = Omit<Store, 'stop' | 'revive'> & {
  log: Log
  metrics: Metrics
  /** The page /metrics. */
  figures: MetricsPage
  /** Null: no OpenTelemetry collector is set. */
  trace: Tracer | null
  /** Logs a step in the life of a message or a job. */
  note: Note
  hints: EventHints
  /** Whether sending is held, as this process knows it. */
  hold: Pick<Hold, 'isHeld' | 'look'>
  services: Services
  authenticate: Authenticate
  templates: Templates
  inbox: Inbox
  /** Requests that wait for a message in the inbox. */
  inboxWaits: InboxWaits
  /** The webhook endpoints of providers, and who stores their receipts. */
  webhookEndpoints: readonly WebhookEndpoint[]
  hearReceipts: AcceptReceipts
  replays: Replays
  /** For the request log of services. */
  requests: RequestBuffer
  reads: Reads
  /** Requests that wait for events. */
  waits: Waits
  simulated: Simulated
  testWebhook: SendTest
  accept: Accept
  dispatcher: Dispatcher
  bulkThread: BulkThread
  /** Reads uploaded recipient files. */
  sheets: SheetReading
  reportThread: ReportThread
  renderThread: RenderThread
  files: Files
  links: Links
  sendingDomain: string
  /** Null: no single sign-on. */
  oidc: OidcClient | null
  readiness: Readiness
  /** Of this process, on the system page. */
  heartbeat: Pick<Heartbeat, 'beat'>
  about: About
  isDraining(): boolean
}

/** What the engine's work needs in addition. */
export type EngineParts = Omit<Store, 'stop' | 'revive'> & {
  services: Services
  templates: Templates
  groups: ProviderGroups
  files: Files
  fetchAttachments(message: Id): Promise<Fetched>
  /** Adds messages of test keys to the inbox. */
  noteInInbox(ids: readonly Id[]): Promise<void>
  renderLarge: RenderLarge
  sendingDomain: string
  owner: Id
  hints: EventHints
  random(): number
  poster: Poster
  webhookMeter: WebhookMeter
  /** Endpoints of these services may have something to send, now or after some seconds. */
  lookForWebhooks(services: readonly Id[], afterSeconds?: number): void
  trace: Tracer | null
  note: Note
  /** Counts a mail of Herald itself that is given up. */
  onMailLost(): void
  /** Notifies a lane that a ticket is due. */
  wake(lane: string): void
  /** Logs and counts an error: a fixed sentence, and ids. */
  onFault(error: unknown, sentence: string, fields?: Record<string, unknown>): void
}
