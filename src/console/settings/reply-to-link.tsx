// The page of a link that proves a reply-to address. Opening it changes nothing, because programs that check mails open links too.

import { actorOf } from '../../people/person.ts'
import { readReplyToLink, verifyReplyTo } from '../../people/reply-tos.ts'
import { Form } from '../components/form.tsx'
import { SoloCard } from '../components/solo.tsx'
import type { Answer, Visit } from '../page.ts'
import { rich, t } from '../words/index.ts'

export async function replyToPage({ parts, params }: Visit): Promise<Answer> {
  const asked = await readReplyToLink(parts, params.token)
  if (!asked) return over()
  return {
    kind: 'page',
    title: t`Confirm an address for replies`,
    width: 'solo',
    body: (
      <SoloCard title={t`Confirm an address for replies`}>
        <p>
          {rich`Replies to e-mails of ${(
            <strong>
              <bdi>{asked.service_name}</bdi>
            </strong>
          )} will go to ${<bdi>{asked.email_address}</bdi>}.`}
        </p>
        <Form action={`/reply-to/${params.token}`}>
          <button class="btn btn-primary" type="submit">
            {t`Confirm the address`}
          </button>
        </Form>
        <p class="muted">{t`If you do not know this service, close this page: nothing is sent with the address.`}</p>
      </SoloCard>
    ),
  }
}

export async function replyToConfirmed({ parts, params, signedIn }: Visit): Promise<Answer> {
  const asked = await readReplyToLink(parts, params.token)
  const done = asked && (await verifyReplyTo(parts, signedIn && actorOf(signedIn, asked.service_id), params.token))
  if (!done) return over()
  return {
    kind: 'page',
    title: t`The address is confirmed`,
    width: 'solo',
    body: (
      <SoloCard title={t`The address is confirmed`}>
        <p>
          {rich`Messages of ${<bdi>{done.service_name}</bdi>} can use ${<bdi>{done.email_address}</bdi>} for replies. You can close this page.`}
        </p>
      </SoloCard>
    ),
  }
}

const over = (): Answer => ({
  kind: 'page',
  status: 410,
  title: t`This link does not work any longer`,
  width: 'solo',
  body: (
    <SoloCard title={t`This link does not work any longer`}>
      <p>{t`It was used, replaced by a newer one, or is older than 7 days. A manager of the service can send another one.`}</p>
    </SoloCard>
  ),
})
