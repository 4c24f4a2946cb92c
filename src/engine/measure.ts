// What the engine and its providers are doing, as metrics.
import type { LabelledValue, Metrics } from '../telemetry/metrics.ts'
import type { Lane } from './lane.ts'

type Health = { name: string; isUp: boolean; downs: number }

export function measureEngine(
  metrics: Metrics,
  engine: { lanes(): readonly Lane[] },
  channels: Readonly<Record<string, { health(): readonly Health[] }>>,
): void {
  for (const { name: lane } of engine.lanes()) metrics.setAside.inc({ lane }, 0)
  const perLane = (read: (load: ReturnType<Lane['load']>) => number) => () =>
    engine.lanes().map((one): LabelledValue => [{ lane: one.name }, read(one.load())])
  metrics.gauges(
    'herald_in_flight',
    'Messages being handed over, and other work under way.',
    ['lane'],
    perLane(load => load.inFlight),
  )
  metrics.gauges(
    'herald_unrecorded',
    'Results that are not in the database yet.',
    ['lane'],
    perLane(load => load.unrecorded),
  )
  const perProvider = (read: (health: Health) => number) => () =>
    Object.entries(channels).flatMap(([channel, all]) =>
      all.health().map((one): LabelledValue => [{ channel, provider: one.name }, read(one)]),
    )
  metrics.gauges(
    'herald_provider_up',
    'Whether a provider answers; 0: its circuit is open.',
    ['channel', 'provider'],
    perProvider(health => (health.isUp ? 1 : 0)),
  )
  metrics.gauges(
    'herald_provider_downs',
    'How often a provider was found down since the start.',
    ['channel', 'provider'],
    perProvider(health => health.downs),
  )
}
