// Making a key. The key stands in the answer to the form and nowhere else: it is in no address, and the form works once, so that
// loading the answer again makes no second key.
import { type Id, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { type CreatedKey, create } from '../../keys/create.ts'
import { KEY_TYPES, type KeyType } from '../../keys/key.ts'
import { ownRecipient } from '../../notifications/send-to-self.ts'
import { newestTemplate } from '../../templates/names.ts'
import { readVersion } from '../../templates/read.ts'
import { readSamples } from '../../templates/samples.ts'
import { listLive } from '../../templates/sql.ts'
import { Card, Code, Icon, More, PageHead } from '../components/basics.tsx'
import { AsCommand, curl } from '../components/behind.tsx'
import { usePage } from '../components/context.ts'
import { Choices, ErrorSummary, type FieldErrors, Form, Input, Select } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { requestFor } from '../templates/request.ts'
import { say, t } from '../words/index.ts'
import { Head, Keys, keysOf } from './list.tsx'
import { TYPES } from './types.ts'

type Given = { id: Id; name: string; type: KeyType; may: readonly string[]; ends: string; day: string }

export const newKey = (visit: ServiceVisit): Answer =>
  form(visit, { id: visit.parts.ids.next(), name: '', type: 'test', may: [], ends: '365', day: '' }, {})

export async function createKey(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  const given = givenIn(visit)
  const ends = endOf(visit, given)
  if (given.name.trim() === '')
    return form(visit, given, { name: t`Enter a name, such as the system that uses the key.` })
  if (ends === null) return form(visit, given, { day: t`Enter the last day, such as 2027-01-31. It must not be over.` })
  try {
    const made = await create(parts, actor, service, {
      ...{ id: given.id, name: given.name, key_type: given.type },
      manage_templates: given.may.includes('templates'),
      manage_webhooks: given.may.includes('webhooks'),
      ...(ends !== 'never' && { ends_at: ends }),
    })
    return await created(visit, made, given.type)
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'ChangedMeanwhile')
      return { kind: 'redirect', to: `/s/${service.id}/keys?done=created-before` }
    return form(visit, given, { name: problemOf(error) })
  }
}

const givenIn = ({ form, parts }: ServiceVisit): Given => ({
  id: readId(form.get('id')) ?? parts.ids.next(),
  name: form.get('name') ?? '',
  type: KEY_TYPES.find(type => type === form.get('type')) ?? 'test',
  may: form.getAll('may'),
  ends: form.get('ends') ?? 'never',
  day: form.get('day') ?? '',
})

const DAY_MS = 86_400_000

/** Milliseconds since 1970; null: the day is none, or over. A key works until the end of its last day. */
function endOf({ parts }: ServiceVisit, { ends, day }: Given): number | 'never' | null {
  if (ends === 'never') return 'never'
  if (/^\d{1,4}$/.test(ends)) return parts.clock.now() + Number(ends) * DAY_MS
  const start = /^\d{4}-\d\d-\d\d$/.test(day.trim()) ? Date.parse(`${day.trim()}T00:00:00Z`) : Number.NaN
  return Number.isNaN(start) || start + DAY_MS <= parts.clock.now() ? null : start + DAY_MS
}

function form(visit: ServiceVisit, given: Given, errors: FieldErrors): Answer {
  const { service } = visit
  const isWrong = Object.keys(errors).length > 0
  return {
    kind: 'page',
    title: isWrong ? t`Error: Make a key` : t`Make a key`,
    width: 'narrow',
    nav: 'keys',
    ...(isWrong && { status: 422 }),
    body: (
      <>
        <PageHead
          title={t`Make a key`}
          crumbs={[[t`API keys`, `/s/${service.id}/keys`]]}
          lede={t`You see the key once, on the next page.`}
        />
        <ErrorSummary errors={errors} title={t`Not made yet`} />
        <Card>
          <Form action={`/s/${service.id}/keys/new`}>
            <input type="hidden" name="id" value={given.id} />
            <Input
              label={t`Name`}
              name="name"
              hint={t`The system that uses it. The name becomes part of the key.`}
              value={given.name}
              error={errors.name}
              maxLength={255}
              dir="auto"
              required
            />
            <Choices
              legend={t`Type`}
              name="type"
              type="radio"
              options={KEY_TYPES.map(type => ({
                value: type,
                words: say(TYPES[type].words),
                hint: say(TYPES[type].hint),
                checked: type === given.type,
              }))}
            />
            <Choices
              legend={t`It may also`}
              name="may"
              type="checkbox"
              {...(!visit.may('manage-templates') && {
                hint: t`Only a manager can create a key that manages templates.`,
              })}
              options={[
                ...(visit.may('manage-templates')
                  ? [
                      {
                        value: 'templates',
                        words: t`Manage templates`,
                        hint: t`Create, change and archive them by the API.`,
                        checked: given.may.includes('templates'),
                      },
                    ]
                  : []),
                {
                  value: 'webhooks',
                  words: t`Manage webhooks`,
                  hint: t`Those of its own type of key.`,
                  checked: given.may.includes('webhooks'),
                },
              ]}
            />
            <Select
              label={t`Ends`}
              name="ends"
              width="md"
              value={given.ends}
              options={[
                ['30', t`After 30 days`],
                ['90', t`After 90 days`],
                ['365', t`After one year`],
                ['day', t`On a day`],
                ['never', t`Never`],
              ]}
            />
            <Input
              label={t`Last day, if it ends on a day`}
              name="day"
              type="date"
              width="md"
              hint={t`The key works until the end of this day, UTC.`}
              value={given.day}
              error={errors.day}
            />
            <div class="row">
              <button class="btn btn-primary" type="submit">
                {t`Make the key`}
              </button>
            </div>
          </Form>
        </Card>
        <AsCommand command={`herald key create ${service.id} --name NAME --type ${TYPES[given.type].command}`} />
      </>
    ),
  }
}

async function created(visit: ServiceVisit, made: CreatedKey, type: KeyType): Promise<Answer> {
  const example = await exampleFor(visit, type)
  return {
    kind: 'page',
    title: t`Copy the key`,
    nav: 'keys',
    body: (
      <>
        <Head visit={visit} />
        <div class="callout good" role="status" data-focus="" tabIndex={-1}>
          <Icon name="key" />
          <div>
            <h2>{t`Copy the key “${made.name}” now`}</h2>
            <p>{t`You see it only once. Herald keeps no copy that anybody could read.`}</p>
            <Secret id="key" text={made.key} />
            <TryIt request={example} secret={made.key} />
          </div>
        </div>
        <Keys visit={visit} keys={await keysOf(visit)} />
      </>
    ),
  }
}

/** Without script one click selects it all. */
export const Secret = ({ id, text }: { id: string; text: string }) => (
  <div class="secret">
    <code id={id}>{text}</code>
    <button class="btn btn-sm" type="button" data-copy={id} hidden>
      <Icon name="copy" />
      {t`Copy`}
    </button>
  </div>
)

/**
 * Sends the newest template to the person who made the key, who may get messages of every type of key; one for e-mails where the team
 * knows no number of theirs. A test key sends nothing, so its recipient may be anyone. Null: there is no such template.
 */
async function exampleFor({ parts, actor, service }: ServiceVisit, type: KeyType) {
  const { sql } = parts.db
  const newest = await newestTemplate(sql, actor, service.id)
  if (!newest) return null
  const to = await ownRecipient(sql, actor, service.id, newest.type)
  if (to !== null || type === 'test') return exampleOf(parts, service.id, newest.id, to)
  const address = await ownRecipient(sql, actor, service.id, 'email')
  const [email] = address === null ? [] : await listLive(sql, service.id, 'email', 1)
  return email ? exampleOf(parts, service.id, email.id, address) : null
}

async function exampleOf(parts: ServiceVisit['parts'], service: Id, id: Id, to: string | null) {
  const [template, values] = await Promise.all([
    readVersion(parts.db.sql, service, id, null),
    readSamples(parts, service, id),
  ])
  return requestFor(template, { to, values })
}

function TryIt({ request, secret }: { request: { path: string; body: object } | null; secret: string }) {
  const { baseUrl } = usePage()
  const call = request
    ? { method: 'POST', url: `${baseUrl}${request.path}`, body: request.body, indent: 2 }
    : { url: `${baseUrl}/v2/templates` }
  return (
    <More summary={t`Try it`} open>
      <Code>{curl({ ...call, key: secret })}</Code>
    </More>
  )
}
