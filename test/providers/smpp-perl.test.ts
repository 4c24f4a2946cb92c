// The SMPP adapter against an independent SMSC implementation: Perl's Net::SMPP. Debian: apt-get install libnet-smpp-perl. Where
// it is absent the test says so and is skipped.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ucs2 } from '../../src/providers/smpp/alphabet.ts'
import { createSmpp, type SmppSettings } from '../../src/providers/smpp/send.ts'
import { recordedWorld, textMessage } from '../conformance/sms-provider.ts'
import { smppFor } from '../support/text-providers.ts'

const isThere = spawnSync('perl', ['-MNet::SMPP', '-e', '1']).status === 0
if (!isThere)
  process.stderr.write('\n*** SKIPPED: the independent SMSC. Install it with: apt-get install libnet-smpp-perl ***\n\n')

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function smsc(some: Partial<SmppSettings> = {}) {
  const perl = spawn('perl', ['test/support/smsc.pl'], { stdio: ['ignore', 'pipe', 'inherit'] })
  ends.push(() => perl.kill())
  const lines: string[] = []
  const port = await portOf(perl, lines)
  const recorded = recordedWorld()
  const provider = createSmpp(smppFor(port, { replyMillis: 5_000, ...some }), recorded.world)
  ends.push(provider.stop)
  return { provider, heard: lines, ...recorded }
}

function portOf(perl: ChildProcess, lines: string[]): Promise<number> {
  return new Promise(resolve => {
    if (!perl.stdout) return
    createInterface({ input: perl.stdout }).on('line', line => {
      lines.push(line)
      if (line.startsWith('port ')) resolve(Number(line.slice(5)))
    })
  })
}

describe.skipIf(!isThere)('an independent SMSC', () => {
  test('binds, accepts a message, sends a receipt, receives its acknowledgement, is unbound', async () => {
    const { provider, heard, receipts } = await smsc()

    expect(await provider.probe()).toEqual({ ok: true })
    const outcome = await provider.send(textMessage({ from: 'Herald', text: 'Hi [€]' }))
    expect(outcome).toEqual({ kind: 'accepted', ref: 'perl-0001' })
    await vi.waitFor(() => expect(heard).toContainEqual(expect.stringMatching(/^acknowledged \d+ 0$/)))
    await provider.stop()
    await vi.waitFor(() => expect(heard.at(-1)).toBe('unbind'))

    expect(heard.slice(1, 3)).toEqual([
      'bind herald ok',
      'submit perl-0001 5 0 Herald 1 1 16135550123 0 1 0 4869201b3c1b651b3e -',
    ])
    expect(receipts).toMatchObject([
      { ref: 'perl-0001', result: 'delivered', at: Date.UTC(2026, 10, 15, 5, 0, 7), eventId: expect.any(String) },
    ])
  })

  test('long messages arrive octet by octet as 3GPP specifies', async () => {
    const { provider, heard, receipts } = await smsc({ errors: { '011': 'temporary' } })
    const text = `${'ᐃ'.repeat(66)}🙂${'ᐃ'.repeat(10)}`

    expect(await provider.send(textMessage({ text, encoding: 'UCS-2' }))).toEqual({
      kind: 'accepted',
      ref: 'perl-0002',
    })

    await vi.waitFor(() => expect(heard.join('\n')).toContain('submit perl-0002'))
    const [first = [], second = []] = heard.filter(line => line.startsWith('submit')).map(line => line.split(' '))
    expect([first.slice(8, 11), second.slice(8, 11)]).toEqual([
      ['64', '0', '8'],
      ['64', '1', '8'],
    ])
    expect(first[11]).toMatch(/^050003..0201/)
    expect(second[11]).toMatch(/^050003..0202d83dde42/) // the surrogate pair was not split
    expect(`${first[11]?.slice(12)}${second[11]?.slice(12)}`).toBe(ucs2(text).toString('hex'))
    await vi.waitFor(() => expect(receipts).toMatchObject([{ ref: 'perl-0002', result: 'temporary-failure' }]))
  })

  test('message_payload is understood', async () => {
    const { provider, heard } = await smsc({ long: 'payload' })
    await provider.send(textMessage({ text: 'a'.repeat(300) }))
    // Its output arrives through a pipe, some time after its answer.
    const said = expect.stringMatching(new RegExp(`^submit perl-0001 .* 0 1 0 - ${'61'.repeat(300)}$`))
    await vi.waitFor(() => expect(heard).toContainEqual(said))
  })

  test('its refusals are mapped to our outcomes', async () => {
    const { provider } = await smsc()
    expect(await provider.send(textMessage({ to: '+19995550123' }))).toMatchObject({ kind: 'rejected' })
    const { provider: stranger } = await smsc({ password: 'wrong' })
    expect(await stranger.send(textMessage())).toMatchObject({
      down: true,
      detail: expect.stringContaining('Invalid password'),
    })
  })

  test('a thousand messages, a thousand receipts', async () => {
    const { provider, receipts } = await smsc({ window: 20, replyMillis: 20_000 })
    const outcomes = await Promise.all(Array.from({ length: 1000 }, () => provider.send(textMessage())))
    const refs = outcomes.map(outcome => (outcome.kind === 'accepted' ? outcome.ref : outcome.detail))
    await vi.waitFor(() => expect(receipts.length).toBe(1000), { timeout: 10_000 })
    expect(receipts.map(({ ref }) => ref).sort()).toEqual(refs.sort())
  })
})
