// Metrics of lanes and providers that are read when they are scraped.
import type { LabelledValue, Metrics } from '../telemetry/metrics.ts'
import type { Lane } from './lane.ts'

type Health = { name: string; isUp: boolean; downs: number }

export function measureEngine(
  metrics: Metrics,
  engine: { lanes(): readonly Lane[] },
  groups: Readonly<Record<string, { health(): readonly Health[] }>>,
): void {
  for (const { name: lane } of engine.lanes()) metrics.setAside.inc({ lane }, 0)
  const perLane = (read: (load: ReturnType<Lane['load']>) => number) => () =>
    engine.lanes().map((one): LabelledValue => [{ lane: one.name }, read(one.load())])
  metrics.gauges(
    'herald_in_flight',
    'Messages being sent, and items of other lanes being handled.',
    ['lane'],
    perLane(load => load.inFlight),
  )
  metrics.gauges(
    'herald_unrecorded',
    'Results that are not recorded in the database yet.',
    ['lane'],
    perLane(load => load.unrecorded),
  )
  const perProvider = (read: (health: Health) => number) => () =>
    Object.entries(groups).flatMap(([channel, group]) =>
      group.health().map((one): LabelledValue => [{ channel, provider: one.name }, read(one)]),
    )
  metrics.gauges(
    'herald_provider_up',
    'Whether a provider is up; 0: its circuit breaker is open.',
    ['channel', 'provider'],
    perProvider(health => (health.isUp ? 1 : 0)),
    'min',
  )
  metrics.gauges(
    'herald_provider_downs',
    'How often the circuit breaker of a provider has opened since the start.',
    ['channel', 'provider'],
    perProvider(health => health.downs),
  )
}
