// Settings of webhooks: which addresses Herald may post events to.
import { BlockList, isIP } from 'node:net'
import { itemsOf, reader } from '../core/readers.ts'
import { type Settings, setting, type ValuesOf } from '../core/setting.ts'

const ranges = reader<string[]>(
  given => {
    const all = itemsOf(given)
    const wrong = all.find(range => !isRange(range))
    return wrong === undefined
      ? all
      : { problem: `contains "${wrong}"; it must be IP addresses and ranges like 10.1.0.0/16, separated by commas` }
  },
  { type: 'array', items: { type: 'string' } },
)

export function isRange(text: string): boolean {
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128))
}

/** A list of addresses from texts that `isRange` accepts. */
export function rangesOf(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const [address = '', bits] = text.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

export type PortRange = { from: number; to: number }

const ports = reader<PortRange[]>(
  given => {
    const all = itemsOf(given).map(item => ({ item, range: portRange(item) }))
    const wrong = all.find(({ range }) => range === null)
    if (wrong)
      return { problem: `contains "${wrong.item}"; it must be ports like 443 or 8000-8999, separated by commas` }
    return all.length === 0 ? { problem: 'names no port' } : all.flatMap(({ range }) => range ?? [])
  },
  { type: 'array', items: { type: 'string' } },
)

function portRange(text: string): PortRange | null {
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const [from, to] = [Number(first), Number(last)]
  return from >= 1 && to <= 65_535 && from <= to ? { from, to } : null
}

const textOfRange = ({ from, to }: PortRange) => (from === to ? `${from}` : `${from}-${to}`)

const SCHEMES = ['https', 'http'] as const
type Scheme = (typeof SCHEMES)[number]

const schemes = reader<Scheme[]>(
  given => {
    const all = itemsOf(given)
    const known = SCHEMES.filter(scheme => all.includes(scheme))
    return known.length > 0 && all.every(item => (SCHEMES as readonly string[]).includes(item))
      ? known
      : { problem: `is "${given}"; it must be https, http or both, separated by a comma` }
  },
  { type: 'array', items: { enum: SCHEMES } },
)

export const settings = {
  webhookAllow: setting<string[]>(
    'HERALD_WEBHOOK_ALLOW',
    ranges,
    [],
    'Addresses and ranges inside your network that webhooks may use, separated by commas, like `10.1.0.0/16`. Otherwise loopback, private, link-local, multicast and metadata addresses are refused.',
    { shown: 'none' },
  ),
  webhookPorts: setting<PortRange[]>(
    'HERALD_WEBHOOK_PORTS',
    ports,
    [{ from: 443, to: 443 }],
    'Ports that webhooks may use, separated by commas; `8000-8999` is a range.',
    { shown: '443', textOf: ranges => ranges.map(textOfRange).join(',') },
  ),
  webhookSchemes: setting<Scheme[]>(
    'HERALD_WEBHOOK_SCHEMES',
    schemes,
    ['https'],
    'Schemes that webhooks may use: `https`, `http` or both. With `http`, everybody on the way can read and change events.',
    { shown: 'https' },
  ),
} satisfies Settings

export type WebhookSettings = ValuesOf<typeof settings>
