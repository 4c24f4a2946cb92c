// All services of the installation, for operators: search, add.
import { joinService } from '../../people/members.ts'
import { create } from '../../services/create.ts'
import { list, type ShownService, teamSizes } from '../../services/sql.ts'
import { Card, Empty, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Choices, ErrorSummary, Form, Input } from '../components/form.tsx'
import { FilterSelect, Filters, SearchField, Table, Title } from '../components/list.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { ServiceMode } from './mode.tsx'

const MOST = 100

export async function allServices(visit: SignedInVisit): Promise<Answer> {
  const { parts, query, url, formats } = visit
  const [name, mode] = [query.get('name')?.trim() ?? '', query.get('mode') ?? '']
  const all = await list(parts.db.sql)
  const found = all
    .filter(service => fits(service, name.toLowerCase(), mode))
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
    title: 'Services',
    nav: 'all-services',
    body: (
      <>
        <PageHead
          title="Services"
          lede={`${formats.number(active)} ${active === 1 ? 'service' : 'services'} on this installation.`}
        >
          <a class="btn btn-primary" href={url('/operator/services/new')}>
            <Icon name="plus" />
            Add a service
          </a>
        </PageHead>
        <Filters label="Services" action="/operator/services">
          <div class="search">
            <SearchField name="name" label="Service name" value={name} />
          </div>
          <FilterSelect label="Mode" name="mode" value={mode} options={MODES} />
        </Filters>
        <Card
          body={false}
          {...(found.length > MOST && { foot: `Showing ${MOST} of ${formats.number(found.length)}.` })}
        >
          {shown.length === 0 ? (
            <Empty
              level={2}
              icon="services"
              title={all.length === 0 ? 'There is no service yet' : 'No service matches'}
              text={
                all.length === 0
                  ? 'A service has its own templates, keys, team and limits.'
                  : 'Search for a part of its name, in any mode.'
              }
            >
              {all.length > 0 && (
                <a class="btn" href={url('/operator/services')}>
                  Show all
                </a>
              )}
            </Empty>
          ) : (
            <Table<ShownService>
              caption="Services"
              rows={shown}
              keyOf={({ id }) => id}
              columns={[
                { head: 'Service', cell: service => <Title href={url(`/s/${service.id}`)}>{service.name}</Title> },
                { head: 'Mode', kind: 'status', cell: service => <ServiceMode service={service} /> },
                { head: 'People', kind: 'num', cell: ({ id }) => formats.number(sizes.get(id) ?? 0) },
                { head: 'Added', kind: 'num', cell: ({ created_at }) => <Time at={created_at} /> },
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
  ['', 'Any'],
  ['live', 'Live'],
  ['trial', 'Trial'],
  ['suspended', 'Suspended'],
  ['archived', 'Archived'],
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
  title: problem ? 'Error: Add a service' : 'Add a service',
  width: 'narrow',
  nav: 'all-services',
  ...(problem && { status: 422 }),
  body: (
    <>
      <PageHead
        title="Add a service"
        crumbs={[['Services', '/operator/services']]}
        lede="You become its manager and can invite others."
      />
      <ErrorSummary errors={{ name: problem }} title="Not added yet" />
      <Card>
        <Form action="/operator/services/new">
          <Input
            label="Name"
            name="name"
            hint="Recipients see it as the sender of e-mails."
            value={given.name}
            error={problem}
            maxLength={255}
            dir="auto"
            required
          />
          <Choices
            legend="Mode"
            name="mode"
            type="radio"
            options={[
              {
                value: 'trial',
                words: 'Trial',
                hint: 'Sends to its team and its safelist only',
                checked: given.mode === 'trial',
              },
              { value: 'live', words: 'Live', hint: 'Sends to anyone', checked: given.mode === 'live' },
            ]}
          />
          <div class="row">
            <button class="btn btn-primary" type="submit">
              Add the service
            </button>
          </div>
        </Form>
      </Card>
      <AsCommand command='herald service create "Parking permits"' />
    </>
  ),
})
