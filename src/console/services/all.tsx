// All services of the installation, for operators: search, add.
import { openRequests } from '../../live-requests/read.ts'
import { joinService } from '../../people/members.ts'
import { create } from '../../services/create.ts'
import { list, type ShownService, teamSizes } from '../../services/sql.ts'
import { Callout, Card, Empty, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Choices, ErrorSummary, Form, Input } from '../components/form.tsx'
import { FilterSelect, Filters, SearchField, Table, Title } from '../components/list.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { settingsPath } from '../settings/rows.tsx'
import { mark, plural, say, t } from '../words/index.ts'
import { ServiceMode } from './mode.tsx'

const MOST = 100

export async function allServices(visit: SignedInVisit): Promise<Answer> {
  const { parts, query, url, formats } = visit
  const [name, mode] = [query.get('name')?.trim() ?? '', query.get('mode') ?? '']
  const [all, requests] = await Promise.all([list(parts.db.sql), openRequests(parts, visit.actor)])
  const asking = new Set(requests.map(({ service_id }) => service_id))
  const found = all
    .filter(service => (mode === 'asking' ? asking.has(service.id) : fits(service, name.toLowerCase(), mode)))
    .sort((a, b) => a.name.localeCompare(b.name))
  const shown = found.slice(0, MOST)
  const sizes = new Map(
    (
      await teamSizes(
        parts.db.sql,
        shown.map(({ id }) => id),
      )
    ).map(({ service_id, people }) => [service_id, people]),
  )
  const active = all.filter(({ state }) => state !== 'archived').length
  return {
    kind: 'page',
    title: t`Services`,
    nav: 'all-services',
    body: (
      <>
        <PageHead
          title={t`Services`}
          lede={plural(
            active,
            t`${formats.number(active)} service on this installation.`,
            t`${formats.number(active)} services on this installation.`,
          )}
        >
          <a class="btn btn-primary" href={url('/operator/services/new')}>
            <Icon name="plus" />
            {t`Add a service`}
          </a>
        </PageHead>
        {requests.length > 0 && (
          <Callout tone="info">
            <p>
              <a href={url('/operator/services?mode=asking')}>
                {plural(
                  requests.length,
                  t`${formats.number(requests.length)} service asks to go live`,
                  t`${formats.number(requests.length)} services ask to go live`,
                )}
              </a>
            </p>
          </Callout>
        )}
        <Filters label={t`Services`} action="/operator/services">
          <div class="search">
            <SearchField name="name" label={t`Service name`} value={name} />
          </div>
          <FilterSelect
            label={t`Mode`}
            name="mode"
            value={mode}
            options={MODES.map(([value, words]) => [value, say(words)] as const)}
          />
        </Filters>
        <Card
          body={false}
          {...(found.length > MOST && { foot: t`Showing ${MOST} of ${formats.number(found.length)}.` })}
        >
          {shown.length === 0 ? (
            <Empty
              level={2}
              icon="services"
              title={all.length === 0 ? t`There is no service yet` : t`No service matches`}
              text={
                all.length === 0
                  ? t`A service has its own templates, keys, team and limits.`
                  : t`Search for a part of its name, in any mode.`
              }
            >
              {all.length > 0 && <a class="btn" href={url('/operator/services')}>{t`Show all`}</a>}
            </Empty>
          ) : (
            <Table<ShownService>
              caption={t`Services`}
              rows={shown}
              keyOf={({ id }) => id}
              columns={[
                { head: t`Service`, cell: service => <Title href={url(`/s/${service.id}`)}>{service.name}</Title> },
                {
                  head: t`Mode`,
                  kind: 'status',
                  cell: service => (
                    <>
                      <ServiceMode service={service} />
                      {asking.has(service.id) && (
                        <>
                          {' '}
                          <a href={url(settingsPath(service.id, '/live'))}>{t`Asks to go live`}</a>
                        </>
                      )}
                    </>
                  ),
                },
                { head: t`People`, kind: 'num', cell: ({ id }) => formats.number(sizes.get(id) ?? 0) },
                { head: t`Added`, kind: 'num', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
            />
          )}
        </Card>
        <AsCommand command="herald service list" />
      </>
    ),
  }
}

const MODES = [
  ['', mark('Any')],
  ['live', mark('Live')],
  ['trial', mark('Trial')],
  ['suspended', mark('Suspended')],
  ['archived', mark('Archived')],
  ['asking', mark('Asks to go live')],
] as const

/** Archived services are shown only when they are asked for. */
function fits({ name, mode, state }: ShownService, wantedName: string, wantedMode: string): boolean {
  if (wantedName !== '' && !name.toLowerCase().includes(wantedName)) return false
  if (wantedMode === 'live' || wantedMode === 'trial') return state === 'active' && mode === wantedMode
  if (wantedMode === 'suspended' || wantedMode === 'archived') return state === wantedMode
  return state !== 'archived'
}

export const newService = (): Answer => form({ name: '', mode: 'trial' }, undefined)

export async function addService(visit: SignedInVisit): Promise<Answer> {
  const name = visit.form.get('name') ?? ''
  const mode = visit.form.get('mode') === 'live' ? 'live' : 'trial'
  const { parts, actor, signedIn } = visit
  try {
    const service = await create(parts, actor, { name, mode })
    await joinService(parts, actor, service.id, signedIn.person, 'manager')
    return { kind: 'redirect', to: `/s/${service.id}/team?done=created` }
  } catch (error) {
    return form({ name, mode }, problemOf(error))
  }
}

const form = (given: { name: string; mode: 'trial' | 'live' }, problem: string | undefined): Answer => ({
  kind: 'page',
  title: problem ? t`Error: ${t`Add a service`}` : t`Add a service`,
  width: 'narrow',
  nav: 'all-services',
  ...(problem && { status: 422 }),
  body: (
    <>
      <PageHead
        title={t`Add a service`}
        crumbs={[[t`Services`, '/operator/services']]}
        lede={t`You become its manager and can invite others.`}
      />
      <ErrorSummary errors={{ name: problem }} title={t`Not added yet`} />
      <Card>
        <Form action="/operator/services/new">
          <Input
            label={t`Name`}
            name="name"
            hint={t`Recipients see it as the sender of e-mails.`}
            value={given.name}
            error={problem}
            maxLength={255}
            dir="auto"
            required
          />
          <Choices
            legend={t`Mode`}
            name="mode"
            type="radio"
            options={[
              {
                value: 'trial',
                words: t`Trial`,
                hint: t`Sends to its team and its safelist only`,
                checked: given.mode === 'trial',
              },
              { value: 'live', words: t`Live`, hint: t`Sends to anyone`, checked: given.mode === 'live' },
            ]}
          />
          <div class="row">
            <button class="btn btn-primary" type="submit">{t`Add the service`}</button>
          </div>
        </Form>
      </Card>
      <AsCommand command='herald service create "Parking permits"' />
    </>
  ),
})
