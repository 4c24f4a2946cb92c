// What is done with an endpoint: test, pause and resume, replace the secret, send again, remove.
import { type Id, readId } from '../../core/id.ts'
import type { Refusal } from '../../core/refusal.ts'
import { change } from '../../webhooks/change.ts'
import { presentTest } from '../../webhooks/present.ts'
import { read } from '../../webhooks/read.ts'
import { refuse } from '../../webhooks/refusals.ts'
import { remove } from '../../webhooks/remove.ts'
import { type ReplayInput, replay } from '../../webhooks/replay.ts'
import { rotateSecret } from '../../webhooks/rotate.ts'
import { Card, PageHead } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { errorsAt, sentencesOf } from '../refused.ts'
import { rich, t } from '../words/index.ts'
import { webhookAnswer } from './detail.tsx'
import { secretPage } from './form.tsx'
import { hostOf } from './state.tsx'

const ownerOf = ({ service }: ServiceVisit) => ({ service_id: service.id, key_type: null })
const idOf = ({ params }: ServiceVisit) => (readId(params.id) ?? NOTHING) as Id
const NOTHING = '00000000-0000-0000-0000-000000000000'
const toEndpoint = (visit: ServiceVisit, done: string): Answer => ({
  kind: 'redirect',
  to: `/s/${visit.service.id}/webhooks/${idOf(visit)}?done=${done}`,
})

/** It may take ten seconds, in which the page must not hold a place at the database. */
export async function testWebhook(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  const { id } = await read(parts, ownerOf(visit), idOf(visit))
  return {
    kind: 'later',
    async make() {
      const posted = await parts.testWebhook(actor, ownerOf(visit), id)
      return parts.reads.run(service.id, false, () => webhookAnswer(visit, { tested: presentTest(posted) }))
    },
  }
}

export async function switchWebhook(visit: ServiceVisit): Promise<Answer> {
  const state = visit.form.get('state') === 'paused' ? 'paused' : 'active'
  await change(visit.parts, visit.actor, ownerOf(visit), idOf(visit), { state })
  return toEndpoint(visit, state === 'paused' ? 'paused' : 'resumed')
}

export async function replaceSecret(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, form } = visit
  const [id, owner] = [idOf(visit), ownerOf(visit)]
  const { secret, previousUntil } = await rotateSecret(parts, actor, owner, id, undefined, form.get('seen') || null)
  const until = visit.formats.full(previousUntil)
  const lede = t`The earlier secret signs too until ${until}.`
  return secretPage(visit, await read(parts, owner, id), secret, { lede, isNew: false })
}

export async function replayEvents(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, form } = visit
  const input: ReplayInput = form.has('failed')
    ? { failed: true }
    : form.has('event')
      ? { event: form.get('event') ?? '' }
      : { from: (form.get('from') ?? '').trim() }
  try {
    await replay(parts, actor, ownerOf(visit), idOf(visit), input)
    return toEndpoint(visit, 'replayed')
  } catch (error) {
    // The event of an attempt may have been purged meanwhile.
    if (form.has('event')) throw error
    return webhookAnswer(visit, { problem: errorsAt(error, ['from'], wordsOf).from, status: 422 })
  }
}

/** The sentences of the interface name a field of the API, which the page calls otherwise. */
function wordsOf(refusal: Refusal): string {
  if (refusal.field !== 'from') return sentencesOf(refusal)
  return refusal.message === refuse.momentAhead('from').message
    ? t`Enter a time that is over.`
    : t`Enter a time such as 2026-11-02T09:15:00Z.`
}

export async function removeQuestion(visit: ServiceVisit): Promise<Answer> {
  const { service, url } = visit
  const webhook = await read(visit.parts, ownerOf(visit), idOf(visit))
  const path = `/s/${service.id}/webhooks`
  const host = hostOf(webhook.url)
  return {
    kind: 'page',
    title: t`Remove an endpoint`,
    width: 'narrow',
    nav: 'webhooks',
    body: (
      <>
        <PageHead
          title={rich`Remove ${<bdi>{host}</bdi>}?`}
          crumbs={[
            [t`Webhooks`, path],
            [host, `${path}/${webhook.id}`],
          ]}
          lede={t`It gets no further event. This cannot be undone.`}
        />
        <Card>
          <div class="stack">
            <p>{t`Events stay in the event list. To stop for a while only, pause the endpoint instead: then nothing is missed.`}</p>
            <Form action={`${path}/${webhook.id}/remove`}>
              <div class="row">
                <a class="btn" href={url(`${path}/${webhook.id}`)}>
                  {t`Keep it`}
                </a>
                <button class="btn btn-danger" type="submit">
                  {t`Remove the endpoint`}
                </button>
              </div>
            </Form>
          </div>
        </Card>
        <AsCurl method="DELETE" path={`/herald/v1/webhooks/${webhook.id}`} />
      </>
    ),
  }
}

export async function removeWebhook(visit: ServiceVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  if (!id) return notFound(visit.service)
  await remove(visit.parts, visit.actor, ownerOf(visit), id)
  return { kind: 'redirect', to: `/s/${visit.service.id}/webhooks?done=removed` }
}
