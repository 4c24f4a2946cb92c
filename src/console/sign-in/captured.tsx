// Where e-mails are captured, the link that confirms who a person is lies in an inbox that asks for this confirmation, too. The way
// out leads over the machine: a person who may run commands there can read the database anyway, so the command gives nothing away.
// The page itself never shows a link, because a stolen session must not confirm itself.
import { Callout, Code } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { rich, t } from '../words/index.ts'

/** `to`: the page that asked for the confirmation. */
export function ConfirmAtMachine({ address, to }: { address: string; to: string }) {
  const { url } = usePage()
  return (
    <Callout tone="info">
      <p>{t`This installation captures e-mails instead of sending them, and the captured inbox asks for this confirmation too. Run this command on the machine that runs Herald. It prints a link.`}</p>
      <Code>{`herald user sign-in-link ${shellWord(address)}`}</Code>
      <p>{rich`Open the link in this browser, then ${<a href={url(to)}>{t`continue to the page you wanted`}</a>}.`}</p>
    </Callout>
  )
}

const shellWord = (text: string): string => (/^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
