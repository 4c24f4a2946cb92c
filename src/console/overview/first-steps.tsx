// A service that has sent nothing yet: the first steps instead of numbers.
import { dailyLimit } from '../../services/service.ts'
import type { TemplateName } from '../../templates/sql/names.ts'
import { Card, Empty, PageHead } from '../components/basics.tsx'
import type { ServiceVisit } from '../page.ts'
import { rich, t } from '../words/index.ts'

export function FirstSteps({ visit, template }: { visit: ServiceVisit; template: TemplateName | null }) {
  const { service, url, formats } = visit
  const templates = url(`/s/${service.id}/templates`)
  const isTrial = service.mode === 'trial'
  return (
    <>
      <PageHead
        title={rich`Welcome to ${<bdi>{service.name}</bdi>}`}
        lede={
          isTrial
            ? t`Four steps to the first real message. You can do them in any order.`
            : t`Three steps to the first real message. You can do them in any order.`
        }
      />
      <div class="card">
        <ol class="steps">
          <li class={template ? 'done' : undefined}>
            <div>
              <h2>{t`Write a template`}</h2>
              <p class="muted">
                {template
                  ? rich`“${<bdi>{template.name}</bdi>}” is ready.`
                  : t`What your messages say, with placeholders for what differs.`}
              </p>
            </div>
            <a class={template ? 'btn btn-sm' : 'btn btn-sm btn-primary'} href={templates}>
              {template ? t`Open` : t`Write`}
            </a>
          </li>
          <li>
            <div>
              <h2>{t`Send one to yourself`}</h2>
              <p class="muted">
                {isTrial
                  ? t`In trial mode only your team and allowed recipients get messages, up to ${formats.number(dailyLimit(service, 'email'))} a day.`
                  : t`On the page of a template. You see what a recipient sees.`}
              </p>
            </div>
            {template && (
              <a
                class="btn btn-sm btn-primary"
                href={url(`/s/${service.id}/templates/${template.id}`)}
              >{t`Send a test`}</a>
            )}
          </li>
          <li>
            <div>
              <h2>{t`Make an API key`}</h2>
              <p class="muted">{t`A test key sends nothing. What it would have sent is in the captured inbox.`}</p>
            </div>
            {visit.may('manage-keys') && (
              <a class="btn btn-sm" href={url(`/s/${service.id}/keys/new`)}>{t`Make a key`}</a>
            )}
          </li>
          {isTrial && (
            <li>
              <div>
                <h2>{t`Ask to go live`}</h2>
                <p class="muted">{t`An operator looks at your sender address and your limits, and makes the service live.`}</p>
              </div>
              <a class="btn btn-sm" href={url(`/s/${service.id}/settings/live`)}>
                {t`Ask`}
              </a>
            </li>
          )}
        </ol>
      </div>
      <Card title={t`Messages`} body={false}>
        <Empty
          icon="email"
          title={t`No messages yet`}
          text={t`Everything this service sends appears here within a second. Messages of test keys are not counted.`}
        >
          <a class="btn btn-sm" href={url(`/s/${service.id}/messages`)}>{t`All messages, also of test keys`}</a>
        </Empty>
      </Card>
    </>
  )
}
