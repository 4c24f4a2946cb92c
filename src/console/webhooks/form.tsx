// The form of an endpoint: a new one, and what can be changed of one that exists.
import { type Id, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { EVENT_TYPES, type EventType } from '../../events/event.ts'
import { KEY_TYPES, type KeyType } from '../../keys/key.ts'
import { change } from '../../webhooks/change.ts'
import { create, type WebhookInput } from '../../webhooks/create.ts'
import { read, type ShownWebhook } from '../../webhooks/read.ts'
import { type Format, MOST_IN_BATCH, TOKEN_LENGTH, typesOf } from '../../webhooks/webhook.ts'
import { Card, Icon, More, PageHead } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Choices, ErrorSummary, type FieldErrors, Form, Input, Select } from '../components/form.tsx'
import { Secret } from '../keys/create.tsx'
import { TYPES } from '../keys/types.ts'
import type { Answer, ServiceVisit } from '../page.ts'
import { errorsAt, sentencesOf } from '../refused.ts'
import { say, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'
import { hostOf } from './state.tsx'

type Given = {
  id: Id
  url: string
  keyType: KeyType
  format: Format
  token: string
  batch: string
  hasRecipient: boolean
  /** All of them, or those in `types`. */
  all: boolean
  types: readonly string[]
}

export const newWebhook = (visit: ServiceVisit): Answer =>
  form(
    visit,
    {
      ...{ id: visit.parts.ids.next(), url: '', keyType: 'normal', format: 'standard', token: '', batch: '1' },
      ...{ hasRecipient: false, all: true, types: [] },
    },
    {},
    null,
  )

export async function createWebhook(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  const given = givenIn(visit)
  const { id, keyType: key_type, format } = given
  const problem = wrong(given)
  if (problem) return form(visit, given, problem, null)
  try {
    const input: WebhookInput = {
      ...fields(given),
      format,
      ...(format === 'callback' && { token: given.token, include_recipient: true }),
    }
    const { webhook, secret } = await create(parts, actor, { service_id: service.id, key_type }, input, id)
    return secret === null
      ? { kind: 'redirect', to: `/s/${service.id}/webhooks/${webhook.id}?done=created` }
      : createdPage(visit, webhook, secret)
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'ChangedMeanwhile')
      return { kind: 'redirect', to: `/s/${service.id}/webhooks?done=created-before` }
    return form(visit, given, errorsAt(error, FIELDS, wordsOf), null)
  }
}

export async function webhookSettings(visit: ServiceVisit): Promise<Answer> {
  const webhook = await found(visit)
  return form(visit, givenOf(webhook), {}, webhook)
}

export async function saveWebhook(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  const webhook = await found(visit)
  const { id, format } = webhook
  const given = { ...givenIn(visit), id, format, keyType: webhook.key_type }
  const problem = wrong({ ...given, token: given.token || 'unchanged, as it was' })
  if (problem) return form(visit, given, problem, webhook)
  try {
    const isToken = format === 'callback' && given.token !== ''
    await change(parts, actor, ownerOf(visit), id, { ...fields(given), ...(isToken && { token: given.token }) })
    return { kind: 'redirect', to: `/s/${service.id}/webhooks/${id}?done=saved` }
  } catch (error) {
    return form(visit, given, errorsAt(error, FIELDS, wordsOf), webhook)
  }
}

const ownerOf = ({ service }: ServiceVisit) => ({ service_id: service.id, key_type: null })

const found = (visit: ServiceVisit): Promise<ShownWebhook> =>
  read(visit.parts, ownerOf(visit), (readId(visit.params.id) ?? NOTHING) as Id)
const NOTHING = '00000000-0000-0000-0000-000000000000'

const givenIn = ({ form, parts }: ServiceVisit): Given => ({
  id: readId(form.get('id')) ?? parts.ids.next(),
  url: (form.get('url') ?? '').trim(),
  keyType: KEY_TYPES.find(type => type === form.get('key_type')) ?? 'normal',
  format: form.get('format') === 'callback' ? 'callback' : 'standard',
  token: form.get('token') ?? '',
  batch: form.get('batch') ?? '1',
  hasRecipient: form.has('recipient'),
  all: form.get('events') !== 'some',
  types: form.getAll('types'),
})

const givenOf = (webhook: ShownWebhook): Given => ({
  ...{ id: webhook.id, url: webhook.url, keyType: webhook.key_type, format: webhook.format, token: '' },
  ...{ batch: String(webhook.batch), hasRecipient: webhook.with_recipient },
  ...{ all: webhook.types === null, types: webhook.types ?? [] },
})

function wrong({ url, all, types, format, token }: Given): FieldErrors | null {
  if (url === '') return { url: t`Enter the address of your program, such as https://example.org/events.` }
  if (format === 'callback' && token === '') return { token: t`Enter the token that your program expects.` }
  return !all && types.length === 0 ? { types: t`Choose at least one type of event, or all of them.` } : null
}

const fields = ({ url, batch, hasRecipient, all, types, format }: Given) => ({
  url,
  types: all ? null : EVENT_TYPES.filter(type => types.includes(type)),
  ...(format === 'standard' && { batch: Number(batch), include_recipient: hasRecipient }),
})

const FIELDS = ['url', 'batch', 'token', 'types'] as const

/** The sentences of the interface name fields of the API, which the form calls otherwise. */
function wordsOf(refusal: Refusal): string {
  switch (refusal.field) {
    case 'url':
      return t`The address ${known(refusal.message.replace(/^url /, ''))}.`
    case 'batch':
      return t`Enter a whole number from 1 to ${MOST_IN_BATCH}.`
    case 'token':
      return t`Enter ${TOKEN_LENGTH.least} to ${TOKEN_LENGTH.most} letters, digits and signs of ASCII, without spaces.`
    case 'types':
      return t`A callback tells only the final statuses of messages. Choose among them, or all types.`
    default:
      return sentencesOf(refusal)
  }
}

function form(visit: ServiceVisit, given: Given, errors: FieldErrors, webhook: ShownWebhook | null): Answer {
  const { service } = visit
  const path = `/s/${service.id}/webhooks`
  const isWrong = Object.keys(errors).length > 0
  const title = webhook ? t`Change the endpoint` : t`Add an endpoint`
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${title}` : title,
    width: 'narrow',
    nav: 'webhooks',
    ...(isWrong && { status: 422 }),
    body: (
      <>
        <PageHead
          title={title}
          crumbs={[[t`Webhooks`, path], ...(webhook ? [[hostOf(webhook.url), `${path}/${webhook.id}`] as const] : [])]}
          lede={
            webhook
              ? t`What is not sent yet goes to the new address.`
              : t`It gets what happens from now on. You see its secret once, on the next page.`
          }
        />
        <ErrorSummary errors={errors} />
        <Card>
          <Form action={webhook ? `${path}/${webhook.id}/settings` : `${path}/new`}>
            <Input
              label={t`Address`}
              name="url"
              hint={t`Where Herald posts events. It must be reachable from the internet, over https.`}
              value={given.url}
              error={errors.url}
              placeholder="https://example.org/events"
              required
            />
            {webhook ? <Fixed given={given} errors={errors} /> : <Kind given={given} errors={errors} />}
            <Events given={given} error={errors.types} />
            {given.format === 'standard' || !webhook ? <Standard given={given} error={errors.batch} /> : null}
            <div class="row">
              <button class="btn btn-primary" type="submit">
                {webhook ? t`Save the endpoint` : t`Add the endpoint`}
              </button>
            </div>
          </Form>
        </Card>
        {webhook ? (
          <AsCurl method="PATCH" path={`/herald/v1/webhooks/${webhook.id}`} body={{ batch: 100 }} />
        ) : (
          <AsCurl method="POST" path="/herald/v1/webhooks" body={{ url: 'https://example.org/events' }} />
        )}
      </>
    ),
  }
}

/** Only when it is made. */
const Kind = ({ given, errors }: { given: Given; errors: FieldErrors }) => (
  <>
    <input type="hidden" name="id" value={given.id} />
    <Select
      label={t`Messages of`}
      name="key_type"
      width="md"
      hint={t`It gets events of messages that were sent with keys of this type.`}
      value={given.keyType}
      options={KEY_TYPES.map(type => [type, say(TYPES[type].words)] as const)}
    />
    <Choices
      legend={t`Format`}
      name="format"
      type="radio"
      options={[
        {
          value: 'standard',
          words: t`Standard Webhooks, signed`,
          hint: t`Your program checks the signature with the secret. The usual choice.`,
          checked: given.format === 'standard',
        },
        {
          value: 'callback',
          words: t`Callback with a token`,
          hint: t`For programs that were written for delivery receipts with a bearer token.`,
          checked: given.format === 'callback',
        },
      ]}
    />
    <Input
      label={t`Token, for a callback`}
      name="token"
      width="md"
      hint={t`10 to 500 characters. Herald sends it as Authorization: Bearer.`}
      value={given.token}
      error={errors.token}
    />
  </>
)

const Fixed = ({ given, errors }: { given: Given; errors: FieldErrors }) =>
  given.format === 'callback' ? (
    <Input
      label={t`New token`}
      name="token"
      width="md"
      hint={t`Leave it empty to keep the one it has.`}
      error={errors.token}
    />
  ) : null

const Events = ({ given, error }: { given: Given; error: string | undefined }) => (
  <>
    <Choices
      legend={t`Events`}
      name="events"
      type="radio"
      options={[
        {
          value: 'all',
          words: given.format === 'callback' ? t`The final statuses` : t`All types`,
          checked: given.all,
        },
        { value: 'some', words: t`Only those chosen below`, checked: !given.all },
      ]}
    />
    <More summary={t`Choose types of events`} open={!given.all || error !== undefined}>
      <Choices
        legend={t`Types of events`}
        name="types"
        type="checkbox"
        error={error}
        options={typesOf(given.format).map((type: EventType) => ({
          value: type,
          words: <code>{type}</code>,
          checked: given.types.includes(type),
        }))}
      />
    </More>
  </>
)

const Standard = ({ given, error }: { given: Given; error: string | undefined }) => (
  <>
    <Input
      label={t`Events in one request, at most`}
      name="batch"
      type="number"
      width="sm"
      hint={t`1 to ${MOST_IN_BATCH}. With more than 1 the body is a list. A callback always has one.`}
      value={given.batch}
      error={error}
    />
    <Choices
      legend={t`Personal data`}
      name="recipient"
      type="checkbox"
      options={[
        {
          value: 'yes',
          words: t`Add the recipient to events of messages`,
          hint: t`Without it events have ids and references only.`,
          checked: given.hasRecipient,
        },
      ]}
    />
  </>
)

/** The secret stands in the answer to the form and nowhere else. */
const createdPage = (visit: ServiceVisit, webhook: ShownWebhook, secret: string): Answer =>
  secretPage(visit, webhook, secret, { lede: t`Your endpoint gets events from now on.`, isNew: true })

export function secretPage(
  { service, url }: ServiceVisit,
  webhook: ShownWebhook,
  secret: string,
  { lede, isNew }: { lede: string; isNew: boolean },
): Answer {
  const path = `/s/${service.id}/webhooks`
  return {
    kind: 'page',
    title: t`Copy the secret`,
    width: 'narrow',
    nav: 'webhooks',
    body: (
      <>
        <PageHead title={hostOf(webhook.url)} crumbs={[[t`Webhooks`, path]]} lede={lede} />
        <div class="callout good" role="status" data-focus="" tabIndex={-1}>
          <Icon name="key" />
          <div>
            <h2>{t`Copy the secret now`}</h2>
            <p>{t`You see it only once. Your program checks with it that a request comes from Herald.`}</p>
            <Secret id="secret" text={secret} />
          </div>
        </div>
        <div class="row">
          <a class="btn btn-primary" href={url(`${path}/${webhook.id}`)}>
            {t`Go to the endpoint`}
          </a>
        </div>
        {isNew ? (
          <AsCurl method="POST" path="/herald/v1/webhooks" body={{ url: 'https://example.org/events' }} />
        ) : (
          <AsCurl method="POST" path={`/herald/v1/webhooks/${webhook.id}/rotate-secret`} body={{}} />
        )}
      </>
    ),
  }
}
