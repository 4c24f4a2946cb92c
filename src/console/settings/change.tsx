// What the managers of a service change: its name, what it may send, phone numbers, retention.
import { change } from '../../services/change.ts'
import type { Service } from '../../services/service.ts'
import type { Changes } from '../../services/sql.ts'
import { Choices, type FieldErrors, Input } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { errorsAt } from '../refused.ts'
import { language, t } from '../words/index.ts'
import { settingsForm } from './form.tsx'
import { countryWords, settingsPath } from './rows.tsx'

type Given = {
  name: string
  may: readonly string[]
  home_country: string
  email_retention_days: string
  sms_retention_days: string
}

const givenBy = (service: Service): Given => ({
  name: service.name,
  may: [
    ...(service.may_send_files ? ['files'] : []),
    ...(service.sms_prefix ? ['prefix'] : []),
    ...(service.may_send_international ? ['international'] : []),
  ],
  home_country: service.home_country ?? '',
  email_retention_days: String(service.email_retention_days),
  sms_retention_days: String(service.sms_retention_days),
})

export const changeForm = (visit: ServiceVisit): Answer => form(visit, givenBy(visit.service), {})

export async function saveChanges(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form: fields } = visit
  const given: Given = {
    name: fields.get('name') ?? '',
    may: ['files', 'prefix', 'international'].flatMap(name => fields.getAll(name)),
    home_country: (fields.get('home_country') ?? '').trim().toUpperCase(),
    email_retention_days: fields.get('email_retention_days') ?? '',
    sms_retention_days: fields.get('sms_retention_days') ?? '',
  }
  const changes = differing(service, {
    name: given.name.trim(),
    may_send_files: given.may.includes('files'),
    sms_prefix: given.may.includes('prefix'),
    may_send_international: given.may.includes('international'),
    home_country: given.home_country === '' ? null : given.home_country,
    email_retention_days: wholeIn(given.email_retention_days),
    sms_retention_days: wholeIn(given.sms_retention_days),
  })
  const to = (done: string): Answer => ({ kind: 'redirect', to: settingsPath(service.id, `?done=${done}`) })
  if (Object.keys(changes).length === 0) return to('same')
  try {
    await change(parts, actor, service.id, changes)
    return to('saved')
  } catch (error) {
    return form(visit, given, errorsAt(error, FIELDS))
  }
}

/** Only what is different, so that the audit log says what was changed. */
function differing(service: Service, wanted: Changes): Changes {
  const entries = Object.entries(wanted).filter(([field, value]) => service[field as keyof Service] !== value)
  return Object.fromEntries(entries) as Changes
}

/** A text that is no whole number becomes one that the verb refuses. */
export const wholeIn = (text: string): number => (/^\s*\d{1,12}\s*$/.test(text) ? Number(text) : Number.NaN)

const FIELDS = ['name', 'home_country', 'email_retention_days', 'sms_retention_days'] as const

function form(visit: ServiceVisit, given: Given, errors: FieldErrors): Answer {
  const { service, parts } = visit
  return settingsForm(
    visit,
    {
      title: t`Change the settings`,
      lede: t`They hold for messages accepted from now on. The list of changes says who changed what.`,
      errors,
      path: '/change',
      button: t`Save the settings`,
      command: `herald service set ${service.id} --name NAME --allow files --email-retention-days 7`,
    },
    <>
      <Input
        label={t`Name`}
        name="name"
        hint={t`Recipients see it as the sender of e-mails, and text messages can start with it.`}
        value={given.name}
        error={errors.name}
        maxLength={255}
        dir="auto"
        required
      />
      <Choices
        legend={t`Files`}
        name="files"
        type="checkbox"
        options={[
          {
            value: 'files',
            words: t`Messages may have files`,
            hint: t`Attached to e-mails, or as a link in any message`,
            checked: given.may.includes('files'),
          },
        ]}
      />
      <Choices
        legend={t`Text messages`}
        name="prefix"
        type="checkbox"
        options={[
          {
            value: 'prefix',
            words: t`Start with the service’s name`,
            hint: t`So that recipients know who writes`,
            checked: given.may.includes('prefix'),
          },
        ]}
      />
      <Choices
        legend={t`Numbers`}
        name="international"
        type="checkbox"
        options={[
          {
            value: 'international',
            words: t`Send to international numbers`,
            hint: t`They cost more, and networks abroad do not say whether a message arrived`,
            checked: given.may.includes('international'),
          },
        ]}
      />
      <Input
        label={t`Home country`}
        name="home_country"
        width="sm"
        maxLength={2}
        hint={t`Two letters, such as CA or FR. Numbers without a country code are read there. Empty: ${countryWords(parts.config.homeCountry, language())}.`}
        value={given.home_country}
        error={errors.home_country}
      />
      <Input
        label={t`Keep e-mails, in days`}
        name="email_retention_days"
        type="number"
        width="sm"
        hint={t`From 1 to 365. Afterwards recipient and content are deleted; with fewer days, older ones go within a day.`}
        value={given.email_retention_days}
        error={errors.email_retention_days}
        required
      />
      <Input
        label={t`Keep text messages, in days`}
        name="sms_retention_days"
        type="number"
        width="sm"
        value={given.sms_retention_days}
        error={errors.sms_retention_days}
        required
      />
    </>,
  )
}
