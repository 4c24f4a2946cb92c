// A test of one provider: a form for the recipient, and the answer of the provider.
import type { VNode } from 'preact'
import { type Channel, channelNames } from '../../channels/index.ts'
import { roleOf } from '../../config/in-use.ts'
import { readId } from '../../core/id.ts'
import { type ProviderTest, readTest, testProvider } from '../../installation/test.ts'
import { pause } from '../../runtime/within.ts'
import { Callout, Card, Facts, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { ErrorSummary, Form, Input } from '../components/form.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, DirectAnswer, SignedInVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { rich, t } from '../words/index.ts'
import { providerPath } from './paths.ts'
import { channelWords } from './system-cards.tsx'

const SYSTEM = '/operator/system'

type Asked = { channel: Channel; provider: string }

/** Null: no channel or provider can have this name. */
function askedIn({ params }: SignedInVisit): Asked | null {
  const channel = channelNames.find(name => name === params.channel)
  const provider = params.provider ?? ''
  return channel && /^[a-z][a-z0-9-]{0,29}$/.test(provider) ? { channel, provider } : null
}

export function testForm(visit: SignedInVisit): Answer {
  const asked = askedIn(visit)
  return asked ? formPage(visit, asked) : notFound(null)
}

function formPage(visit: SignedInVisit, { channel, provider }: Asked, error?: string): DirectAnswer {
  const isText = channel === 'sms'
  const isCapture = roleOf(visit.parts.config, channel, provider) === 'capture'
  const title = t`Send a test message through ${provider}`
  return {
    kind: 'page',
    title: error ? t`Error: ${title}` : title,
    nav: 'system',
    width: 'narrow',
    ...(error !== undefined && { status: 422 }),
    body: (
      <>
        {error !== undefined && <ErrorSummary title={t`Not sent`} errors={{ recipient: error }} />}
        <PageHead
          title={rich`Send a test message through ${<bdi>{provider}</bdi>}`}
          crumbs={[[t`System`, SYSTEM]]}
          lede={t`One message, by this provider only, also while it is paused after errors.`}
        />
        {isCapture && (
          <Callout tone="info">
            <p>{t`This installation captures such messages: the test is kept in the captured inbox and reaches nobody.`}</p>
          </Callout>
        )}
        <Card>
          <Form action={providerPath(channel, provider)}>
            <Input
              name="recipient"
              label={isText ? t`Phone number` : t`E-mail address`}
              hint={t`It is kept sealed until the message is handed over, and never logged.`}
              type={isText ? 'tel' : 'email'}
              value={visit.form.get('recipient') ?? ''}
              error={error}
              maxLength={320}
              required
            />
            <div class="row">
              <a class="btn" href={visit.url(SYSTEM)}>
                {t`Cancel`}
              </a>
              <button class="btn btn-primary" type="submit">
                {t`Send the test message`}
              </button>
            </div>
          </Form>
        </Card>
        <AsCommand command={`herald provider test ${provider} --to ${isText ? 'NUMBER' : 'ADDRESS'}`} />
      </>
    ),
  }
}

/** Most providers answer within this time; else the next page goes on waiting. */
const WAIT_MS = 8_000
const LOOK_MS = 200

/** It waits outside the turn at the database. */
export async function sendTest(visit: SignedInVisit): Promise<Answer> {
  const asked = askedIn(visit)
  if (!asked) return notFound(null)
  const { parts, actor, form, signal } = visit
  try {
    const id = await testProvider(parts, actor, { ...asked, recipient: form.get('recipient') ?? '' })
    return {
      kind: 'later',
      async make() {
        const until = performance.now() + WAIT_MS
        while (performance.now() < until && !signal.aborted) {
          if ((await readTest(parts, actor, id))?.state !== 'waiting') break
          await pause(LOOK_MS, signal)
        }
        return { kind: 'redirect', to: `${SYSTEM}/tests/${id}` }
      },
    }
  } catch (error) {
    return formPage(visit, asked, problemOf(error))
  }
}

export async function testPage(visit: SignedInVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  const test = id && (await readTest(visit.parts, visit.actor, id))
  if (!test) return notFound(null)
  const { channel, provider } = test
  return {
    kind: 'page',
    title: t`Test of ${provider}`,
    nav: 'system',
    width: 'narrow',
    body: (
      <>
        <PageHead title={rich`Test of ${<bdi>{provider}</bdi>}`} crumbs={[[t`System`, SYSTEM]]} />
        <div class="stack" {...(test.state === 'waiting' && { 'data-fresh': '' })}>
          <Outcome visit={visit} test={test} />
          <Card>
            <Facts
              rows={[
                [t`Provider`, <bdi>{provider}</bdi>],
                [t`Channel`, channelWords(channel)],
                [t`Process`, <bdi>{test.process ?? '–'}</bdi>],
                ...factsOf(test),
              ]}
            />
          </Card>
        </div>
        <div class="row">
          <a class="btn" href={visit.url(SYSTEM)}>
            {t`Back to the system`}
          </a>
          <a class="btn" href={visit.url(providerPath(channel, provider))}>
            {t`Send another test`}
          </a>
        </div>
      </>
    ),
  }
}

function factsOf({ answer }: ProviderTest): (readonly [string, VNode])[] {
  switch (answer?.kind) {
    case 'accepted':
      return [[t`Reference of the provider`, <bdi>{answer.ref}</bdi>]]
    case 'refused':
    case 'deferred':
      return [
        [t`Class`, <bdi>{answer.class}</bdi>],
        'reason' in answer && answer.reason !== undefined
          ? [t`Reason`, <bdi>{answer.reason}</bdi>]
          : [t`Answer of the provider`, <bdi>{answer.detail}</bdi>],
      ]
    default:
      return []
  }
}

function Unanswered({ visit: { url }, test }: { visit: SignedInVisit; test: ProviderTest }) {
  if (test.state === 'waiting')
    return (
      <Callout tone="info" role="status" title={t`No answer yet`}>
        <p>
          {t`The message is on its way to the provider.`} <a href={url(`${SYSTEM}/tests/${test.id}`)}>{t`Refresh`}</a>
        </p>
      </Callout>
    )
  if (test.state === 'not taken')
    return (
      <Callout tone="bad" role="alert" title={t`Not sent`}>
        <p>{t`No process with an engine took the test in time. Look at the processes on the system page.`}</p>
      </Callout>
    )
  return (
    <Callout tone="bad" role="alert" title={t`No answer in time`}>
      <p>{t`The provider has not answered for 30 seconds. The message may still arrive.`}</p>
    </Callout>
  )
}

function Outcome({ visit, test }: { visit: SignedInVisit; test: ProviderTest }) {
  const { url, parts } = visit
  if (test.state !== 'answered') return <Unanswered visit={visit} test={test} />
  const { answer } = test
  switch (answer.kind) {
    case 'accepted':
      return roleOf(parts.config, test.channel, test.provider) === 'capture' ? (
        <Callout tone="good" role="status" title={t`Captured`}>
          <p>{rich`The message reached nobody: it is in the ${<a href={url('/operator/inbox')}>{t`captured inbox`}</a>}.`}</p>
        </Callout>
      ) : (
        <Callout tone="good" role="status" title={t`Accepted`}>
          <p>{t`The provider has accepted the message. Now look whether it arrives.`}</p>
        </Callout>
      )
    case 'refused':
      return (
        <Callout tone="bad" role="alert" title={t`Refused`}>
          <p>{t`The provider refuses this message for good. Check the recipient first, then the login and the sender in the settings of the provider.`}</p>
        </Callout>
      )
    case 'deferred':
      return (
        <Callout tone="warn" role="alert" title={answer.uncertain ? t`Perhaps accepted` : t`Refused for now`}>
          <p>
            {answer.uncertain
              ? t`The connection broke before the provider answered. The message may still arrive.`
              : t`The provider does not take messages at the moment. Herald tries again with messages; a test is not repeated.`}
          </p>
        </Callout>
      )
    case 'held':
      return (
        <Callout tone="warn" role="alert" title={t`Not sent`}>
          <p>{t`Sending was held meanwhile, so the test was not sent.`}</p>
        </Callout>
      )
    case 'fault':
      return (
        <Callout tone="bad" role="alert" title={t`Not sent`}>
          <p>{t`Something failed in Herald itself. The log of the process says what.`}</p>
        </Callout>
      )
  }
}
