// A template in the editor of the person: as a file of templates as code (docs/templates-as-code.md), with its subject and name.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { editorCommand } from '../config/terminal.ts'
import { UsageError } from './command.ts'
import { newPath, readFolder, type TemplateFile, writeTemplate } from './template-files.ts'

/**
 * Returns what `save` makes of the edited file, or null when nothing was changed. If it cannot be saved, the file stays, and the
 * error names it: nobody has to type a text again.
 */
export async function edited<T>(
  template: Omit<TemplateFile, 'path'>,
  save: (file: TemplateFile) => Promise<T>,
): Promise<T | null> {
  const folder = mkdtempSync(join(tmpdir(), 'herald-edit-')) // readable by this user only
  const path = newPath(folder, template, new Set())
  writeTemplate({ ...template, path })
  const [before] = readFolder(folder)
  try {
    openEditor(path)
    const [after] = readFolder(folder)
    const result = !after || JSON.stringify(after) === JSON.stringify(before) ? null : await save(after)
    rmSync(folder, { recursive: true, force: true })
    return result
  } catch (error) {
    if (error instanceof Error) error.message += `\nYour text is in ${path}`
    throw error
  }
}

function openEditor(path: string): void {
  const editor = editorCommand()
  const { status, error } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' })
  if (error || status !== 0)
    throw new UsageError(`The editor "${editor}" failed. Choose another with EDITOR. Nothing was changed.`)
}
