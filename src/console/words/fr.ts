// The catalogue: every text of the console in English and in French, a file for each part of the console.
import { account } from './fr/account.ts'
import { common } from './fr/common.ts'
import { developers } from './fr/developers.ts'
import { editor } from './fr/editor.ts'
import { inbox } from './fr/inbox.ts'
import { jobs } from './fr/jobs.ts'
import { messages } from './fr/messages.ts'
import { overview } from './fr/overview.ts'
import { people } from './fr/people.ts'
import { reports } from './fr/reports.ts'
import { send } from './fr/send.ts'
import { sendFile } from './fr/send-file.ts'
import { sentences } from './fr/sentences.ts'
import { services } from './fr/services.ts'
import { settings } from './fr/settings.ts'
import { sheets } from './fr/sheets.ts'
import { signIn } from './fr/sign-in.ts'
import { system } from './fr/system.ts'
import { team } from './fr/team.ts'
import { templates } from './fr/templates.ts'

export const french: Readonly<Record<string, string>> = {
  ...account,
  ...common,
  ...developers,
  ...editor,
  ...jobs,
  ...inbox,
  ...messages,
  ...overview,
  ...people,
  ...reports,
  ...send,
  ...sendFile,
  ...sentences,
  ...services,
  ...settings,
  ...sheets,
  ...signIn,
  ...system,
  ...team,
  ...templates,
}
