// The overview of a service: what happened today and in the last days. Every number comes from the hourly counts and links to its
// list.
import { fromMicros, zulu } from '../../core/clock.ts'
import { Callout, Icon, PageHead } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { CapturedNote } from '../components/captured.tsx'
import type { Handler, ServiceVisit } from '../page.ts'
import { sendPath } from '../send/paths.ts'
import { rich, t } from '../words/index.ts'
import { FailingTemplates, Jobs, Limits } from './cards.tsx'
import { CountFiles } from './counts.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Reasons, TimeToDelivery, Today, Week } from './numbers.tsx'
import { readCounts, readFirstTemplate, readOverview, type Shown } from './read.ts'

export const overviewPage: Handler<ServiceVisit> = async visit => {
  const shown = await readOverview(visit)
  if (!shown) {
    const template = await readFirstTemplate(visit)
    return {
      kind: 'page',
      title: t`Overview`,
      nav: 'overview',
      width: 'narrow',
      body: <FirstSteps visit={visit} template={template} />,
    }
  }
  return { kind: 'page', title: t`Overview`, nav: 'overview', body: <Numbers visit={visit} shown={shown} /> }
}

/** The strip of today, for the script. */
export const overviewCounts: Handler<ServiceVisit> = async visit => ({
  kind: 'fragment',
  body: <Today visit={visit} counts={await readCounts(visit)} />,
})

function Numbers({ visit, shown }: { visit: ServiceVisit; shown: Shown }) {
  const { formats, parts, service, url } = visit
  const today = formats.date(fromMicros(parts.clock.micros()))
  const first = shown.overview.days[0]
  return (
    <>
      <PageHead title={t`Overview`} lede={t`${today}, since midnight`}>
        {visit.may('send-messages') && (
          <>
            <a class="btn" href={url(sendPath(service.id, 'file'))}>
              <Icon name="upload" />
              {t`Upload a file`}
            </a>
            <a class="btn btn-primary" href={url(sendPath(service.id, 'one'))}>
              <Icon name="send" />
              {t`Send a message`}
            </a>
          </>
        )}
      </PageHead>
      {shown.since && first && zulu(first.start) < zulu(shown.since) && (
        <Callout tone="info">
          <p>{rich`Counts begin ${formats.full(shown.since)}, with an upgrade of Herald. Messages that were accepted before are in the list of messages, and not in these numbers.`}</p>
        </Callout>
      )}
      <CapturedNote visit={visit} />
      <div data-refresh={url(`/s/${service.id}/counts`)}>
        <Today visit={visit} counts={shown} />
      </div>
      <div class="cols-main">
        <div class="stack">
          <Week counts={shown} />
          <Jobs visit={visit} shown={shown} />
          <Reasons visit={visit} counts={shown} />
        </div>
        <div class="stack">
          <Limits shown={shown} />
          <TimeToDelivery counts={shown} />
          <FailingTemplates visit={visit} shown={shown} />
        </div>
      </div>
      <p class="hint">{rich`Messages of test keys are not counted here; lists show them. Days are those of ${formats.timeZone}, to the full hour.`}</p>
      <CountFiles {...visit} />
      <AsCurl path="/herald/v1/statistics?by=day" />
    </>
  )
}
