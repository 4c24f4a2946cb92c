// Revoking a key, after a question.
import { readId } from '../../core/id.ts'
import { revoke } from '../../keys/revoke.ts'
import { type ListedKey, list } from '../../keys/sql.ts'
import { Card, Facts, PageHead, Time } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { rich, say, t } from '../words/index.ts'
import { TYPES } from './types.ts'

export async function revokeQuestion(visit: ServiceVisit): Promise<Answer> {
  const { service, url } = visit
  const key = await keyOf(visit)
  if (!key) return notFound(service)
  if (key.revoked_at !== null) return { kind: 'redirect', to: `/s/${service.id}/keys?done=revoked` }
  return {
    kind: 'page',
    title: t`Revoke a key`,
    width: 'narrow',
    nav: 'keys',
    body: (
      <>
        <PageHead
          title={rich`Revoke “${<bdi>{key.name}</bdi>}”?`}
          crumbs={[[t`API keys`, `/s/${service.id}/keys`]]}
          lede={t`Programs that use it are refused at once. This cannot be undone.`}
        />
        <Card>
          <div class="stack">
            <Facts
              rows={[
                [t`Type`, say(TYPES[key.key_type].words)],
                [t`Made`, rich`${<Time at={key.created_at} />} by ${<bdi>{key.created_by}</bdi>}`],
                [t`Last used`, key.last_used_at === null ? t`Never` : <Time at={key.last_used_at} />],
              ]}
            />
            {key.last_used_at !== null && (
              <p>
                <a
                  href={url(`/s/${service.id}/requests?key=${key.id}`)}
                >{t`See what it called in the last 24 hours`}</a>
              </p>
            )}
            <Form action={`/s/${service.id}/keys/${key.id}/revoke`}>
              <div class="row">
                <a class="btn" href={url(`/s/${service.id}/keys`)}>
                  {t`Keep it`}
                </a>
                <button class="btn btn-danger" type="submit">
                  {t`Revoke the key`}
                </button>
              </div>
            </Form>
          </div>
        </Card>
        <AsCommand command={`herald key revoke ${key.id}`} />
      </>
    ),
  }
}

export async function revokeKey(visit: ServiceVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  if (!id) return notFound(visit.service)
  await revoke(visit.parts, visit.actor, id)
  return { kind: 'redirect', to: `/s/${visit.service.id}/keys?done=revoked` }
}

async function keyOf({ parts, service, params }: ServiceVisit): Promise<ListedKey | undefined> {
  const id = readId(params.id)
  return (await list(parts.db.sql, service.id)).find(key => key.id === id)
}
