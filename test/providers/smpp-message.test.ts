// Text messages as SMPP octets, and the meaning of answers and receipts. Pure tables, no server.
import fc from 'fast-check'
import smpp, { type Pdu } from 'smpp'
import { describe, expect, test } from 'vitest'
import { destination, source } from '../../src/providers/smpp/addresses.ts'
import { gsm7, ucs2, withoutControls } from '../../src/providers/smpp/alphabet.ts'
import { createFrames, isWholeDeliver } from '../../src/providers/smpp/frames.ts'
import { readReceipt, refOf, timeOf } from '../../src/providers/smpp/receipts.ts'
import { cut } from '../../src/providers/smpp/segments.ts'
import { type SmppConfig, smppSettings } from '../../src/providers/smpp/settings.ts'
import { refusal } from '../../src/providers/smpp/statuses.ts'
import { receiptText } from '../support/smpp-server.ts'

describe('alphabets', () => {
  test('3GPP TS 23.038: the basic table, one octet each', () => {
    expect(gsm7('@£$ \nAZaz09Ωàü¿§')?.toString('hex')).toBe('000102200a415a617a3039157f7e605f')
  })
  test('3GPP TS 23.038: the extension table, behind the escape', () => {
    expect(gsm7('^{}\\[~]|€')?.toString('hex')).toBe('1b141b281b291b2f1b3c1b3d1b3e1b401b65')
  })
  test('characters outside the alphabet are not approximated', () => {
    for (const char of ['ç', 'ᐃ', '`', '\x1b', '🙂', '\f']) expect(gsm7(char)).toBe(null)
  })
  test('UCS-2 is big-endian, with surrogate pairs outside the basic plane', () => {
    expect(ucs2('Aᐃ🙂').toString('hex')).toBe('00411403d83dde42')
  })
  test('S-13: control characters are removed, line ends and surrogate pairs stay', () => {
    expect(withoutControls('a\r\nb\rc\td\x00\x1b\x7f\x9b\u202e\u2069\u061c🙂\ud83d!\ude42')).toBe('a\nb\nc d🙂!')
  })
})

describe('long messages', () => {
  test.each([
    ['GSM-7', 'a'.repeat(160), 1],
    ['GSM-7', 'a'.repeat(161), 2],
    ['GSM-7', 'a'.repeat(306), 2],
    ['GSM-7', 'a'.repeat(307), 3],
    ['GSM-7', '€'.repeat(80), 1],
    ['GSM-7', '€'.repeat(81), 2],
    ['UCS-2', 'ᐃ'.repeat(70), 1],
    ['UCS-2', 'ᐃ'.repeat(71), 2],
    ['UCS-2', 'ᐃ'.repeat(134), 2],
    ['UCS-2', 'ᐃ'.repeat(135), 3],
    ['GSM-7', 'ᐃ'.repeat(71), 2], // declared wrongly: sent in the alphabet it needs
  ] as const)('%s, case %#', (encoding, text, parts) => {
    expect(cut(text, encoding, 7)?.parts.length).toBe(parts)
  })

  test('the header has part number, count and reference (3GPP TS 23.040, 9.2.3.24.1)', () => {
    const segments = cut('a'.repeat(307), 'GSM-7', 0xab)
    expect(segments?.parts.map(part => part.subarray(0, 6).toString('hex'))).toEqual([
      '050003ab0301',
      '050003ab0302',
      '050003ab0303',
    ])
  })

  test('more parts than a header can number are refused', () => {
    expect(cut('a'.repeat(153 * 255), 'GSM-7', 1)?.parts.length).toBe(255)
    expect(cut('a'.repeat(153 * 255 + 1), 'GSM-7', 1)).toBe(null)
  })

  test('any text: nothing lost, no part too long, no escape sequence and no surrogate pair split', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', '€', '{', 'ᐃ', '🙂', '\n'), maxLength: 700 })
    fc.assert(
      fc.property(letters, fc.constantFrom('GSM-7' as const, 'UCS-2' as const), (text, encoding) => {
        const segments = cut(text, encoding, 5)
        if (!segments) return false
        const { parts, whole, dataCoding } = segments
        const bodies = parts.length === 1 ? parts : parts.map(part => part.subarray(6))
        const most = dataCoding === 0 ? 153 : 134
        return (
          Buffer.concat(bodies).equals(whole) &&
          (parts.length === 1 || bodies.every(body => body.length <= most)) &&
          parts.every(part => part.length <= 254) &&
          bodies.every(body =>
            dataCoding === 0 ? body.at(-1) !== 0x1b : body.length % 2 === 0 && ((body.at(-2) ?? 0) & 0xfc) !== 0xd8,
          )
        )
      }),
      { numRuns: 300 },
    )
  })
})

test('type of number and numbering plan', () => {
  expect(source('+16135550100')).toEqual({ ton: 1, npi: 1, address: '16135550100' })
  expect(source('16135550100')).toEqual({ ton: 1, npi: 1, address: '16135550100' })
  expect(source('12345')).toEqual({ ton: 3, npi: 0, address: '12345' })
  expect(source('Herald News')).toEqual({ ton: 5, npi: 0, address: 'Herald News' })
  expect(source(null)).toEqual({ ton: 0, npi: 0, address: '' })
  for (const wrong of ['Twelve chars', 'Zürich', 'a\x00b', 'a\nb']) expect(source(wrong)).toBe(null)
  expect(destination('+16135550100')).toEqual({ ton: 1, npi: 1, address: '16135550100' })
  for (const wrong of ['16135550100', '+0123456', '+1', '', '+1613555\x000100', '+16135550100\n'])
    expect(destination(wrong)).toBe(null)
})

test('what a command_status means', () => {
  const kinds = (status: number) => {
    const outcome = refusal(status)
    return outcome.kind === 'deferred' && outcome.down ? 'down' : outcome.kind
  }
  for (const status of [0x01, 0x0a, 0x0b, 0x33, 0x43, 0x50, 0x65, 0x66, 0xc4]) expect(kinds(status)).toBe('rejected')
  for (const status of [0x08, 0x14, 0x45, 0x58, 0x64, 0xfe, 0xff, 0x400, 0x4ff]) expect(kinds(status)).toBe('deferred')
  for (const status of [0x04, 0x0d, 0x0e, 0x0f]) expect(kinds(status)).toBe('down')
  expect(refusal(0x0b)).toEqual({ kind: 'rejected', detail: 'Invalid destination address (0x0000000b)' })
})

describe('receipts', () => {
  const options = { ids: 'same', errors: {} } as const
  const pduOf = (fields: Record<string, unknown>) => new smpp.PDU(new smpp.PDU('deliver_sm', fields).toBuffer())
  const read = (fields: Record<string, unknown>, some: Partial<Parameters<typeof readReceipt>[1]> = {}) =>
    readReceipt(pduOf(fields), { ...options, ...some })

  test.each([
    ['DELIVRD', 'delivered', null],
    ['ACCEPTD', 'pending', null],
    ['ENROUTE', 'pending', null],
    ['EXPIRED', 'temporary-failure', 'expired'],
    ['UNDELIV', 'permanent-failure', 'unknown'],
    ['REJECTD', 'permanent-failure', 'blocked'],
    ['DELETED', 'permanent-failure', 'deleted'],
    ['UNKNOWN', 'permanent-failure', 'unknown'],
    ['HOMEMADE', 'permanent-failure', 'unknown'],
  ])('contract 6.4: %s → %s', (stat, result, detail) => {
    expect(read(receiptText('42', stat))).toEqual({
      ref: '42',
      eventId: `42:${stat}:000:2611150500`,
      at: Date.UTC(2026, 10, 15, 5),
      result,
      detail,
      response: null,
    })
  })

  test('err: codes mean what the settings say', () => {
    const errors = { '001': 'permanent', '011': 'temporary', '034': 'opted-out', '099': 'blocked' } as const
    expect(read(receiptText('1', 'UNDELIV', '001'), { errors })).toMatchObject({ detail: 'error 001' })
    expect(read(receiptText('1', 'UNDELIV', '011'), { errors })).toMatchObject({ result: 'temporary-failure' })
    expect(read(receiptText('1', 'UNDELIV', '099'), { errors })).toMatchObject({ detail: 'blocked' })
    expect(read(receiptText('1', 'REJECTD', '034'), { errors })).toMatchObject({
      result: 'technical-failure',
      response: 'Phone number is opted out',
    })
    expect(read(receiptText('1', 'UNDELIV', 'toString'))).toMatchObject({ result: 'permanent-failure' })
  })

  test('optional parameters take precedence over the text', () => {
    const fields = { ...receiptText('text-id', 'UNDELIV'), receipted_message_id: 'tlv-id', message_state: 2 }
    expect(read(fields)).toMatchObject({ ref: 'tlv-id', result: 'delivered' })
    expect(read({ receipted_message_id: '7', message_state: 5 })).toMatchObject({ ref: '7', at: null })
  })

  test('the text may be in message_payload', () => {
    const { short_message, ...rest } = receiptText('9', 'DELIVRD')
    expect(read({ ...rest, message_payload: short_message })).toMatchObject({ ref: '9', result: 'delivered' })
  })

  test('an intermediate notification is never final', () => {
    expect(read({ ...receiptText('9', 'UNDELIV'), esm_class: 0x20 })).toMatchObject({ result: 'pending' })
  })

  test('a phone that sends the text of a receipt is ignored', () => {
    expect(read({ ...receiptText('42', 'DELIVRD'), esm_class: 0 })).toBe(null)
    expect(read({ ...receiptText('42', 'DELIVRD'), esm_class: 0x40 })).toBe(null)
  })

  test('without an id or a state there is no receipt', () => {
    expect(read({ esm_class: 4, short_message: Buffer.from('stat:DELIVRD') })).toBe(null)
    expect(read({ esm_class: 4, short_message: Buffer.from('id:5 nothing more') })).toBe(null)
    expect(read({ esm_class: 4 })).toBe(null)
  })

  test('ids that are hexadecimal in one place only', () => {
    expect(refOf('1F4', 'hex-in-answer', 'answer')).toBe('500')
    expect(refOf('0500', 'hex-in-answer', 'receipt')).toBe('500')
    expect(refOf('500', 'hex-in-receipt', 'answer')).toBe('500')
    expect(refOf('0x1f4', 'hex-in-receipt', 'receipt')).toBe('500')
    expect(refOf('not-hex', 'hex-in-answer', 'answer')).toBe('not-hex')
    expect(refOf(' 00Ab ', 'same', 'answer')).toBe('00Ab')
  })

  test('times with and without seconds and century', () => {
    expect(timeOf('2611150507')).toBe(Date.UTC(2026, 10, 15, 5, 7))
    expect(timeOf('261115050709')).toBe(Date.UTC(2026, 10, 15, 5, 7, 9))
    expect(timeOf('20261115050709')).toBe(Date.UTC(2026, 10, 15, 5, 7, 9))
    for (const wrong of ['', '2613150507', '2611320507', '2611152507', '26111505071']) expect(timeOf(wrong)).toBe(null)
  })

  test('any octets in a deliver_sm give a receipt or none, never an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 255 }), (octets, esm_class) => {
        const pdu = pduOf({ esm_class, short_message: Buffer.from(octets).subarray(0, 254) })
        const receipt = readReceipt(pdu as Pdu, options)
        return receipt === null || /^[\x21-\xff]+$/.test(receipt.ref)
      }),
    )
  })
})

describe('frames', () => {
  const frame = new smpp.PDU('deliver_sm', { ...receiptText('42', 'DELIVRD'), receipted_message_id: '42' }).toBuffer()

  test('however the octets are split, the same PDUs come out', () => {
    const stream = Buffer.concat([frame, frame, frame])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), sizes => {
        const heard: Buffer[] = []
        const frames = createFrames()
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          frames.add(stream.subarray(at, at + size))
          for (let pdu = frames.next(); pdu !== null && pdu !== 'garbage'; pdu = frames.next()) heard.push(pdu)
          at += size
        }
        return heard.length === 3 && heard.every(pdu => pdu.equals(frame))
      }),
      { numRuns: 50 },
    )
  })

  test.each([0, 4, 15, 16_385, 0x48545450])('a length of %i is not SMPP', length => {
    const header = Buffer.alloc(16)
    header.writeUInt32BE(length)
    const frames = createFrames()
    frames.add(header)
    expect(frames.next()).toBe('garbage')
  })

  test('a deliver_sm is complete or refused', () => {
    expect(isWholeDeliver(frame)).toBe(true)
    // The last two octets alone are too few for an optional parameter; every other cut splits a field.
    for (let end = 16; end < frame.length; end++) {
      if (end === frame.length - 7) continue // exactly before the optional parameter: a complete PDU
      expect(isWholeDeliver(frame.subarray(0, end)), `cut at ${end}`).toBe(false)
    }
  })
})

describe('settings', () => {
  const config: SmppConfig = {
    smppUrl: 'smpp://me:p%40ss@smsc.example:2776',
    smppCa: null,
    smppSystemType: '',
    smppBinds: 2,
    smppWindow: 10,
    smppPerSecond: 0,
    smppSender: null,
    smppLong: 'parts',
    smppReceipts: true,
    smppIds: 'same',
    smppErrors: ['011=temporary', '034=opted-out'],
    smppReplySeconds: 30,
    smppEnquireSeconds: 30,
  }
  test('an address becomes host, port and credentials', () => {
    expect(smppSettings(config)).toMatchObject({
      host: 'smsc.example',
      port: 2776,
      systemId: 'me',
      password: 'p@ss',
      perSecond: null,
      errors: { '011': 'temporary', '034': 'opted-out' },
    })
    expect(smppSettings({ ...config, smppUrl: 'smpps://me:pass@[::1]' })).toMatchObject({
      host: '::1',
      port: 3550,
      tls: { ca: null },
    })
    expect(smppSettings({ ...config, smppUrl: null })).toBe(null)
  })
  test('wrong settings are reported by name, without the password', () => {
    for (const smppUrl of ['http://me:pass@h', 'smpp://h', 'smpp:', 'smpp://me%00:pass@h'])
      expect(() => smppSettings({ ...config, smppUrl })).toThrow(/^HERALD_SMPP_URL must be an address like/)
    expect(() => smppSettings({ ...config, smppErrors: ['1=odd'] })).toThrow(/HERALD_SMPP_ERRORS holds "1=odd"/)
  })
})
