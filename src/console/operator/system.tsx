// The installation for operators: lanes, processes, providers, the database, sending held or not, settings.
import { providersInUse, roleOf } from '../../config/in-use.ts'
import { shownSettings } from '../../config/settings.ts'
import { fromMicros } from '../../core/clock.ts'
import { databaseAbout, replicasOf } from '../../db/about.ts'
import { backupAgeOf } from '../../db/last-backup.ts'
import { isLed } from '../../engine/leading.ts'
import { figuresOf } from '../../figures.ts'
import { processesWithThisOne } from '../../installation/look.ts'
import { isLate, providerViews } from '../../installation/process.ts'
import { daysAhead, partitionsNow } from '../../maintenance/partitions.ts'
import { holdingOf } from '../../queue/hold.ts'
import { heraldVersion } from '../../version.ts'
import { Code, Done, Facts, More, PageHead, Time } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { saidIn } from '../settings/settings.tsx'
import { mark, plural, rich, t } from '../words/index.ts'
import { Database, Lanes, Processes, Providers, type ShownProvider } from './system-cards.tsx'

const DONE = {
  held: mark('Sending is held. Messages are accepted and wait until you release them.'),
  released: mark('Sending has resumed.'),
}

export async function systemPage(visit: SignedInVisit): Promise<Answer> {
  const { parts, query, formats, url } = visit
  const { sql } = parts.db
  const [processes, figures, holding, led, database, replicas, partitions, days, backup] = await Promise.all([
    processesWithThisOne(parts, visit.actor),
    figuresOf(sql),
    holdingOf(sql),
    isLed(sql),
    databaseAbout(sql),
    replicasOf(sql),
    partitionsNow(sql),
    daysAhead(sql),
    backupAgeOf(parts.config, parts.clock.now()),
  ])
  const settings = shownSettings(parts.config)
  const live = processes.filter(one => !isLate(one)).length
  const running = plural(live, t`${formats.number(live)} process`, t`${formats.number(live)} processes`)
  const at = formats.brief(fromMicros(parts.clock.micros()))
  return {
    kind: 'page',
    title: t`System`,
    nav: 'system',
    body: (
      <>
        <Done done={query.get('done')} sentences={saidIn(DONE)} />
        {/* The script asks for the page again and puts in what has changed. */}
        <div class="stack" data-fresh="">
          <PageHead title={t`System`} lede={t`Herald ${heraldVersion()}, ${running}, numbers of ${at}`}>
            <a class="btn" href={url('/operator/system')}>
              {t`Refresh`}
            </a>
          </PageHead>
          <div class="cols-main">
            <div class="stack">
              <Lanes lanes={figures.lanes} processes={processes} isHeld={holding !== null} />
              <Providers providers={shownProviders(visit, processes)} />
            </div>
            <div class="stack">
              <Processes processes={processes} isLed={led} />
              <Database about={database} replicas={replicas} partitions={partitions} daysAhead={days} backup={backup} />
            </div>
          </div>
        </div>
        <Sending visit={visit} holding={holding} />
        <More summary={t`Settings, without secrets`}>
          <Facts rows={settings.map(({ name, value }) => [<code>{name}</code>, <bdi>{value ?? '–'}</bdi>])} />
        </More>
        <AsCommand command="herald doctor --json" />
      </>
    ),
  }
}

/** What running processes report, and what only the settings of this one name. */
function shownProviders(
  { parts: { config } }: SignedInVisit,
  processes: Awaited<ReturnType<typeof processesWithThisOne>>,
) {
  const views = providerViews(processes)
  return providersInUse(config).flatMap(({ channel, providers }) => {
    const reported = views.filter(view => view.channel === channel)
    const silent = providers.filter(name => !reported.some(view => view.name === name))
    const shown = (name: string, view: ShownProvider['view']): ShownProvider => ({
      ...{ name, channel, role: roleOf(config, channel, name), view },
    })
    return [...reported.map(view => shown(view.name, view)), ...silent.map(name => shown(name, null))]
  })
}

type Holding = Awaited<ReturnType<typeof holdingOf>>

const Sending = ({ visit: { url }, holding }: { visit: SignedInVisit; holding: Holding }) => (
  <section class={holding === null ? 'card' : 'card card-danger'} aria-labelledby="sending">
    <div class="card-head">
      <h2 id="sending">{t`Sending`}</h2>
    </div>
    <div class="card-body stack">
      {holding === null ? (
        <>
          <p>{t`Hold all sending when something goes wrong: messages are accepted and wait, and nothing leaves until it is released.`}</p>
          <div class="row">
            <a class="btn btn-danger" href={url('/operator/system/hold')}>
              {t`Hold all sending`}
            </a>
          </div>
        </>
      ) : holding.reason === 'restored' ? (
        <>
          <p>{rich`Held since ${<Time at={holding.held_since} />}: this database is a restored copy. Decide at the machine what its original has sent already:`}</p>
          <Code>herald release --cut-off TIME</Code>
        </>
      ) : (
        <>
          <p>{rich`Held since ${<Time at={holding.held_since} />}. Everything that waits leaves at once when you release it.`}</p>
          <div class="row">
            <a class="btn btn-primary" href={url('/operator/system/release')}>
              {t`Release all sending`}
            </a>
          </div>
        </>
      )}
    </div>
  </section>
)
