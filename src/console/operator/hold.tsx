// Holding and releasing all sending: a page that says what happens and how much waits, then the act.
import { figuresOf } from '../../figures.ts'
import { hold, release } from '../../maintenance/sending.ts'
import { MESSAGE_LANES, SCAN_LANE } from '../../notifications/lane.ts'
import { waitingSubjects } from '../../queue/figures.ts'
import { holdingOf } from '../../queue/hold.ts'
import { IDENTITY_TABLES, RELEASED_LANES } from '../../sending.ts'
import { Card, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { plural, t } from '../words/index.ts'

const SYSTEM = '/operator/system'

export async function holdQuestion(visit: SignedInVisit): Promise<Answer> {
  const { sql } = visit.parts.db
  if (await holdingOf(sql)) return { kind: 'redirect', to: `${SYSTEM}#sending` }
  const waiting = await waitingWords(visit)
  return {
    kind: 'page',
    title: t`Hold all sending`,
    nav: 'system',
    width: 'narrow',
    body: (
      <>
        <PageHead
          title={t`Hold all sending?`}
          crumbs={[[t`System`, SYSTEM]]}
          lede={t`For every service, in every process, until an operator releases it.`}
        />
        <Card>
          <div class="stack">
            <p>
              <strong>{waiting}</strong>
            </p>
            <ul class="stack">
              <li>{t`Messages are still accepted, and wait.`}</li>
              <li>{t`What is being handed to a provider now is finished.`}</li>
              <li>{t`Webhooks and mails of Herald wait too: nobody can sign in by a link meanwhile.`}</li>
              <li>{t`A message that waits for more than 72 hours fails.`}</li>
            </ul>
            <Form action={`${SYSTEM}/hold`}>
              <div class="row">
                <a class="btn" href={visit.url(SYSTEM)}>
                  {t`Keep sending`}
                </a>
                <button class="btn btn-danger" type="submit">
                  {t`Hold all sending`}
                </button>
              </div>
            </Form>
          </div>
        </Card>
        <AsCommand command="herald hold" />
      </>
    ),
  }
}

export async function releaseQuestion(visit: SignedInVisit): Promise<Answer> {
  const { sql } = visit.parts.db
  const holding = await holdingOf(sql)
  if (holding === null || holding.reason === 'restored') return { kind: 'redirect', to: `${SYSTEM}#sending` }
  const [waiting, { kept }] = await Promise.all([waitingWords(visit), figuresOf(sql)])
  const { number } = visit.formats
  return {
    kind: 'page',
    title: t`Release all sending`,
    nav: 'system',
    width: 'narrow',
    body: (
      <>
        <PageHead
          title={t`Release all sending?`}
          crumbs={[[t`System`, SYSTEM]]}
          lede={t`Everything that waits leaves at once. What is sent cannot be recalled.`}
        />
        <Card>
          <div class="stack">
            <p>
              <strong>{waiting}</strong>
            </p>
            {kept > 0 && (
              <p>
                {plural(
                  kept,
                  t`${number(kept)} group of messages that an earlier release kept back leaves too.`,
                  t`${number(kept)} groups of messages that an earlier release kept back leave too.`,
                )}
              </p>
            )}
            <p>{t`To release only a part, use herald release at the machine.`}</p>
            <Form action={`${SYSTEM}/release`}>
              <div class="row">
                <a class="btn" href={visit.url(SYSTEM)}>
                  {t`Keep holding`}
                </a>
                <button class="btn btn-primary" type="submit">
                  {t`Release all sending`}
                </button>
              </div>
            </Form>
          </div>
        </Card>
        <AsCommand command="herald release --all" />
      </>
    ),
  }
}

async function waitingWords({ parts, formats: { number } }: SignedInVisit): Promise<string> {
  const { subjects, hasMore } = await waitingSubjects(parts.db.sql, [...MESSAGE_LANES, SCAN_LANE])
  if (subjects === 0) return t`No message waits at the moment.`
  if (hasMore) return t`More than ${number(subjects)} messages are due now.`
  return plural(subjects, t`${number(subjects)} message is due now.`, t`${number(subjects)} messages are due now.`)
}

export async function holdAll(visit: SignedInVisit): Promise<Answer> {
  await hold(visit.parts, visit.actor, IDENTITY_TABLES)
  await visit.parts.hold.look()
  return { kind: 'redirect', to: `${SYSTEM}?done=held` }
}

export async function releaseEverything(visit: SignedInVisit): Promise<Answer> {
  const holding = await holdingOf(visit.parts.db.sql)
  // A restored copy is released at the machine, with a cut-off.
  if (holding?.reason === 'restored') return { kind: 'redirect', to: `${SYSTEM}#sending` }
  await release(visit.parts, visit.actor, RELEASED_LANES)
  await visit.parts.hold.look()
  return { kind: 'redirect', to: `${SYSTEM}?done=released` }
}
