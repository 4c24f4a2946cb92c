// The captured inbox: what would have been sent and reached nobody. The list stands beside the message.
import { fromMicros } from '../../core/clock.ts'
import { type Id, readId } from '../../core/id.ts'
import { type Looked, look, newerThan, openCaptured, PAGE, type Summary } from '../../inbox/look.ts'
import { digestsOf, type WholeCaptured } from '../../inbox/read.ts'
import { removeCaptured, removeMatching } from '../../inbox/remove.ts'
import { type Source, type WithSource, withSource } from '../../inbox/source.ts'
import { Done, Empty, Hidden, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCommand, AsCurl } from '../components/behind.tsx'
import { Form, FormToken } from '../components/form.tsx'
import { Pager, SearchField } from '../components/list.tsx'
import { Dialog } from '../components/overlays.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, Handler, PageAnswer, SignedInVisit } from '../page.ts'
import { plural, t } from '../words/index.ts'
import { DeleteForm, Detail, isView, type View } from './detail.tsx'
import {
  appOf,
  type Given,
  givenIn,
  type InboxPlace,
  lookingFor,
  pathOf,
  placeOf,
  readerOf,
  sealWords,
  writeDigests,
} from './place.ts'

export const inboxPage: Handler<SignedInVisit> = async visit => {
  const place = placeOf(visit)
  return pageOf(visit, place, await lookedAt(visit, place), { message: null, source: null })
}

export const capturedPage: Handler<SignedInVisit> = async visit => {
  const place = placeOf(visit)
  const id = readId(visit.params.id)
  if (!id) return notFound(place.service)
  const read = await withSource(appOf(visit), readerOf(visit, place), id, () =>
    openCaptured(appOf(visit), visit.actor, place.scope, place.service, id),
  )
  const looked = await lookedAt(visit, place)
  return { kind: 'later', make: async () => pageOf(visit, place, looked, await read()) }
}

/** A recipient becomes a digest, an id opens its message, and anything else is searched for as words. */
export const searchInbox: Handler<SignedInVisit> = async visit => {
  const place = placeOf(visit)
  const text = (visit.form.get('q') ?? '').trim()
  const to = (path: string): Answer => ({ kind: 'redirect', to: path })
  if (text === '') return to(place.base)
  const id = readId(text)
  if (id) return to(pathOf(place, id, {}))
  const digests = place.service && (await digestsOf(visit.parts, place.service.id, text))
  return to(pathOf(place, null, digests ? { to: writeDigests(digests) } : { words: sealWords(visit, text) }))
}

/** For the script: new messages wait until the person asks for them. */
export const newerInInbox: Handler<SignedInVisit> = async visit => {
  const { scope } = placeOf(visit)
  const count = await newerThan(appOf(visit), visit.actor, scope, readId(visit.query.get('than')))
  const words =
    count === 0
      ? ''
      : count >= PAGE
        ? t`${count} or more new messages`
        : plural(count, t`${count} new message`, t`${count} new messages`)
  return { kind: 'json', data: { count, words } }
}

export const emptyTheInbox: Handler<SignedInVisit> = async visit => {
  const place = placeOf(visit)
  const given = givenIn(visit.form)
  const { digests, words } = lookingFor(visit, given)
  const isAll = given.to === undefined && given.words === undefined
  // An address that was changed names nothing: then nothing is deleted, rather than everything.
  if (!isAll && digests === null && words === '') return { kind: 'redirect', to: place.base }
  const { hasMore } = await removeMatching(appOf(visit), visit.actor, place.scope, place.service, { digests, words })
  const done = isAll ? (hasMore ? 'some' : 'emptied') : hasMore ? 'some-matching' : 'matching'
  return { kind: 'redirect', to: pathOf(place, null, hasMore ? given : {}, { done }) }
}

export const deleteCaptured: Handler<SignedInVisit> = async visit => {
  const place = placeOf(visit)
  const id = readId(visit.params.id)
  if (!id) return notFound(place.service)
  await removeCaptured(appOf(visit), visit.actor, place.scope, id)
  return { kind: 'redirect', to: pathOf(place, null, givenIn(visit.form), { done: 'deleted' }) }
}

const lookedAt = (visit: SignedInVisit, place: InboxPlace) =>
  look(appOf(visit), visit.actor, place.scope, place.service, lookingFor(visit, givenIn(visit.query)))

function pageOf(
  visit: SignedInVisit,
  place: InboxPlace,
  looked: Looked,
  { message, source }: WithSource | { message: null; source: null },
): PageAnswer {
  const given = givenIn(visit.query)
  const { words } = lookingFor(visit, given)
  const asked = visit.query.get('view') ?? ''
  const view: View = isView(asked) ? asked : 'html'
  return {
    kind: 'page',
    title: t`Captured inbox`,
    nav: place.nav,
    width: 'wide',
    body: <Inbox {...{ visit, place, given, looked, message, source, view, words }} />,
  }
}

type Shown = {
  visit: SignedInVisit
  place: InboxPlace
  given: Given
  looked: Looked
  message: WholeCaptured | null
  source: Source | null
  view: View
  words: string
}

function Inbox(props: Shown) {
  const { visit, place, given, looked, message, words } = props
  const { url, query, formats, parts } = visit
  const { messages, older, isPartial } = looked
  const isFiltered = given.to !== undefined || words !== ''
  const isFirst = given.before === undefined
  const done = {
    deleted: t`The message is deleted from the inbox.`,
    emptied: t`The inbox is empty.`,
    some: t`20,000 messages are deleted. Delete again to delete the rest.`,
    matching: t`The messages that you searched for are deleted from the inbox.`,
    'some-matching': t`Some of the messages that you searched for are deleted. Delete again to delete the rest.`,
  }
  return (
    <>
      <PageHead
        title={t`Captured inbox`}
        lede={
          place.service
            ? t`What would have been sent. Nobody got these: they are of test keys, or there is no provider. Kept for 7 days.`
            : t`Mails of Herald itself that nobody got, because there is no provider. Those of a service are in its own inbox. Kept for 7 days.`
        }
      >
        {messages.length > 0 && !isFiltered && <EmptyDialog place={place} />}
      </PageHead>
      <Done done={query.get('done')} sentences={done} />
      {isFirst && !isFiltered && (
        <p
          class="row row-tight"
          role="status"
          hidden
          data-live={url(`${place.base}/newer${messages[0] ? `?than=${messages[0].id}` : ''}`)}
          data-href={url(place.base)}
        />
      )}
      <div class="card">
        {messages.length === 0 && !message && !isFiltered && isFirst ? (
          <Empty
            icon="inbox"
            level={2}
            title={t`Nothing was captured yet`}
            text={
              place.service
                ? t`Send a message with a test key: it appears here and reaches nobody.`
                : t`Sign-in links and invitations appear here while e-mails have no provider.`
            }
          />
        ) : (
          <div class="split">
            <div>
              <form
                class="filters card-body"
                role="search"
                aria-label={t`Captured messages`}
                method="post"
                action={url(`${place.base}/search`)}
              >
                <FormToken />
                <div class="search">
                  <SearchField name="q" label={t`To, subject or words`} value={words} />
                </div>
              </form>
              {isFiltered && <Filtered {...props} />}
              {isFiltered && messages.length > 0 && <DeleteTheseDialog {...{ place, given }} />}
              {messages.length > 0 ? (
                <ul class="mails" data-delete-by="delete-listed">
                  {messages.map(one => (
                    <li key={one.id}>
                      <Mail {...{ visit, place, given }} mail={one} isOpen={one.id === message?.id} />
                    </li>
                  ))}
                </ul>
              ) : (
                <p class="card-body muted">
                  {isPartial ? t`None of these messages match. Older ones may.` : t`No message matches.`}
                </p>
              )}
              <Pager older={older && url(pathOf(place, null, { ...given, before: older }))}>
                {isPartial
                  ? t`Looked at some. Older ones may match.`
                  : isFirst
                    ? t`Newest at ${formats.brief(fromMicros(parts.clock.micros()))}`
                    : t`Older messages`}
              </Pager>
            </div>
            {message ? (
              <Detail {...{ visit, place, given, message }} source={props.source} view={props.view} />
            ) : (
              <div class="hide-phone">
                <Empty icon="email" level={2} title={t`Choose a message`} text={t`It opens here.`} />
              </div>
            )}
          </div>
        )}
      </div>
      {messages.length > 0 && <DeleteListed place={place} given={given} />}
      <Behind place={place} id={message?.id ?? null} />
    </>
  )
}

const Behind = ({ place, id }: { place: InboxPlace; id: Id | null }) =>
  place.service ? (
    <AsCurl path={id ? `/herald/v1/inbox/${id}` : '/herald/v1/inbox?limit=20&wait=0'} />
  ) : (
    <AsCommand command={id ? `herald inbox --message ${id}` : 'herald inbox'} />
  )

function Filtered({ visit, place, given, looked, words }: Shown) {
  const to = looked.messages[0]?.to
  return (
    <p class="card-body row row-between">
      <span>
        {given.to === undefined ? (
          <>
            {t`With the words`} <strong dir="auto">{words}</strong>
          </>
        ) : (
          <>
            {t`To`} <bdi>{to ?? t`a recipient without messages`}</bdi>
          </>
        )}
      </span>
      <span class="row row-tight">
        <a class="btn btn-sm" href={visit.url(place.base)}>
          {t`Show all`}
        </a>
        {looked.messages.length > 0 && (
          <button class="btn btn-sm" type="button" popovertarget="delete-these">
            {t`Delete these`}
          </button>
        )}
      </span>
    </p>
  )
}

function DeleteTheseDialog({ place, given }: Pick<Shown, 'place' | 'given'>) {
  const { before: _, ...searched } = given
  return (
    <Dialog id="delete-these" title={t`Delete these messages?`}>
      <p>
        {given.to === undefined
          ? t`All captured messages with these words are deleted here, for everybody.`
          : t`All captured messages to this recipient are deleted here, for everybody.`}{' '}
        {place.service && t`The list of messages keeps them.`}
      </p>
      <Form action={`${place.base}/empty`} class="row">
        {Object.entries(searched).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <button class="btn" type="button" popovertarget="delete-these" popovertargetaction="hide">
          {t`Keep them`}
        </button>
        <button class="btn btn-danger" type="submit">
          {t`Delete the messages`}
        </button>
      </Form>
    </Dialog>
  )
}

function Mail(props: { visit: SignedInVisit; place: InboxPlace; given: Given; mail: Summary; isOpen: boolean }) {
  const { visit, place, given, mail, isOpen } = props
  return (
    <a
      href={`${visit.url(pathOf(place, mail.id, given))}#message`}
      data-delete={visit.url(`${place.base}/${mail.id}/delete`)}
      {...(isOpen && { 'aria-current': 'true' as const })}
    >
      <span class={mail.seen || isOpen ? 'clip' : 'clip unread'}>
        {!mail.seen && !isOpen && <Hidden>{t`Unread:`} </Hidden>}
        <bdi>{mail.to}</bdi>
      </span>
      <Time at={mail.at} />
      <span class="sub">
        {mail.key_type !== null && (
          <>
            <span class="tag">{mail.key_type === 'test' ? t`Test key` : t`Live`}</span>{' '}
          </>
        )}
        <bdi>{mail.title || t`Without a subject`}</bdi>
      </span>
    </a>
  )
}

/** The script opens it for a message of the list. */
const DeleteListed = ({ place, given }: { place: InboxPlace; given: Given }) => (
  <Dialog id="delete-listed" title={t`Delete this message?`}>
    <p>
      <strong>
        <bdi data-delete-name="" />
      </strong>
    </p>
    <DeleteForm dialog="delete-listed" action={place.base} {...{ place, given }} />
  </Dialog>
)

const EmptyDialog = ({ place }: { place: InboxPlace }) => (
  <>
    <button class="btn" type="button" popovertarget="empty">
      <Icon name="trash" />
      {t`Empty the inbox`}
    </button>
    <Dialog id="empty" title={t`Empty the inbox?`}>
      <p>
        {place.service
          ? t`All captured messages of this service are deleted here, for everybody. The list of messages keeps them.`
          : t`All mails on this page are deleted, for everybody.`}
      </p>
      <Form action={`${place.base}/empty`} class="row">
        <button class="btn" type="button" popovertarget="empty" popovertargetaction="hide">
          {t`Keep them`}
        </button>
        <button class="btn btn-danger" type="submit">
          {t`Empty the inbox`}
        </button>
      </Form>
    </Dialog>
  </>
)
