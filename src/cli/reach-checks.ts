// The checks of doctor for what is neither database nor provider: single sign-on and the OpenTelemetry collector.
import type { Config } from '../config/index.ts'
import { collectorOf } from '../telemetry/collector.ts'
import { type Check, ok, problem } from './checks.ts'
import { codeOf } from './mail-checks.ts'

const PATIENCE_MS = 5_000
const DISCOVERY = '/.well-known/openid-configuration'

/** Without single sign-on there is nothing to check. */
export async function checkSingleSignOn({ oidcIssuer: issuer, localSignIn }: Config): Promise<Check[]> {
  if (issuer === null) return []
  const name = 'Single sign-on'
  const url = issuer.includes('/.well-known/') ? issuer : issuer.replace(/\/$/, '') + DISCOVERY
  const others = localSignIn
    ? 'Until then people sign in with their other ways only.'
    : 'Until then no one can sign in.'
  const failed = (why: string) => [
    problem(name, `${issuer} ${why}`, `Start the provider, or correct HERALD_OIDC_ISSUER. ${others}`),
  ]
  const reply = await asked(url, {})
  if ('failed' in reply) return failed(`cannot be reached (${reply.failed})`)
  if (reply.status !== 200) return failed(`answered ${reply.status} to ${url}`)
  const isProvider = typeof reply.body === 'object' && reply.body !== null && 'authorization_endpoint' in reply.body
  return isProvider ? [ok(name, `${issuer} answers`)] : failed('does not answer like an OpenID Connect provider')
}

/** Without a collector there is nothing to check. It is sent an empty list. */
export async function checkCollector(config: Config): Promise<Check[]> {
  const collector = collectorOf(config)
  if (!collector) return []
  const name = 'OpenTelemetry collector'
  const { tracesUrl, metricsUrl, headers } = collector
  const targets = [
    ...(tracesUrl === null ? [] : [{ url: tracesUrl, body: '{"resourceSpans":[]}' }]),
    ...(metricsUrl === null ? [] : [{ url: metricsUrl, body: '{"resourceMetrics":[]}' }]),
  ]
  const failures: string[] = []
  for (const { url, body } of targets) {
    const { origin, pathname } = new URL(url)
    const reply = await asked(url, {
      ...{ method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } },
    })
    if ('failed' in reply) failures.push(`${origin}${pathname} cannot be reached (${reply.failed})`)
    else if (reply.status >= 300) failures.push(`${origin}${pathname} answered ${reply.status}`)
  }
  if (failures.length === 0) return [ok(name, 'takes what it is sent')]
  return [
    problem(
      name,
      failures.join('; '),
      'Start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS. Messages are sent all the same; spans and metrics are lost.',
    ),
  ]
}

async function asked(
  url: string,
  options: RequestInit,
): Promise<{ status: number; body: unknown } | { failed: string }> {
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) })
    return { status: response.status, body: await response.json().catch(() => null) } // another program may answer anything
  } catch (error) {
    return { failed: codeOf(error) ?? 'no answer' }
  }
}
