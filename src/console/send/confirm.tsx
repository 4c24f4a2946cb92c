// One message once more before it leaves: to whom, when, with which words.
import type { Timestamp } from '../../core/clock.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout, Card, Facts, Icon, PageHead } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { templatePath } from '../templates/paths.ts'
import { rich, t } from '../words/index.ts'
import { ModeNotice } from './choose.tsx'
import { fieldsOf, type Given, isEmail } from './given.ts'
import { callOf } from './one-page.tsx'
import { sendPath } from './paths.ts'
import { PreviewParts, previewOf } from './preview.tsx'
import { Left, roomFor } from './room.tsx'
import { dueOf } from './when.tsx'

export async function confirmPage(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<PageAnswer> {
  const { service, url, formats } = visit
  const [previewed, room] = await Promise.all([previewOf(visit, template, given), roomFor(visit, template.type)])
  const due = dueOf(visit, given.when)
  const title = due.at === null ? t`Send this message?` : t`Schedule this message?`
  return {
    kind: 'page',
    title,
    nav: 'send',
    body: (
      <>
        <PageHead
          title={title}
          crumbs={[[t`Send`, sendPath(service.id, 'one', { template: template.id })]]}
          lede={t`Nothing has been sent.`}
        />
        <ModeNotice visit={visit} channel={template.type} />
        {due.isTwice && due.at !== null && <Twice at={due.at} visit={visit} />}
        <div class="cols-even">
          <div class="stack">
            <Card title={t`Message`} id="message">
              <Facts
                rows={[
                  [t`To`, <bdi key="to">{given.to}</bdi>],
                  [
                    t`When`,
                    due.at === null
                      ? t`Now`
                      : t`${formats.full(due.at)}, ${formats.timeZone}. Until then you can cancel it.`,
                  ],
                  [
                    t`Template`,
                    rich`${(
                      <a href={url(templatePath(service.id, template.id))}>
                        <bdi>{template.name}</bdi>
                      </a>
                    )}, version ${template.version}`,
                  ],
                  [isEmail(template) ? t`From` : t`Sender`, <bdi key="from">{previewed.from}</bdi>],
                  given.reference !== '' && [t`Your reference`, <bdi key="reference">{given.reference}</bdi>],
                ]}
              />
              <Left room={room} />
            </Card>
            <Form action={sendPath(service.id, 'one')} class="row">
              {[...fieldsOf(given, template), ['once', visit.parts.ids.next()] as const].map(([name, value]) => (
                <input key={name} type="hidden" name={name} value={value} />
              ))}
              <button class="btn" name="act" value="edit">
                {t`Change it`}
              </button>
              <button class="btn btn-primary wrap" name="act" value="send">
                <Icon name={due.at === null ? 'send' : 'clock'} />
                <span>
                  {due.at === null
                    ? rich`Send to ${<bdi>{given.to}</bdi>}`
                    : rich`Schedule for ${formats.brief(due.at)} to ${<bdi>{given.to}</bdi>}`}
                </span>
              </button>
            </Form>
          </div>
          <div class="stack">
            <h2>{t`Preview`}</h2>
            <PreviewParts template={template} previewed={previewed} />
          </div>
        </div>
        <AsCurl method="POST" path={`/v2/notifications/${template.type}`} body={callOf(template)} />
      </>
    ),
  }
}

/** The hour that comes twice when summer time ends. */
export const Twice = ({ at, visit }: { at: Timestamp; visit: ServiceVisit }) => (
  <Callout tone="warn">
    <p>{t`On this day the clock shows ${visit.formats.clock(at)} twice, because summer time ends. It leaves at the first.`}</p>
  </Callout>
)
