// Where the interface listens, how much it holds in memory and how long it waits.
import { flag, list, reader, text, webAddress, whole } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'

/** The first parts of paths that are not the console's. */
const OTHERS = ['v2', 'herald', 'receipts', 'download', 'inbox', 'openapi.json', 'docs', 'health', 'metrics']

const consolePath = reader<string>(given => {
  const wrong = (why: string) => ({ problem: `is "${given}"; ${why}` })
  if (!/^(?:\/[A-Za-z0-9_-]+)+$/.test(given))
    return wrong(
      'it must begin with / and not end with it, like /console; letters, digits, hyphens and underscores only',
    )
  return OTHERS.includes(given.split('/')[1] ?? '') ? wrong('Herald itself uses this path') : given
})

export const settings = {
  host: setting('HERALD_HOST', text, '127.0.0.1', 'Address to listen on; `0.0.0.0` for every network of the machine.'),
  port: setting('HERALD_PORT', whole(0, 65_535), 6011, 'Port to listen on; 0 chooses any free one.'),
  metricsPort: setting<number | null>(
    'HERALD_METRICS_PORT',
    whole(0, 65_535),
    null,
    'Port for /metrics and /health of a process with only the engine (`start --only engine`); other processes serve them on HERALD_PORT. Who may read /metrics: HERALD_METRICS_TOKEN.',
    { shown: 'none' },
  ),
  healthPort: setting<number | null>(
    'HERALD_HEALTH_PORT',
    whole(0, 65_535),
    null,
    'Port for /health/live and /health/ready alone, which a thread of its own answers also while requests wait; for probes of load balancers, which need no key. They stay on HERALD_PORT too.',
    { shown: 'none' },
  ),
  console: setting('HERALD_CONSOLE', flag, true, 'Whether people can use the console; `off` switches it off.', {
    shown: 'on',
  }),
  consolePath: setting('HERALD_CONSOLE_PATH', consolePath, '/console', 'Path under which the console is.'),
  consolePort: setting<number | null>(
    'HERALD_CONSOLE_PORT',
    whole(0, 65_535),
    null,
    'A port of its own for the console, which then is not on HERALD_PORT; 0 chooses any free one.',
    { shown: 'HERALD_PORT' },
  ),
  baseUrl: setting<string | null>(
    'HERALD_BASE_URL',
    webAddress,
    null,
    'Public address of the service, used in links. Without it, scheme and host of each request are used. The console needs it, with https, except on the machine itself.',
    { shown: 'from the request' },
  ),
  trustedProxies: setting(
    'HERALD_TRUSTED_PROXIES',
    list,
    [] as string[],
    'Addresses or networks of proxies whose forwarded headers are trusted, separated by commas.',
    { shown: 'none' },
  ),
  corsOrigins: setting(
    'HERALD_CORS_ORIGINS',
    list,
    [] as string[],
    'Web origins that may call the API from a browser, separated by commas.',
    { shown: 'none' },
  ),
} satisfies Settings

export const loadSettings = {
  bodyBudget: setting(
    'HERALD_BODY_BUDGET',
    whole(8, 65_536),
    64,
    'MiB of request bodies in memory at the same time, shared fairly between services; one body at a time may exceed it, so that a large one can always be finished.',
  ),
  requestSeconds: setting(
    'HERALD_REQUEST_SECONDS',
    whole(1, 600),
    30,
    'How long a caller may take to send a whole request; a body slower than 1 KiB a second over a third of this time is ended earlier.',
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
    'How long an idle connection is kept open; longer than the idle timeout of the proxy in front.',
  ),
  noticeSeconds: setting(
    'HERALD_NOTICE_SECONDS',
    whole(0, 600),
    0,
    'How long a stop still accepts new connections while `/health/ready` already fails; longer than a load balancer needs to notice.',
  ),
  drainSeconds: setting('HERALD_DRAIN_SECONDS', whole(1, 600), 10, 'How long a stop waits for requests in progress.'),
} satisfies Settings
