// The signatures of the embedded scanner. It is not a general virus scanner: it finds the EICAR test file, programs embedded in
// documents, and a few ways in which documents start programs, unless they are compressed or encrypted. docs/files.md tells
// operators so.

type Signature = { name: string; marks: readonly Buffer[] }

// All byte strings of an entry must be found. They are written in pieces so that a scanner does not report this file.
const mark = (...pieces: string[]) => Buffer.from(pieces.join(''), 'latin1')

const SIGNATURES: readonly Signature[] = [
  { name: 'Eicar-Test-Signature', marks: [mark('$EICAR-STANDARD', '-ANTIVIRUS-TEST', '-FILE!$H+H*')] },
  { name: 'Program.Embedded.Windows', marks: [mark('This program cannot', ' be run in DOS mode'), mark('PE\0', '\0')] },
  { name: 'Program.Embedded.Windows', marks: [mark('This program must', ' be run under Win32'), mark('PE\0', '\0')] },
  { name: 'Document.PDF.Launch.Shell', marks: [mark('%P', 'DF-'), mark('/Lau', 'nch'), mark('cmd', '.exe')] },
  { name: 'Document.PDF.Launch.PowerShell', marks: [mark('%P', 'DF-'), mark('/Lau', 'nch'), mark('power', 'shell')] },
  { name: 'Document.RTF.EquationEditor', marks: [mark('{\\', 'rtf'), mark('0002CE02', '00000000C000')] },
  { name: 'Document.RTF.EquationEditor', marks: [mark('{\\', 'rtf'), mark('\\object', ''), mark('Equation', '.3')] },
  { name: 'Document.DDE.Shell', marks: [mark('DDE', 'AUTO'), mark('cmd', '.exe')] },
]

/** The name of the first match, or null. */
export function findSignature(content: Buffer): string | null {
  const found = SIGNATURES.find(({ marks }) => marks.every(one => content.includes(one)))
  return found?.name ?? null
}
