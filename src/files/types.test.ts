// S-16…S-19: what a file is by its name and its bytes.
import { deflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { archive, docx, docxWith, odt, ole, png, xlsx } from '../../test/support/documents.ts'
import { cleanName, extensionOf } from './name.ts'
import { ALLOWED, judge } from './types.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const NAMES = [...Object.keys(ALLOWED), 'jpg'].map(extension => `letter.${extension}`)

describe('S-16 allowed names with bytes of their own kind', () => {
  test.each([
    ['a.pdf', bytes('%PDF-1.7\n…'), ALLOWED.pdf],
    ['a.csv', bytes('name,age\r\nAnn,7'), ALLOWED.csv],
    ['a.txt', Buffer.from('Grüße, 世界'), ALLOWED.txt],
    ['a.txt', Buffer.alloc(0), ALLOWED.txt],
    ['a.TXT', Buffer.from('\ufeffHello', 'utf16le'), ALLOWED.txt],
    ['a.jpeg', bytes('\xff\xd8\xff\xe0\0\x10JFIF'), ALLOWED.jpeg],
    ['a.jpg', bytes('\xff\xd8\xff\xe1'), ALLOWED.jpeg],
    ['a.JPG', bytes('\xff\xd8\xff\xe1'), ALLOWED.jpeg],
    ['a.png', png(), ALLOWED.png],
    ['a.doc', ole('WordDocument'), ALLOWED.doc],
    ['a.xls', ole('Workbook'), ALLOWED.xls],
    ['a.xls', ole('Book'), ALLOWED.xls],
    ['a.docx', docx(), ALLOWED.docx],
    ['a.xlsx', xlsx(), ALLOWED.xlsx],
    ['a.odt', odt(), ALLOWED.odt],
    ['a.rtf', bytes('{\\rtf1\\ansi Hello}'), ALLOWED.rtf],
    ['two.dots.pdf', bytes('%PDF-1.4'), ALLOWED.pdf],
  ])('%s', (name, content, mediaType) => {
    expect(judge(name, content)).toMatchObject({ ok: true, mediaType })
  })

  test('text may have any allowed name', () => {
    for (const name of NAMES)
      expect(judge(name, bytes('plain words, MZ and BM and PK among them'))).toMatchObject({ ok: true })
    expect(judge('a.csv', bytes('MZ,BM,ID3\n1,2,3'))).toEqual({ ok: true, mediaType: 'text/csv', extension: 'csv' })
  })

  test('an allowed kind under another allowed name has the kind of its bytes', () => {
    expect(judge('photo.jpg', png())).toMatchObject({ ok: true, mediaType: 'image/png' })
  })

  test('without an extension the bytes decide, and unknown text is txt', () => {
    expect(judge('letter', bytes('%PDF-1.7'))).toEqual({ ok: true, mediaType: 'application/pdf', extension: 'pdf' })
    expect(judge('letter', bytes('Hello'))).toEqual({ ok: true, mediaType: 'text/plain', extension: 'txt' })
    expect(judge('letter', bytes('\0\x01\x02'))).toEqual({ ok: false, type: 'application/octet-stream' })
  })
})

describe('S-16 other names', () => {
  test.each([
    ['a.exe', 'exe'],
    ['a.pdf.EXE', 'exe'],
    ['a.zip', 'zip'],
    ['a.html', 'html'],
    ['a.docm', 'docm'],
    ['a.', ''],
  ])('%s', (name, type) => {
    expect(judge(name, bytes('Hello'))).toEqual({ ok: false, type })
  })
})

const WRONG: readonly (readonly [string, Buffer, string])[] = [
  ['a Windows program', bytes('MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0'), 'application/x-msdownload'],
  ['a Linux program', bytes('\x7fELF\x02\x01\x01\0'), 'application/x-executable'],
  ['a macOS program', bytes('\xcf\xfa\xed\xfe\x07\0\0\x01'), 'application/x-mach-binary'],
  ['an archive', archive([['readme.txt', 'Hello']]), 'application/zip'],
  ['an empty archive', bytes(`PK\x05\x06${'\0'.repeat(18)}`), 'application/zip'],
  ['a broken archive', bytes('PK\x03\x04 and nothing more'), 'application/zip'],
  ['gzip', bytes('\x1f\x8b\x08\0'), 'application/gzip'],
  ['7z', bytes("7z\xbc\xaf'\x1c\0\x04"), 'application/x-7z-compressed'],
  ['rar', bytes('Rar!\x1a\x07\x01\0'), 'application/vnd.rar'],
  ['tar', bytes(`letter.txt${'\0'.repeat(247)}ustar\0`), 'application/x-tar'],
  ['HTML', bytes('<!DOCTYPE html><script>alert(1)</script>'), 'text/html'],
  ['HTML behind a mark and a comment', bytes('\xef\xbb\xbf\n<!-- x --><HTML>'), 'text/html'],
  ['HTML in UTF-16', Buffer.from('\ufeff<html>', 'utf16le'), 'text/html'],
  ['HTML behind 4 kB of spaces', bytes(`${' '.repeat(4_096)}<html><script>alert(1)</script>`), 'text/html'],
  ['HTML behind a megabyte of lines', bytes(`${'\r\n\t'.repeat(350_000)}<!DOCTYPE html>`), 'text/html'],
  ['HTML behind long comments', bytes(`<!--${'x'.repeat(5_000)}-->\n<!-- --><script>alert(1)</script>`), 'text/html'],
  ['HTML behind the shortest comment', bytes('<!--><script>alert(1)</script>'), 'text/html'],
  ['HTML behind a comment that ends oddly', bytes('<!-- --!><script>alert(1)</script>'), 'text/html'],
  ['HTML behind 4 kB of spaces in UTF-16', Buffer.from(`\ufeff${' '.repeat(4_096)}<html>`, 'utf16le'), 'text/html'],
  ['SVG behind 4 kB of spaces', bytes(`${' '.repeat(4_096)}<svg onload="alert(1)"/>`), 'image/svg+xml'],
  ['SVG', bytes('<?xml version="1.0"?><svg onload="alert(1)"/>'), 'image/svg+xml'],
  ['a script', bytes('#!/bin/sh\nrm -rf /'), 'text/x-shellscript'],
  ['PHP', bytes('<?php system($_GET[0]);'), 'application/x-httpd-php'],
  ['GIF', bytes('GIF89a\x01\0\x01\0'), 'image/gif'],
  ['a film', bytes('\0\0\0\x18ftypmp42'), 'video/mp4'],
  ['sound', bytes('ID3\x04\0\0'), 'audio/mpeg'],
  ['a shortcut', bytes('L\0\0\0\x01\x14\x02\0\0\0\0\0'), 'application/x-ms-shortcut'],
  ['a web archive with macros', bytes('MIME-Version: 1.0\nContent-Type: multipart/related'), 'multipart/related'],
  ['slides', ole('PowerPoint Document'), 'application/vnd.ms-powerpoint'],
  ['an installer', ole('SomeTable'), 'application/x-ole-storage'],
  [
    'a polyglot: a picture with an archive behind it',
    Buffer.concat([png(), archive([['a.class', 'x']])]),
    'application/zip',
  ],
  ['a polyglot: PDF and archive', Buffer.concat([bytes('%PDF-1.7\n'), archive([['a.js', 'x']])]), 'application/zip'],
  ['Word with macros', docxWith(['word/vbaProject.bin', 'x']), 'application/vnd.ms-word.document.macroEnabled.12'],
  [
    'old Word with macros',
    ole('WordDocument', 'Macros', '_VBA_PROJECT'),
    'application/vnd.ms-word.document.macroEnabled.12',
  ],
  ['an encrypted document', ole('EncryptedPackage', 'EncryptionInfo'), 'application/x-ole-storage'],
  ['OpenDocument with macros', odt(['Basic/Standard/Module1.xml', 'x']), 'application/x-opendocument-macros'],
]

describe('S-16, S-18 wrong bytes behind each of the allowed names', () => {
  test.each(WRONG)('%s', (_what, content, type) => {
    for (const name of NAMES) expect(judge(name, content)).toEqual({ ok: false, type })
    expect(judge('letter', content)).toEqual({ ok: false, type })
  })

  test('an empty macro library of LibreOffice is none', () => {
    expect(judge('a.odt', odt(['Basic/Standard/script-lb.xml', 'x'], ['Basic/script-lc.xml', 'x']))).toMatchObject({
      ok: true,
    })
  })
})

describe('S-17 bombs and false sizes in an archive', () => {
  const bomb = () => {
    const raw = Buffer.alloc(50_000_000)
    return docxWith(['word/media/image1.png', deflateRawSync(raw), { method: 8, size: raw.length }])
  }
  const lie = (more: Partial<{ size: number; compressed: number; offset: number; name: string; flags: number }>) =>
    docxWith(['word/media/image1.png', 'x'.repeat(100), more])

  const packed = (data: Buffer, more: { size?: number } = {}) =>
    docxWith(['word/media/image1.png', deflateRawSync(data), { method: 8, size: data.length, ...more }])
  /** The first member's own header, changed; the directory stays. */
  const otherSize = (content: Buffer, at: number) => {
    content.writeUInt16LE(content.readUInt16LE(at) + 1, at)
    return content
  }

  test('ordinary members of any kind are accepted, also with their size in a data descriptor', () => {
    for (const data of [Buffer.alloc(0), bytes('<w:document/>'), Buffer.alloc(300_000, 'abc'), png()])
      expect(judge('a.docx', packed(data))).toMatchObject({ ok: true, mediaType: ALLOWED.docx })
    const streamed = docx()
    streamed.writeUInt16LE(8, 6)
    for (const at of [18, 22]) streamed.writeUInt32LE(0, at)
    expect(judge('a.docx', streamed)).toMatchObject({ ok: true, mediaType: ALLOWED.docx })
  })

  test.each([
    ['a ratio above 100:1', bomb()],
    ['a size of four gigabytes', lie({ size: 0xffff_fffe })],
    ['entries over each other', lie({ offset: 0 })],
    ['a name that climbs', lie({ name: '../../etc/passwd' })],
    ['an encrypted entry', lie({ flags: 1 })],
    ['an archive inside', docxWith(['word/embeddings/more.zip', 'x'])],
    ['20,000 entries', archive(Array.from({ length: 20_000 }, (_, n) => [`word/${n}`, '']))],
    ['a directory that ends early', docx().subarray(0, -1)],
    ['a member that becomes more than both headers say', packed(Buffer.alloc(5_000_000), { size: 60_000 })],
    ['a member that becomes one byte more', packed(Buffer.alloc(1_000, 'abc'), { size: 999 })],
    ['a member that becomes less', packed(Buffer.alloc(1_000, 'abc'), { size: 1_001 })],
    [
      'bytes behind the end of a member',
      docxWith(['word/a.xml', Buffer.concat([deflateRawSync(bytes('abc')), bytes('x')]), { method: 8, size: 3 }]),
    ],
    [
      'a member that is cut',
      docxWith(['word/a.xml', deflateRawSync(Buffer.alloc(1_000, 'abc')).subarray(0, -1), { method: 8, size: 1_000 }]),
    ],
    ['a header that says another size than the directory', otherSize(docx(), 22)],
    ['a header that says another packed size', otherSize(docx(), 18)],
    ['a header that says another method', otherSize(docx(), 8)],
  ])('%s', (_what, content) => {
    // The best of some tries: a busy machine only ever makes it slower.
    const took = Array.from({ length: 10 }, () => {
      const before = performance.now()
      expect(judge('a.docx', content)).toEqual({ ok: false, type: 'application/zip' })
      return performance.now() - before
    })
    expect(Math.min(...took)).toBeLessThan(50)
  })
})

describe('S-19 names', () => {
  test.each([
    ['../../etc/passwd.txt', 'etcpasswd.txt'],
    ['C:\\Users\\a.txt', 'C:Usersa.txt'],
    ['a\0b\r\nc.txt', 'abc.txt'],
    ['evil\u202etxt.exe', 'eviltxt.exe'],
    ['a.exe. . ', 'a.exe'],
    ['...', ''],
    ['\u202e'.repeat(249), ''],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['  spaced out.pdf', 'spaced out.pdf'],
    ['Übersicht 世界.pdf', 'Übersicht 世界.pdf'],
    ['.pdf', 'pdf'],
  ])('%j', (given, name) => {
    expect(cleanName(given)).toBe(name)
  })

  test('the extension is the text after the last dot', () => {
    expect(['a.b.PDF', 'none', 'a.'].map(extensionOf)).toEqual(['pdf', null, ''])
  })
})
