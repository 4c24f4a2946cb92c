// The installation for operators: lanes, sending held or not, the database, settings.
import { shownSettings } from '../../config/settings.ts'
import { databaseAbout } from '../../db/about.ts'
import { isLed } from '../../engine/leading.ts'
import { figuresOf } from '../../figures.ts'
import { daysAhead } from '../../maintenance/partitions.ts'
import { hold, release } from '../../maintenance/sending.ts'
import type { LaneFigures } from '../../queue/figures.ts'
import { holdingOf } from '../../queue/hold.ts'
import { HELD_LANES, IDENTITY_TABLES, RELEASED_LANES } from '../../sending.ts'
import { Card, Code, Done, Facts, More, PageHead, Time } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import { Badge } from '../components/status.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { saidIn } from '../settings/settings.tsx'
import { mark, rich, t } from '../words/index.ts'

const DONE = {
  held: mark('Sending is held. Messages are accepted and wait until you release them.'),
  released: mark('Sending has resumed.'),
}

export async function systemPage(visit: SignedInVisit): Promise<Answer> {
  const { parts, query, formats, url } = visit
  const { sql } = parts.db
  const [figures, holding, led, database, days] = await Promise.all([
    figuresOf(sql),
    holdingOf(sql),
    isLed(sql),
    databaseAbout(sql),
    daysAhead(sql),
  ])
  const settings = shownSettings(parts.config)
  return {
    kind: 'page',
    title: t`System`,
    nav: 'system',
    body: (
      <>
        <PageHead title={t`System`} lede={t`Numbers of ${formats.clock(new Date(parts.clock.now()).toISOString())}.`}>
          <a class="btn" href={url('/operator/system')}>
            {t`Refresh`}
          </a>
        </PageHead>
        <Done done={query.get('done')} sentences={saidIn(DONE)} />
        <Card id="lanes" title={t`Lanes`} body={false}>
          <Table<LaneFigures>
            caption={t`Lanes of the queue`}
            rows={figures.lanes}
            keyOf={({ lane }) => lane}
            columns={[
              {
                head: t`Lane`,
                cell: ({ lane }) => (
                  <strong>
                    <bdi>{lane}</bdi>
                  </strong>
                ),
              },
              {
                head: t`State`,
                kind: 'status',
                cell: ({ lane, overdue }) =>
                  holding && HELD_LANES.includes(lane) ? (
                    <Badge tone="warn" icon="clock">
                      {t`Held`}
                    </Badge>
                  ) : overdue > 0 ? (
                    <Badge tone="warn" icon="alert">
                      {t`Slow`}
                    </Badge>
                  ) : (
                    <Badge tone="good" icon="check">
                      {t`On time`}
                    </Badge>
                  ),
              },
              {
                head: t`Waiting`,
                kind: 'num',
                cell: ({ waiting }) =>
                  waiting >= 1_000 ? t`${formats.number(waiting)} or more` : formats.number(waiting),
              },
              {
                head: t`Oldest`,
                kind: 'num',
                cell: ({ waiting, oldest_seconds }) =>
                  waiting === 0 ? '–' : t`${formats.number(Math.round(oldest_seconds))} s`,
              },
            ]}
          />
        </Card>
        <section class="card card-danger" aria-labelledby="sending">
          <div class="card-head">
            <h2 id="sending">{t`Sending`}</h2>
          </div>
          <div class="card-body stack">
            {holding === null ? (
              <>
                <p>{t`Hold all sending when something goes wrong: messages are accepted and wait, and nothing leaves until it is released.`}</p>
                <Form action="/operator/system/hold" class="row">
                  <button class="btn btn-danger" type="submit">
                    {t`Hold all sending`}
                  </button>
                </Form>
              </>
            ) : holding.reason === 'restored' ? (
              <>
                <p>{rich`Held since ${<Time at={holding.held_since} />}: this database is a restored copy. Decide at the machine what its original has sent already:`}</p>
                <Code>herald release --cut-off TIME</Code>
              </>
            ) : (
              <>
                <p>{rich`Held since ${<Time at={holding.held_since} />}. Everything that waits leaves at once when you release it.`}</p>
                <Form action="/operator/system/release" class="row">
                  <button class="btn btn-primary" type="submit">
                    {t`Release all sending`}
                  </button>
                </Form>
              </>
            )}
          </div>
        </section>
        <Card id="database" title={t`Database`}>
          <Facts
            rows={[
              [t`Version`, `PostgreSQL ${database.version}`],
              [t`Size`, t`${formats.number(Math.round(database.bytes / 1_000_000))} MB`],
              [
                t`Connections`,
                t`${formats.number(database.connections)} of ${formats.number(database.most_connections)}`,
              ],
              [t`Replicas`, formats.number(database.replicas)],
              [t`Partitions, days ahead`, days === null ? '–' : formats.number(days)],
              [t`Leader`, led ? t`a process leads and runs maintenance` : t`no process leads`],
            ]}
          />
        </Card>
        <Card id="providers" title={t`Providers`}>
          <Facts rows={Object.entries(parts.about.providers).map(([channel, names]) => [channel, names.join(', ')])} />
        </Card>
        <More summary={t`Settings, without secrets`}>
          <Facts rows={settings.map(({ name, value }) => [<code>{name}</code>, <bdi>{value ?? '–'}</bdi>])} />
        </More>
        <AsCommand command="herald doctor --json" />
      </>
    ),
  }
}

export async function holdAll(visit: SignedInVisit): Promise<Answer> {
  await hold(visit.parts, visit.actor, IDENTITY_TABLES)
  await visit.parts.hold.look()
  return { kind: 'redirect', to: '/operator/system?done=held' }
}

export async function releaseEverything(visit: SignedInVisit): Promise<Answer> {
  const holding = await holdingOf(visit.parts.db.sql)
  // A restored copy is released at the machine, with a cut-off.
  if (holding?.reason === 'restored') return { kind: 'redirect', to: '/operator/system#sending' }
  await release(visit.parts, visit.actor, RELEASED_LANES)
  await visit.parts.hold.look()
  return { kind: 'redirect', to: '/operator/system?done=released' }
}
